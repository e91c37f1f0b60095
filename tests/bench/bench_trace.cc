// SPDX-License-Identifier: Apache-2.0
//
// trace.fb measured on a generated server run, everything in one go so that the ratios hold on a
// noisy machine:
//   how many bytes an instruction takes, column by column, against the raw log and LZ4 or zstd -1
//   on it; how fast it is written and read with every checksum verified, and how much memory a full
//   scan needs; and whether what is read is what was written.
//
//   bench_trace [MILLION_INSTRUCTIONS]     default 200

#include <fmt/format.h>
#include <lz4.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>
#include <zstd.h>

#include <cstdlib>
#include <cstring>
#include <ctime>
#include <filesystem>
#include <vector>

#include "support/example_trace.h"
#include "support/one_processor.h"
#include "svd/trace/reader.h"
#include "svd/trace/writer.h"

namespace svd {
namespace {

// Processor time of this thread: what others do on the machine counts little.
double now() {
  timespec time{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

// Adds the time of a scope to a total.
class Timer {
 public:
  explicit Timer(double& seconds) : seconds_(seconds) {}
  ~Timer() { seconds_ += now() - start_; }
  Timer(const Timer&) = delete;
  Timer& operator=(const Timer&) = delete;

 private:
  double& seconds_;
  double start_ = now();
};

// The log as a recorder's inline stores leave it: a word for each execution, then addresses that
// cannot be derived, lengths, values.
class RawLog {
 public:
  std::vector<std::uint8_t> bytes;
  std::uint64_t execs = 0, addresses = 0, values = 0;  // bytes of each

  void exec(const Exec& e) {
    execs += put(e.shape->id.value << 8 | e.shape->part.end, 4);
    const Part& part = e.shape->part;
    std::uint32_t range = 0;
    for (std::uint32_t i = 0; i < e.shape->accesses; ++i) {
      const Slot& slot = e.block().slots[part.first_slot + i];
      if (is_logged(slot, part)) addresses += put(e.addresses[i], 8);
      if (slot.is_range()) addresses += put(e.lengths[range++], 8);
      if (slot.has_value()) values += put(e.values[i], slot.size);
    }
  }
  void event(const Event& /*unused*/) {}

 private:
  std::size_t put(std::uint64_t word, std::size_t size) {
    const auto* from = reinterpret_cast<const std::uint8_t*>(&word);
    bytes.insert(bytes.end(), from, from + size);
    return size;
  }
};

// What the example generator digests, computed from what is read back.
struct ReadDigest {
  example::Digest digest{};
  void exec(const Exec& e) {
    digest.add(e.thread.value);
    digest.add(e.shape->id.value);
    digest.add(e.shape->part.steps());
    const Part& part = e.shape->part;
    std::uint32_t range = 0;
    for (std::uint32_t i = 0; i < e.shape->accesses; ++i) {
      const Slot& slot = e.block().slots[part.first_slot + i];
      digest.add(e.addresses[i]);
      if (slot.is_range()) digest.add(e.lengths[range++]);
      if (slot.has_value()) digest.add(e.values[i]);
    }
  }
  void event(const Event& /*unused*/) {}
};

// A chunk as a recorder would hand it over: what to say to a writer, in order.
struct Script {
  struct Exec {
    ThreadId thread;
    BlockId block;
    Part part;
    std::size_t logged = 0, values = 0;
  };
  std::vector<Exec> execs{};
  std::vector<std::uint64_t> logged{}, values{};

  void exec(const svd::Exec& e) {
    const Part& part = e.shape->part;
    execs.push_back({e.thread, e.shape->id, part, logged.size(), values.size()});
    std::uint32_t range = 0;
    for (std::uint32_t i = 0; i < e.shape->accesses; ++i) {
      const Slot& slot = e.block().slots[part.first_slot + i];
      if (is_logged(slot, part)) logged.push_back(e.addresses[i]);
      if (slot.is_range()) logged.push_back(e.lengths[range++]);
      if (slot.has_value()) values.push_back(e.values[i]);
    }
  }
  void event(const Event& /*unused*/) {}

  void play(TraceWriter& writer) const {
    for (const Exec& e : execs) {
      writer.run(e.thread);
      writer.exec(e.block, e.part, logged.data() + e.logged, values.data() + e.values);
    }
  }
};

template <class T>
T need(Result<T> result) {
  if (result) return std::move(*result);
  fmt::print(stderr, "bench_trace: {}\n", result.error().describe());
  std::exit(1);
}

// The best of three scans: what others do on the machine only makes it slower.
double scan_seconds(const TraceReader& reader, const Columns& columns) {
  double best = 0;
  for (int round = 0; round < 3; ++round) {
    double seconds = 0;
    {
      Diagnostics diagnostics;
      Timer timer(seconds);
      reader.scan(TraceReader::Order::kForward, columns, diagnostics,
                  [](const Chunk& chunk) { return !chunk.execs.empty(); });
    }
    if (round == 0 || seconds < best) best = seconds;
  }
  return best;
}

// Peak resident megabytes of a process of its own that opens and scans the file.
double scan_megabytes(const std::string& path) {
  pid_t child = fork();
  if (child == 0) {
    TraceReader reader = need(TraceReader::open(path));
    scan_seconds(reader, {});
    _exit(0);
  }
  int status = 0;
  rusage usage{};
  wait4(child, &status, 0, &usage);
  return static_cast<double>(usage.ru_maxrss) / 1024;
}

void row(const char* name, double bytes, double seconds, double steps) {
  fmt::print("  {:<34}{:>10.3f}{:>14.0f}\n", name, bytes / steps, steps / 1e6 / seconds);
}

int run(std::uint64_t instructions) {
  std::string path =
      (std::filesystem::temp_directory_path() / fmt::format("svd-bench-{}.fb", getpid())).string();
  example::Options options;
  options.instructions = instructions;
  double generate = 0;
  std::uint64_t written = 0;
  {
    Timer timer(generate);
    auto writer = need(TraceWriter::create(path, example::process(options)));
    written = example::write_trace(options, *writer);
    need(writer->finish());
  }
  TraceReader reader = need(TraceReader::open(path));
  auto steps = static_cast<double>(reader.steps());
  std::uint64_t accesses = 0;
  for (const ChunkInfo& chunk : reader.chunks()) accesses += chunk.accesses;

  double verify = scan_seconds(reader, {});
  double no_values = scan_seconds(reader, {.values = false});
  double flow = scan_seconds(reader, {.addresses = false, .values = false});

  double encode = 0, lz4 = 0, zstd = 0;
  std::uint64_t lz4_bytes = 0, zstd_bytes = 0;
  RawLog raw;
  ReadDigest digest;
  std::uint64_t raw_bytes = 0;
  std::vector<char> packed;
  std::string copy_path = path + ".copy";
  auto copy = need(TraceWriter::create(copy_path, reader.process()));
  for (const Statement& statement : reader.statements()) copy->add(statement);
  for (const Block& block : reader.blocks()) copy->add(block);
  Diagnostics diagnostics;
  reader.scan(TraceReader::Order::kForward, {}, diagnostics, [&](const Chunk& chunk) {
    chunk.walk(digest);
    Script script;
    chunk.walk(script);
    {
      Timer timer(encode);
      script.play(*copy);
    }
    raw.bytes.clear();
    chunk.walk(raw);
    raw_bytes += raw.bytes.size();
    packed.resize(ZSTD_compressBound(raw.bytes.size()) +
                  static_cast<std::size_t>(LZ4_compressBound(static_cast<int>(raw.bytes.size()))));
    {
      Timer timer(lz4);
      lz4_bytes += static_cast<std::uint64_t>(LZ4_compress_default(
          reinterpret_cast<const char*>(raw.bytes.data()), packed.data(),
          static_cast<int>(raw.bytes.size()), static_cast<int>(packed.size())));
    }
    {
      Timer timer(zstd);
      zstd_bytes +=
          ZSTD_compress(packed.data(), packed.size(), raw.bytes.data(), raw.bytes.size(), 1);
    }
    return true;
  });
  need(copy->finish());
  double scan = scan_megabytes(path);

  fmt::print(
      "trace.fb, {:.0f} million instructions, {} threads, {:.2f} accesses an instruction, {} "
      "chunks\n",
      steps / 1e6, reader.threads().size(), static_cast<double>(accesses) / steps,
      reader.chunks().size());
  fmt::print("\n  {:<34}{:>10}{:>14}\n", "column, bytes an instruction", "predicted", "after LZ4");
  for (const ColumnSize& column : reader.column_sizes()) {
    fmt::print("  {:<34}{:>10.4f}{:>14.4f}\n", column.name, static_cast<double>(column.raw) / steps,
               static_cast<double>(column.packed) / steps);
  }
  fmt::print("\n  {:<34}{:>10}{:>14}\n", "", "B/instr", "Minstr/s");
  fmt::print("  {:<34}{:>10.3f}   ({:.3f} blocks, {:.3f} addresses, {:.3f} values)\n", "raw log",
             static_cast<double>(raw_bytes) / steps, static_cast<double>(raw.execs) / steps,
             static_cast<double>(raw.addresses) / steps, static_cast<double>(raw.values) / steps);
  row("LZ4 on the raw log, write", static_cast<double>(lz4_bytes), lz4, steps);
  row("zstd -1 on the raw log, write", static_cast<double>(zstd_bytes), zstd, steps);
  row("trace.fb, write", static_cast<double>(reader.file_bytes()), encode, steps);
  row("trace.fb, generate and write", static_cast<double>(reader.file_bytes()), generate, steps);
  row("trace.fb, verified decode", static_cast<double>(reader.file_bytes()), verify, steps);
  row("trace.fb, same without values", static_cast<double>(reader.file_bytes()), no_values, steps);
  row("trace.fb, same without addresses", static_cast<double>(reader.file_bytes()), flow, steps);
  fmt::print("\n  peak memory of a full scan: {:.0f} MB\n", scan);
  bool equal = digest.digest.value() == written && diagnostics.list().empty() && reader.complete();
  fmt::print("  read back {}\n", equal ? "equal" : "DIFFERENT");
  std::filesystem::remove(path);
  std::filesystem::remove(copy_path);
  return equal ? 0 : 1;
}

}  // namespace
}  // namespace svd

int main(int argc, char** argv) {
  svd::test::use_one_processor();
  std::uint64_t millions = argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 200;
  return svd::run(millions * 1'000'000);
}
