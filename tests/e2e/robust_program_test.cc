// SPDX-License-Identifier: Apache-2.0
//
// Programs behave under svd-record as they do without it, whatever they do, and their traces say
// so. Every way to crash and to end; those that do not end by themselves are in
// robust_interrupt_test.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <algorithm>

#include "e2e/record.h"
#include "support/trace_checker.h"

namespace svd::test {
namespace {

using testing::HasSubstr;

std::string test_name(const testing::TestParamInfo<std::string>& info) {
  std::string name = info.param;
  for (char& c : name) {
    if (std::isalnum(static_cast<unsigned char>(c)) == 0) c = '_';
  }
  return name;
}

template <class EventType>
std::vector<EventType> events(const TraceReader& trace) {
  std::vector<EventType> found;
  Diagnostics losses;
  trace.scan(TraceReader::Order::kForward, Columns{.addresses = false, .values = false}, losses,
             [&](const Chunk& chunk) {
               for (const Event& event : chunk.events) {
                 if (const auto* body = std::get_if<EventType>(&event.body)) found.push_back(*body);
               }
               return true;
             });
  return found;
}

// ---- It ends as it ends natively ----

class Ends : public testing::TestWithParam<std::string> {};

TEST_P(Ends, AsWithoutUs) {
  CommandResult native = run_command(program(GetParam()));
  Recording recording(program(GetParam()));
  EXPECT_EQ(ending(recording.result()), ending(native)) << recording.result().err;
  EXPECT_EQ(recording.result().out, native.out);
  EXPECT_EQ(unsound(recording.path()), "");
  const TraceReader& trace = recording.trace();
  EXPECT_TRUE(trace.complete()) << complaints(trace);
  EXPECT_EQ(complaints(trace), "");
  EXPECT_EQ(ending(trace), ending(native));
  EXPECT_EQ(check_trace(trace).illegal_transitions, 0U);
}

INSTANTIATE_TEST_SUITE_P(Exits, Ends,
                         testing::Values("exits return", "exits exit", "exits _exit",
                                         "exits quick_exit", "exits from-thread",
                                         "exits main-first"),
                         test_name);

INSTANTIATE_TEST_SUITE_P(Crashes, Ends,
                         testing::Values("crash segv", "crash segv-read", "crash jump", "crash fpe",
                                         "crash ill", "crash trap", "crash abort", "crash term",
                                         "crash bus", "crash overflow", "crash overflow-handled",
                                         "crash in-handler", "crash thread-segv",
                                         "crash thread-fpe", "crash thread-abort",
                                         "crash thread-overflow", "crash-static segv",
                                         "crash-static thread-abort", "exceptions uncaught"),
                         test_name);

INSTANTIATE_TEST_SUITE_P(Others, Ends,
                         testing::Values("fork_many 100", "longjmp", "many_threads 10000 128",
                                         "mappings", "signals", "exceptions-static", "nothing"),
                         test_name);

TEST(Ends, ByAFailedAssertion) {
  Recording recording(program("crash assert"));
  EXPECT_EQ(ending(recording.result()), "signal 6");
  EXPECT_THAT(recording.result().err, HasSubstr("Assertion `zero == 1' failed"));
  EXPECT_EQ(ending(recording.trace()), "signal 6");
}

TEST(Ends, ByADoubleFree) {
  Recording recording(program("crash double-free"));
  EXPECT_EQ(ending(recording.result()), "signal 6");
  EXPECT_EQ(ending(recording.trace()), "signal 6");
}

// ---- The fatal instruction ----

TEST(Crash, TheLastInstructionIsTheOneThatFaulted) {
  for (const char* how : {"crash segv", "crash thread-segv", "crash fpe", "crash-static segv"}) {
    Recording recording(program(how));
    const TraceReader& trace = recording.trace();
    const Ending& end = trace.ending();
    std::vector<Signal> signals = events<Signal>(trace);
    ASSERT_FALSE(signals.empty()) << how;
    EXPECT_TRUE(signals.back().fatal) << how;
    EXPECT_EQ(end.pc, signals.back().pc) << how;
    ASSERT_TRUE(end.thread.has_value()) << how;
    EXPECT_EQ(end.thread->value == 1, std::string(how).find("thread") == std::string::npos) << how;
    if (signals.back().number == SIGSEGV) {
      EXPECT_EQ(signals.back().address.value, 0x10U) << how;
    }
  }
}

TEST(Crash, InAHandlerTellsBothSignals) {
  Recording recording(program("crash in-handler"));
  std::vector<Signal> signals = events<Signal>(recording.trace());
  ASSERT_EQ(signals.size(), 2U);
  EXPECT_FALSE(signals[0].fatal);
  EXPECT_NE(signals[0].handler.value, 0U);
  EXPECT_TRUE(signals[1].fatal);
}

// ---- Memory, threads, code ----

TEST(Threads, TenThousandAreAllThere) {
  Recording recording(program("many_threads 10000 128"));
  EXPECT_EQ(recording.result().out, "threads 10000 sum 49995000\n");
  const TraceReader& trace = recording.trace();
  EXPECT_EQ(trace.threads().size(), 10001U);
  EXPECT_EQ(events<ThreadStart>(trace).size(), 10001U);
  EXPECT_EQ(events<ThreadCreate>(trace).size(), 10000U);
  std::vector<ThreadJoin> joins = events<ThreadJoin>(trace);
  auto ended = std::count_if(joins.begin(), joins.end(),
                             [](const ThreadJoin& join) { return join.phase != Phase::kBegin; });
  EXPECT_EQ(ended, 10000);
}

TEST(Threads, HaveTheNamesThatTheyGive) {
  Recording recording(program("thread_life"));
  std::vector<std::string> names;
  for (const ThreadInfo& thread : recording.trace().threads()) names.push_back(thread.name);
  EXPECT_THAT(names, testing::Contains("returner"));
  EXPECT_THAT(names, testing::Contains("waits-for-ever"));
}

TEST(Memory, AGigabyte) {
  CommandOptions patient;
  patient.patience = std::chrono::seconds(240);
  Recording recording(program("big_memory 1024"), {}, patient);
  EXPECT_EQ(ending(recording.result()), "exit 0") << recording.result().err;
  EXPECT_THAT(recording.result().out, HasSubstr("pieces 16 "));
  EXPECT_EQ(unsound(recording.path()), "");
}

TEST(Modules, LoadedAndUnloaded) {
  std::vector<std::string> words = program("dlopen_plugin");
  words.push_back(SVD_PROGRAM_DIR "/plugin.so");
  Recording recording(words);
  EXPECT_EQ(recording.result().out, run_command(words).out);
  const TraceReader& trace = recording.trace();
  std::vector<ModuleId> plugins;
  for (std::size_t i = 0; i < trace.modules().size(); ++i) {
    const Module& module = trace.modules()[i];
    if (module.path.find("plugin.so") == std::string::npos) continue;
    EXPECT_FALSE(module.build_id.empty());
    plugins.emplace_back(static_cast<std::uint32_t>(i));
  }
  EXPECT_FALSE(plugins.empty());
  auto of_plugin = [&](const auto& list) {
    return std::count_if(list.begin(), list.end(), [&](const auto& event) {
      return std::find(plugins.begin(), plugins.end(), event.module) != plugins.end();
    });
  };
  EXPECT_EQ(of_plugin(events<ModuleLoad>(trace)), 3);
  EXPECT_EQ(of_plugin(events<ModuleUnload>(trace)), 3);
  EXPECT_EQ(check_trace(trace).illegal_transitions, 0U);
}

}  // namespace
}  // namespace svd::test
