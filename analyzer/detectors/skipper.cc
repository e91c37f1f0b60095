// SPDX-License-Identifier: Apache-2.0

#include "detectors/skipper.h"

#include "cfg/machine_code.h"
#include "decode/effects.h"

namespace svd {

Skipper::Skipper(const TraceReader& trace) {
  std::unordered_map<Pc, Pc> jumps;  // by the address behind them
  std::vector<std::pair<Pc, Pc>> branches;
  for (const Block& block : trace.blocks()) {
    std::span<const std::uint8_t> code = block.code;
    for (const Instruction& instruction : block.instructions) {
      if (code.size() < instruction.length) break;
      CodeStep step = decode_code(code.first(instruction.length), instruction.pc.value);
      code = code.subspan(instruction.length);
      Pc target(step.target);
      if (target <= instruction.pc) continue;
      if (step.flow == Flow::kJump) jumps[instruction.pc + instruction.length] = target;
      if (step.flow == Flow::kBranch) branches.emplace_back(instruction.pc, target);
    }
  }
  for (auto [pc, target] : branches) {
    auto jump = jumps.find(target);
    Pc end = jump == jumps.end() ? target : jump->second;
    reconvergence_[pc] = end;
    ends_.insert(end);
  }
}

}  // namespace svd
