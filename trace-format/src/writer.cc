// SPDX-License-Identifier: Apache-2.0

#include "svd/trace/writer.h"

#include <fmt/format.h>
#include <xxhash.h>

#include <algorithm>
#include <deque>
#include <utility>

#include "chunk_encoder.h"
#include "chunk_framing.h"
#include "data_chunks.h"
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

// Of a file that keeps the newest part only, a chunk is at most this share: so much is dropped at
// once.
constexpr std::uint64_t kShareOfKept = 4;

std::uint64_t budget_of(std::uint64_t kept) {
  return kept == 0 ? kChunkBudget : std::min(kept / kShareOfKept, kChunkBudget);
}

// Definitions are written once they reach this size, or before the next chunk that may need them.
constexpr std::size_t kDefinitionBudget = 4U << 20;

}  // namespace

class TraceWriter::Impl {
 public:
  Impl(OutputFile file, const Process& process, const WriterOptions& options)
      : file_(std::move(file)),
        keep_(options.edge != nullptr ? process.keep_newest : 0),
        edge_(options.edge),
        header_(header_of(process)),
        chunk_(process.has_values,
               std::clamp<std::uint32_t>(options.chunk_steps, 1, kMaxChunkSteps), budget_of(keep_)),
        data_(file_, header_.trace_id, keep_,
              [this](const DataChunk& chunk, std::span<const std::uint8_t> bytes) {
                return drop(chunk.info, bytes);
              }) {
    put_record(definitions_.process, process);
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
    if (is_full(chunk_)) end_chunk();
  }

  Seq now() const { return chunk_.now(); }

  Status flush() {
    if (!chunk_.empty()) end_chunk();
    write_definitions();
    return status_;
  }

  Status finish() {
    if (auto flushed = flush(); !flushed) return flushed;
    write_edge();
    write_index();
    if (!status_) return status_;
    return file_.close();
  }

  Totals totals() const {
    const ChunkCounts& counts = chunk_.counts();
    return Totals{totals_.steps + counts.steps,
                  totals_.execs + counts.execs,
                  totals_.accesses + counts.accesses,
                  totals_.events + counts.events,
                  file_.size(),
                  totals_.dropped};
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
  static FileHeader header_of(const Process& process) {
    Bytes record;
    put_record(record, process);
    FileHeader header;
    header.trace_id = XXH3_64bits(record.data(), record.size());
    header.checksum = checksum_of(header);
    return header;
  }

  static bool is_full(const ChunkEncoder& chunk) {
    return chunk.full() || chunk.counts().events >= kMaxChunkEvents;
  }

  // Tells the summary what the current thread did since it was last told.
  void note_run() {
    if (now() > noted_) {
      summary_.on_run(chunk_.thread(), noted_, now() - noted_);
      if (data_.limited()) of_chunk_.on_run(chunk_.thread(), noted_, now() - noted_);
    }
    noted_ = now();
  }

  void end_chunk() {
    note_run();
    write_definitions();
    DataChunk written;
    Bytes bytes = frame_data(chunk_, chunk_.counts().first_seq, false, next_frame(), written.info);
    if (data_.limited()) written.runs = std::exchange(of_chunk_, RunSummary()).threads();
    count(written.info, 1);
    if (status_) status_ = data_.write(std::move(written), bytes, definition_chunks_);
    chunk_.reset();
  }

  void count(const ChunkInfo& info, std::uint64_t sign) {
    totals_.steps += sign * info.steps;
    totals_.execs += sign * info.execs;
    totals_.accesses += sign * info.accesses;
    totals_.events += sign * info.events;
  }

  Framing next_frame() { return {header_.trace_id, ordinal_++, scratch_}; }

  // A chunk that is about to go.
  Status drop(const ChunkInfo& info, std::span<const std::uint8_t> bytes) {
    const fb::ChunkBody* body =
        chunk_body(bytes.subspan(sizeof(ChunkHeader)), static_cast<std::uint32_t>(fb::Body::Data));
    const fb::Column* column = body == nullptr ? nullptr : body->body_as_Data()->event_records();
    Bytes raw;
    bool good = body != nullptr && unpack_column(column, raw);
    ByteReader in({raw.data(), good && column != nullptr ? column->raw_size() : 0});
    while (good && in.left() > 0) {
      EventHead head;
      EventBody event;
      good = get_event_head(in, head) && get_event_body(in, head, event);
      if (good) edge_->drop(head.thread, event);
    }
    if (!good) {
      return Error{ErrorKind::kIo,
                   {},
                   info.ordinal,
                   info.offset,
                   "the disk returns other bytes than were written"};
    }
    count(info, ~std::uint64_t{0});
    totals_.dropped += info.steps;
    dropped_accesses_ += info.accesses;
    return Done{};
  }

  // Where what is kept begins.
  Seq base() const { return data_.kept().empty() ? Seq() : data_.kept().front().info.first_seq; }

  // What holds there.
  void write_edge() {
    if (!status_ || !data_.dropped()) return;
    ChunkEncoder chunk(chunk_.has_values(), kMaxChunkSteps, budget_of(keep_));
    auto end_edge_chunk = [&] {
      ChunkInfo info;
      Bytes bytes = frame_data(chunk, base(), true, next_frame(), info);
      info.offset = file_.size();
      append(bytes);
      edge_chunks_.push_back(std::move(info));
      chunk.reset();
    };
    auto tell = [&](ThreadId thread, const EventBody& body) {
      chunk.event(thread, body);
      if (is_full(chunk)) end_edge_chunk();
    };
    std::string reason = fmt::format(
        "{} instructions before were dropped: only the newest {} bytes of the run were wanted",
        totals_.dropped, keep_);
    ThreadId first = data_.kept().front().info.threads.front();
    tell(first, Gap{reason, totals_.dropped, dropped_accesses_, GapCause::kBeforeWindow});
    edge_->restate(tell);
    if (!chunk.empty()) end_edge_chunk();
    summary_.forget_runs();
    for (const DataChunk& kept : data_.kept()) {
      for (const ThreadInfo& stretch : kept.runs) summary_.add_runs(stretch);
    }
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
    ChunkInfo info;
    info.ordinal = ordinal_;
    info.offset = file_.size();
    append(frame(builder, fb::Body::Definitions, body.Union()));
    info.bytes = file_.size() - info.offset;
    definition_chunks_.push_back(std::move(info));
    definitions_ = Definitions{};
    definitions_.first = ids_;
  }

  void write_index() {
    note_run();
    std::vector<const ChunkInfo*> data;
    for (const ChunkInfo& info : edge_chunks_) data.push_back(&info);
    for (const DataChunk& chunk : data_.kept()) data.push_back(&chunk.info);
    Ending ending = summary_.ending();
    if (ending.seq < base()) ending.thread.reset();
    Bytes index = frame_index(definition_chunks_, data, summary_.threads(), ending, next_frame());
    if (index.empty()) return;
    Trailer trailer;
    trailer.index_offset = file_.size();
    trailer.trace_id = header_.trace_id;
    trailer.checksum = checksum_of(trailer);
    append(index);
    append({reinterpret_cast<const std::uint8_t*>(&trailer), sizeof trailer});
  }

  Bytes frame(flatbuffers::FlatBufferBuilder& builder, fb::Body kind,
              flatbuffers::Offset<void> body) {
    builder.FinishSizePrefixed(fb::CreateChunkBody(builder, kind, body));
    return frame_chunk(builder, header_.trace_id, ordinal_++, kind);
  }

  void append(std::span<const std::uint8_t> bytes) {
    if (status_) status_ = file_.append(bytes);
  }

  OutputFile file_;
  Status status_{Done{}};
  std::uint64_t keep_;  // bytes of the run; 0: all
  TraceEdge* edge_;
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
  std::uint64_t dropped_accesses_ = 0;
  RunSummary of_chunk_;  // the one that is being filled, in a file that keeps the newest
  DataChunks data_;
  std::vector<ChunkInfo> definition_chunks_;
  std::vector<ChunkInfo> edge_chunks_;
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
