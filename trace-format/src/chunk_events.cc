// SPDX-License-Identifier: Apache-2.0
//
// The columns of a chunk that are records rather than predicted streams: events and touched pages; and the record of a static block.

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "chunk_code.h"
#include "record.h"

namespace svd {

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
constexpr auto kDecoders = make_decoders(std::make_index_sequence<std::variant_size_v<EventBody>>{});

// An event that only a newer version knows: said, not dropped.
bool get_unknown(ByteReader& in, EventBody& out) {
  in.bytes(in.varint());
  out = Note{"an event that this version does not know (the trace was written by a newer one)"};
  return !in.failed();
}

std::uint64_t last_byte(std::uint64_t address, std::uint64_t size) {
  std::uint64_t last = address + (size - 1);
  return last < address ? ~std::uint64_t{0} : last;
}

}  // namespace

std::string get_events(std::span<const std::uint8_t> column, const ChunkCounts& counts, Chunk& out) {
  out.event_bytes.assign(column.begin(), column.end());
  ByteReader in(out.event_bytes);
  std::uint64_t exec = 0;
  auto run = out.runs.begin();
  Seq seq = counts.first_seq;
  std::uint64_t placed = 0;  // executions before `seq`
  for (std::uint32_t i = 0; i < counts.events; ++i) {
    exec += in.varint();
    std::uint64_t thread = in.varint();
    std::uint64_t kind = in.varint();
    Event& event = out.events.emplace_back();
    bool good = kind < kDecoders.size() ? kDecoders[kind](in, event.body) : get_unknown(in, event.body);
    if (!good || in.failed() || exec > counts.execs || thread > std::numeric_limits<std::uint32_t>::max()) {
      return fmt::format("its event {} is malformed", i);
    }
    // Skip whole runs, then single executions.
    while (run != out.runs.end() && run->first_exec + run->exec_count <= exec) {
      ++run;
      placed = run == out.runs.end() ? counts.execs : run->first_exec;
      seq = run == out.runs.end() ? counts.first_seq + counts.steps : run->first_seq;
    }
    for (; placed < exec; ++placed) seq += out.shapes[out.execs[placed]].part.steps();
    event.seq = seq;
    event.exec = static_cast<std::uint32_t>(exec);
    event.thread = ThreadId(static_cast<std::uint32_t>(thread));
  }
  return in.left() == 0 ? std::string() : "it has more events than it says";
}

void put_pages(const Chunk& chunk, Bytes& out, std::uint8_t& shift) {
  struct Span {
    std::uint64_t first, last;
  };
  constexpr std::size_t kMaxSpans = 4096;  // about 10 KB in the file; a chunk with more gets coarser pages
  constexpr std::size_t kRecent = 1024;    // pages that need not be noted again
  shift = 12;
  std::vector<std::uint64_t> recent(kRecent, ~std::uint64_t{0});
  std::vector<Span> spans;
  const std::uint64_t* length = chunk.lengths.data();
  const std::uint64_t* address = chunk.addresses.data();
  for (std::uint32_t exec : chunk.execs) {
    const Shape& shape = chunk.shapes[exec];
    for (std::uint32_t i = 0; i < shape.accesses; ++i, ++address) {
      const Slot& slot = shape.block->slots[shape.part.first_slot + i];
      std::uint64_t size = slot.is_range() ? *length++ : slot.size;
      if (*address == kAbsent.value || size == 0) continue;
      std::uint64_t first = *address >> shift;
      std::uint64_t last = last_byte(*address, size) >> shift;
      if (first == last && recent[first % kRecent] == first) continue;
      recent[first % kRecent] = first;
      spans.push_back({first, last});
    }
  }
  auto merge = [&] {
    std::sort(spans.begin(), spans.end(), [](Span a, Span b) { return a.first < b.first; });
    std::size_t kept = 0;
    for (const Span& span : spans) {
      if (kept > 0 && span.first <= spans[kept - 1].last + 1) {
        spans[kept - 1].last = std::max(spans[kept - 1].last, span.last);
      } else {
        spans[kept++] = span;
      }
    }
    spans.resize(kept);
  };
  merge();
  while (spans.size() > kMaxSpans) {
    ++shift;
    for (Span& span : spans) span = {span.first >> 1, span.last >> 1};
    merge();
  }
  std::uint64_t end = 0;
  for (const Span& span : spans) {
    put_varint(out, span.first - end);
    put_varint(out, span.last - span.first);
    end = span.last;
  }
}

bool pages_contain(std::span<const std::uint8_t> column, std::uint8_t shift, Addr address, std::uint64_t size) {
  if (size == 0 || shift >= 64) return false;
  std::uint64_t wanted_first = address.value >> shift;
  std::uint64_t wanted_last = last_byte(address.value, size) >> shift;
  ByteReader in(column);
  std::uint64_t end = 0;
  while (in.left() > 0) {
    std::uint64_t first = end + in.varint();
    end = first + in.varint();
    if (first > wanted_last) return false;
    if (end >= wanted_first) return true;
  }
  return false;
}

void put_block(Bytes& out, const Block& block) {
  put_varint(out, block.instructions.size());
  Pc expected;
  for (const Instruction& instruction : block.instructions) {
    put_varint(out, zigzag(instruction.pc - expected));
    out.push_back(instruction.length);
    expected = instruction.pc + instruction.length;
  }
  put_bytes(out, block.code.data(), block.code.size());
  put_varint(out, block.statements.size());
  for (StatementId statement : block.statements) put_varint(out, statement.value);
  put_varint(out, block.slots.size());
  std::uint16_t last = 0;
  for (const Slot& slot : block.slots) {
    out.push_back(static_cast<std::uint8_t>(static_cast<unsigned>(slot.source) | static_cast<unsigned>(slot.role) << 2 |
                                            (slot.write ? 16U : 0U) | (slot.atomic ? 32U : 0U) | (slot.optional ? 64U : 0U)));
    put_varint(out, static_cast<std::uint64_t>(slot.instruction - last));
    put_varint(out, slot.size);
    put_varint(out, slot.base);
    put_varint(out, zigzag(slot.offset));
    last = slot.instruction;
  }
}

bool get_block(ByteReader& in, Block& block) {
  std::uint64_t count = in.varint();
  if (count > kMaxBlockInstructions) return false;
  Pc pc;
  std::size_t code = 0;
  for (std::uint64_t i = 0; i < count; ++i) {
    pc += unzigzag(in.varint());
    auto length = in.bytes(1);
    if (length.empty()) return false;
    block.instructions.push_back({pc, length[0]});
    pc += length[0];
    code += length[0];
  }
  auto bytes = in.bytes(code);
  block.code.assign(bytes.begin(), bytes.end());
  count = in.varint();
  if (count > kMaxBlockInstructions) return false;
  for (std::uint64_t i = 0; i < count; ++i) block.statements.emplace_back(static_cast<std::uint32_t>(in.varint()));
  count = in.varint();
  if (count > kMaxBlockSlots || count > in.left()) return false;
  std::uint64_t instruction = 0;
  for (std::uint64_t i = 0; i < count; ++i) {
    auto flags = in.bytes(1);
    if (flags.empty()) return false;
    Slot slot;
    unsigned source = flags[0] & 3U;
    unsigned role = (flags[0] >> 2) & 3U;
    if (source > 2 || role > 2 || flags[0] >= 128) return false;
    slot.source = static_cast<AddressSource>(source);
    slot.role = static_cast<Role>(role);
    slot.write = (flags[0] & 16U) != 0;
    slot.atomic = (flags[0] & 32U) != 0;
    slot.optional = (flags[0] & 64U) != 0;
    instruction += in.varint();
    std::uint64_t size = in.varint();
    std::uint64_t base = in.varint();
    slot.offset = unzigzag(in.varint());
    if (instruction > 0xFFFF || size > 0xFFFF || base > 0xFFFF) return false;
    slot.instruction = static_cast<std::uint16_t>(instruction);
    slot.size = static_cast<std::uint16_t>(size);
    slot.base = static_cast<std::uint16_t>(base);
    block.slots.push_back(slot);
  }
  return !in.failed() && block_problem(block).empty();
}

}  // namespace svd
