// SPDX-License-Identifier: Apache-2.0
//
// A sink that is told of many arcs at once counts as many as one that gets each.

#include <gtest/gtest.h>

#include <array>

#include "dpdg/dependences.h"
#include "dpdg/program_model.h"
#include "support/example_trace.h"
#include "support/trace_builder.h"

namespace svd::test {
namespace {

using Arcs = std::array<std::uint64_t, kArcKinds>;

struct Each {
  Arcs* arcs;
  void operator()(const Arc& arc) { ++(*arcs)[static_cast<std::size_t>(arc.kind)]; }
};
struct Many {
  Arcs* arcs;
  void operator()(const Arc& arc) { count(arc.kind, 1); }
  void count(ArcKind kind, std::uint64_t n) { (*arcs)[static_cast<std::size_t>(kind)] += n; }
};

template <class Sink>
Arcs count(const TraceReader& trace) {
  Diagnostics diagnostics;
  ProgramModel model(trace, diagnostics);
  Arcs arcs{};
  Dependences<Sink> dependences(trace, model, Sink{&arcs});
  trace.scan(TraceReader::Order::kForward, {}, diagnostics, [&](const Chunk& chunk) {
    chunk.walk(dependences);
    return true;
  });
  return arcs;
}

TEST(Dependences, CountedAtOnceOrOneByOne) {
  TempFile file;
  example::Options options;
  options.instructions = 200'000;
  auto writer = TraceWriter::create(file.path(), example::process(options));
  ASSERT_TRUE(writer);
  example::write_trace(options, **writer);
  ASSERT_TRUE((*writer)->finish());
  TraceReader trace = open_trace(file);
  Arcs each = count<Each>(trace);
  EXPECT_EQ(each, count<Many>(trace));
  for (ArcKind kind : {ArcKind::kRegister, ArcKind::kMemory, ArcKind::kRemote, ArcKind::kControl})
    EXPECT_GT(each[static_cast<std::size_t>(kind)], 0U);
}

}  // namespace
}  // namespace svd::test
