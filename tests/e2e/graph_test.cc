// SPDX-License-Identifier: Apache-2.0
//
// The dependence graph of recorded programs: the arcs are those of the definition, and values prove
// those through memory.

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <iostream>

#include "e2e/examples.h"
#include "e2e/record.h"
#include "support/arc_proof.h"
#include "support/reference_graph.h"

namespace svd::test {
namespace {

// ---- Against the definition ----

constexpr std::uint64_t kCut = 300'000;  // instructions; the reference takes seconds for them

void compare(Recording& recording) {
  const TraceReader& trace = recording.trace();
  Diagnostics diagnostics;
  ProgramModel model(trace, diagnostics);
  Seq end = trace.first_seq() + kCut;
  std::vector<PlainArc> fast = fast_arcs(trace, model, end);
  std::cout << fast.size() << " arcs\n";
  EXPECT_GT(fast.size(), std::min(kCut, trace.steps()));
  EXPECT_EQ(difference(fast, reference_arcs(trace, model.flow, end)), "");
}

class Definition : public testing::TestWithParam<const char*> {};

TEST_P(Definition, HasTheSameArcs) {
  Recording recording(program(GetParam()));
  ASSERT_EQ(recording.result().exit_code, 0) << recording.result().err;
  compare(recording);
}

INSTANTIATE_TEST_SUITE_P(Programs, Definition, testing::Values("decisions", "longjmp", "signals"),
                         [](const auto& subject) { return subject.param; });

// What the examples do from main on. SVD_ALL_EXAMPLES=1 for all of them.
class DefinitionOfExamples : public testing::TestWithParam<Example> {};

TEST_P(DefinitionOfExamples, HasTheSameArcs) {
  Scratch scratch;
  Recording recording(scratch.command(GetParam().entry.at("program")), {"-q", "--start-at=main"});
  compare(recording);
}

std::vector<Example> chosen_examples() {
  std::vector<Example> list = examples();
  if (std::getenv("SVD_ALL_EXAMPLES") == nullptr)
    std::erase_if(list, [](const Example& example) {
      return example.name() != "apache_log" && example.name() != "cache_server";
    });
  return list;
}

INSTANTIATE_TEST_SUITE_P(Examples, DefinitionOfExamples, testing::ValuesIn(chosen_examples()),
                         [](const auto& example) { return example.param.name(); });

// ---- By values ----

class Values : public testing::TestWithParam<const char*> {};

TEST_P(Values, ProveTheArcsThroughMemory) {
  Recording recording(program(GetParam()));
  ASSERT_EQ(recording.result().exit_code, 0) << recording.result().err;
  Diagnostics diagnostics;
  ProgramModel model(recording.trace(), diagnostics);
  ArcProof proof = prove_arcs(recording.trace(), model);
  std::cout << proof.describe();
  EXPECT_EQ(proof.wrong, 0U);
  EXPECT_GT(proof.equal, proof.arcs / 2) << "most arcs can be proved";
}

INSTANTIATE_TEST_SUITE_P(Programs, Values,
                         testing::Values("arithmetic", "atomics", "bank 16", "c11_threads",
                                         "containers", "exceptions", "heap", "longjmp", "mappings",
                                         "mutexes", "signals", "std_threads", "syscalls", "text",
                                         "work_queue 15"),
                         [](const auto& subject) {
                           std::string name = subject.param;
                           std::replace(name.begin(), name.end(), ' ', '_');
                           return name;
                         });

}  // namespace
}  // namespace svd::test
