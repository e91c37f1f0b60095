// SPDX-License-Identifier: Apache-2.0
//
// Data that no lock protects consistently: Eraser's state machine. lockset.cc has it.
#pragma once

#include <memory>
#include <string_view>

#include "detectors/history.h"

namespace svd {

class LocksetDetector final : public HistoryDetector {
 public:
  // `lock_sets` must outlive it.
  LocksetDetector(std::string_view name, LockSets& lock_sets,
                  std::shared_ptr<History> history = std::make_shared<History>())
      : HistoryDetector(name, std::move(history)), lock_sets_(lock_sets) {}

  bool look(HistoryCell& cell, Sight& sight) override;

 private:
  // Of a cell. Its last access is remembered, and the last one of another thread than that one.
  enum State : std::uint32_t { kVirgin, kExclusive, kShared, kModified };

  LockSets& lock_sets_;
};

}  // namespace svd
