// SPDX-License-Identifier: Apache-2.0
#include "slicer/failure.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <cstring>
#include <optional>

namespace svd {
namespace {

// Control came here because an exception found no handler, or none but one that must not be left.
constexpr std::array<std::string_view, 4> kTerminates{
    "std::terminate", "__cxa_call_terminate", "__clang_call_terminate", "__cxxabiv1::__terminate"};

// Functions that end the program by their own decision: their arguments say nothing of why.
constexpr std::array<std::string_view, 9> kDecided{
    "abort",       "__assert_fail", "__assert_perror_fail", "__assert",      "raise",
    "__cxa_throw", "__cxa_rethrow", "std::terminate",       "__fortify_fail"};

template <std::size_t N>
bool is_one_of(std::string_view name, const std::array<std::string_view, N>& names) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

// The last call of a function by a thread: the first instruction that it ran there.
std::optional<Seq> last_call(const TraceReader& trace, ThreadId thread,
                             const std::vector<Pc>& entries, Diagnostics& diagnostics) {
  struct Walk {
    ThreadId thread;
    const std::vector<Pc>& entries;
    std::optional<Seq> found;
    void event(const Event&) {}
    void exec(const Exec& exec) {
      if (exec.thread != thread || found || exec.block().abstract()) return;
      Pc pc = exec.block().instructions[exec.shape->part.first].pc;
      if (std::find(entries.begin(), entries.end(), pc) != entries.end()) found = exec.seq;
    }
  } walk{thread, entries, {}};
  trace.scan(TraceReader::Order::kBackward,
             {.addresses = false, .values = false, .events = kNoEvents}, diagnostics,
             [&](const Chunk& chunk) {
               chunk.walk_back(walk);
               return !walk.found;
             });
  return walk.found;
}

std::string signal_text(int number) {
  const char* name = sigabbrev_np(number);
  return name == nullptr ? fmt::format("signal {}", number)
                         : fmt::format("signal {} (SIG{})", number, name);
}

}  // namespace

Result<Failure> find_failure(const TraceReader& trace, const ControlFlow& flow,
                             InstanceReader& instances, SourceMap& source,
                             Diagnostics& diagnostics) {
  const Ending& ending = trace.ending();
  Failure failure;
  if (!ending.thread || trace.steps() == 0)
    return Error{ErrorKind::kUsage,
                 {},
                 {},
                 {},
                 "the trace does not say how the run ended; name a criterion"};
  ThreadId thread = *ending.thread;
  instances.ask(ending.seq);
  instances.ask_stack(ending.seq, thread, kAllCalls);
  instances.answer(diagnostics);
  const InstanceFacts& last = instances.facts(ending.seq);
  if (last.step == nullptr)
    return Error{ErrorKind::kUsage, {}, {}, {}, "the last instruction was lost; name a criterion"};

  // The innermost call from the program's own code, and the function that it called.
  bool own = last.step->statement.value != 0 || source.is_own(last.step->pc);
  failure.at = last.instance;
  // That a call is made which cannot return is what was decided; the outermost one counts.
  std::string_view callee;
  std::optional<Seq> fatal;
  auto find_call = [&](Seq before, Pc inner) {
    std::vector<Seq> stack = instances.stack(before, thread).calls;
    for (Seq call : stack) instances.ask(call);
    instances.answer(diagnostics);
    bool terminates = false;
    fatal.reset();
    for (std::size_t i = stack.size(); i-- > 0;) {
      const InstanceFacts& call = instances.facts(stack[i]);
      if (call.step == nullptr || call.instance.thread != thread) continue;
      callee = source.at(inner).frames.back().function;
      terminates = terminates || is_one_of(callee, kTerminates);
      std::uint32_t called = flow.at(inner).function;
      if (called != kNoFunction && flow.functions()[called].noreturn) fatal = stack[i];
      if (source.is_own(call.step->pc)) {
        failure.at = call.instance;
        return terminates;
      }
      inner = call.step->pc;
    }
    return terminates;
  };
  if (!own && find_call(ending.seq, last.step->pc)) {
    // The stack may be unwound already: what counts is who threw.
    auto thrown = last_call(trace, thread, source.entries_of_function("__cxa_throw"), diagnostics);
    if (thrown) {
      instances.ask(*thrown);
      instances.ask_stack(*thrown, thread, kAllCalls);
      instances.answer(diagnostics);
      find_call(*thrown, instances.facts(*thrown).step->pc);
    }
  }

  bool at_call = failure.at.seq != ending.seq;
  auto decision = [&](Seq call) {
    failure.criteria.push_back(
        {.seq = call, .thread = thread, .values = false, .addresses = false});
  };
  switch (ending.kind) {
    case EndKind::kSignal:
      failure.what = "died of " + signal_text(ending.value);
      failure.failed = true;
      if (is_fault(ending.value)) {
        failure.criteria.push_back({.seq = ending.seq,
                                    .thread = thread,
                                    .values = ending.value == SIGFPE,
                                    .control = !at_call});
        if (at_call) decision(failure.at.seq);
      } else {
        decision(failure.at.seq);
        if (at_call && !is_one_of(callee, kDecided)) {
          failure.criteria.back().registers.push_back(Reg::kRdi);
          if (fatal && *fatal != failure.at.seq) decision(*fatal);
        }
      }
      break;
    case EndKind::kExit:
      failure.what = fmt::format("exited with status {}", ending.value);
      failure.failed = ending.value != 0;
      failure.criteria.push_back({.seq = ending.seq,
                                  .thread = thread,
                                  .values = false,
                                  .addresses = false,
                                  .control = false,
                                  .registers = {Reg::kRdi}});
      if (at_call) decision(failure.at.seq);
      break;
    default:
      failure.what = "the end of the run is not in the trace";
      failure.criteria.push_back({.seq = ending.seq, .thread = thread});
  }
  return failure;
}

}  // namespace svd
