// SPDX-License-Identifier: Apache-2.0
//
// An extended dynamic slice (slicing paper, Fig. 2): what the criterion follows from, folded over
// instances as it is found, because a slice of a real crash has millions of them and a few hundred
// distinct instructions. Distances say how near a thing is to the criterion; the story that people
// read is made from them.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "dpdg/instance.h"
#include "slicer/scope.h"
#include "svd/trace/types.h"

namespace svd {

// Why an instance is in the slice.
enum class Via : std::uint8_t {
  kCriterion,
  kValue,
  kAddress,
  kControl,
  kCall,
  kSpawn,
  kSystemCall
};

// A distinct instruction of the slice.
struct SliceItem {
  InstrId id{};
  std::uint64_t instances = 0;
  float distance = 0;    // the smallest of its instances
  Instance nearest{};    // that instance
  Instance needed_by{};  // what needs it there; itself for the criterion
  Via via = Via::kCriterion;
  std::uint64_t initial_reads = 0;  // instances that read bytes which nothing in the trace wrote
  std::uint64_t system_writes = 0;  // instances that read bytes which the kernel wrote
  std::vector<ThreadId> threads{};
  friend bool operator==(const SliceItem&, const SliceItem&) = default;
};

// A read of what another thread wrote; instances are of the nearest.
struct RemoteRead {
  Instance write{};
  Instance read{};
  Addr address{};
  std::uint64_t size = 0;
  float distance = 0;  // of the read
  std::uint64_t instances = 0;
  friend bool operator==(const RemoteRead&, const RemoteRead&) = default;
};

// A thread accessed a place, another one wrote it, the first read it: what it had seen had changed.
struct Triple {
  Instance before{};
  bool before_writes = false;
  Instance remote{};
  Instance after{};
  Addr address{};
  std::uint64_t size = 0;
  float distance = 0;                  // of `after`
  std::uint64_t own_instructions = 0;  // of the thread from before to after
  float key = 0;
  std::uint64_t instances = 0;
  // Creation, join, conditions, barriers or semaphores put `remote` between the others.
  bool ordered = false;
  friend bool operator==(const Triple&, const Triple&) = default;
};

// Two accesses of different threads, the second one a write, that could have come in the other
// order: `mine` is in the slice.
struct RaceEdge {
  enum class Kind : std::uint8_t { kWriteAfterWrite, kWriteAfterRead } kind{};
  Instance first{};
  Instance second{};
  Addr address{};
  std::uint64_t size = 0;
  float distance = 0;  // of the one in the slice
  float key = 0;
  std::uint64_t instances = 0;
  bool ordered = false;  // by creation, join, conditions or barriers between the threads
  friend bool operator==(const RaceEdge&, const RaceEdge&) = default;
};

struct Slice {
  std::uint64_t instances = 0;
  std::vector<SliceItem> items{};  // by distance
  std::vector<RemoteRead> remote_reads{};
  std::vector<Triple> triples{};
  std::vector<RaceEdge> races{};
  std::map<std::uint32_t, std::string> channels{};  // names of those that addresses are of
  // Where SliceOptions::which asks for it.
  InstanceSet members{};
  InstanceSet beside{};  // at the other ends of order edges and triples, and what would be there if
                         // these were not
};

// What to slice from: any of these parts.
struct Criterion {
  Seq seq{};
  ThreadId thread{};
  bool values = true;                                    // what the instruction computes with
  bool addresses = true;                                 // what its addresses are formed from
  bool control = true;                                   // what decided that it ran
  std::vector<Reg> registers{};                          // values before the instruction
  std::vector<std::pair<Addr, std::uint64_t>> memory{};  // values before the instruction
  friend bool operator==(const Criterion&, const Criterion&) = default;
};

struct SliceOptions {
  bool control = true;
  bool addresses = true;     // false: a thin slice
  bool data = true;          // false: control only
  bool save_restore = true;  // false: saved registers are followed like any value
  bool races = true;         // remote order edges and triples
  bool unordered = false;    // of the order edges those that no synchronisation orders
  bool restored = false;     // order edges that follow from others, too
  bool which = false;        // which instances, not only how many
  Scope scope{};
};

}  // namespace svd
