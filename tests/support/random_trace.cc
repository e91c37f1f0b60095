// SPDX-License-Identifier: Apache-2.0

#include "support/random_trace.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <deque>
#include <random>
#include <utility>
#include <vector>

#include "svd/trace/limits.h"

namespace svd::test {
namespace {

constexpr std::uint64_t kFirstAddress = 0x100000;  // where textual traces place variables, too

class Random {
 public:
  explicit Random(std::uint64_t seed) : engine_(seed) {}

  std::uint64_t below(std::uint64_t end) {
    return std::uniform_int_distribution<std::uint64_t>(0, end - 1)(engine_);
  }
  bool one_in(std::uint64_t n) { return below(n) == 0; }
  std::uint64_t any() { return engine_() >> below(64); }

  // Often one of few names, so that some are there twice.
  std::string name() {
    static const std::array<std::string, 26> kNames = {
        "x",    "y",     "buf->outcnt", "len",       "3.05",     "4.01",   "a b",
        "",     "\"q\"", "0x1",         "lock",      "block",    "signal", "T1",
        "#1",   "$2",    "\xc3\xa9",    "new\nline", "\x01\x7f", "by",     "at",
        "a[3]", "k=v",   "std::map",    "\\n",       "(x)"};
    return kNames[below(kNames.size())];
  }

  std::vector<std::uint8_t> bytes(std::size_t count) {
    std::vector<std::uint8_t> bytes(count);
    for (std::uint8_t& byte : bytes) byte = static_cast<std::uint8_t>(below(256));
    return bytes;
  }

  // Far enough from both ends that nothing derived from it is kAbsent.
  std::uint64_t address() { return one_in(3) ? (any() >> 2) + 0x1000 : kFirstAddress + below(200); }

 private:
  std::mt19937_64 engine_;
};

// Any value for a field; strings and bytes live in `arena`.
template <class T>
void randomise(T& field, Random& random, std::deque<std::string>& arena) {
  if constexpr (std::same_as<T, bool>) {
    field = random.one_in(2);
  } else if constexpr (std::is_enum_v<T>) {
    field = static_cast<T>(random.below(names(T{}).size()));
  } else if constexpr (std::integral<T>) {
    field = static_cast<T>(random.one_in(3) ? 0 : random.any());
  } else if constexpr (std::same_as<T, Addr>) {
    field = Addr(random.address());
  } else if constexpr (requires { typename T::rep; }) {
    field = T(static_cast<typename T::rep>(random.any()));
  } else if constexpr (std::same_as<T, std::string> || std::same_as<T, std::string_view>) {
    field = arena.emplace_back(random.name());
  } else if constexpr (std::same_as<T, std::vector<std::uint8_t>>) {
    field = random.bytes(random.below(5));
  } else if constexpr (std::same_as<T, std::span<const std::uint8_t>>) {
    auto bytes = random.bytes(random.below(5));
    const std::string& kept = arena.emplace_back(bytes.begin(), bytes.end());
    field = {reinterpret_cast<const std::uint8_t*>(kept.data()), kept.size()};
  } else if constexpr (requires { field.emplace_back(); }) {
    for (std::uint64_t i = random.below(3); i > 0; --i)
      randomise(field.emplace_back(), random, arena);
  } else {
    T::fields(field, [&](std::string_view, auto& inner) { randomise(inner, random, arena); });
  }
}

template <class T>
T random_record(Random& random, std::deque<std::string>& arena) {
  T record{};
  T::fields(record, [&](std::string_view, auto& field) { randomise(field, random, arena); });
  return record;
}

Symbol random_symbol(Random& random) {
  Symbol symbol;
  symbol.name = random.name();
  symbol.kind = random.one_in(4) ? SymbolKind::kFunction : SymbolKind::kData;
  symbol.address = random.one_in(4) ? random.any() : kFirstAddress + 16 * random.below(8);
  symbol.size = random.one_in(3) ? 0 : 1 + random.below(40);
  return symbol;
}

Slot random_slot(Random& random, const std::vector<Slot>& before, std::uint16_t instruction) {
  constexpr std::uint16_t kSizes[] = {0, 1, 2, 3, 4, 8, 16, 40, kMaxSlotBytes};
  Slot slot;
  slot.instruction = instruction;
  slot.size = kSizes[random.below(std::size(kSizes))];
  slot.write = random.one_in(2);
  slot.atomic = random.one_in(4);
  slot.role = static_cast<Role>(random.below(3));
  auto base = static_cast<std::uint16_t>(random.below(before.size() + 1));
  if (base < before.size() && !before[base].optional) {
    slot.source = AddressSource::kSlot;
    slot.base = base;
    slot.offset = random.one_in(2) ? random.below(20) - 10 : random.any() >> 6;
  } else if (random.one_in(4)) {
    slot.source = AddressSource::kConstant;
    slot.offset = random.address();
  } else {
    slot.optional = random.one_in(4);
  }
  return slot;
}

Block random_block(Random& random, std::uint32_t statements) {
  Block block;
  bool abstract = statements > 0 && random.one_in(2);
  auto size = static_cast<std::uint16_t>(random.one_in(2) ? 1 : 1 + random.below(4));
  for (std::uint16_t i = 0; i < size; ++i) {
    if (abstract) {
      block.statements.push_back(StatementId(static_cast<std::uint32_t>(random.below(statements))));
    } else {
      auto code = random.bytes(1 + random.below(15));
      block.instructions.push_back({Pc(random.any()), static_cast<std::uint8_t>(code.size())});
      block.code.insert(block.code.end(), code.begin(), code.end());
    }
    for (std::uint64_t slots = random.below(4); slots > 0; --slots) {
      block.slots.push_back(random_slot(random, block.slots, i));
    }
  }
  return block;
}

// Whole, some instructions, or cut inside the first and last.
Part random_part(Random& random, const Block& block) {
  if (random.one_in(2)) return Part::whole(block);
  auto first = static_cast<std::uint16_t>(random.below(block.size()));
  auto end = static_cast<std::uint16_t>(first + 1 + random.below(block.size() - first));
  Part part = Part::of(block, first, end);
  if (random.one_in(2)) return part;
  Part of_first = Part::of(block, first, static_cast<std::uint16_t>(first + 1));
  Part of_last = Part::of(block, static_cast<std::uint16_t>(end - 1), end);
  auto cut = [&](const Part& p) {
    return static_cast<std::uint16_t>(random.below(p.end_slot - p.first_slot + 1U));
  };
  part.first_slot = static_cast<std::uint16_t>(part.first_slot + cut(of_first));
  part.end_slot =
      std::max(part.first_slot, static_cast<std::uint16_t>(part.end_slot - cut(of_last)));
  return part;
}

void random_exec(Random& random, TraceWriter& writer, BlockId id, const Block& block) {
  Part part = random_part(random, block);
  std::vector<std::uint64_t> logged;
  std::vector<std::uint64_t> values;
  for (std::size_t i = part.first_slot; i < part.end_slot; ++i) {
    const Slot& slot = block.slots[i];
    if (is_logged(slot, part))
      logged.push_back(slot.optional && random.one_in(2) ? kAbsent.value : random.address());
    if (slot.is_range())
      logged.push_back(random.one_in(2) ? random.below(50) : random.any() % kAddressSpace);
    if (slot.has_value()) values.push_back(random.any() >> (64 - 8 * slot.size));
  }
  writer.run(ThreadId(static_cast<std::uint32_t>(random.below(4))));
  writer.exec(id, part, logged.data(), values.data());
}

// What the kernel accesses is memory that a program can have.
void keep_possible(auto& access) {
  access.address.value %= kAddressSpace / 2;
  access.size %= kAddressSpace / 2;
}

template <std::size_t... I>
void random_event(Random& random, TraceWriter& writer, std::index_sequence<I...>) {
  std::deque<std::string> arena;
  std::uint64_t kind = random.below(sizeof...(I));
  EventBody body;
  (void)((kind == I &&
          (body = random_record<std::variant_alternative_t<I, EventBody>>(random, arena), true)) ||
         ...);
  if (auto* kernel = std::get_if<KernelAccess>(&body)) keep_possible(*kernel);
  if (auto* moved = std::get_if<Transfer>(&body)) keep_possible(*moved);
  writer.event(ThreadId(static_cast<std::uint32_t>(random.below(4))), body);
}

std::uint32_t random_count(Random& random, std::uint64_t end) {
  return static_cast<std::uint32_t>(random.below(end));
}

}  // namespace

void write_random_trace(const WriterFactory& make_writer, std::uint64_t seed, std::size_t length) {
  Random random(seed);
  std::deque<std::string> arena;
  auto made = make_writer(random_record<Process>(random, arena));
  SVD_CHECK(made);
  TraceWriter& writer = **made;
  for (std::uint32_t i = random_count(random, 3); i > 0; --i)
    writer.add(random_record<Module>(random, arena));
  for (std::uint32_t i = random_count(random, 3); i > 0; --i)
    writer.add(random_record<Stack>(random, arena));
  for (std::uint32_t i = random_count(random, 8); i > 0; --i) writer.add(random_symbol(random));
  std::uint32_t statements = random_count(random, 8);
  for (std::uint32_t i = 0; i < statements; ++i) {
    Statement statement{random.name(), random.name(),           random.name(),
                        random.name(), random_count(random, 3), {}};
    for (std::uint32_t j = random_count(random, 3); j > 0; --j) {
      statement.controlled_by.push_back(StatementId(random_count(random, statements)));
    }
    writer.add(statement);
  }
  std::vector<Block> blocks;
  auto add_block = [&] {
    // Sometimes the same again: the tables keep both.
    bool again = !blocks.empty() && random.one_in(5);
    blocks.push_back(again ? blocks[random.below(blocks.size())]
                           : random_block(random, statements));
    writer.add(blocks.back());
  };
  for (std::size_t i = 0; i < length; ++i) {
    if (random.one_in(5)) add_block();
    if (random.one_in(3) || blocks.empty()) {
      random_event(random, writer, std::make_index_sequence<std::variant_size_v<EventBody>>{});
    } else {
      // Mostly the newest, so that some blocks are made right before their first execution.
      std::size_t block = random.one_in(2) ? random.below(blocks.size()) : blocks.size() - 1;
      random_exec(random, writer, BlockId(static_cast<std::uint32_t>(block)), blocks[block]);
    }
  }
  SVD_CHECK(writer.finish());
}

std::string random_std_log(std::uint64_t seed, std::size_t length) {
  Random random(seed);
  static const std::array<std::string, 14> kNames = {
      "T0", "T1",          "T2", "T01", "main", "V1", "V2", "x", "L1", "m(3)", "a very long name",
      ")",  "T4294967295", "V1 "};
  static constexpr std::array<std::string_view, 8> kOps = {"r",    "w",    "acq",   "rel",
                                                           "fork", "join", "begin", "end"};
  bool numbered = random.one_in(2);
  bool almost = random.one_in(4);
  std::string log;
  for (std::size_t i = 1; i <= length; ++i) {
    std::string location = fmt::format("{}", i);
    if (!numbered)
      location = random.one_in(3) ? kNames[random.below(kNames.size())]
                                  : fmt::format("{}", random.below(9));
    if (almost && i == length) location = "0" + location;
    log += fmt::format("{}|{}({})|{}\n", kNames[random.below(5)], kOps[random.below(kOps.size())],
                       kNames[random.below(kNames.size())], location);
  }
  return log;
}

}  // namespace svd::test
