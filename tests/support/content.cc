// SPDX-License-Identifier: Apache-2.0

#include "support/content.h"

#include <string>
#include <type_traits>

namespace svd::test {

namespace {

class Digest {
 public:
  void word(std::uint64_t value) {
    state_ = (state_ ^ value) * 0x9E3779B97F4A7C15U + (state_ >> 29) + 1;
  }

  template <class T>
  void operator()(std::string_view, const T& field) {
    add(field);
  }

  template <class T>
  void add(const T& field) {
    if constexpr (requires { typename T::rep; }) {
      word(field.value);
    } else if constexpr (std::is_arithmetic_v<T> || std::is_enum_v<T>) {
      word(static_cast<std::uint64_t>(field));
    } else if constexpr (requires { field.begin(); }) {
      word(field.size());
      for (const auto& element : field) add(element);
    } else {
      T::fields(field, *this);
    }
  }

  std::uint64_t value() const { return state_; }

 private:
  std::uint64_t state_ = 1;
};

void add_block(Digest& digest, const Block& block) {
  for (const Instruction& i : block.instructions) digest.word(i.pc.value), digest.word(i.length);
  digest.add(block.code);
  digest.add(block.statements);
  for (const Slot& s : block.slots) {
    digest.word(s.instruction), digest.word(s.size), digest.word(s.write), digest.word(s.atomic),
        digest.word(s.optional);
    digest.add(s.role), digest.add(s.source), digest.word(s.base), digest.word(s.offset);
  }
}

struct ChunkDigest {
  Digest digest{};
  void exec(const Exec& e) {
    digest.word(e.seq.value), digest.word(e.thread.value), digest.word(e.shape->id.value);
    const Part& part = e.shape->part;
    digest.word(part.first), digest.word(part.end), digest.word(part.first_slot),
        digest.word(part.end_slot);
    e.accesses([&](const MemoryAccess& a) {
      digest.word(a.seq.value), digest.word(a.address.value), digest.word(a.size),
          digest.word(a.value), digest.word(a.has_value);
    });
  }
  void event(const Event& e) {
    digest.word(e.seq.value), digest.word(e.thread.value), digest.word(e.body.index());
    std::visit([&](const auto& body) { digest.add(body); }, e.body);
  }
};

}  // namespace

Content read_content(const TraceReader& reader) {
  Content content;
  content.diagnostics = reader.diagnostics();
  Digest tables;
  tables.add(reader.process());
  tables.add(reader.modules());
  tables.add(reader.symbols());
  tables.add(reader.stacks());
  tables.add(reader.statements());
  for (const Block& block : reader.blocks()) add_block(tables, block);
  content.tables = tables.value();
  reader.scan(TraceReader::Order::kForward, {}, content.diagnostics, [&](const Chunk& chunk) {
    ChunkDigest digest;
    chunk.walk(digest);
    content.chunks[chunk.first_seq.value] = digest.digest.value();
    return true;
  });
  Digest summary;
  for (const ThreadInfo& thread : reader.threads()) summary.add(thread);
  const Ending& ending = reader.ending();
  summary.add(ending.kind), summary.add(ending.value), summary.add(ending.seq),
      summary.add(ending.pc);
  summary.word(ending.thread.value_or(ThreadId(0xFFFFFFFF)).value);
  content.summary = summary.value();
  return content;
}

}  // namespace svd::test
