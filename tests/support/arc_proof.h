// SPDX-License-Identifier: Apache-2.0
//
// Read-after-write arcs proved by values: what an instance loaded is what the instance that the arc
// leads to stored there, whether it was a store or the kernel that wrote for it.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "dpdg/program_model.h"

namespace svd::test {

struct ArcProof {
  std::uint64_t arcs = 0;    // through memory, within threads and between them
  std::uint64_t remote = 0;  // of them: between threads
  std::uint64_t equal = 0;
  std::uint64_t wrong = 0;
  std::map<std::string, std::uint64_t> unknown{};  // by why there is no value to compare
  std::vector<std::string> findings{};             // the first wrong ones, in words

  std::string describe() const;
};

ArcProof prove_arcs(const TraceReader& trace, const ProgramModel& model);

}  // namespace svd::test
