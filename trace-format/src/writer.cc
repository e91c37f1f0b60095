// SPDX-License-Identifier: Apache-2.0

#include "svd/trace/writer.h"

#include <fmt/format.h>
#include <xxhash.h>

#include <algorithm>
#include <deque>

#include "chunk_encoder.h"
#include "frame.h"
#include "output_file.h"
#include "record.h"
#include "summary.h"
#include "svd/trace/limits.h"

namespace svd {

namespace {

// What a chunk's columns may come to where nothing is predicted and nothing compresses: with the
// largest block and event on top it still fits kMaxChunkBytes.
constexpr std::uint64_t kChunkBudget = 12U << 20;

// Definitions are written once they reach this size, or before the next chunk that may need them.
constexpr std::size_t kDefinitionBudget = 4U << 20;

}  // namespace

class TraceWriter::Impl {
 public:
  Impl(OutputFile file, const Process& process, const WriterOptions& options)
      : file_(std::move(file)),
        chunk_(process.has_values,
               std::clamp<std::uint32_t>(options.chunk_steps, 1, kMaxChunkSteps), kChunkBudget) {
    put_record(definitions_.process, process);
    header_.trace_id = XXH3_64bits(definitions_.process.data(), definitions_.process.size());
    header_.checksum = checksum_of(header_);
    append({reinterpret_cast<const std::uint8_t*>(&header_), sizeof header_});
  }

  // Returns the record's id.
  template <class T>
  std::uint32_t define(Bytes& column, std::uint32_t& next_id, const T& record) {
    put_record(column, record);
    std::uint32_t id = next_id++;
    if (definitions_.size() >= kDefinitionBudget) write_definitions();
    return id;
  }

  BlockId define_block(const Block& block) {
    SVD_CHECK(block_problem(block).empty());
    put_block(definitions_.blocks, block);
    blocks_.push_back(block);
    parts_of_.push_back(kNoPart);
    std::uint32_t id = ids_.block++;
    if (definitions_.size() >= kDefinitionBudget) write_definitions();
    return BlockId(id);
  }

  PartId part(BlockId id, const Part& part) {
    SVD_CHECK(id.value < blocks_.size());
    std::uint32_t& newest = parts_of_[id.value];
    for (std::uint32_t i = newest; i != kNoPart; i = older_[i]) {
      if (parts_[i].part == part) return PartId(i);
    }
    const Block& block = blocks_[id.value];
    SVD_CHECK(part.first < part.end && part.end <= block.size() &&
              part.first_slot <= part.end_slot && part.end_slot <= block.slots.size());
    older_.push_back(newest);
    newest = static_cast<std::uint32_t>(parts_.size());
    parts_.push_back({id, &block, part});
    return PartId(newest);
  }

  PartId whole(BlockId id) {
    SVD_CHECK(id.value < blocks_.size());
    return part(id, Part::whole(blocks_[id.value]));
  }

  void run(ThreadId thread) {
    if (chunk_.has_thread() && chunk_.thread() != thread) note_run();
    chunk_.run(thread);
  }

  void exec(std::span<const PartId> parts, const std::uint64_t* logged,
            const std::uint64_t* values) {
    SVD_CHECK(chunk_.has_thread());
    while (!parts.empty()) {
      parts = parts.subspan(chunk_.exec(parts, parts_, logged, values));
      if (chunk_.full()) end_chunk();
    }
  }

  void event(ThreadId thread, const EventBody& body) {
    note_run();
    summary_.on_event(thread, body);
    chunk_.event(thread, body);
    if (chunk_.full() || chunk_.counts().events >= kMaxChunkEvents) end_chunk();
  }

  Seq now() const { return chunk_.now(); }

  Status flush() {
    if (!chunk_.empty()) end_chunk();
    write_definitions();
    return status_;
  }

  Status finish() {
    if (auto flushed = flush(); !flushed) return flushed;
    write_index();
    if (!status_) return status_;
    return file_.close();
  }

  Totals totals() const {
    const ChunkCounts& counts = chunk_.counts();
    return Totals{totals_.steps + counts.steps, totals_.execs + counts.execs,
                  totals_.accesses + counts.accesses, totals_.events + counts.events, file_.size()};
  }

  struct Ids {
    std::uint32_t module = 0, symbol = 0, stack = 0, statement = 0, block = 0;
  };
  struct Definitions {
    Bytes process, modules, symbols, stacks, statements, blocks;
    Ids first;
    std::size_t size() const {
      return process.size() + modules.size() + symbols.size() + stacks.size() + statements.size() +
             blocks.size();
    }
  };
  Definitions definitions_;  // not yet written
  Ids ids_;                  // next ones

 private:
  // Tells the summary what the current thread did since it was last told.
  void note_run() {
    if (now() > noted_) summary_.on_run(chunk_.thread(), noted_, now() - noted_);
    noted_ = now();
  }

  void end_chunk() {
    note_run();
    write_definitions();
    const ColumnSet<Bytes>& columns = chunk_.finish();
    const ChunkCounts& counts = chunk_.counts();
    flatbuffers::FlatBufferBuilder builder(1U << 20);
    std::vector<flatbuffers::Offset<fb::Column>> packed;
    ColumnSet<Bytes>::each(columns, [&](std::string_view, const Bytes& raw) {
      packed.push_back(pack_column(builder, raw, scratch_));
    });
    fb::DataBuilder data(builder);
    data.add_first_seq(counts.first_seq.value);
    data.add_steps(counts.steps);
    data.add_execs(counts.execs);
    data.add_accesses(counts.accesses);
    data.add_ranges(counts.ranges);
    data.add_events(counts.events);
    data.add_event_kinds(counts.event_kinds);
    data.add_page_shift(counts.page_shift);
    data.add_has_values(chunk_.has_values());
    data.add_runs(packed[0]);
    data.add_shapes(packed[1]);
    data.add_successors(packed[2]);
    data.add_addresses(packed[3]);
    data.add_lengths(packed[4]);
    data.add_values(packed[5]);
    data.add_event_records(packed[6]);
    data.add_pages(packed[7]);
    std::uint64_t offset = file_.size();
    write_chunk(builder, fb::Body::Data, data.Finish().Union());

    fb::ChunkEntry entry(offset, static_cast<std::uint32_t>(file_.size() - offset), ordinal_ - 1,
                         counts.first_seq.value, counts.event_kinds, counts.steps, counts.execs,
                         counts.accesses, counts.events, add_threads(), true);
    entries_.push_back(entry);
    totals_.steps += counts.steps;
    totals_.execs += counts.execs;
    totals_.accesses += counts.accesses;
    totals_.events += counts.events;
    chunk_.reset();
  }

  // Returns where in thread_lists_ the chunk's threads start.
  std::uint32_t add_threads() {
    auto first = static_cast<std::uint32_t>(thread_lists_.size());
    for (ThreadId thread : chunk_.threads()) thread_lists_.push_back(thread.value);
    return first;
  }

  void write_definitions() {
    if (definitions_.size() == 0) return;
    flatbuffers::FlatBufferBuilder builder(1U << 16);
    const Bytes* columns[] = {&definitions_.process,    &definitions_.modules,
                              &definitions_.symbols,    &definitions_.stacks,
                              &definitions_.statements, &definitions_.blocks};
    std::vector<flatbuffers::Offset<fb::Column>> packed;
    for (const Bytes* column : columns) packed.push_back(pack_column(builder, *column, scratch_));
    const Ids& first = definitions_.first;
    auto body =
        fb::CreateDefinitions(builder, first.module, first.stack, first.statement, first.block,
                              packed[0], packed[1], packed[2], packed[3], packed[4], packed[5]);
    std::uint64_t offset = file_.size();
    write_chunk(builder, fb::Body::Definitions, body.Union());
    entries_.emplace_back(offset, static_cast<std::uint32_t>(file_.size() - offset), ordinal_ - 1,
                          now().value, 0, 0, 0, 0, 0,
                          static_cast<std::uint32_t>(thread_lists_.size()), false);
    definitions_ = Definitions{};
    definitions_.first = ids_;
  }

  void write_index() {
    note_run();
    constexpr std::size_t kIndexLimit = kMaxChunkBytes - (2U << 20);
    Bytes threads;
    for (const ThreadInfo& info : summary_.threads()) put_record(threads, info);
    // Beyond some 200,000 chunks there is no index: readers walk the chunks instead.
    if (entries_.size() * sizeof(fb::ChunkEntry) + thread_lists_.size() * 4 + threads.size() >
        kIndexLimit)
      return;
    flatbuffers::FlatBufferBuilder builder(1U << 16);
    auto chunks = builder.CreateVectorOfStructs(entries_);
    auto lists = builder.CreateVector(thread_lists_);
    auto thread_column = pack_column(builder, threads, scratch_);
    const Ending& ending = summary_.ending();
    auto body = fb::CreateIndex(builder, chunks, lists, thread_column,
                                static_cast<fb::EndKind>(ending.kind), ending.value,
                                ending.thread.has_value(), ending.thread.value_or(ThreadId()).value,
                                ending.seq.value, ending.pc.value);
    Trailer trailer;
    trailer.index_offset = file_.size();
    trailer.trace_id = header_.trace_id;
    trailer.checksum = checksum_of(trailer);
    write_chunk(builder, fb::Body::Index, body.Union());
    append({reinterpret_cast<const std::uint8_t*>(&trailer), sizeof trailer});
  }

  void write_chunk(flatbuffers::FlatBufferBuilder& builder, fb::Body kind,
                   flatbuffers::Offset<void> body) {
    builder.FinishSizePrefixed(fb::CreateChunkBody(builder, kind, body));
    append(frame_chunk(builder, header_.trace_id, ordinal_++, kind));
  }

  void append(std::span<const std::uint8_t> bytes) {
    if (status_) status_ = file_.append(bytes);
  }

  OutputFile file_;
  Status status_{Done{}};
  FileHeader header_;
  std::uint32_t ordinal_ = 0;

  std::deque<Block> blocks_;  // stable addresses: the chunk points to them
  static constexpr std::uint32_t kNoPart = ~std::uint32_t{0};
  std::vector<KnownPart> parts_;         // by PartId; those of one block are chained
  std::vector<std::uint32_t> parts_of_;  // the newest, by block
  std::vector<std::uint32_t> older_;     // the next, by PartId
  ChunkEncoder chunk_;
  Bytes scratch_;

  RunSummary summary_;
  Seq noted_;
  Totals totals_;
  std::vector<fb::ChunkEntry> entries_;
  std::vector<std::uint32_t> thread_lists_;
};

Result<std::unique_ptr<TraceWriter>> TraceWriter::create(const std::string& path,
                                                         const Process& process,
                                                         const WriterOptions& options) {
  auto file = OutputFile::create(path);
  if (!file) return file.error();
  auto impl = std::make_unique<Impl>(std::move(*file), process, options);
  return std::unique_ptr<TraceWriter>(new TraceWriter(std::move(impl)));
}

TraceWriter::TraceWriter(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}

TraceWriter::~TraceWriter() { (void)impl_->flush(); }

ModuleId TraceWriter::add(const Module& module) {
  return ModuleId(impl_->define(impl_->definitions_.modules, impl_->ids_.module, module));
}

StackId TraceWriter::add(const Stack& stack) {
  return StackId(impl_->define(impl_->definitions_.stacks, impl_->ids_.stack, stack));
}

StatementId TraceWriter::add(const Statement& statement) {
  return StatementId(
      impl_->define(impl_->definitions_.statements, impl_->ids_.statement, statement));
}

BlockId TraceWriter::add(const Block& block) { return impl_->define_block(block); }

void TraceWriter::add(const Symbol& symbol) {
  impl_->define(impl_->definitions_.symbols, impl_->ids_.symbol, symbol);
}

void TraceWriter::run(ThreadId thread) { impl_->run(thread); }

PartId TraceWriter::part(BlockId block, const Part& part) { return impl_->part(block, part); }

void TraceWriter::exec(std::span<const PartId> parts, const std::uint64_t* logged,
                       const std::uint64_t* values) {
  impl_->exec(parts, logged, values);
}

void TraceWriter::exec(BlockId block, const Part& part, const std::uint64_t* logged,
                       const std::uint64_t* values) {
  PartId id = impl_->part(block, part);
  impl_->exec({&id, 1}, logged, values);
}

void TraceWriter::exec(BlockId block, const std::uint64_t* logged, const std::uint64_t* values) {
  PartId id = impl_->whole(block);
  impl_->exec({&id, 1}, logged, values);
}

void TraceWriter::event(ThreadId thread, const EventBody& body) { impl_->event(thread, body); }

Seq TraceWriter::now() const { return impl_->now(); }

Status TraceWriter::flush() { return impl_->flush(); }

Status TraceWriter::finish() { return impl_->finish(); }

TraceWriter::Totals TraceWriter::totals() const { return impl_->totals(); }

}  // namespace svd
