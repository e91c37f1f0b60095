// SPDX-License-Identifier: Apache-2.0
//
// The chunk that a writer is filling: executions and events go straight into columns, a handful of
// executions at a time, column by column, so that each loop keeps its state in registers. The
// counterpart of ChunkDecoder; what both must do alike is in slot_ops.h and predict.h. This is the
// recorder's hot path: the program that is being recorded waits for it.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <unordered_map>
#include <vector>

#include "chunk_columns.h"
#include "slot_ops.h"

namespace svd {

// What is executed; `block` stays where it is. Indexed by PartId.
struct KnownPart {
  BlockId id{};
  const Block* block = nullptr;
  Part part;
};

class ChunkEncoder {
 public:
  // A chunk is full at `max_steps`, or where its columns could grow beyond `max_bytes`.
  ChunkEncoder(bool has_values, std::uint32_t max_steps, std::uint64_t max_bytes);

  // See TraceWriter::run, exec and event. exec() takes what fits, moves `logged` and `values`
  // behind it, and returns how many executions that was.
  void run(ThreadId thread);
  std::size_t exec(std::span<const PartId> parts, const std::vector<KnownPart>& known,
                   const std::uint64_t*& logged, const std::uint64_t*& values);
  void event(ThreadId thread, const EventBody& body);
  bool full() const { return counts_.steps >= max_steps_ || worst_bytes_ >= max_bytes_; }

  bool has_values() const { return has_values_; }
  const ChunkCounts& counts() const { return counts_; }
  Seq now() const { return counts_.first_seq + counts_.steps; }
  bool empty() const { return counts_.execs == 0 && counts_.events == 0; }
  ThreadId thread() const { return thread_; }
  bool has_thread() const { return has_thread_; }

  // The chunk so far. Its columns stay valid until reset().
  const ColumnSet<Bytes>& finish();
  std::vector<ThreadId> threads() const;  // ascending; of runs and events
  // Starts the next chunk, where this one ends.
  void reset();

 private:
  // What executing a part in this chunk means.
  struct Way {
    std::uint32_t shape = kNone;  // kNone: it has not been yet
    OpSpan ops;
    std::uint32_t steps = 0;
    std::uint32_t worst_bytes = 0;
  };
  static constexpr std::uint32_t kNone = ~std::uint32_t{0};
  // Executions of one turn through the columns.
  static constexpr std::size_t kTurn = 512;

  void open_run();
  void close_run();
  void add_shape(PartId id, const KnownPart& known);
  std::size_t code_successors(std::span<const PartId> parts, const std::vector<KnownPart>& known);
  const std::uint64_t* code_addresses(std::size_t execs, const std::uint64_t* logged);
  const std::uint64_t* code_values(std::size_t execs, const std::uint64_t* values);
  // Slots mostly stay on their page, and a chunk on a few hundred.
  void touch(std::uint64_t& last_page, std::uint64_t address, std::uint64_t size) {
    std::uint64_t first = address >> 12;
    std::uint64_t last = (address + size - 1) >> 12;
    if ((first == last_page && first == last) || size == 0) [[likely]]
      return;
    note_pages(last_page, first, last);
  }
  void note_pages(std::uint64_t& last_page, std::uint64_t first, std::uint64_t last);

  bool has_values_;
  std::uint32_t max_steps_;
  std::uint64_t max_bytes_;
  ChunkCounts counts_;
  ColumnSet<Bytes> columns_;
  ColumnSet<Bytes> residuals_;  // of the miss streams, until finish()
  // Bytes that the columns can have grown to where nothing is predicted and nothing compresses.
  std::uint64_t worst_bytes_ = 0;

  std::vector<Way> ways_;     // by PartId
  std::vector<PartId> used_;  // of ways_
  std::vector<Shape> shapes_;
  std::vector<SlotOp> ops_;

  // By slot of a shape, as ops_.
  std::vector<StridePredictor> addresses_;
  std::vector<StridePredictor> lengths_;
  std::vector<StridePredictor> stores_;
  std::vector<std::uint64_t> loads_;  // missed last
  std::vector<std::uint64_t> pages_;  // touched last

  SuccessorPredictor successors_;
  ValueCache cache_;
  std::unordered_map<std::uint32_t, std::uint32_t> histories_;  // by thread
  std::uint32_t history_ = 0;
  std::uint32_t seen_ = 0;
  MissEncoder successor_stream_;
  MissEncoder address_stream_;
  MissEncoder length_stream_;
  MissEncoder load_stream_;
  MissEncoder store_stream_;

  ThreadId thread_;
  bool has_thread_ = false;
  std::vector<Run> runs_;
  std::vector<ThreadId> event_threads_;
  std::uint32_t last_event_exec_ = 0;
  static constexpr std::size_t kRecentPages = 1024;
  std::array<std::uint64_t, kRecentPages> recent_pages_{};
  std::vector<PageSpan> page_spans_;

  // Of the turn at hand.
  std::array<OpSpan, kTurn> turn_{};
  std::vector<std::uint64_t> turn_addresses_;
};

}  // namespace svd
