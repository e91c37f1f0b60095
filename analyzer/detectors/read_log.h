// SPDX-License-Identifier: Apache-2.0
//
// The log for an examination after the fact: who read another thread's value in place of its own.
// read_log.cc has the definition.
#pragma once

#include <string_view>

#include "detectors/detector.h"
#include "detectors/mark_list.h"
#include "detectors/shadow.h"

namespace svd {

class ReadLog final : public Detector {
 public:
  explicit ReadLog(std::string_view name) : found_(name) {}

  void access(const Touch& access) override;
  void fresh(Addr address, std::uint64_t size) override { shadow_.clear(address, size); }
  std::vector<RawFinding> findings() override { return found_.list(); }

 private:
  struct Cell {
    Mark last;           // write
    MarkList by_thread;  // the last write of each thread, `last` among them
  };

  Shadow<Cell> shadow_;
  RawFindings found_;
};

}  // namespace svd
