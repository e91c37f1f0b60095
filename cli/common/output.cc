// SPDX-License-Identifier: Apache-2.0
//
// Buffered output that remembers its first error.

#include "common/output.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>

#include <cerrno>
#include <cstring>
#include <utility>

namespace svd::cli {
namespace {

constexpr std::size_t kBuffer = 1U << 18;

Error error_of(const std::string& file, std::string what, ErrorKind kind = ErrorKind::kIo) {
  Error error;
  error.kind = kind;
  error.file = file;
  error.what = std::move(what);
  return error;
}

}  // namespace

void Output::Closer::operator()(std::FILE* file) const {
  if (file != stdout) std::fclose(file);
}

Result<Output> Output::open(const std::string& path, const std::string& input) {
  if (path.empty() || path == "-") {
    std::setvbuf(stdout, nullptr, _IOFBF, kBuffer);
    return Output(stdout, "standard output");
  }
  if (same_file(path, input)) {
    return error_of(path, "this is the input; choose another file for the output",
                    ErrorKind::kUsage);
  }
  int fd = ::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  std::FILE* file = fd < 0 ? nullptr : fdopen(fd, "w");
  if (file == nullptr)
    return error_of(path, fmt::format("cannot create it: {}", std::strerror(errno)));
  std::setvbuf(file, nullptr, _IOFBF, kBuffer);
  return Output(file, path);
}

void Output::write(std::string_view text) {
  if (error_ != 0) return;
  if (std::fwrite(text.data(), 1, text.size(), file_.get()) != text.size()) error_ = errno;
}

bool Output::failed() const { return error_ != 0; }
int Output::descriptor() const { return fileno(file_.get()); }

Status Output::finish() {
  if (error_ == 0 && std::fflush(file_.get()) != 0) error_ = errno;
  if (error_ == 0) return Done{};
  if (error_ == EPIPE) return error_of("", "");
  return error_of(name_, fmt::format("cannot write: {}", std::strerror(error_)));
}

int OutputStream::Buffer::overflow(int c) {
  if (c != std::char_traits<char>::eof()) {
    char letter = static_cast<char>(c);
    output_.write({&letter, 1});
  }
  return output_.failed() ? std::char_traits<char>::eof() : 0;
}

std::streamsize OutputStream::Buffer::xsputn(const char* text, std::streamsize size) {
  output_.write({text, static_cast<std::size_t>(size)});
  return output_.failed() ? 0 : size;
}

bool same_file(const std::string& a, const std::string& b) {
  struct stat first {};
  struct stat second {};
  return stat(a.c_str(), &first) == 0 && stat(b.c_str(), &second) == 0 &&
         first.st_dev == second.st_dev && first.st_ino == second.st_ino;
}

}  // namespace svd::cli
