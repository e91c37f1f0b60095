// SPDX-License-Identifier: Apache-2.0
//
// The chunk that a writer is filling: executions and events go straight into columns, nothing is
// kept in between. The counterpart of ChunkDecoder; what both must do alike is in slot_ops.h and
// predict.h. This is the recorder's hot path: the program that is being recorded waits for it.
#pragma once

#include <array>
#include <cstdint>
#include <unordered_map>
#include <vector>

#include "chunk_columns.h"
#include "slot_ops.h"

namespace svd {

class ChunkEncoder {
 public:
  explicit ChunkEncoder(bool has_values);

  // The number, within the chunk, of what will be executed. `block` stays where it is.
  std::uint32_t shape_of(BlockId id, const Block& block, const Part& part);
  // See TraceWriter::run, exec and event.
  void run(ThreadId thread);
  void exec(std::uint32_t shape, const std::uint64_t* logged, const std::uint64_t* values);
  void event(ThreadId thread, const EventBody& body);

  bool has_values() const { return has_values_; }
  const ChunkCounts& counts() const { return counts_; }
  Seq now() const { return counts_.first_seq + counts_.steps; }
  bool empty() const { return counts_.execs == 0 && counts_.events == 0; }
  ThreadId thread() const { return thread_; }
  bool has_thread() const { return has_thread_; }
  // Bytes that the columns can have grown to where nothing is predicted and nothing compresses.
  std::uint64_t worst_bytes() const { return worst_bytes_; }

  // The chunk so far. Its columns stay valid until reset().
  const ColumnSet<Bytes>& finish();
  std::vector<ThreadId> threads() const;  // ascending; of runs and events
  // Starts the next chunk, where this one ends.
  void reset();

 private:
  // One part of a block that was executed in this chunk; those of one block are chained.
  struct Known {
    Part part;
    std::uint32_t next;
  };
  struct PerBlock {
    std::uint32_t shape = kNone;      // the last new one
    std::uint32_t predictor = kNone;  // of its first slot
  };
  static constexpr std::uint32_t kNone = ~std::uint32_t{0};

  void close_run();
  void touch(std::uint64_t& last_page, std::uint64_t address, std::uint64_t size);

  bool has_values_;
  ChunkCounts counts_;
  ColumnSet<Bytes> columns_;
  std::uint64_t worst_bytes_ = 0;

  std::vector<PerBlock> blocks_;
  std::vector<Shape> shapes_;
  std::vector<Known> known_;  // by shape
  std::vector<SlotOp> ops_;
  std::vector<OpSpan> spans_;  // by shape

  // By static slot.
  std::vector<StridePredictor> addresses_;
  std::vector<StridePredictor> lengths_;
  std::vector<StridePredictor> values_;
  std::vector<std::uint64_t> pages_;  // touched last

  SuccessorPredictor successors_;
  ValueCache cache_;
  std::unordered_map<std::uint32_t, std::uint32_t> histories_;  // by thread
  std::uint32_t history_ = 0;
  std::uint32_t seen_ = 0;
  MissEncoder successor_stream_;
  MissEncoder address_stream_;
  MissEncoder length_stream_;
  MissEncoder value_stream_;

  ThreadId thread_;
  bool has_thread_ = false;
  std::vector<Run> runs_;
  std::vector<ThreadId> event_threads_;
  std::uint32_t last_event_exec_ = 0;
  static constexpr std::size_t kRecentPages = 1024;
  std::array<std::uint64_t, kRecentPages> recent_pages_{};
  std::vector<PageSpan> page_spans_;
  std::vector<std::uint64_t> scratch_;  // addresses of the execution at hand
};

}  // namespace svd
