// SPDX-License-Identifier: Apache-2.0
//
// The arcs of the dependence graph: those of the definition, on random runs.

#include "dpdg/dependences.h"

#include <gtest/gtest.h>
#include <sys/syscall.h>

#include <map>

#include "support/random_run.h"
#include "support/random_runs.h"
#include "support/reference_graph.h"

namespace svd::test {
namespace {

std::size_t runs() { return random_runs(1000); }

constexpr Seq kAll{std::numeric_limits<std::uint64_t>::max()};

// How many arcs there are of each kind, where the fast ones are those of the reference.
void compare(const TraceReader& trace, std::array<std::size_t, kArcKinds>& kinds) {
  Diagnostics diagnostics;
  ProgramModel model(trace, diagnostics);
  std::vector<PlainArc> fast = fast_arcs(trace, model, kAll);
  for (const PlainArc& arc : fast) ++kinds[static_cast<std::size_t>(arc.kind)];
  ASSERT_EQ(difference(fast, reference_arcs(trace, model.flow, kAll)), "");
}

TEST(Dependences, AreTheDefinitionOnRandomStatements) {
  std::array<std::size_t, kArcKinds> kinds{};
  for (std::size_t seed = 0; seed < runs(); ++seed) {
    std::mt19937_64 random(seed);
    TraceBuilder trace(TraceBuilder::text_process(), random_chunks(random));
    random_statements(trace, random, 2 + random() % 60);
    ASSERT_NO_FATAL_FAILURE(compare(trace.finish(), kinds)) << "seed " << seed;
  }
  for (ArcKind kind : {ArcKind::kMemory, ArcKind::kRemote, ArcKind::kControl,
                       ArcKind::kWriteAfterWrite, ArcKind::kWriteAfterRead})
    EXPECT_GT(kinds[static_cast<std::size_t>(kind)], runs());
}

TEST(Dependences, AreTheDefinitionOnRandomMachineCode) {
  std::array<std::size_t, kArcKinds> kinds{};
  Process process = TraceBuilder::text_process();
  process.has_values = false;
  for (std::size_t seed = 0; seed < runs(); ++seed) {
    std::mt19937_64 random(seed);
    TraceBuilder trace(process, random_chunks(random));
    random_machine_run(trace.writer(), random, 2 + random() % 120);
    ASSERT_NO_FATAL_FAILURE(compare(trace.finish(), kinds)) << "seed " << seed;
  }
  kinds[static_cast<std::size_t>(ArcKind::kChannel)] *= 10;  // few calls meet in a channel
  for (std::size_t count : kinds) EXPECT_GT(count, runs());
}

// A number too many or too few in the table would shift all after it.
TEST(SystemCalls, TakeAsManyArgumentsAsTheirManualsSay) {
  const std::map<std::uint32_t, std::size_t> known{
      {SYS_read, 3},   {SYS_mmap, 6},      {SYS_getpid, 0},     {SYS_sendto, 6}, {SYS_uname, 1},
      {SYS_futex, 6},  {SYS_prctl, 5},     {SYS_exit_group, 1}, {SYS_tgkill, 3}, {SYS_openat, 4},
      {SYS_splice, 6}, {SYS_prlimit64, 4}, {SYS_getrandom, 3},  {SYS_statx, 5},  {SYS_rseq, 4}};
  for (auto [number, count] : known) EXPECT_EQ(argument_registers(number).size(), count) << number;
  EXPECT_EQ(argument_registers(SYS_rseq + 1).size(), 6U);
}

}  // namespace
}  // namespace svd::test
