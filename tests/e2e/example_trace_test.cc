// SPDX-License-Identifier: Apache-2.0
//
// The example trace is the same for the same options, reads back as it was written, and its loads
// return what was stored last.

#include "support/example_trace.h"

#include <gtest/gtest.h>

#include <unordered_map>

#include "e2e/analyze.h"
#include "support/small_trace.h"
#include "svd/trace/reader.h"

namespace svd::test {
namespace {

std::uint64_t write_example(const example::Options& options, const std::string& path) {
  auto writer = TraceWriter::create(path, example::process(options));
  SVD_CHECK(writer);
  std::uint64_t digest = example::write_trace(options, **writer);
  SVD_CHECK((*writer)->finish());
  return digest;
}

struct DigestOfWhatIsRead {
  example::Digest digest;
  void exec(const Exec& exec) {
    digest.add(exec.thread.value), digest.add(exec.shape->id.value),
        digest.add(exec.shape->part.steps());
    exec.accesses([this](const MemoryAccess& access) {
      digest.add(access.address.value);
      if (access.slot->is_range()) digest.add(access.size);
      if (access.has_value) digest.add(access.value);
    });
  }
  void event(const Event&) {}
};

// Follows every byte; those that ranges or the kernel wrote are forgotten, since their values are
// not recorded.
struct MemoryCheck {
  std::unordered_map<std::uint64_t, std::uint8_t> bytes;
  std::uint64_t compared = 0;
  void exec(const Exec& exec) {
    exec.accesses([this](const MemoryAccess& access) {
      for (std::uint64_t i = 0; i < access.size; ++i)
        one(access, access.address.value + i,
            static_cast<std::uint8_t>(access.value >> (8 * (i & 7))));
    });
  }
  void one(const MemoryAccess& access, std::uint64_t address, std::uint8_t value) {
    if (!access.has_value) {
      if (access.slot->write) bytes.erase(address);
    } else if (access.slot->write) {
      bytes[address] = value;
    } else if (auto [at, fresh] = bytes.try_emplace(address, value); !fresh) {
      ++compared;
      ASSERT_EQ(at->second, value) << "byte " << std::hex << address;
    }
  }
  void event(const Event& event) {
    if (const auto* access = std::get_if<KernelAccess>(&event.body);
        access != nullptr && access->access == Access::kWrite) {
      for (std::uint64_t i = 0; i < access->size; ++i) bytes.erase(access->address.value + i);
    }
  }
};

TEST(ExampleTrace, SameOptionsSameBytes) {
  std::string first = temp_path("seed-a.fb");
  std::string second = temp_path("seed-b.fb");
  example::Options options;
  options.instructions = 30'000;
  EXPECT_EQ(write_example(options, first), write_example(options, second));
  EXPECT_EQ(read_file(first), read_file(second));
  options.seed = 2;
  write_example(options, second);
  EXPECT_NE(read_file(first), read_file(second));
}

TEST(ExampleTrace, ReadsBackAsWritten) {
  for (std::uint32_t seed : {1U, 2U, 3U}) {
    std::string path = temp_path("example-seed.fb");
    example::Options options;
    options.instructions = 300'000;
    options.threads = 1 + seed;
    options.seed = seed;
    std::uint64_t written = write_example(options, path);
    auto trace = TraceReader::open(path);
    ASSERT_TRUE(trace);
    DigestOfWhatIsRead read;
    MemoryCheck memory;
    Diagnostics diagnostics;
    trace->scan(TraceReader::Order::kForward, Columns(), diagnostics, [&](const Chunk& chunk) {
      chunk.walk(read);
      chunk.walk(memory);
      return true;
    });
    EXPECT_EQ(read.digest.value(), written);
    EXPECT_TRUE(diagnostics.list().empty());
    EXPECT_EQ(trace->threads().size(), options.threads);
    EXPECT_EQ(trace->ending().kind, EndKind::kSignal);
    EXPECT_GT(memory.compared, 100'000U);
  }
}

TEST(ExampleTrace, Command) {
  std::string path = temp_path("by-command.fb");
  EXPECT_EQ(run_command({SVD_BIN_DIR "/svd-example-trace", "--instructions=10K", path}).exit_code,
            0);
  EXPECT_EQ(analyze({"verify", path}).exit_code, 0);
  EXPECT_EQ(run_command({SVD_BIN_DIR "/svd-example-trace", "--threads=1", path}).exit_code, 2);
}

}  // namespace
}  // namespace svd::test
