// SPDX-License-Identifier: Apache-2.0

#include "chunk_columns.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>
#include <utility>

#include "record.h"
#include "svd/trace/limits.h"

namespace svd {

void put_runs(std::span<const Run> runs, Bytes& out) {
  std::uint32_t last = 0;
  for (const Run& run : runs) {
    put_varint(out, zigzag(std::uint64_t{run.thread.value} - last));
    put_varint(out, run.exec_count);
    last = run.thread.value;
  }
}

bool get_runs(std::span<const std::uint8_t> column, std::uint32_t execs, std::vector<Run>& out) {
  ByteReader in(column);
  std::uint64_t thread = 0;
  std::uint64_t total = 0;
  out.clear();
  while (in.left() > 0) {
    thread += unzigzag(in.varint());
    std::uint64_t count = in.varint();
    if (in.failed() || thread > std::numeric_limits<std::uint32_t>::max() || count == 0 ||
        count > execs - total)
      return false;
    Run run;
    run.thread = ThreadId(static_cast<std::uint32_t>(thread));
    run.first_exec = static_cast<std::uint32_t>(total);
    run.exec_count = static_cast<std::uint32_t>(count);
    out.push_back(run);
    total += count;
  }
  return total == execs;
}

void put_shapes(std::span<const Shape> shapes, Bytes& out) {
  std::uint32_t last = 0;
  for (const Shape& shape : shapes) {
    bool whole = shape.part == Part::whole(*shape.block);
    put_varint(out, zigzag(std::uint64_t{shape.id.value} - last) << 1 | (whole ? 0 : 1));
    if (!whole) {
      for (std::uint16_t field :
           {shape.part.first, shape.part.end, shape.part.first_slot, shape.part.end_slot}) {
        put_varint(out, field);
      }
    }
    last = shape.id.value;
  }
}

Shape make_shape(BlockId id, const Block& block, const Part& part) {
  Shape shape{id, &block, part, static_cast<std::uint32_t>(part.end_slot - part.first_slot), 0};
  for (std::uint16_t i = part.first_slot; i < part.end_slot; ++i)
    shape.ranges += block.slots[i].is_range();
  return shape;
}

std::string get_shapes(std::span<const std::uint8_t> column, std::span<const Block> blocks,
                       const ChunkCounts& counts, std::vector<Shape>& out) {
  ByteReader in(column);
  std::uint64_t id = 0;
  std::uint64_t accesses = 0;
  out.clear();
  while (in.left() > 0) {
    std::uint64_t head = in.varint();
    id += unzigzag(head >> 1);
    std::uint64_t part[4] = {};
    if (head & 1) {
      for (std::uint64_t& field : part) field = in.varint();
    }
    if (in.failed()) return "its table of shapes ends early";
    if (id >= blocks.size() || blocks[id].size() == 0)
      return fmt::format("it executes block {}, whose definition is lost", id);
    const Block& block = blocks[id];
    Part range = Part::whole(block);
    if (head & 1) {
      if (part[0] >= part[1] || part[1] > block.size() || part[2] > part[3] ||
          part[3] > block.slots.size()) {
        return fmt::format("it executes a part of block {} that does not exist", id);
      }
      range = Part{static_cast<std::uint16_t>(part[0]), static_cast<std::uint16_t>(part[1]),
                   static_cast<std::uint16_t>(part[2]), static_cast<std::uint16_t>(part[3])};
      for (std::size_t i = part[2]; i < part[3]; ++i) {
        if (block.slots[i].instruction < part[0] || block.slots[i].instruction >= part[1]) {
          return fmt::format("it executes accesses of block {} outside their instructions", id);
        }
      }
    }
    out.push_back(make_shape(BlockId(static_cast<std::uint32_t>(id)), block, range));
    accesses += out.back().accesses;
    if (out.size() > counts.execs || accesses > counts.accesses) {
      return "its table of shapes is longer than what it executes";
    }
  }
  return {};
}

void put_event(Bytes& out, std::uint32_t execs_since_last, ThreadId thread, const EventBody& body) {
  put_varint(out, execs_since_last);
  put_varint(out, thread.value);
  put_varint(out, body.index());
  std::visit([&](const auto& alternative) { put_record(out, alternative); }, body);
}

namespace {

// One decoder per alternative of EventBody, by its index: the number in the file.
template <std::size_t... I>
constexpr auto make_decoders(std::index_sequence<I...>) {
  using Decoder = bool (*)(ByteReader&, EventBody&);
  return std::array<Decoder, sizeof...(I)>{
      [](ByteReader& in, EventBody& out) { return get_record(in, out.emplace<I>()); }...};
}
constexpr auto kDecoders =
    make_decoders(std::make_index_sequence<std::variant_size_v<EventBody>>{});

// An event that only a newer version knows: said, not dropped.
bool get_unknown(ByteReader& in, EventBody& out) {
  in.bytes(in.varint());
  out = Note{"an event that this version does not know (the trace was written by a newer one)"};
  return !in.failed();
}

bool is_possible(Addr address, std::uint64_t size) {
  return size == 0 || (size <= kAddressSpace && address.value <= kAddressSpace - size);
}

bool is_possible(const EventBody& body) {
  if (const auto* kernel = std::get_if<KernelAccess>(&body))
    return is_possible(kernel->address, kernel->size);
  const auto* moved = std::get_if<Transfer>(&body);
  return moved == nullptr || is_possible(moved->address, moved->size);
}

}  // namespace

bool get_event_head(ByteReader& in, EventHead& head) {
  head.execs_since_last = in.varint();
  std::uint64_t id = in.varint();
  head.thread = ThreadId(static_cast<std::uint32_t>(id));
  head.kind = in.varint();
  return !in.failed() && id <= std::numeric_limits<std::uint32_t>::max();
}

bool get_event_body(ByteReader& in, const EventHead& head, EventBody& body) {
  std::size_t before = in.left();
  bool good = head.kind < kDecoders.size() ? kDecoders[head.kind](in, body) : get_unknown(in, body);
  if (!is_possible(body))
    body = Gap{"the kernel's access to more memory than a program can have", 0, 1};
  return good && !in.failed() && before - in.left() <= kMaxEventBytes;
}

std::string get_events(std::span<const std::uint8_t> column, const ChunkCounts& counts,
                       EventKinds wanted, Chunk& out) {
  if (counts.events > kMaxChunkEvents) return "it claims more events than a chunk can hold";
  const EventKinds claimed(counts.event_kinds);
  out.event_bytes.assign(column.begin(), column.end());
  ByteReader in(out.event_bytes);
  std::uint64_t exec = 0;
  auto run = out.runs.begin();
  Seq seq = counts.first_seq;
  std::uint64_t placed = 0;  // executions before `seq`
  for (std::uint32_t i = 0; i < counts.events; ++i) {
    EventHead head;
    bool good = get_event_head(in, head);
    // Whoever wanted this kind only would have been told that there is nothing to decode.
    if (good && !claimed.holds(head.kind))
      return fmt::format("its event {} is of a kind that it denies to have", i);
    exec += head.execs_since_last;
    // One that only a newer version knows is told as a note.
    bool is_wanted = wanted.holds(std::min<std::uint64_t>(head.kind, kDecoders.size()));
    Event* event = is_wanted ? &out.events.emplace_back() : nullptr;
    if (is_wanted)
      good = good && get_event_body(in, head, event->body);
    else
      in.bytes(in.varint());
    if (!good || in.failed() || exec > counts.execs)
      return fmt::format("its event {} is malformed", i);
    if (!is_wanted) continue;
    // Skip whole runs, then single executions.
    while (run != out.runs.end() && run->first_exec + run->exec_count <= exec) {
      ++run;
      placed = run == out.runs.end() ? counts.execs : run->first_exec;
      seq = run == out.runs.end() ? counts.first_seq + counts.steps : run->first_seq;
    }
    for (; placed < exec; ++placed) seq += out.shapes[out.execs[placed]].part.steps();
    event->seq = seq;
    event->exec = static_cast<std::uint32_t>(exec);
    event->thread = head.thread;
  }
  return in.left() == 0 ? std::string() : "it has more events than it says";
}

void put_pages(std::vector<PageSpan> spans, Bytes& out, std::uint8_t& shift) {
  constexpr std::size_t kMaxSpans = 4096;  // about 10 KB in the file
  auto merge = [&] {
    std::sort(spans.begin(), spans.end(), [](PageSpan a, PageSpan b) { return a.first < b.first; });
    std::size_t kept = 0;
    for (const PageSpan& span : spans) {
      if (kept > 0 && span.first <= spans[kept - 1].last + 1) {
        spans[kept - 1].last = std::max(spans[kept - 1].last, span.last);
      } else {
        spans[kept++] = span;
      }
    }
    spans.resize(kept);
  };
  shift = 12;
  merge();
  while (spans.size() > kMaxSpans) {
    ++shift;
    for (PageSpan& span : spans) span = {span.first >> 1, span.last >> 1};
    merge();
  }
  std::uint64_t end = 0;
  for (const PageSpan& span : spans) {
    put_varint(out, span.first - end);
    put_varint(out, span.last - span.first);
    end = span.last;
  }
}

std::optional<bool> pages_contain(std::span<const std::uint8_t> column, std::uint8_t shift,
                                  Addr address, std::uint64_t size) {
  if (shift < 12 || shift >= 64) return std::nullopt;
  if (size == 0) return false;
  std::uint64_t wanted_first = address.value >> shift;
  std::uint64_t last_byte = address.value + (size - 1);
  if (last_byte < address.value) last_byte = ~std::uint64_t{0};
  std::uint64_t wanted_last = last_byte >> shift;
  ByteReader in(column);
  std::uint64_t end = 0;
  while (in.left() > 0) {
    std::uint64_t first = end + in.varint();
    std::uint64_t last = first + in.varint();
    if (in.failed() || first < end || last < first) return std::nullopt;
    end = last;
    if (first > wanted_last) return false;
    if (end >= wanted_first) return true;
  }
  return false;
}

}  // namespace svd
