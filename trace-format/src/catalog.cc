// SPDX-License-Identifier: Apache-2.0

#include "catalog.h"

#include <fmt/format.h>

#include <utility>

#include "walk.h"

namespace svd {

namespace {

// The file's trailer and index, if they are good. Fills all of the catalog but the tables.
bool load_index(const InputFile& file, Catalog& catalog, std::vector<std::uint64_t>& definitions) {
  if (file.size() < sizeof(FileHeader) + sizeof(Trailer)) return false;
  auto trailer = file.read<Trailer>(file.size() - sizeof(Trailer));
  if (!trailer || trailer->magic != kTrailerMagic || trailer->trace_id != catalog.trace_id ||
      trailer->checksum != checksum_of(*trailer) || trailer->index_offset >= file.size()) {
    return false;
  }
  auto chunk = file.load_chunk(trailer->index_offset, catalog.trace_id);
  if (!chunk || chunk->body->body_type() != fb::Body::Index) return false;
  const fb::Index* index = chunk->body->body_as_Index();
  if (index->chunks() == nullptr || index->thread_lists() == nullptr) return false;
  const auto& lists = *index->thread_lists();
  const auto& entries = *index->chunks();
  Seq expected;
  for (flatbuffers::uoffset_t i = 0; i < entries.size(); ++i) {
    const fb::ChunkEntry* entry = entries.Get(i);
    if (entry->offset() % 8 != 0 || entry->offset() >= file.size() ||
        entry->bytes() > file.size() - entry->offset())
      return false;
    if (!entry->is_data()) {
      definitions.push_back(entry->offset());
      continue;
    }
    if (Seq(entry->first_seq()) < expected) return false;
    std::uint32_t end = i + 1 < entries.size() ? entries.Get(i + 1)->first_thread() : lists.size();
    if (entry->first_thread() > end || end > lists.size()) return false;
    ChunkInfo info{entry->ordinal(),     entry->offset(),
                   entry->bytes(),       Seq(entry->first_seq()),
                   entry->steps(),       entry->execs(),
                   entry->accesses(),    entry->events(),
                   entry->event_kinds(), {}};
    for (std::uint32_t t = entry->first_thread(); t < end; ++t)
      info.threads.emplace_back(lists.Get(t));
    expected = info.end_seq();
    catalog.chunks.push_back(std::move(info));
  }
  if (!load_threads(index->threads(), file.size(), catalog.threads)) return false;
  if (static_cast<std::size_t>(index->end_kind()) < names(EndKind{}).size()) {
    catalog.ending.kind = static_cast<EndKind>(index->end_kind());
  }
  catalog.ending.value = index->end_value();
  if (index->end_has_thread()) catalog.ending.thread = ThreadId(index->end_thread());
  catalog.ending.seq = Seq(index->end_seq());
  catalog.ending.pc = Pc(index->end_pc());
  catalog.finished = true;
  return true;
}

// Finds out whose trace this is. A damaged file header is survived when the first chunk is good.
Status check_header(const InputFile& file, Catalog& catalog) {
  auto header = file.read<FileHeader>(0);
  bool good = header && header->magic == kFileMagic && header->checksum == checksum_of(*header);
  if (good && header->major == kMajorVersion) {
    catalog.trace_id = header->trace_id;
    return Done{};
  }
  if (good) {
    return Error{ErrorKind::kNotATrace,
                 file.path(),
                 {},
                 {},
                 fmt::format("is a trace of format version {}.{}; this program reads version {}, "
                             "use the svd that recorded it",
                             header->major, header->minor, kMajorVersion)};
  }
  if (auto chunk = file.load_chunk(sizeof(FileHeader), 0); chunk) {
    catalog.trace_id = chunk->header.trace_id;
    catalog.diagnostics.add(
        "damaged-header", Severity::kNotice, 1,
        "the file header is damaged; the trace was recognised by its first chunk");
    return Done{};
  }
  if (header && header->magic == kFileMagic) {
    return Error{
        ErrorKind::kDamaged, file.path(), {}, 0, "the file header and the first chunk are damaged"};
  }
  if (!header)
    return Error{ErrorKind::kNotATrace,
                 file.path(),
                 {},
                 {},
                 fmt::format("is too short ({} bytes) to be a trace", file.size())};
  return Error{ErrorKind::kNotATrace, file.path(), {}, {}, "is not an svd trace"};
}

}  // namespace

ColumnSet<const fb::Column*> columns_of(const fb::Data& data) {
  return {data.runs(),  data.shapes(), data.successors(),    data.addresses(), data.lengths(),
          data.loads(), data.stores(), data.event_records(), data.pages()};
}

Status decode_data(const InputFile& file, const Catalog& catalog, const ChunkInfo& info,
                   const Columns& wanted, ChunkDecoder& decoder, Chunk& out) {
  thread_local Bytes raw;  // kept between calls: a chunk's columns are megabytes
  auto chunk = file.load_chunk(info.offset, catalog.trace_id);
  if (!chunk) return chunk.error();
  auto damaged = [&](std::string why) {
    return Error{ErrorKind::kDamaged, file.path(), info.ordinal, info.offset, std::move(why)};
  };
  const fb::Data* data = chunk->body->body_as_Data();
  if (data == nullptr || data->first_seq() != info.first_seq.value || data->steps() != info.steps ||
      data->execs() != info.execs || data->accesses() != info.accesses ||
      data->events() != info.events || data->event_kinds() != info.event_kinds) {
    return damaged("the chunk is not the one that the index says");
  }
  if (data->has_values() != catalog.tables.process.has_values)
    return damaged("its values are not as the trace says");
  raw.clear();
  bool good = true;
  auto packed = columns_of(*data);
  ColumnSet<std::size_t> starts{};
  std::vector<std::size_t*> slots;
  ColumnSet<std::size_t>::each(
      starts, [&](std::string_view, std::size_t& start) { slots.push_back(&start); });
  bool events = (data->event_kinds() & wanted.events.bits) != 0;
  std::size_t next = 0;
  ColumnSet<const fb::Column*>::each(packed, [&](std::string_view name, const fb::Column*& column) {
    bool unwanted =
        ((name == "loads" || name == "stores") && !wanted.values) ||
        (name == "events" && !events) || name == "pages" ||
        ((name == "addresses" || name == "lengths") && !wanted.addresses && !wanted.values);
    std::size_t& start = *slots[next++];
    if (unwanted) return;
    auto unpacked = unpack_column(column, raw);
    good = good && unpacked;
    start = unpacked.value_or(0);
  });
  if (!good) return damaged("a column does not decompress");
  auto view = [&](const fb::Column* column, std::size_t start) {
    return std::span<const std::uint8_t>(raw.data() + start,
                                         column == nullptr ? 0 : column->raw_size());
  };
  ColumnSet<std::span<const std::uint8_t>> columns{view(packed.runs, starts.runs),
                                                   view(packed.shapes, starts.shapes),
                                                   view(packed.successors, starts.successors),
                                                   view(packed.addresses, starts.addresses),
                                                   view(packed.lengths, starts.lengths),
                                                   {},
                                                   {},
                                                   {},
                                                   {}};
  if (wanted.values && data->has_values()) {
    columns.loads = view(packed.loads, starts.loads);
    columns.stores = view(packed.stores, starts.stores);
  }
  if (events) columns.events = view(packed.events, starts.events);
  ChunkCounts counts{info.first_seq, data->steps(),  data->execs(),       data->accesses(),
                     data->ranges(), data->events(), data->event_kinds(), data->page_shift()};
  if (auto problem = decoder.decode(counts, columns, catalog.tables.blocks, wanted, out);
      !problem.empty())
    return damaged(problem);
  return Done{};
}

namespace {

// What damaged definitions leave behind is made safe to use, and counted.
void mend(const InputFile& file, Catalog& catalog) {
  if (std::uint64_t dropped = drop_dangling(catalog.tables); dropped > 0) {
    catalog.diagnostics.add("lost-statements", Severity::kLoss, dropped,
                            "statements that the run executes are lost");
  }
  if (catalog.tables.has_process) return;
  catalog.diagnostics.add("lost-process", Severity::kLoss, 1,
                          "what was recorded, and when, is lost");
  if (catalog.chunks.empty()) return;
  auto chunk = file.load_chunk(catalog.chunks.front().offset, catalog.trace_id);
  const fb::Data* data = chunk ? chunk->body->body_as_Data() : nullptr;
  catalog.tables.process.has_values = data != nullptr && data->has_values();
}

}  // namespace

void find_beginning(Catalog& catalog) {
  if (catalog.tables.process.keep_newest != 0 && !catalog.chunks.empty())
    catalog.first_seq = catalog.chunks.front().first_seq;
}

Result<Catalog> load_catalog(const InputFile& file) {
  Catalog catalog;
  if (auto checked = check_header(file, catalog); !checked) return checked.error();
  std::vector<std::uint64_t> definitions;
  Catalog indexed;
  indexed.trace_id = catalog.trace_id;
  indexed.diagnostics = catalog.diagnostics;
  if (!file.being_written() && load_index(file, indexed, definitions)) {
    for (std::uint64_t offset : definitions) {
      auto chunk = file.load_chunk(offset, indexed.trace_id);
      Status loaded = !chunk ? Status(chunk.error())
                      : chunk->body->body_type() != fb::Body::Definitions
                          ? Status(Error{ErrorKind::kDamaged,
                                         file.path(),
                                         {},
                                         offset,
                                         "the index expects definitions here"})
                          : load_definitions(*chunk, file, offset, indexed.tables);
      if (!loaded)
        indexed.diagnostics.add("damaged-chunk", Severity::kLoss, 1, loaded.error().describe());
    }
    find_beginning(indexed);
    mend(file, indexed);
    return indexed;
  }
  if (auto walked = walk_chunks(file, catalog); !walked) return walked.error();
  mend(file, catalog);
  if (file.being_written()) {
    catalog.diagnostics.add("still-written", Severity::kLoss, 1,
                            "another process is still writing this file; what it had written when "
                            "it was opened is shown");
  } else if (catalog.finished) {
    catalog.diagnostics.add("rebuilt-index", Severity::kNotice, 1,
                            "the index is missing or damaged and was rebuilt from the chunks");
  } else {
    catalog.diagnostics.add(
        "missing-end", Severity::kLoss, 1,
        "the end is missing: the recorder or the machine stopped before the trace was finished");
  }
  return catalog;
}

}  // namespace svd
