// SPDX-License-Identifier: Apache-2.0

#include "support/small_trace.h"

#include <fmt/format.h>
#include <unistd.h>

#include <atomic>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <utility>

#include "svd/trace/writer.h"

namespace svd::test {

namespace {

Block machine_block() {
  Block block;
  block.instructions = {{Pc(0x401000), 3}, {Pc(0x401003), 4}, {Pc(0x401007), 2}, {Pc(0x401009), 5}};
  for (int i = 0; i < 14; ++i) block.code.push_back(static_cast<std::uint8_t>(0x40 + i));
  Slot load;
  load.size = 8;
  Slot store{.instruction = 1,
             .size = 4,
             .write = true,
             .atomic = true,
             .source = AddressSource::kSlot,
             .base = 0,
             .offset = 8};
  Slot range{.instruction = 2};
  Slot maybe{.instruction = 3, .size = 2, .optional = true};
  Slot fixed{.instruction = 3, .size = 1, .source = AddressSource::kConstant, .offset = 0x404040};
  block.slots = {load, store, range, maybe, fixed};
  return block;
}

template <std::size_t... I>
void write_every_event(TraceWriter& writer, ThreadId thread, std::index_sequence<I...>) {
  (writer.event(thread, std::variant_alternative_t<I, EventBody>{}), ...);
}

}  // namespace

void write_small_trace(const std::string& path, bool finished) {
  Process process;
  process.executable = "/bin/example";
  process.arguments = {"example", "-x"};
  process.engine = "test";
  auto created = TraceWriter::create(path, process, WriterOptions{.chunk_steps = 60});
  SVD_CHECK(created);
  TraceWriter& writer = **created;
  Module module;
  module.path = "/bin/example";
  module.build_id = {1, 2, 3};
  module.segments = {{Addr(0x401000), 0x1000, 0x1000, 5}};
  writer.add(module);
  writer.add(Symbol{"counter", SymbolKind::kData, 0x404040, 4});
  writer.add(Stack{{Pc(0x401003), Pc(0x401009)}});
  StatementId parent = writer.add(Statement{"1.01", "if (x)", "main", "a.c", 3, {}});
  StatementId child = writer.add(Statement{"1.02", "y = x", "main", "a.c", 4, {parent}});
  BlockId machine = writer.add(machine_block());
  Block abstract;
  abstract.statements = {parent, child};
  abstract.slots = {Slot{.size = 4, .role = Role::kCondition},
                    Slot{.instruction = 1, .size = 4, .write = true}};
  BlockId statements = writer.add(abstract);

  const ThreadId main(1);
  const ThreadId worker(2);
  writer.event(main, ThreadStart{.parent = main,
                                 .os_tid = 77,
                                 .stack_low = Addr(0x7000),
                                 .stack_size = 4096,
                                 .name = "main"});
  for (std::uint64_t i = 0; i < 40; ++i) {
    writer.run(i % 8 < 5 ? main : worker);
    const std::uint64_t logged[] = {0x5000 + 24 * i, 0x9000 + (i % 3) * 7, i % 5,
                                    i % 4 == 0 ? kAbsent.value : 0xA000};
    const std::uint64_t values[] = {i * i, i, 0xBEEF, i & 1};
    writer.exec(machine, logged, values);
    if (i % 3 == 0) {
      // A hand-over between the load and the store of one instruction, and back.
      writer.exec(machine, Part{0, 1, 0, 1}, logged, values);
      const std::uint64_t rest[] = {0x5008 + 24 * i};
      writer.exec(machine, Part{1, 2, 1, 2}, rest, values);
    }
    if (i % 5 == 0) {
      const std::uint64_t where[] = {0x6000, 0x6004};
      writer.exec(statements, where, values);
      writer.event(
          main, Sync{.op = SyncOp::kMutexLock, .object = Addr(0x404080), .caller = Pc(0x401003)});
    }
    if (i == 20)
      write_every_event(writer, worker, std::make_index_sequence<std::variant_size_v<EventBody>>{});
  }
  writer.event(
      worker,
      Signal{.number = 11, .code = 1, .address = Addr(8), .pc = Pc(0x401003), .fatal = true});
  writer.event(worker, ProcessEnd{.kind = EndKind::kSignal, .value = 11});
  if (finished) {
    SVD_CHECK(writer.finish());
  } else {
    SVD_CHECK(writer.flush());
  }
}

std::string temp_path(const std::string& name) {
  static std::atomic<unsigned> next{0};
  return (std::filesystem::temp_directory_path() /
          fmt::format("svd-test-{}-{}-{}", getpid(), next++, name))
      .string();
}

std::string read_file(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

void write_file(const std::string& path, const std::string& bytes) {
  std::ofstream out(path, std::ios::binary | std::ios::trunc);
  out.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
}

}  // namespace svd::test
