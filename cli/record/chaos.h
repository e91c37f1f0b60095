// SPDX-License-Identifier: Apache-2.0
//
// Chaos: a schedule that is drawn from a seed, in which bugs show that seldom show otherwise. The
// scheduling itself is the tool's (recorder/tool/svd_sched.c); here is decided how a seed is run,
// so that a row of seeds has short turns and long ones, random ones and such by priority.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace svd::cli {

struct Chaos {
  std::uint64_t seed = 0;
  bool by_priority = false;   // pct; otherwise random
  std::uint32_t quantum = 0;  // accesses: of a turn; pct: between change points
  std::uint32_t depth = 0;    // pct: how many change points

  std::vector<std::string> tool_options() const;
  // "seed 17 (pct, quantum 1000, depth 3)"
  std::string describe() const;
};

// What --chaos was given: words separated by commas. What it leaves open follows from the seed.
struct ChaosRequest {
  std::optional<std::uint64_t> seed;
  std::optional<bool> by_priority;
  std::optional<std::uint32_t> quantum;
  std::optional<std::uint32_t> depth;
  enum class Strength { kWeak, kNormal, kStrong } strength = Strength::kNormal;

  // Nothing when the words are not those of a request.
  static std::optional<ChaosRequest> parse(std::string_view text);
  Chaos with(std::uint64_t run_seed) const;
};

// Short enough to be typed again.
std::uint64_t any_seed();

}  // namespace svd::cli
