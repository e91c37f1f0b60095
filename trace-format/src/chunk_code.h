// SPDX-License-Identifier: Apache-2.0
//
// Between a Chunk (flat arrays) and its columns (bytes, before LZ4). Encoder and decoder run the same passes over the same
// predictors, so that whatever is encoded decodes to the same arrays; chunks are independent of each other.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "bytes.h"
#include "predict.h"
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

// One member per column; B is Bytes when written, a view (followed by kMissPadding zeros) when read.
template <class B>
struct ColumnSet {
  B runs, shapes, successors, addresses, lengths, values, events, pages;

  // Calls f(name, column) for each, in the order of the file.
  static void each(auto& set, auto&& f) {
    f("runs", set.runs), f("shapes", set.shapes), f("successors", set.successors), f("addresses", set.addresses);
    f("lengths", set.lengths), f("values", set.values), f("events", set.events), f("pages", set.pages);
  }
};

// Everything a pass needs besides the chunk; kept between chunks so that its memory is.
struct CodecState;

class ChunkCodec {
 public:
  ChunkCodec();
  ~ChunkCodec();

  // Fills every column but `events`, which its writer fills event by event because strings do not outlive the call, and the page shift. Of
  // the chunk's arrays the first counts.accesses (ranges) elements count. `chunk` is unchanged: the passes are shared with decode, hence
  // not const.
  void encode(Chunk& chunk, ChunkCounts& counts, std::size_t block_count, ColumnSet<Bytes>& out);

  // Empty when `out` is good, else what is wrong with the columns.
  std::string decode(const ChunkCounts& counts, const ColumnSet<std::span<const std::uint8_t>>& columns,
                     std::span<const Block> blocks, const Columns& wanted, Chunk& out);

 private:
  std::unique_ptr<CodecState> state_;
};

// The pages column: ascending, disjoint spans of touched pages, each as its distance from the end of the one before and its length - 1.
void put_pages(const Chunk& chunk, Bytes& out, std::uint8_t& shift);
bool pages_contain(std::span<const std::uint8_t> column, std::uint8_t shift, Addr address, std::uint64_t size);

// The events column: for each, how many executions lie between it and the one before, its thread, its kind, its record. Decoding
// copies the column to out.event_bytes, which strings then point into; executions must have been decoded before.
void put_event(Bytes& out, std::uint32_t execs_since_last, ThreadId thread, const EventBody& body);
std::string get_events(std::span<const std::uint8_t> column, const ChunkCounts& counts, Chunk& out);

void put_block(Bytes& out, const Block& block);
bool get_block(ByteReader& in, Block& block);

}  // namespace svd
