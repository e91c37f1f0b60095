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

// The difference of two values that leave `unused` high bits free, as a signed number.
std::uint64_t sign_extend(std::uint64_t value, unsigned unused) {
  return static_cast<std::uint64_t>(static_cast<std::int64_t>(value << unused) >> unused);
}

// Last value plus stride; a miss is coded as the distance from the last value.
void code_stride(MissEncoder& stream, StridePredictor& predictor, std::uint64_t actual) {
  if (!stream.hit(predictor.predict() == actual)) stream.miss(actual - predictor.last);
  predictor.update(actual);
}

}  // namespace

ChunkEncoder::ChunkEncoder(bool has_values, std::uint32_t max_steps, std::uint64_t max_bytes)
    : has_values_(has_values),
      max_steps_(max_steps),
      max_bytes_(max_bytes),
      successor_stream_(columns_.successors, residuals_.successors),
      address_stream_(columns_.addresses, residuals_.addresses),
      length_stream_(columns_.lengths, residuals_.lengths),
      load_stream_(columns_.loads, residuals_.loads),
      store_stream_(columns_.stores, residuals_.stores) {
  successors_.reset();
  cache_.reset();
  recent_pages_.fill(~std::uint64_t{0});
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

void ChunkEncoder::open_run() {
  if (!runs_.empty() && runs_.back().exec_count == 0) return;
  Run run;
  run.thread = thread_;
  run.first_exec = counts_.execs;
  runs_.push_back(run);
  history_ = histories_[thread_.value];
  worst_bytes_ += kRunBytes;
}

void ChunkEncoder::add_shape(PartId id, const KnownPart& known) {
  Way& way = ways_[id.value];
  way.shape = static_cast<std::uint32_t>(shapes_.size());
  used_.push_back(id);
  shapes_.push_back(make_shape(known.id, *known.block, known.part));
  way.ops = append_ops(shapes_.back(), ops_);
  addresses_.resize(ops_.size());
  lengths_.resize(ops_.size());
  loads_.resize(ops_.size());
  stores_.resize(ops_.size());
  pages_.resize(ops_.size(), ~std::uint64_t{0});
  way.steps = known.part.steps();
  way.worst_bytes = static_cast<std::uint32_t>(
      kExecBytes + kStreamBytes * (2 * shapes_.back().accesses + shapes_.back().ranges));
  worst_bytes_ += kShapeBytes;
}

std::size_t ChunkEncoder::exec(std::span<const PartId> parts, const std::vector<KnownPart>& known,
                               const std::uint64_t*& logged, const std::uint64_t*& values) {
  if (ways_.size() < known.size()) ways_.resize(known.size());
  std::size_t done = 0;
  while (done < parts.size() && !full()) {
    open_run();
    std::size_t turn =
        code_successors(parts.subspan(done, std::min(kTurn, parts.size() - done)), known);
    logged = code_addresses(turn, logged);
    if (has_values_) values = code_values(turn, values);
    done += turn;
  }
  return done;
}

// Returns how many were taken before the chunk was full; fills turn_.
std::size_t ChunkEncoder::code_successors(std::span<const PartId> parts,
                                          const std::vector<KnownPart>& known) {
  MissEncoder stream = successor_stream_;
  std::uint32_t history = history_;
  std::uint32_t accesses = 0;
  std::size_t done = 0;
  // One at least, even where opening the run has filled the chunk: a run is not empty.
  do {
    PartId id = parts[done];
    if (ways_[id.value].shape == kNone) [[unlikely]]
      add_shape(id, known[id.value]);
    const Way& way = ways_[id.value];
    std::uint16_t& entry = successors_.entry(history);
    if (!stream.hit(entry == way.shape)) stream.miss(seen_ - way.shape);
    seen_ += way.shape == seen_ ? 1 : 0;
    entry = static_cast<std::uint16_t>(way.shape);
    history = SuccessorPredictor::extend(history, way.shape);
    counts_.steps += way.steps;
    worst_bytes_ += way.worst_bytes;
    accesses += way.ops.count;
    turn_[done++] = way.ops;
  } while (done < parts.size() && !full());
  successor_stream_ = stream;
  history_ = history;
  counts_.execs += static_cast<std::uint32_t>(done);
  counts_.accesses += accesses;
  if (turn_addresses_.size() < accesses) turn_addresses_.resize(accesses);
  return done;
}

const std::uint64_t* ChunkEncoder::code_addresses(std::size_t execs, const std::uint64_t* logged) {
  MissEncoder stream = address_stream_;
  std::uint64_t* address = turn_addresses_.data();
  for (std::size_t exec = 0; exec < execs; ++exec) {
    const OpSpan span = turn_[exec];
    const SlotOp* op = ops_.data() + span.first;
    StridePredictor* predictors = addresses_.data() + span.first;
    std::uint64_t* pages = pages_.data() + span.first;
    for (std::uint32_t i = 0; i < span.count; ++i, ++op) {
      std::uint64_t at = op->offset;
      if (op->kind == SlotOp::kPredict) {
        at = *logged++;
        code_stride(stream, predictors[i], at);
      } else if (op->kind == SlotOp::kDerive) {
        at += address[op->base];
      }
      address[i] = at;
      std::uint64_t size = 32U * op->reach;
      if (op->range) [[unlikely]] {
        size = *logged++;
        code_stride(length_stream_, lengths_[span.first + i], size);
        ++counts_.ranges;
      }
      if (at != kAbsent.value) touch(pages[i], at, size);
    }
    address += span.count;
  }
  address_stream_ = stream;
  return logged;
}

const std::uint64_t* ChunkEncoder::code_values(std::size_t execs, const std::uint64_t* values) {
  MissEncoder loads = load_stream_;
  MissEncoder stores = store_stream_;
  std::uint64_t* words = cache_.words();
  const std::uint64_t* address = turn_addresses_.data();
  for (std::size_t exec = 0; exec < execs; ++exec) {
    const OpSpan span = turn_[exec];
    const SlotOp* op = ops_.data() + span.first;
    StridePredictor* stored = stores_.data() + span.first;
    std::uint64_t* missed = loads_.data() + span.first;
    for (std::uint32_t i = 0; i < span.count; ++i, ++op) {
      // What has no value, is of the other kind or did not happen is a hit: decoding need not ask.
      if (op->value_bytes == 0) {
        loads.hit(true);
        stores.hit(true);
        continue;
      }
      unsigned unused = 64U - 8U * op->value_bytes;
      std::uint64_t mask = ~std::uint64_t{0} >> unused;
      std::uint64_t value = *values++ & mask;
      bool happens = address[i] != kAbsent.value;
      unsigned shift = 8 * (address[i] & 7);
      std::uint64_t& word = words[ValueCache::place(address[i])];
      std::uint64_t seen = word >> shift;
      if (op->write) {
        loads.hit(true);
        StridePredictor& predictor = stored[i];
        std::uint64_t told = predictor.predict();
        std::uint64_t residual = sign_extend(value - predictor.last, unused);
        if (!stores.hit(!happens || ((told ^ value) & mask) == 0)) {
          stores.miss(residual);
          told = predictor.last + residual;
        }
        predictor.update(told);
      } else {
        stores.hit(true);
        if (!loads.hit(!happens || (seen & mask) == value)) {
          loads.miss(sign_extend(value - missed[i], unused));
          missed[i] = value;
        }
      }
      if (happens) word ^= ((value ^ seen) & mask) << shift;
    }
    address += span.count;
  }
  load_stream_ = loads;
  store_stream_ = stores;
  return values;
}

void ChunkEncoder::note_pages(std::uint64_t& last_page, std::uint64_t first, std::uint64_t last) {
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
  load_stream_.finish();
  store_stream_.finish();
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
  for (PartId id : used_) ways_[id.value] = Way{};
  used_.clear();
  Seq next = now();
  counts_ = ChunkCounts{};
  counts_.first_seq = next;
  ColumnSet<Bytes>::each(columns_, [](std::string_view, Bytes& column) { column.clear(); });
  worst_bytes_ = 0;
  shapes_.clear();
  ops_.clear();
  addresses_.clear();
  lengths_.clear();
  loads_.clear();
  stores_.clear();
  pages_.clear();
  successors_.reset();
  cache_.reset();
  histories_.clear();
  seen_ = 0;
  successor_stream_ = MissEncoder(columns_.successors, residuals_.successors);
  address_stream_ = MissEncoder(columns_.addresses, residuals_.addresses);
  length_stream_ = MissEncoder(columns_.lengths, residuals_.lengths);
  load_stream_ = MissEncoder(columns_.loads, residuals_.loads);
  store_stream_ = MissEncoder(columns_.stores, residuals_.stores);
  runs_.clear();
  event_threads_.clear();
  last_event_exec_ = 0;
  page_spans_.clear();
  recent_pages_.fill(~std::uint64_t{0});
}

}  // namespace svd
