// SPDX-License-Identifier: Apache-2.0
//
// Where a command's data goes: stdout, or the file of -o. Buffered; write errors stick and are told
// once, by finish().
#pragma once

#include <cstdio>
#include <memory>
#include <ostream>
#include <streambuf>
#include <string>
#include <string_view>
#include <utility>

#include "svd/trace/result.h"

namespace svd::cli {

class Output {
 public:
  // "" and "-" are stdout. A file is created with mode 0600, like the trace that its content comes
  // from; `input` is never overwritten.
  static Result<Output> open(const std::string& path, const std::string& input);

  void write(std::string_view text);
  bool failed() const;  // no use in going on
  int descriptor() const;

  // Everything is written, or an Error. A reader of our pipe who has gone is no error worth a
  // sentence: `what` is empty.
  Status finish();

 private:
  struct Closer {
    void operator()(std::FILE* file) const;
  };
  Output(std::FILE* file, std::string name) : file_(file), name_(std::move(name)) {}
  std::unique_ptr<std::FILE, Closer> file_;
  std::string name_;
  int error_ = 0;
};

// A std::ostream that writes to an Output.
class OutputStream : public std::ostream {
 public:
  explicit OutputStream(Output& output) : std::ostream(nullptr), buffer_(output) {
    rdbuf(&buffer_);
  }

 private:
  class Buffer : public std::streambuf {
   public:
    explicit Buffer(Output& output) : output_(output) {}
    int overflow(int c) override;
    std::streamsize xsputn(const char* text, std::streamsize size) override;

   private:
    Output& output_;
  };
  Buffer buffer_;
};

// Whether both paths lead to one existing file.
bool same_file(const std::string& a, const std::string& b);

}  // namespace svd::cli
