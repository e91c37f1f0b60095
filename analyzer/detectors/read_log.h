// SPDX-License-Identifier: Apache-2.0
//
// The log for an examination after the fact: who read another thread's value in place of its own.
// read_log.cc has the definition.
#pragma once

#include <memory>
#include <string_view>

#include "detectors/history.h"

namespace svd {

class ReadLog final : public HistoryDetector {
 public:
  explicit ReadLog(std::string_view name,
                   std::shared_ptr<History> history = std::make_shared<History>())
      : HistoryDetector(name, std::move(history)) {}

  // Remembers the last write of each thread.
  bool look(HistoryCell& cell, Sight& sight) override;
};

}  // namespace svd
