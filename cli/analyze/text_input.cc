// SPDX-License-Identifier: Apache-2.0
//
// Regular files are mapped, because logs can be larger than memory; everything else is read to its
// end.

#include "analyze/text_input.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <utility>

#include "analyze/truncation_guard.h"

namespace svd::cli {
namespace {

Error failure(const std::string& path, std::string_view what, int code) {
  Error error;
  error.file = path;
  error.what = fmt::format("{}: {}", what, std::strerror(code));
  return error;
}

}  // namespace

Result<TextInput> TextInput::open(const std::string& path) {
  TextInput input;
  if (path == "-") {
    if (auto read = input.read_all(STDIN_FILENO, "standard input"); !read) return read.error();
    return input;
  }
  int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (fd < 0) return failure(path, "cannot open it", errno);
  fcntl(fd, F_SETFL, 0);  // non-blocking was for the open only
  struct stat status {};
  fstat(fd, &status);
  Status read = Done{};
  if (S_ISREG(status.st_mode) && status.st_size > 0) {
    guard_against_truncation(path);
    auto size = static_cast<std::size_t>(status.st_size);
    void* mapped = mmap(nullptr, size, PROT_READ, MAP_PRIVATE, fd, 0);
    if (mapped == MAP_FAILED) {
      read = failure(path, "cannot map it", errno);
    } else {
      input.mapped_ = mapped;
      input.mapped_size_ = size;
    }
  } else {
    read = input.read_all(fd, path);
  }
  close(fd);
  if (!read) return read.error();
  return input;
}

TextInput::TextInput(TextInput&& other) noexcept
    : read_(std::move(other.read_)),
      mapped_(std::exchange(other.mapped_, nullptr)),
      mapped_size_(other.mapped_size_) {}

TextInput::~TextInput() {
  if (mapped_ != nullptr) munmap(mapped_, mapped_size_);
}

std::string_view TextInput::text() const {
  if (mapped_ == nullptr) return read_;
  return {static_cast<const char*>(mapped_), mapped_size_};
}

Status TextInput::read_all(int fd, const std::string& name) {
  std::array<char, 1U << 16> buffer;
  while (true) {
    ssize_t count = ::read(fd, buffer.data(), buffer.size());
    if (count == 0) return Done{};
    if (count > 0) {
      read_.append(buffer.data(), static_cast<std::size_t>(count));
    } else if (errno != EINTR) {
      return failure(name, "cannot read it", errno);
    }
  }
}

}  // namespace svd::cli
