// SPDX-License-Identifier: Apache-2.0
//
// The trace that assemble, import and recover write: never over their input, and taken away when it
// stays unfinished.
#pragma once

#include <memory>
#include <string>
#include <utility>

#include "svd/trace/result.h"
#include "svd/trace/writer.h"

namespace svd::cli {

class NewTrace {
 public:
  NewTrace(std::string path, std::string input)
      : path_(std::move(path)), input_(std::move(input)) {}
  ~NewTrace();  // removes the file unless keep() was called
  NewTrace(const NewTrace&) = delete;
  NewTrace& operator=(const NewTrace&) = delete;

  Result<std::unique_ptr<TraceWriter>> create(const Process& process);
  void keep() { created_ = false; }

 private:
  std::string path_;
  std::string input_;
  bool created_ = false;
};

}  // namespace svd::cli
