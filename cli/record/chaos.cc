// SPDX-License-Identifier: Apache-2.0

#include "record/chaos.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <random>

namespace svd::cli {
namespace {

constexpr std::uint32_t kLeastQuantum = 2;
constexpr std::uint32_t kMostQuantum = 1U << 30;
constexpr std::uint32_t kStrengthFactor = 10;
constexpr std::uint64_t kSeeds = 1'000'000;

// By turns over neighbouring seeds: those of even number are random, the others by priority.
constexpr std::array kRandomQuanta{50U, 1'000U, 200U, 20'000U};
constexpr std::array kPctQuanta{200U, 50U, 5'000U, 100'000U};
constexpr std::array kDepths{100'000U, 1'000U, 10U};

template <class T>
bool read_number(std::string_view text, T& number) {
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc() && end == text.data() + text.size() && !text.empty();
}

bool read_setting(std::string_view word, std::string_view name,
                  std::optional<std::uint32_t>& value) {
  if (!word.starts_with(name) || !word.substr(name.size()).starts_with("=")) return false;
  std::uint32_t number = 0;
  if (!read_number(word.substr(name.size() + 1), number) || number == 0 || number > kMostQuantum)
    return false;
  value = number;
  return true;
}

}  // namespace

std::vector<std::string> Chaos::tool_options() const {
  return {by_priority ? "--sched=pct" : "--sched=random", fmt::format("--seed={}", seed),
          fmt::format("--quantum={}", quantum), fmt::format("--depth={}", depth)};
}

std::string Chaos::describe() const {
  if (!by_priority) return fmt::format("seed {} (random, quantum {})", seed, quantum);
  return fmt::format("seed {} (pct, quantum {}, depth {})", seed, quantum, depth);
}

std::optional<ChaosRequest> ChaosRequest::parse(std::string_view text) {
  ChaosRequest request;
  while (!text.empty()) {
    std::string_view word = text.substr(0, text.find(','));
    text.remove_prefix(std::min(text.size(), word.size() + 1));
    std::uint64_t seed = 0;
    if (word == "random" || word == "pct") {
      request.by_priority = word == "pct";
    } else if (word == "weak" || word == "strong") {
      request.strength = word == "weak" ? Strength::kWeak : Strength::kStrong;
    } else if (read_number(word, seed) && seed < std::uint64_t{1} << 62U) {
      request.seed = seed;
    } else if (!read_setting(word, "quantum", request.quantum) &&
               !read_setting(word, "depth", request.depth)) {
      return std::nullopt;
    }
  }
  return request;
}

Chaos ChaosRequest::with(std::uint64_t run_seed) const {
  Chaos chaos;
  chaos.seed = run_seed;
  chaos.by_priority = by_priority.value_or(run_seed % 2 == 1);
  std::uint64_t row = run_seed / 2;
  chaos.quantum = chaos.by_priority ? kPctQuanta[row % kPctQuanta.size()]
                                    : kRandomQuanta[row % kRandomQuanta.size()];
  if (strength == Strength::kStrong)
    chaos.quantum = std::max(kLeastQuantum, chaos.quantum / kStrengthFactor);
  if (strength == Strength::kWeak) chaos.quantum *= kStrengthFactor;
  chaos.quantum = quantum.value_or(chaos.quantum);
  if (chaos.by_priority) chaos.depth = depth.value_or(kDepths[row % kDepths.size()]);
  return chaos;
}

std::uint64_t any_seed() { return std::random_device()() % kSeeds; }

}  // namespace svd::cli
