// SPDX-License-Identifier: Apache-2.0

#include "chunk_decoder.h"

#include "svd/trace/limits.h"

namespace svd {

bool ChunkDecoder::decode_successors(MissDecoder coder, Chunk& out) {
  successors_.reset();
  histories_.clear();
  std::uint32_t seen = 0;
  for (const Run& run : out.runs) {
    std::uint32_t& kept = histories_[run.thread.value];
    std::uint32_t history = kept;
    for (std::uint32_t i = run.first_exec; i < run.first_exec + run.exec_count; ++i) {
      std::uint32_t& entry = successors_.entry(history);
      std::uint64_t shape = coder.hit(false) ? entry : seen - coder.residual(0);
      if (shape >= seen) {
        if (shape != seen || seen == out.shapes.size()) return false;
        ++seen;
      }
      entry = out.execs[i] = static_cast<std::uint32_t>(shape);
      history = SuccessorPredictor::extend(history, entry);
    }
    kept = history;
  }
  return coder.clean();
}

void ChunkDecoder::prepare(std::span<const Shape> shapes, std::size_t block_count) {
  for (std::uint32_t block : used_blocks_) first_predictor_[block] = 0;
  used_blocks_.clear();
  if (first_predictor_.size() < block_count) first_predictor_.resize(block_count);
  ops_.clear();
  spans_.clear();
  std::uint32_t predictors = 0;
  for (const Shape& shape : shapes) {
    std::uint32_t& first = first_predictor_[shape.id.value];
    if (first == 0) {
      first = predictors + 1;
      predictors += static_cast<std::uint32_t>(shape.block->slots.size());
      used_blocks_.push_back(shape.id.value);
    }
    spans_.push_back(append_ops(shape, first - 1, ops_));
  }
  predictors_.assign(predictors, {});
  length_predictors_.assign(predictors, {});
}

bool ChunkDecoder::decode_addresses(MissDecoder coder, MissDecoder length_coder, Chunk& out) {
  std::uint64_t* address = out.addresses.data();
  std::uint64_t* length = out.lengths.data();
  StridePredictor* predictors = predictors_.data();
  for (std::uint32_t shape : out.execs) {
    const OpSpan& span = spans_[shape];
    const SlotOp* op = ops_.data() + span.first;
    for (std::uint32_t i = 0; i < span.count; ++i, ++op) {
      switch (op->kind) {
        case SlotOp::kPredict:
          address[i] = code_stride(coder, predictors[op->predictor], 0);
          break;
        case SlotOp::kConstant:
          address[i] = op->offset;
          break;
        case SlotOp::kDerive:
          address[i] = address[op->base] + op->offset;
          break;
      }
      if (op->range) *length++ = code_stride(length_coder, length_predictors_[op->predictor], 0);
    }
    address += span.count;
  }
  return coder.clean() && length_coder.clean();
}

bool ChunkDecoder::decode_values(MissDecoder coder, Chunk& out) {
  predictors_.assign(predictors_.size(), {});
  cache_.reset();
  StridePredictor* predictors = predictors_.data();
  const std::uint64_t* address = out.addresses.data();
  const std::uint64_t* end = address + out.addresses.size();
  std::uint64_t* value = out.values.data();
  for (std::uint32_t shape : out.execs) {
    const OpSpan& span = spans_[shape];
    const SlotOp* op = ops_.data() + span.first;
    for (std::uint32_t i = 0; i < span.count; ++i, ++op) {
      if (end - (address + i) > ValueCache::kAhead)
        cache_.prefetch(address[i + ValueCache::kAhead] >> 3);
      bool none = op->value_bytes == 0 || address[i] == kAbsent.value;
      value[i] =
          none ? 0 : code_value(coder, cache_, *op, predictors[op->predictor], address[i], 0);
    }
    address += span.count;
    value += span.count;
  }
  return coder.clean();
}

namespace {

// Fills in the runs' first seq, access and range. Returns the totals in `counts`' terms, or false
// on more than was promised.
bool place_runs(const ChunkCounts& counts, Chunk& chunk) {
  std::uint64_t steps = 0;
  std::uint64_t accesses = 0;
  std::uint64_t ranges = 0;
  for (Run& run : chunk.runs) {
    run.first_seq = counts.first_seq + steps;
    run.first_access = static_cast<std::uint32_t>(accesses);
    run.first_range = static_cast<std::uint32_t>(ranges);
    for (std::uint32_t i = run.first_exec; i < run.first_exec + run.exec_count; ++i) {
      const Shape& shape = chunk.shapes[chunk.execs[i]];
      steps += shape.part.steps();
      accesses += shape.accesses;
      ranges += shape.ranges;
    }
    if (accesses > counts.accesses || ranges > counts.ranges) return false;
  }
  return steps == counts.steps && accesses == counts.accesses && ranges == counts.ranges;
}
}  // namespace

std::string ChunkDecoder::decode(const ChunkCounts& counts,
                                 const ColumnSet<std::span<const std::uint8_t>>& columns,
                                 std::span<const Block> blocks, const Columns& wanted, Chunk& out) {
  if (counts.steps > kMaxChunkSteps + kMaxBlockInstructions ||
      counts.accesses > kMaxChunkSteps + kMaxBlockSlots || counts.execs > counts.steps ||
      counts.ranges > counts.accesses) {
    return "it claims more than a chunk can hold";
  }
  out.first_seq = counts.first_seq;
  out.steps = counts.steps;
  out.events.clear();
  if (!get_runs(columns.runs, counts.execs, out.runs)) return "its thread runs do not add up";
  if (auto problem = get_shapes(columns.shapes, blocks, counts, out.shapes); !problem.empty())
    return problem;
  out.execs.resize(counts.execs);
  if (!decode_successors(MissDecoder(columns.successors), out))
    return "its executions name shapes that do not exist";
  if (!place_runs(counts, out)) return "its executions do not add up";

  out.has_addresses = wanted.addresses || wanted.values;
  out.has_values = false;
  if (out.has_addresses) {
    prepare(out.shapes, blocks.size());
    out.addresses.resize(counts.accesses);
    out.lengths.resize(counts.ranges);
    if (!decode_addresses(MissDecoder(columns.addresses), MissDecoder(columns.lengths), out))
      return "its addresses do not add up";
  } else {
    out.addresses.clear();
    out.lengths.clear();
  }
  if (wanted.values && columns.values.data() != nullptr) {
    out.values.resize(counts.accesses);
    if (!decode_values(MissDecoder(columns.values), out)) return "its values do not add up";
    out.has_values = true;
  } else {
    out.values.clear();
  }
  return wanted.events ? get_events(columns.events, counts, out) : std::string();
}

}  // namespace svd
