// SPDX-License-Identifier: Apache-2.0
//
// The text that assemble and import read: a file, mapped, or whatever a pipe delivers.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "svd/trace/result.h"

namespace svd::cli {

class TextInput {
 public:
  // "-" is stdin. A FIFO that nobody writes to is empty rather than waited for.
  static Result<TextInput> open(const std::string& path);
  TextInput(TextInput&& other) noexcept;
  TextInput& operator=(TextInput&&) = delete;
  ~TextInput();

  std::string_view text() const;

 private:
  TextInput() = default;
  Status read_all(int fd, const std::string& name);

  std::string read_;
  void* mapped_ = nullptr;
  std::size_t mapped_size_ = 0;
};

}  // namespace svd::cli
