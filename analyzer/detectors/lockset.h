// SPDX-License-Identifier: Apache-2.0
//
// Data that no lock protects consistently: Eraser's state machine. lockset.cc has it.
#pragma once

#include <string_view>

#include "detectors/detector.h"
#include "detectors/shadow.h"

namespace svd {

class LocksetDetector final : public Detector {
 public:
  // `lock_sets` must outlive it.
  LocksetDetector(std::string_view name, LockSets& lock_sets)
      : lock_sets_(lock_sets), found_(name) {}

  void access(const Touch& access) override;
  void fresh(Addr address, std::uint64_t size) override { shadow_.clear(address, size); }
  std::vector<RawFinding> findings() override { return found_.list(); }

 private:
  enum class State : std::uint8_t { kVirgin, kExclusive, kShared, kModified };
  struct Cell {
    Mark last;   // access, mostly
    Mark other;  // the last one of another thread than `last`
    LockSetId candidates = kNoLocks;
    State state = State::kVirgin;
  };

  void look(Cell& cell, const Touch& access, Addr address, std::uint64_t size);

  LockSets& lock_sets_;
  Shadow<Cell> shadow_;
  RawFindings found_;
};

}  // namespace svd
