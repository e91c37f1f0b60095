// SPDX-License-Identifier: Apache-2.0
//
// One scan that counts, and a look at the run's last instruction.

#include "analyze/info_facts.h"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <ctime>
#include <numeric>
#include <type_traits>
#include <utility>

#include "analyze/describe.h"
#include "analyze/listing.h"
#include "analyze/trace_input.h"

namespace svd::cli {
namespace {

class Counter {
 public:
  explicit Counter(Facts& facts) : facts_(facts) {}

  void chunk(const Chunk& chunk) {
    facts_.instructions += chunk.steps;
    facts_.executions += chunk.execs.size();
    for (std::uint32_t shape : chunk.execs) facts_.accesses += chunk.shapes[shape].accesses;
    for (const Event& event : chunk.events) {
      ++facts_.events[event.body.index()];
      std::visit([&](const auto& body) { special(event, body); }, event.body);
    }
  }

 private:
  void special(const Event&, const Note& note) { facts_.notes.emplace_back(note.text); }
  void special(const Event& event, const Gap& gap) {
    if (gap.cause == GapCause::kBeforeWindow || gap.cause == GapCause::kAfterWindow)
      facts_.windows.emplace_back(gap.reason);
    note_gap(event, gap, facts_.diagnostics);
  }
  void special(const Event&, const Signal& signal) {
    if (signal.fatal) facts_.fatal = signal;
  }
  void special(const Event&, const auto&) {}

  Facts& facts_;
};

class LastStep : public Listing {
 public:
  LastStep(const TraceReader& trace, const Names& names, Facts& facts)
      : trace_(trace), names_(names), facts_(facts) {}

  void step(const Step& step) override {
    facts_.last_place = step_place(step, trace_, names_);
    facts_.last_accesses = step_accesses(step, names_);
    if (step.abstract()) {
      const Statement& statement = step.statement(trace_);
      facts_.last_function = statement.function;
      facts_.last_statement = statement.text;
      facts_.last_file = statement.file;
      facts_.last_line = statement.line;
    } else if (const Symbol* function = names_.function(step.pc())) {
      facts_.last_function = function->name;
    }
  }
  void event(const Event&) override {}

 private:
  const TraceReader& trace_;
  const Names& names_;
  Facts& facts_;
};

template <std::size_t... kinds>
std::string_view name_of(std::size_t kind, std::index_sequence<kinds...>) {
  static constexpr std::array<std::string_view, sizeof...(kinds)> kNames{
      std::variant_alternative_t<kinds, EventBody>::kName...};
  return kNames[kind];
}

// Signals whose si_addr is an address: SIGILL, SIGTRAP, SIGBUS, SIGFPE, SIGSEGV.
bool is_fault(int signal) {
  return signal == 4 || signal == 5 || signal == 7 || signal == 8 || signal == 11;
}

}  // namespace

std::uint64_t Facts::event_count() const {
  return std::accumulate(events.begin(), events.end(), std::uint64_t{0});
}

std::string_view event_name(std::size_t kind) {
  return name_of(kind, std::make_index_sequence<std::variant_size_v<EventBody>>());
}

Facts gather(const TraceReader& trace, const Names& names,
             const std::function<void(Seq)>& progress) {
  Facts facts;
  facts.diagnostics = trace.diagnostics();
  Counter counter(facts);
  trace.scan(TraceReader::Order::kForward, Columns{.addresses = false, .values = false},
             facts.diagnostics, [&](const Chunk& chunk) {
               counter.chunk(chunk);
               progress(chunk.end_seq());
               return true;
             });
  if (facts.fatal && is_fault(facts.fatal->number)) facts.fault = facts.fatal->address;
  const Ending& ending = trace.ending();
  if (!ending.thread) return facts;
  Selection last;
  last.first = last.last = ending.seq;
  last.threads = {*ending.thread};
  LastStep step(trace, names, facts);
  Diagnostics told_by_the_scan;
  list(trace, last, Bounds(), step, told_by_the_scan, [](Seq) { return true; });
  return facts;
}

std::string ending_text(const Ending& ending) {
  switch (ending.kind) {
    case EndKind::kExit:
      return fmt::format("exit status {}", ending.value);
    case EndKind::kSignal:
      return "killed by " + signal_name(ending.value);
    case EndKind::kExec:
      return "replaced by exec";
    case EndKind::kUnknown:
      break;
  }
  return "end unknown";
}

std::string time_text(std::uint64_t nanoseconds) {
  auto seconds = static_cast<std::time_t>(nanoseconds / 1'000'000'000);
  return fmt::format("{:%Y-%m-%d %H:%M:%S} UTC", fmt::gmtime(seconds));
}

double per_instruction(std::uint64_t bytes, std::uint64_t instructions) {
  return instructions == 0 ? 0 : static_cast<double>(bytes) / static_cast<double>(instructions);
}

}  // namespace svd::cli
