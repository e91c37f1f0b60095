// SPDX-License-Identifier: Apache-2.0
//
// A trace file opened for reading, and its chunks, mapped one at a time so that memory stays
// bounded by what is held. Thread-safe. A file that shrinks while it is mapped raises SIGBUS; the
// commands turn that into a sentence.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "frame.h"
#include "svd/trace/result.h"

namespace svd {

// A mapped stretch of a file; unmapped on destruction.
class FileMapping {
 public:
  FileMapping() = default;
  FileMapping(void* base, std::size_t mapped, std::size_t skip)
      : base_(base), mapped_(mapped), skip_(skip) {}
  FileMapping(FileMapping&& other) noexcept;
  FileMapping& operator=(FileMapping&& other) noexcept;
  ~FileMapping();
  std::span<const std::uint8_t> bytes() const {
    return {static_cast<const std::uint8_t*>(base_) + skip_, mapped_ - skip_};
  }

 private:
  void* base_ = nullptr;
  std::size_t mapped_ = 0;
  std::size_t skip_ = 0;
};

// A chunk whose checksum and FlatBuffer are good.
struct LoadedChunk {
  FileMapping mapping;
  ChunkHeader header;
  const fb::ChunkBody* body = nullptr;
  std::uint64_t bytes() const { return sizeof header + header.size; }
};

class InputFile {
 public:
  // Fails for whatever is not a regular, non-empty file.
  static Result<InputFile> open(const std::string& path);
  InputFile(InputFile&& other) noexcept;
  InputFile& operator=(InputFile&& other) = delete;
  ~InputFile();

  const std::string& path() const { return path_; }
  std::uint64_t size() const { return size_; }
  bool being_written() const { return being_written_; }  // when it was opened

  // [offset, offset + size), which must lie in the file.
  Result<FileMapping> map(std::uint64_t offset, std::size_t size) const;
  // A fixed struct at `offset`; nothing past the end.
  template <class T>
  std::optional<T> read(std::uint64_t offset) const {
    T value;
    return read_bytes(offset, &value, sizeof value) ? std::optional<T>(value) : std::nullopt;
  }

  // The chunk at `offset`, checked. `trace_id` 0 accepts any trace's.
  Result<LoadedChunk> load_chunk(std::uint64_t offset, std::uint64_t trace_id) const;

 private:
  InputFile(std::string path, int fd, std::uint64_t size, bool being_written)
      : path_(std::move(path)), fd_(fd), size_(size), being_written_(being_written) {}
  bool read_bytes(std::uint64_t offset, void* to, std::size_t size) const;

  std::string path_;
  int fd_ = -1;
  std::uint64_t size_ = 0;
  bool being_written_ = false;
};

}  // namespace svd
