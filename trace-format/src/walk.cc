// SPDX-License-Identifier: Apache-2.0

#include "walk.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <map>

#include "summary.h"
#include "svd/trace/limits.h"

namespace svd {

namespace {

ChunkInfo describe(const LoadedChunk& chunk, std::uint64_t offset) {
  const fb::Data* data = chunk.body->body_as_Data();
  ChunkInfo info;
  info.ordinal = chunk.header.ordinal;
  info.offset = offset;
  info.bytes = chunk.bytes();
  info.first_seq = Seq(data->first_seq());
  info.steps = data->steps();
  info.execs = data->execs();
  info.accesses = data->accesses();
  info.events = data->events();
  info.event_kinds = data->event_kinds();
  return info;
}

// Where the next chunk of the trace may begin at or after `offset`: 8-aligned, right magic. The
// file's end if nowhere.
std::uint64_t find_chunk(const InputFile& file, std::uint64_t offset) {
  constexpr std::size_t kWindow = 1U << 20;
  offset = (offset + 7) / 8 * 8;
  while (offset + sizeof(ChunkHeader) <= file.size()) {
    std::size_t size =
        static_cast<std::size_t>(std::min<std::uint64_t>(kWindow, file.size() - offset));
    auto mapping = file.map(offset, size);
    if (!mapping) return file.size();
    auto bytes = mapping->bytes();
    for (std::size_t at = 0; at + 8 <= bytes.size(); at += 8) {
      std::uint32_t magic;
      std::memcpy(&magic, bytes.data() + at, sizeof magic);
      if (magic == kChunkMagic) return offset + at;
    }
    offset += size / 8 * 8;
  }
  return file.size();
}

// Reads a file without a usable index: every chunk from the start, and what they say about threads
// and the end.
class Walk {
 public:
  Walk(const InputFile& file, Catalog& catalog) : file_(file), catalog_(catalog) {}

  Status run() {
    std::uint64_t offset = sizeof(FileHeader);
    while (offset < file_.size()) {
      if (at_trailer(offset)) break;
      if (std::uint64_t free = free_space(offset); free > 0) {
        offset += free;
        continue;
      }
      auto chunk = file_.load_chunk(offset, catalog_.trace_id);
      if (chunk) {
        take(*chunk, offset);
        offset += chunk->bytes();
      } else {
        std::uint64_t next = next_good(offset + 8);
        lose_bytes(offset, next, chunk.error());
        offset = next;
      }
    }
    define();
    put_in_order();
    summarize();
    if (definitions_.empty() && catalog_.chunks.empty()) {
      return Error{ErrorKind::kDamaged,
                   file_.path(),
                   {},
                   sizeof(FileHeader),
                   "no chunk of this trace can be read"};
    }
    return Done{};
  }

 private:
  bool at_trailer(std::uint64_t offset) const {
    auto trailer = file_.read<Trailer>(offset);
    return trailer && offset + sizeof(Trailer) == file_.size() && trailer->magic == kTrailerMagic;
  }

  // Bytes of free space that begins at `offset`; 0: none.
  std::uint64_t free_space(std::uint64_t offset) const {
    auto free = file_.read<FreeHeader>(offset);
    bool good = free && free->magic == kFreeMagic && free->trace_id == catalog_.trace_id &&
                free->checksum == checksum_of(*free) && free->size % 8 == 0 &&
                free->size >= sizeof(FreeHeader) && free->size <= file_.size() - offset;
    return good ? free->size : 0;
  }

  // Where the next good chunk begins. Checking a false one costs reading what it claims as its
  // body, so a file full of them is given up at some point: the rest then counts as lost.
  std::uint64_t next_good(std::uint64_t offset) {
    for (offset = find_chunk(file_, offset); offset < file_.size();
         offset = find_chunk(file_, offset + 8)) {
      auto chunk = file_.load_chunk(offset, catalog_.trace_id);
      if (chunk) return offset;
      auto header = file_.read<ChunkHeader>(offset);
      searched_ += header && header->trace_id == catalog_.trace_id ? header->size : 0;
      if (searched_ > 4 * file_.size() + kMaxChunkBytes) break;
    }
    return file_.size();
  }

  void take(const LoadedChunk& chunk, std::uint64_t offset) {
    ordinals_.push_back(chunk.header.ordinal);
    switch (chunk.body->body_type()) {
      case fb::Body::Definitions:
        definitions_[chunk.header.ordinal] = offset;
        break;
      case fb::Body::Data:
        if (chunk.body->body_as_Data()->edge())
          edge_.push_back(describe(chunk, offset));
        else
          catalog_.chunks.push_back(describe(chunk, offset));
        break;
      case fb::Body::Index:
        catalog_.finished = true;
        break;
      default:
        catalog_.diagnostics.add("unknown-chunk", Severity::kNotice, 1,
                                 "a chunk is of a kind that this version does not know");
        break;
    }
  }

  // In their order, which is not that of the file when it was left while they were moved.
  void define() {
    for (const auto& [ordinal, offset] : definitions_) {
      auto chunk = file_.load_chunk(offset, catalog_.trace_id);
      Status loaded =
          chunk ? load_definitions(*chunk, file_, offset, catalog_.tables) : Status(chunk.error());
      if (!loaded) lose_chunk(loaded.error());
    }
  }

  void lose_chunk(const Error& error) {
    catalog_.diagnostics.add("damaged-chunk", Severity::kLoss, 1, error.describe());
  }

  void lose_bytes(std::uint64_t from, std::uint64_t to, const Error& error) {
    bool at_end = to == file_.size();
    if (at_end && file_.being_written()) return;
    std::string text =
        fmt::format("{}; {} bytes {}", error.describe(), to - from,
                    at_end ? "at the end of the file were left out" : "were left out");
    catalog_.diagnostics.add("damaged-bytes", Severity::kLoss, to - from, std::move(text));
  }

  // A file that keeps the newest is a ring, and its edge is written last.
  void put_in_order() {
    auto& chunks = catalog_.chunks;
    std::sort(chunks.begin(), chunks.end(),
              [](const ChunkInfo& a, const ChunkInfo& b) { return a.ordinal < b.ordinal; });
    bool drops = catalog_.tables.process.keep_newest != 0 && !chunks.empty() &&
                 chunks.front().first_seq > Seq();
    std::sort(ordinals_.begin(), ordinals_.end());
    std::uint64_t expected = drops ? chunks.front().ordinal : 0;
    for (std::uint64_t ordinal : ordinals_) {
      if (ordinal > expected) lost_ordinals_ += ordinal - expected;
      expected = std::max(expected, ordinal + 1);
    }
    if (drops && edge_.empty()) {
      catalog_.diagnostics.add(
          "missing-edge", Severity::kLoss, 1,
          fmt::format("{} instructions before were dropped, as was asked for, and what held where "
                      "the rest begins is not known",
                      chunks.front().first_seq.value));
    }
    chunks.insert(chunks.begin(), edge_.begin(), edge_.end());
    Seq end;
    std::erase_if(chunks, [&](const ChunkInfo& chunk) {
      bool back = chunk.first_seq < end;
      if (back)
        lose_chunk(Error{ErrorKind::kDamaged, file_.path(), chunk.ordinal, chunk.offset,
                         "it goes back in time"});
      else
        end = chunk.end_seq();
      return back;
    });
    find_beginning(catalog_);
  }

  // Threads and ending come from the chunks themselves.
  void summarize() {
    RunSummary summary;
    ChunkDecoder decoder;
    Chunk chunk;
    Seq expected = catalog_.first_seq;
    for (ChunkInfo& info : catalog_.chunks) {
      if (info.first_seq > expected) lost_steps_ += info.first_seq - expected;
      expected = info.end_seq();
      if (!decode_data(file_, catalog_, info, Columns{.addresses = false, .values = false}, decoder,
                       chunk))
        continue;
      std::vector<ThreadId>& threads = info.threads;
      std::size_t next_event = 0;
      auto events_until = [&](Seq seq) {
        for (; next_event < chunk.events.size() && chunk.events[next_event].seq < seq; ++next_event)
          tell(summary, chunk, next_event);
      };
      for (const Run& run : chunk.runs) {
        events_until(run.first_seq + 1);
        Seq end = &run == &chunk.runs.back() ? chunk.end_seq() : (&run + 1)->first_seq;
        Seq from = run.first_seq;
        for (; next_event < chunk.events.size() && chunk.events[next_event].seq < end;
             ++next_event) {
          Seq at = chunk.events[next_event].seq;
          summary.on_run(run.thread, from, at - from);
          from = at;
          tell(summary, chunk, next_event);
        }
        summary.on_run(run.thread, from, end - from);
        threads.push_back(run.thread);
      }
      for (; next_event < chunk.events.size(); ++next_event) tell(summary, chunk, next_event);
      for (const Event& event : chunk.events) threads.push_back(event.thread);
      std::sort(threads.begin(), threads.end());
      threads.erase(std::unique(threads.begin(), threads.end()), threads.end());
    }
    catalog_.threads = summary.threads();
    catalog_.ending = summary.ending();
    if (saw_end_) catalog_.finished = true;
    if (lost_ordinals_ > 0) {
      catalog_.diagnostics.add("lost-chunks", Severity::kLoss, lost_ordinals_,
                               fmt::format("{} chunks are missing", lost_ordinals_));
    }
    if (lost_steps_ > 0) {
      catalog_.diagnostics.add(
          "lost-instructions", Severity::kLoss, lost_steps_,
          fmt::format("{} instructions are missing in the middle", lost_steps_));
    }
  }

  void tell(RunSummary& summary, const Chunk& chunk, std::size_t index) {
    const Event& event = chunk.events[index];
    summary.on_event(event.thread, event.body);
    saw_end_ = std::holds_alternative<ProcessEnd>(
        event.body);  // it counts as the end only when it is the last
  }

  const InputFile& file_;
  Catalog& catalog_;
  std::vector<std::uint64_t> ordinals_;  // of all good chunks
  std::vector<ChunkInfo> edge_;
  std::map<std::uint32_t, std::uint64_t> definitions_;  // offsets by ordinal
  std::uint64_t searched_ = 0;
  std::uint64_t lost_ordinals_ = 0;
  std::uint64_t lost_steps_ = 0;
  bool saw_end_ = false;
};

}  // namespace

Status walk_chunks(const InputFile& file, Catalog& catalog) { return Walk(file, catalog).run(); }

}  // namespace svd
