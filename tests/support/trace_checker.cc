// SPDX-License-Identifier: Apache-2.0

#include "support/trace_checker.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "support/flow_checker.h"
#include "support/value_checker.h"

namespace svd::test {
namespace {

class Walk {
 public:
  Walk(const TraceReader& trace, const CheckOptions& options, TraceCheck& result)
      : options_(options),
        result_(result),
        flow_(trace.blocks()),
        values_(options.shadow_pages),
        counted_(counted_blocks(trace, options)) {}

  void exec(const Exec& exec) {
    if (counted_[exec.shape->id.value]) count(exec);
    if (auto problem = flow_.exec(exec)) {
      ++result_.illegal_transitions;
      find(*problem);
    }
    values_.exec(exec);
  }

  void event(const Event& event) {
    flow_.event(event);
    values_.event(event);
  }

  void find(std::string what) {
    if (result_.findings.size() < options_.most_findings) {
      result_.findings.push_back(std::move(what));
    }
  }

  void finish_chunk() {
    for (std::string& finding : values_.take_findings()) find(std::move(finding));
  }

  void finish() {
    values_.finish();
    finish_chunk();
    result_.transitions = flow_.transitions();
    result_.indirect_transitions = flow_.indirect();
    result_.loads = values_.loads();
    result_.loads_equal = values_.equal();
    result_.loads_wrong = values_.wrong();
    result_.loads_unknown = values_.unknown();
  }

 private:
  static std::vector<char> counted_blocks(const TraceReader& trace, const CheckOptions& options) {
    std::vector<char> counted(trace.blocks().size(), 1);
    for (const Module& module : trace.modules()) {
      if (module.path.find(options.uncounted_module) == std::string::npos) continue;
      for (std::size_t i = 0; i < counted.size(); ++i) {
        const Block& block = trace.blocks()[i];
        if (block.instructions.empty()) continue;
        std::uint64_t pc = block.instructions[0].pc.value;
        for (const Segment& segment : module.segments) {
          std::uint64_t start = segment.address.value;
          if (pc >= start && pc < start + segment.size) counted[i] = 0;
        }
      }
    }
    return counted;
  }

  void count(const Exec& exec) {
    TraceCheck::Counts& counts = result_.counts;
    counts.instructions += exec.shape->part.steps();
    exec.accesses([&](const MemoryAccess& access) {
      ++(access.slot->write ? counts.stores : counts.loads);
      bool odd = access.size > 32 || !std::has_single_bit(access.size);
      if (odd) ++(access.slot->write ? counts.odd_stores : counts.odd_loads);
      counts.locked += access.slot->atomic && access.slot->write;
    });
  }

  const CheckOptions& options_;
  TraceCheck& result_;
  FlowChecker flow_;
  ValueChecker values_;
  std::vector<char> counted_;  // by block
};

}  // namespace

double TraceCheck::share_equal() const {
  std::uint64_t checkable = loads_equal + loads_wrong;
  return checkable == 0 ? 1.0 : static_cast<double>(loads_equal) / static_cast<double>(checkable);
}

std::string TraceCheck::describe() const {
  std::string text = fmt::format(
      "{} instructions, {} loads, {} stores, {} locked\n"
      "{} transitions, {} of them indirect, {} illegal\n"
      "{} loads with a value: {} equal, {} wrong ({:.5f} % of the checkable are equal)\n",
      counts.instructions, counts.loads, counts.stores, counts.locked, transitions,
      indirect_transitions, illegal_transitions, loads, loads_equal, loads_wrong,
      100 * share_equal());
  for (const auto& [reason, count] : loads_unknown) {
    text += fmt::format("  {} not checkable: {}\n", count, reason);
  }
  for (const std::string& finding : findings) text += "  " + finding + "\n";
  return text;
}

TraceCheck check_trace(const TraceReader& trace, const CheckOptions& options) {
  TraceCheck result;
  Walk walk(trace, options, result);
  Diagnostics losses;
  trace.scan(TraceReader::Order::kForward, {}, losses, [&](const Chunk& chunk) {
    chunk.walk(walk);
    walk.finish_chunk();
    return true;
  });
  walk.finish();
  for (const Diagnostic& loss : losses.list()) walk.find(loss.name + ": " + loss.text);
  return result;
}

}  // namespace svd::test
