// SPDX-License-Identifier: Apache-2.0
//
// STD logs come back as they were; other traces as documented in std_log.h.

#include "svd/trace/std_log.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <filesystem>
#include <fstream>
#include <sstream>
#include <tuple>

#include "support/random_trace.h"
#include "support/small_trace.h"
#include "support/trace_builder.h"

namespace svd::test {
namespace {

using testing::HasSubstr;

TraceReader imported(const std::string& log, const TempFile& file) {
  auto status = import_std(log, "log", into(file));
  EXPECT_TRUE(status) << status.error().describe();
  return open_trace(file);
}

std::string exported(const TraceReader& trace, Diagnostics& diagnostics) {
  std::ostringstream out;
  EXPECT_TRUE(export_std(trace, out, diagnostics));
  return out.str();
}

std::string there_and_back(const std::string& log) {
  TempFile file;
  Diagnostics diagnostics;
  std::string result = exported(imported(log, file), diagnostics);
  EXPECT_TRUE(diagnostics.list().empty());
  return result;
}

RC_GTEST_PROP(StdLog, EveryLogSurvives, ()) {
  auto seed = *rc::gen::resize(1000, rc::gen::arbitrary<std::uint64_t>());
  std::string log = random_std_log(seed, *rc::gen::inRange<std::size_t>(0, 40));
  RC_ASSERT(there_and_back(log) == log);
}

TEST(StdLog, OracleSurvives) {
  std::size_t cases = 0;
  for (const auto& entry : std::filesystem::directory_iterator(SVD_STD_ORACLE "/cases")) {
    std::string log = read_file(entry.path());
    ASSERT_EQ(there_and_back(log), log) << entry.path();
    ++cases;
  }
  EXPECT_EQ(cases, 240U);
}

TEST(StdLog, HowEventsAreKept) {
  TempFile file;
  TraceReader trace = imported(
      "T0|fork(T7)|10\n"
      "T7|acq(L)|11\n"
      "T7|w(x)|12\n"
      "T7|rel(L)|13\n"
      "T0|r(x)|12\n"
      "main|begin(m)|14\n",
      file);
  EXPECT_EQ(trace.steps(), 6U);
  EXPECT_EQ(text_of(trace),
            "svd-trace 1\nprocess engine=std has-values=false\n"
            "lock L @0x200000000\nvar x 4 @0x100000000\n"
            "stmt 10\nstmt 11\nstmt 12\nstmt 13\nstmt 14\n"
            "T0 thread-start name=T0\nT0 10\nT0 create T7\nT7 thread-start name=T7\n"
            "T7 11\nT7 lock L\nT7 12 w x\nT7 13\nT7 unlock L\nT0 12 r x\n"
            "T2147483648 thread-start parent=T2147483648 name=main\n"
            "T2147483648 14\nT2147483648 atomic begin name=m\n");
}

TEST(StdLog, NumberedLogsKeepNoStatementAnEvent) {
  TempFile file;
  TraceReader trace = imported("T0|w(x)|1\nT1|w(y)|2\nT1|r(x)|3\n", file);
  EXPECT_EQ(trace.statements().size(), 2U);
}

TEST(StdLog, ErrorsAreSaid) {
  TempFile file;
  auto error_of = [&](const char* log) {
    auto status = import_std(log, "log", into(file));
    return status ? std::string() : status.error().describe();
  };
  EXPECT_THAT(error_of("T0|r(x)|1\nT0|w(x)\n"),
              HasSubstr("log:2: expected THREAD|OP(OPERAND)|LOCATION"));
  EXPECT_THAT(error_of("\n\nT0|ackq(x)|1\n"),
              HasSubstr("log:3: no operation is called 'ackq' (did you mean 'acq'?)"));
  EXPECT_THAT(error_of("T0|r()|1\n"), HasSubstr("log:1"));
  EXPECT_THAT(error_of("|r(x)|1\n"), HasSubstr("log:1"));
  EXPECT_THAT(error_of("T0|r(x)|"), HasSubstr("log:1"));
  EXPECT_THAT(error_of("T0"), HasSubstr("log:1"));
}

// What is read of a file that holds the log.
Result<TraceReader> read_as_is(const std::string& log, const TempFile& file) {
  std::ofstream(file.path()) << log;
  return TraceReader::open(file.path());
}

TEST(StdLog, IsReadAsItIs) {
  std::string long_names = "a name of a thread|w(a name of a variable)|a location\n";
  std::string many;  // of several chunks
  for (int i = 0; i < 70'000; ++i) many += fmt::format("T{}|w(V{})|{}\n", i % 7, i % 900, i % 50);
  for (const std::string& log :
       {random_std_log(1, 40), random_std_log(2, 400), long_names + long_names, many}) {
    TempFile trace_file;
    TempFile log_file;
    TraceReader trace = imported(log, trace_file);
    auto as_is = read_as_is(log, log_file);
    ASSERT_TRUE(as_is) << as_is.error().describe();
    EXPECT_EQ(text_of(*as_is), text_of(trace));
    EXPECT_EQ(as_is->steps(), trace.steps());
    EXPECT_TRUE(as_is->complete());
    ASSERT_EQ(as_is->threads().size(), trace.threads().size());
    for (std::size_t i = 0; i < trace.threads().size(); ++i) {
      const ThreadInfo& is = as_is->threads()[i];
      const ThreadInfo& was = trace.threads()[i];
      EXPECT_EQ(std::tie(is.id, is.parent, is.name, is.steps, is.first_seq, is.last_seq),
                std::tie(was.id, was.parent, was.name, was.steps, was.first_seq, was.last_seq));
    }
    Chunk chunk;
    std::uint64_t text_bytes = 0;
    for (std::size_t i = 0; i < as_is->chunks().size(); ++i) {
      const ChunkInfo& info = as_is->chunks()[i];
      ASSERT_TRUE(as_is->decode(i, chunk));
      EXPECT_EQ(chunk.events.size(), info.events);
      EXPECT_EQ(chunk.addresses.size(), info.accesses);
      EXPECT_EQ(chunk.steps, info.steps);
      EXPECT_EQ(info.offset, text_bytes);
      text_bytes += info.bytes;
    }
    EXPECT_EQ(text_bytes, log.size());
  }
}

TEST(StdLog, WhatIsNoLogIsRefused) {
  TempFile file;
  auto error_of = [&](const std::string& text) {
    auto read = read_as_is(text, file);
    return read ? std::string() : read.error().describe();
  };
  EXPECT_THAT(error_of("a text of more than a few words, and no trace"),
              HasSubstr("is not an svd trace"));
  EXPECT_THAT(error_of("T0|r(x)|1\nT0|r(x)|2\nT0|r(|3\n"),
              HasSubstr(file.path() + ":3: expected THREAD|OP(OPERAND)|LOCATION"));
}

TEST(StdLog, OtherTracesAsCloseAsPossible) {
  TempFile file;
  TraceReader trace = assembled(
      "svd-trace 1\nvar x 4\nvar big 100\nlock L\nstmt 1.1\nblock m\ninsn 0x401000 90 w8\n"
      "T1 create T2\nT1 1.1 r x w x[0..1]\nT1 1.1 r* 0x50:16 w x[0..1]\nT1 lock L\nT1 lock L "
      "result=16\n"
      "T1 rwlock-rdlock L\nT1 cond-signal 0x900\nT2 block m 0x1000\nT2 kernel write big 50\nT1 "
      "join T2\n",
      file);
  Diagnostics diagnostics;
  EXPECT_EQ(
      exported(trace, diagnostics),
      "T1|fork(T2)|0\nT1|r(x)|1.1\nT1|w(x)|1.1\nT1|r(0x50)|1.1\nT1|r(0x58)|1.1\nT1|w(x)|1.1\n"
      "T1|acq(L)|1.1\nT1|acq(L)|1.1\nT2|w(0x1000)|4198400\nT2|w(big)|4198400\nT1|join(T2)|1.1\n");
  std::vector<std::pair<std::string, std::uint64_t>> said;
  for (const Diagnostic& diagnostic : diagnostics.list())
    said.emplace_back(diagnostic.name, diagnostic.count);
  EXPECT_THAT(said, testing::ElementsAre(
                        std::pair("widened-accesses", 3), std::pair("expanded-accesses", 1),
                        std::pair("shared-locks", 1), std::pair("left-out-cond-signal", 1)));
}

}  // namespace
}  // namespace svd::test
