// SPDX-License-Identifier: Apache-2.0
//
// A slice as people read it: source statements in the order in which they explain the failure best,
// with what the threads did to each other as steps of their own. What happened in libraries is put
// down to the call that the program's own code made, unless libraries are asked for.
#pragma once

#include <string>
#include <tuple>
#include <vector>

#include "dpdg/instance_reader.h"
#include "slicer/slice.h"
#include "symbols/source_map.h"

namespace svd {

// A source statement: a line of a function; where nothing is known of lines, an instruction.
struct StoryPlace {
  std::string file{};
  std::uint32_t line = 0;
  std::string function{};
  std::string module{};
  Pc pc{};
  std::string label{};  // of an abstract statement
  // What places are told apart by.
  using Key = std::tuple<std::string, std::uint32_t, std::string, std::uint64_t>;
  Key key() const { return {file, line, label, line == 0 ? pc.value : 0}; }
  friend bool operator==(const StoryPlace& a, const StoryPlace& b) { return a.key() == b.key(); }
};

// What an instance did to memory.
struct StoryAccess {
  Instance instance{};
  StoryPlace place{};
  bool write = false;
  bool has_value = false;
  std::uint64_t value = 0;
  friend bool operator==(const StoryAccess&, const StoryAccess&) = default;
};

struct StoryEntry {
  enum class Kind : std::uint8_t { kStatement, kRemoteRead, kTriple, kRace } kind{};
  float key = 0;
  std::vector<StoryAccess> accesses{};  // in the order of execution; a statement has one
  std::string variable{};               // that the accesses of an edge are to
  Addr address{};
  std::uint64_t size = 0;
  // Of a statement.
  Via via = Via::kCriterion;
  std::uint64_t instances = 0;
  std::uint64_t initial_reads = 0;
  std::vector<ThreadId> threads{};
  // Of edges.
  std::uint64_t own_instructions = 0;
  RaceEdge::Kind race{};
  friend bool operator==(const StoryEntry&, const StoryEntry&) = default;
};

struct Story {
  std::vector<StoryEntry> entries{};
  std::vector<StoryPlace> statements{};  // distinct, in the order in which entries show them
  bool libraries = false;                // statements of libraries stand in it, too
  std::size_t hidden_library = 0;        // instructions of the slice that are not the program's own
  friend bool operator==(const Story&, const Story&) = default;
};

struct StoryInput {
  const TraceReader& trace;
  const CodeTable& code;
  InstanceReader& instances;
  SourceMap& source;
};

// With `libraries`, and where nothing of the program's own is in the slice, what happened in
// libraries is told like the rest.
Story tell_story(const StoryInput& input, const Slice& slice, bool libraries,
                 Diagnostics& diagnostics);

// The place of an instruction.
StoryPlace place_of(const StoryInput& input, InstrId id);

// By InstrId, for SliceInput.
std::vector<std::uint32_t> number_lines(const CodeTable& code, SourceMap& source);

}  // namespace svd
