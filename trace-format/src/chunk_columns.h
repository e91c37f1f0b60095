// SPDX-License-Identifier: Apache-2.0
//
// The columns of a data chunk, and those of them that are records rather than miss streams.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "bytes.h"
#include "svd/trace/block.h"
#include "svd/trace/chunk.h"

namespace svd {

// What of a chunk stands outside its columns.
struct ChunkCounts {
  Seq first_seq;
  std::uint32_t steps = 0;
  std::uint32_t execs = 0;
  std::uint32_t accesses = 0;
  std::uint32_t ranges = 0;
  std::uint32_t events = 0;
  std::uint64_t event_kinds = 0;
  std::uint8_t page_shift = 0;
};

// One member per column; B is Bytes when written, a view (followed by kMissPadding zeros) when
// read.
template <class B>
struct ColumnSet {
  B runs, shapes, successors, addresses, lengths, loads, stores, events, pages;

  // Calls f(name, column) for each, in the order of the file.
  static void each(auto& set, auto&& f) {
    f("runs", set.runs), f("shapes", set.shapes), f("successors", set.successors),
        f("addresses", set.addresses);
    f("lengths", set.lengths), f("loads", set.loads), f("stores", set.stores),
        f("events", set.events), f("pages", set.pages);
  }
};

void put_runs(std::span<const Run> runs, Bytes& out);
// Fills thread, first_exec and exec_count. False when the runs do not add up to `execs`.
bool get_runs(std::span<const std::uint8_t> column, std::uint32_t execs, std::vector<Run>& out);

void put_shapes(std::span<const Shape> shapes, Bytes& out);
// Empty, or what is wrong. A writer lists only what it executes: more shapes or slots than the
// chunk has executions and accesses are refused before memory is taken for them.
std::string get_shapes(std::span<const std::uint8_t> column, std::span<const Block> blocks,
                       const ChunkCounts& counts, std::vector<Shape>& out);
Shape make_shape(BlockId id, const Block& block, const Part& part);

// For each event: how many executions lie between it and the one before, its thread, its kind, its
// record. Decoding copies the column to out.event_bytes, which strings then point into; executions
// must have been decoded before. Only what is wanted is put out.
void put_event(Bytes& out, std::uint32_t execs_since_last, ThreadId thread, const EventBody& body);
std::string get_events(std::span<const std::uint8_t> column, const ChunkCounts& counts,
                       EventKinds wanted, Chunk& out);
// The next event of a column alone. False where it is malformed.
struct EventHead {
  std::uint64_t execs_since_last = 0;
  ThreadId thread{};
  std::uint64_t kind = 0;
};
bool get_event_head(ByteReader& in, EventHead& head);
bool get_event_body(ByteReader& in, const EventHead& head, EventBody& body);

// Pages first..last that something in the chunk touches.
struct PageSpan {
  std::uint64_t first, last;
};
// Ascending, disjoint spans, each as its distance from the end of the one before and its length
// - 1. `spans` are of 4 KiB pages in any order; where they are very many, larger pages are taken.
void put_pages(std::vector<PageSpan> spans, Bytes& out, std::uint8_t& shift);
// Nothing when the column is malformed.
std::optional<bool> pages_contain(std::span<const std::uint8_t> column, std::uint8_t shift,
                                  Addr address, std::uint64_t size);

void put_block(Bytes& out, const Block& block);
bool get_block(ByteReader& in, Block& block);

}  // namespace svd
