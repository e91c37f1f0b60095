// SPDX-License-Identifier: Apache-2.0
//
// The trace that assemble, import and recover write: never over their input. It is written beside
// its place under another name and takes its place only when it is whole, so that a failure leaves
// what was there.
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
      : path_(std::move(path)), input_(std::move(input)), written_(path_) {}
  ~NewTrace();  // removes the file unless keep() was called
  NewTrace(const NewTrace&) = delete;
  NewTrace& operator=(const NewTrace&) = delete;

  Result<std::unique_ptr<TraceWriter>> create(const Process& process);
  // Where it is until then.
  const std::string& place() const { return written_; }
  Status keep();

 private:
  std::string path_;
  std::string input_;
  std::string written_;  // where it is until keep(); path_: nothing to remove
};

}  // namespace svd::cli
