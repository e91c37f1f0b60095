// SPDX-License-Identifier: Apache-2.0

#include "chunk_encoder.h"

#include <algorithm>

#include "svd/trace/limits.h"
#include "svd/trace/result.h"

namespace svd {

namespace {

// What one thing adds to the columns at worst.
constexpr std::uint64_t kExecBytes = 5;    // token, shape
constexpr std::uint64_t kStreamBytes = 9;  // token, residual
constexpr std::uint64_t kRunBytes = 10;    // two varints
constexpr std::uint64_t kShapeBytes = 17;  // five varints

std::uint64_t mask_of(unsigned bytes) { return ~std::uint64_t{0} >> (64 - 8 * bytes); }

}  // namespace

ChunkEncoder::ChunkEncoder(bool has_values)
    : has_values_(has_values),
      successor_stream_(columns_.successors),
      address_stream_(columns_.addresses),
      length_stream_(columns_.lengths),
      value_stream_(columns_.values) {
  successors_.reset();
  cache_.reset();
  recent_pages_.fill(~std::uint64_t{0});
}

std::uint32_t ChunkEncoder::shape_of(BlockId id, const Block& block, const Part& part) {
  if (id.value >= blocks_.size()) blocks_.resize(id.value + 1);
  PerBlock& per_block = blocks_[id.value];
  for (std::uint32_t i = per_block.shape; i != kNone; i = known_[i].next) {
    if (known_[i].part == part) return i;
  }
  SVD_CHECK(part.first < part.end && part.end <= block.size() && part.first_slot <= part.end_slot &&
            part.end_slot <= block.slots.size());
  if (per_block.predictor == kNone) {
    per_block.predictor = static_cast<std::uint32_t>(addresses_.size());
    std::size_t slots = addresses_.size() + block.slots.size();
    addresses_.resize(slots);
    lengths_.resize(slots);
    values_.resize(slots);
    pages_.resize(slots, ~std::uint64_t{0});
  }
  auto index = static_cast<std::uint32_t>(shapes_.size());
  shapes_.push_back(make_shape(id, block, part));
  known_.push_back({part, per_block.shape});
  spans_.push_back(append_ops(shapes_.back(), per_block.predictor, ops_));
  per_block.shape = index;
  scratch_.resize(std::max<std::size_t>(scratch_.size(), shapes_.back().accesses));
  worst_bytes_ += kShapeBytes;
  return index;
}

void ChunkEncoder::run(ThreadId thread) {
  if (has_thread_ && thread == thread_) return;
  close_run();
  thread_ = thread;
  has_thread_ = true;
}

void ChunkEncoder::close_run() {
  if (runs_.empty() || runs_.back().exec_count != 0) return;
  runs_.back().exec_count = counts_.execs - runs_.back().first_exec;
  histories_[thread_.value] = history_;
}

void ChunkEncoder::exec(std::uint32_t shape, const std::uint64_t* logged,
                        const std::uint64_t* values) {
  if (runs_.empty() || runs_.back().exec_count != 0) {
    Run run;
    run.thread = thread_;
    run.first_exec = counts_.execs;
    runs_.push_back(run);
    history_ = histories_[thread_.value];
    worst_bytes_ += kRunBytes;
  }

  std::uint32_t& entry = successors_.entry(history_);
  if (!successor_stream_.hit(entry == shape)) successor_stream_.residual(seen_ - shape);
  seen_ += shape == seen_ ? 1 : 0;
  entry = shape;
  history_ = SuccessorPredictor::extend(history_, shape);

  const OpSpan span = spans_[shape];
  const SlotOp* op = ops_.data() + span.first;
  std::uint64_t* address = scratch_.data();
  for (std::uint32_t i = 0; i < span.count; ++i, ++op) {
    switch (op->kind) {
      case SlotOp::kPredict:
        address[i] = code_stride(address_stream_, addresses_[op->predictor], *logged++);
        break;
      case SlotOp::kConstant:
        address[i] = op->offset;
        break;
      case SlotOp::kDerive:
        address[i] = address[op->base] + op->offset;
        break;
    }
    std::uint64_t size = 32U * op->reach;
    if (op->range) {
      size = code_stride(length_stream_, lengths_[op->predictor], *logged++);
      ++counts_.ranges;
      worst_bytes_ += kStreamBytes;
    }
    const std::uint64_t* value = values;
    if (has_values_) values += op->value_bytes != 0;
    if (address[i] == kAbsent.value) continue;
    touch(pages_[op->predictor], address[i], size);
    if (has_values_ && op->value_bytes != 0) {
      code_value(value_stream_, cache_, *op, values_[op->predictor], address[i],
                 *value & mask_of(op->value_bytes));
    }
  }
  worst_bytes_ += kExecBytes + 2 * kStreamBytes * span.count;
  counts_.accesses += span.count;
  ++counts_.execs;
  counts_.steps += shapes_[shape].part.steps();
}

// Slots mostly stay on their page, and a chunk on a few hundred.
void ChunkEncoder::touch(std::uint64_t& last_page, std::uint64_t address, std::uint64_t size) {
  std::uint64_t first = address >> 12;
  std::uint64_t last = (address + size - 1) >> 12;
  if (first == last_page && first == last) [[likely]]
    return;
  if (size == 0) return;
  last_page = last;
  std::uint64_t& recent = recent_pages_[first % kRecentPages];
  if (recent == first && first == last) return;
  recent = first;
  page_spans_.push_back({first, last < first ? ~std::uint64_t{0} >> 12 : last});
}

void ChunkEncoder::event(ThreadId thread, const EventBody& body) {
  std::size_t before = columns_.events.size();
  put_event(columns_.events, counts_.execs - last_event_exec_, thread, body);
  SVD_CHECK(columns_.events.size() - before <= kMaxEventBytes);
  worst_bytes_ += columns_.events.size() - before;
  last_event_exec_ = counts_.execs;
  ++counts_.events;
  counts_.event_kinds |= std::uint64_t{1} << body.index();
  if (event_threads_.empty() || event_threads_.back() != thread) event_threads_.push_back(thread);
}

const ColumnSet<Bytes>& ChunkEncoder::finish() {
  close_run();
  put_runs(runs_, columns_.runs);
  put_shapes(shapes_, columns_.shapes);
  successor_stream_.finish();
  address_stream_.finish();
  length_stream_.finish();
  value_stream_.finish();
  put_pages(std::move(page_spans_), columns_.pages, counts_.page_shift);
  return columns_;
}

std::vector<ThreadId> ChunkEncoder::threads() const {
  std::vector<ThreadId> list = event_threads_;
  for (const Run& run : runs_) list.push_back(run.thread);
  std::sort(list.begin(), list.end());
  list.erase(std::unique(list.begin(), list.end()), list.end());
  return list;
}

void ChunkEncoder::reset() {
  for (const Shape& shape : shapes_) blocks_[shape.id.value] = PerBlock{};
  Seq next = now();
  counts_ = ChunkCounts{};
  counts_.first_seq = next;
  ColumnSet<Bytes>::each(columns_, [](std::string_view, Bytes& column) { column.clear(); });
  worst_bytes_ = 0;
  shapes_.clear();
  known_.clear();
  ops_.clear();
  spans_.clear();
  addresses_.clear();
  lengths_.clear();
  values_.clear();
  pages_.clear();
  successors_.reset();
  cache_.reset();
  histories_.clear();
  seen_ = 0;
  successor_stream_ = MissEncoder(columns_.successors);
  address_stream_ = MissEncoder(columns_.addresses);
  length_stream_ = MissEncoder(columns_.lengths);
  value_stream_ = MissEncoder(columns_.values);
  runs_.clear();
  event_threads_.clear();
  last_event_exec_ = 0;
  page_spans_.clear();
  recent_pages_.fill(~std::uint64_t{0});
}

}  // namespace svd
