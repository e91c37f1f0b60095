// SPDX-License-Identifier: Apache-2.0
//
// What TraceWriter wrote, TraceReader reads: tables, executions, parts, accesses, values, events,
// in the same order.

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>

#include "svd/trace/reader.h"
#include "svd/trace/writer.h"

namespace svd {
namespace {

std::string temp_path(const char* name) {
  return (std::filesystem::temp_directory_path() / fmt::format("svd-{}-{}.fb", name, getpid()))
      .string();
}

Block load_store_block() {
  Block block;
  block.instructions = {{Pc(0x1000), 3}, {Pc(0x1003), 4}, {Pc(0x1007), 2}};
  block.code.assign(9, 0x90);
  Slot load;
  load.instruction = 0;
  load.size = 8;
  Slot store = load;
  store.instruction = 1;
  store.write = true;
  store.source = AddressSource::kSlot;
  store.base = 0;
  store.offset = 8;
  Slot range;
  range.instruction = 2;
  block.slots = {load, store, range};
  return block;
}

TEST(RoundTrip, ExecutionsAndEvents) {
  std::string path = temp_path("roundtrip");
  Process process;
  process.executable = "/bin/example";
  process.arguments = {"example", "-x"};
  {
    auto writer = TraceWriter::create(path, process, WriterOptions{.chunk_steps = 100});
    ASSERT_TRUE(writer) << writer.error().describe();
    TraceWriter& w = **writer;
    BlockId block = w.add(load_store_block());
    w.event(ThreadId(1), ThreadStart{.parent = ThreadId(1), .name = "main"});
    for (std::uint64_t i = 0; i < 1000; ++i) {
      w.run(ThreadId(static_cast<std::uint32_t>(1 + i / 100 % 2)));
      std::uint64_t logged[] = {0x5000 + 16 * i, 0x9000, i % 7};
      std::uint64_t values[] = {i, i * i};
      w.exec(block, logged, values);
      if (i % 50 == 0) w.event(ThreadId(1), Note{.text = std::to_string(i)});
    }
    w.event(ThreadId(1), ProcessEnd{EndKind::kExit, 3});
    ASSERT_TRUE(w.finish());
  }
  auto reader = TraceReader::open(path);
  ASSERT_TRUE(reader) << reader.error().describe();
  EXPECT_TRUE(reader->complete());
  EXPECT_EQ(reader->process(), process);
  EXPECT_EQ(reader->steps(), 3000U);
  EXPECT_EQ(reader->ending().value, 3);
  struct Check {
    std::uint64_t i = 0;
    std::uint64_t notes = 0;
    void exec(const Exec& e) {
      EXPECT_EQ(e.seq, Seq(3 * i));
      EXPECT_EQ(e.thread, ThreadId(static_cast<std::uint32_t>(1 + i / 100 % 2)));
      std::vector<MemoryAccess> list;
      e.accesses([&](const MemoryAccess& a) { list.push_back(a); });
      ASSERT_EQ(list.size(), 3U);
      EXPECT_EQ(list[0].address, Addr(0x5000 + 16 * i));
      EXPECT_EQ(list[0].value, i);
      EXPECT_EQ(list[1].address, Addr(0x5008 + 16 * i));
      EXPECT_EQ(list[1].value, i * i);
      EXPECT_EQ(list[2].size, i % 7);
      EXPECT_FALSE(list[2].has_value);
      ++i;
    }
    void event(const Event& e) {
      if (const auto* note = std::get_if<Note>(&e.body)) {
        EXPECT_EQ(note->text, std::to_string(i - 1));
        EXPECT_EQ(e.seq, Seq(3 * i));
        ++notes;
      }
    }
  } check;
  Diagnostics diagnostics;
  reader->scan(TraceReader::Order::kForward, {}, diagnostics, [&](const Chunk& chunk) {
    chunk.walk(check);
    return true;
  });
  EXPECT_TRUE(diagnostics.list().empty());
  EXPECT_EQ(check.i, 1000U);
  EXPECT_EQ(check.notes, 20U);
  std::filesystem::remove(path);
}

}  // namespace
}  // namespace svd
