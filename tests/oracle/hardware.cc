// SPDX-License-Identifier: Apache-2.0
#include "oracle/hardware.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "oracle/describe.h"

namespace svd::test {
namespace {

// Lengths of the contiguous runs of bytes, sorted.
std::vector<std::size_t> runs_of(const Bytes& bytes) {
  std::vector<std::size_t> runs;
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    if (!bytes[i]) continue;
    if (i == 0 || !bytes[i - 1]) runs.push_back(0);
    ++runs.back();
  }
  std::ranges::sort(runs);
  return runs;
}

// In how many windows there are any, and how long they are from the first to the last, together.
std::pair<std::size_t, std::size_t> spans_of(const Bytes& bytes) {
  std::size_t spans = 0, spanned = 0;
  for (std::size_t window = 0; window < kWindows; ++window) {
    std::size_t first = kWindowBytes, last = 0;
    for (std::size_t i = 0; i < kWindowBytes; ++i) {
      if (!bytes[window * kWindowBytes + i]) continue;
      first = std::min(first, i);
      last = i;
    }
    if (first == kWindowBytes) continue;
    ++spans;
    spanned += last + 1 - first;
  }
  return {spans, spanned};
}

std::vector<std::size_t> sizes_of(const InstrEffects& effects, bool write) {
  std::vector<std::size_t> sizes;
  for (const MemoryOperand& memory : effects.memory)
    if (memory.write == write) sizes.push_back(memory.size);
  std::ranges::sort(sizes);
  return sizes;
}

bool same_memory(const std::vector<std::size_t>& claimed, const std::vector<std::size_t>& seen) {
  if (claimed.empty() || claimed.front() != 0) return claimed == seen;
  return !seen.empty();  // a range
}

class Comparison {
 public:
  Comparison(const InstrEffects& effects, const Observation& seen)
      : effects_(effects), seen_(seen) {}

  std::vector<Difference> run() {
    std::array<Lanes, kRegCount> reads{}, writes{};
    for (const RegUse& use : effects_.uses) reads[static_cast<std::size_t>(use.reg)] |= use.lanes;
    for (const RegDef& def : effects_.defs) writes[static_cast<std::size_t>(def.reg)] |= def.lanes;
    for (std::size_t i = 0; i < kRegCount; ++i) {
      auto reg = static_cast<Reg>(i);
      lanes(Claim::kMissingRead, reg, seen_.reads[i] & ~reads[i]);
      lanes(Claim::kExtraRead, reg, reads[i] & ~seen_.reads[i]);
      lanes(Claim::kMissingWrite, reg, seen_.writes[i] & ~writes[i]);
      lanes(Claim::kExtraWrite, reg, writes[i] & ~seen_.writes[i]);
    }
    memory(false, seen_.memory_reads);
    memory(true, seen_.memory_writes);
    return std::move(out_);
  }

 private:
  void lanes(Claim claim, Reg reg, int lanes) {
    if (lanes != 0) out_.push_back({claim, reg, static_cast<Lanes>(lanes), {}});
  }

  void memory(bool write, const Bytes& bytes) {
    auto claimed = sizes_of(effects_, write), seen = runs_of(bytes);
    if (same_memory(claimed, seen)) return;
    if (seen_.roams && !claimed.empty() && !seen.empty()) return;
    // Holes are bytes that were not seen; what lies outside of the claimed size was not claimed.
    std::size_t claimed_bytes = std::accumulate(claimed.begin(), claimed.end(), std::size_t{0});
    auto [spans, spanned] = spans_of(bytes);
    bool missing = spans > claimed.size() || spanned > claimed_bytes;
    Claim claim = write ? missing ? Claim::kMissingWrite : Claim::kExtraWrite
                        : (missing ? Claim::kMissingRead : Claim::kExtraRead);
    out_.push_back(
        {claim, Reg::kCount, 0,
         fmt::format("memory, claimed {} seen {}", fmt::join(claimed, "+"), fmt::join(seen, "+"))});
  }

  const InstrEffects& effects_;
  const Observation& seen_;
  std::vector<Difference> out_;
};

}  // namespace

std::string describe(const Difference& difference) {
  constexpr const char* kClaims[] = {"missing read", "missing write", "extra read", "extra write"};
  return fmt::format("{} {}", kClaims[static_cast<std::size_t>(difference.claim)],
                     difference.reg == Reg::kCount ? difference.memory
                                                   : describe(difference.reg, difference.lanes));
}

std::vector<Difference> compare(const InstrEffects& effects, const Observation& seen) {
  return Comparison(effects, seen).run();
}

HardwareResult HardwareOracle::check(const Code& code) {
  HardwareResult result;
  Experiment experiment = prepare(front_, code, machine_);
  result.left_out = experiment.left_out;
  if (!result.left_out.empty()) return result;
  front_.decode(experiment.code, result.instruction);
  result.effects = decoder_.decode(experiment.code, Pc{machine_.code_address()});
  if (!result.effects.known) {
    result.left_out = "unknown to the decoder";
    return result;
  }
  Observation seen = observe(machine_, experiment, result.effects);
  result.left_out = seen.left_out;
  result.runs = seen.runs;
  if (result.left_out.empty()) result.differences = compare(result.effects, seen);
  return result;
}

}  // namespace svd::test
