// SPDX-License-Identifier: Apache-2.0
//
// The file that a TraceWriter appends to. Mode 0600, never through a symlink, exclusively locked
// while open so that readers can tell that it still grows. After a failed write the file is cut
// back to its last whole append.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "svd/trace/result.h"

namespace svd {

class OutputFile {
 public:
  // "-" is standard output. A regular file at `path` is replaced by a new one, so that whoever
  // still reads the old one is not disturbed.
  static Result<OutputFile> create(const std::string& path);
  OutputFile(OutputFile&& other) noexcept;
  OutputFile& operator=(OutputFile&& other) = delete;
  ~OutputFile();

  Status append(std::span<const std::uint8_t> bytes);
  // Over, and from, what was appended.
  Status write_at(std::uint64_t offset, std::span<const std::uint8_t> bytes);
  Status read_at(std::uint64_t offset, std::span<std::uint8_t> bytes) const;
  Status close();
  std::uint64_t size() const { return size_; }

 private:
  OutputFile(std::string path, int fd) : path_(std::move(path)), fd_(fd) {}
  Error error(const char* doing, int code) const;

  std::string path_;
  int fd_ = -1;
  std::uint64_t size_ = 0;
};

}  // namespace svd
