// SPDX-License-Identifier: Apache-2.0

#include "chunk_framing.h"

#include <vector>

#include "frame.h"
#include "record.h"
#include "svd/trace/limits.h"

namespace svd {

Bytes frame_data(ChunkEncoder& chunk, Seq first_seq, bool edge, const Framing& framing,
                 ChunkInfo& info) {
  const ColumnSet<Bytes>& columns = chunk.finish();
  const ChunkCounts& counts = chunk.counts();
  flatbuffers::FlatBufferBuilder builder(1U << 20);
  std::vector<flatbuffers::Offset<fb::Column>> packed;
  ColumnSet<Bytes>::each(columns, [&](std::string_view, const Bytes& raw) {
    packed.push_back(pack_column(builder, raw, framing.scratch));
  });
  fb::DataBuilder data(builder);
  data.add_first_seq(first_seq.value);
  data.add_steps(counts.steps);
  data.add_execs(counts.execs);
  data.add_accesses(counts.accesses);
  data.add_ranges(counts.ranges);
  data.add_events(counts.events);
  data.add_event_kinds(counts.event_kinds);
  data.add_page_shift(counts.page_shift);
  data.add_has_values(chunk.has_values());
  data.add_edge(edge);
  data.add_runs(packed[0]);
  data.add_shapes(packed[1]);
  data.add_successors(packed[2]);
  data.add_addresses(packed[3]);
  data.add_lengths(packed[4]);
  data.add_loads(packed[5]);
  data.add_stores(packed[6]);
  data.add_event_records(packed[7]);
  data.add_pages(packed[8]);
  info = ChunkInfo{framing.ordinal,
                   0,
                   0,
                   first_seq,
                   counts.steps,
                   counts.execs,
                   counts.accesses,
                   counts.events,
                   counts.event_kinds,
                   chunk.threads()};
  auto data_body = data.Finish().Union();
  builder.FinishSizePrefixed(fb::CreateChunkBody(builder, fb::Body::Data, data_body));
  Bytes bytes = frame_chunk(builder, framing.trace_id, framing.ordinal, fb::Body::Data);
  info.bytes = bytes.size();
  return bytes;
}

Bytes frame_index(std::span<const ChunkInfo> definitions, std::span<const ChunkInfo* const> data,
                  std::span<const ThreadInfo> threads, const Ending& ending,
                  const Framing& framing) {
  constexpr std::size_t kLimit = kMaxChunkBytes - (2U << 20);
  Bytes thread_records;
  for (const ThreadInfo& info : threads) put_record(thread_records, info);
  std::vector<fb::ChunkEntry> entries;
  std::vector<std::uint32_t> lists;
  auto enter = [&](const ChunkInfo& info, bool is_data) {
    entries.emplace_back(
        info.offset, static_cast<std::uint32_t>(info.bytes),
        static_cast<std::uint32_t>(info.ordinal), info.first_seq.value, info.event_kinds,
        static_cast<std::uint32_t>(info.steps), static_cast<std::uint32_t>(info.execs),
        static_cast<std::uint32_t>(info.accesses), static_cast<std::uint32_t>(info.events),
        static_cast<std::uint32_t>(lists.size()), is_data);
    for (ThreadId thread : info.threads) lists.push_back(thread.value);
  };
  for (const ChunkInfo& info : definitions) enter(info, false);
  for (const ChunkInfo* info : data) enter(*info, true);
  if (entries.size() * sizeof(fb::ChunkEntry) + lists.size() * 4 + thread_records.size() > kLimit)
    return {};
  flatbuffers::FlatBufferBuilder builder(1U << 16);
  auto chunks = builder.CreateVectorOfStructs(entries);
  auto thread_lists = builder.CreateVector(lists);
  auto thread_column = pack_column(builder, thread_records, framing.scratch);
  auto body = fb::CreateIndex(builder, chunks, thread_lists, thread_column,
                              static_cast<fb::EndKind>(ending.kind), ending.value,
                              ending.thread.has_value(), ending.thread.value_or(ThreadId()).value,
                              ending.seq.value, ending.pc.value);
  builder.FinishSizePrefixed(fb::CreateChunkBody(builder, fb::Body::Index, body.Union()));
  return frame_chunk(builder, framing.trace_id, framing.ordinal, fb::Body::Index);
}

}  // namespace svd
