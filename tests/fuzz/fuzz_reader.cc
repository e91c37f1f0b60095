// SPDX-License-Identifier: Apache-2.0
//
// Any bytes as a trace file: opening, decoding, walking, printing and copying them must neither
// crash nor hang nor take memory out of proportion, and what is copied must read without a loss.
// Mutated bytes alone would stop at the first checksum, so before reading all checksums are made
// right: what is tested is everything behind them. With an odd last byte the file is read as it is.

#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <sstream>
#include <string>
#include <vector>

#include "frame.h"
#include "support/content.h"
#include "support/small_trace.h"
#include "svd/trace/copy.h"
#include "svd/trace/limits.h"
#include "svd/trace/reader.h"
#include "svd/trace/text.h"
#include "svd/trace/writer.h"

namespace svd {
namespace {

template <class T>
T get(const std::vector<std::uint8_t>& file, std::size_t at) {
  T value;
  std::memcpy(&value, file.data() + at, sizeof value);
  return value;
}

template <class T>
void put(std::vector<std::uint8_t>& file, std::size_t at, const T& value) {
  std::memcpy(file.data() + at, &value, sizeof value);
}

void mend_checksums(std::vector<std::uint8_t>& file) {
  if (file.size() < sizeof(FileHeader)) return;
  auto header = get<FileHeader>(file, 0);
  header.magic = kFileMagic;
  header.checksum = checksum_of(header);
  put(file, 0, header);
  std::size_t at = sizeof(FileHeader);
  while (at + sizeof(ChunkHeader) <= file.size()) {
    auto chunk = get<ChunkHeader>(file, at);
    chunk.magic = kChunkMagic;
    chunk.trace_id = header.trace_id;
    chunk.size = chunk.size / 8 * 8;
    if (chunk.size > file.size() - at - sizeof chunk) break;
    chunk.checksum = checksum_of(chunk, file.data() + at + sizeof chunk);
    put(file, at, chunk);
    at += sizeof chunk + chunk.size;
  }
  if (file.size() < at + sizeof(Trailer)) return;
  auto trailer = get<Trailer>(file, file.size() - sizeof(Trailer));
  trailer.magic = kTrailerMagic;
  trailer.trace_id = header.trace_id;
  trailer.checksum = checksum_of(trailer);
  put(file, file.size() - sizeof(Trailer), trailer);
}

struct WalkAll {
  std::uint64_t seen = 0;
  void exec(const Exec& e) {
    e.accesses([&](const MemoryAccess& a) { seen += a.size + a.address.value; });
  }
  void event(const Event& e) { seen += e.body.index(); }
};

// A copy has no damage of its own, and says no more than the trace it was made from.
void print_and_copy(const TraceReader& reader) {
  std::ostringstream text;
  Diagnostics diagnostics;
  (void)print_text(reader, TextSelection{}, text, diagnostics);
  const std::string path = test::temp_path("copy.fb");
  {
    auto writer = TraceWriter::create(path, reader.process());
    SVD_CHECK(writer);
    SVD_CHECK(copy_trace(reader, **writer));
    SVD_CHECK((*writer)->finish());
  }
  auto copy = TraceReader::open(path);
  SVD_CHECK(copy && copy->steps() <= reader.steps());
  Chunk chunk;
  for (std::size_t i = 0; i < copy->chunks().size(); ++i) SVD_CHECK(copy->decode(i, chunk));
  std::filesystem::remove(path);
}

void read_everything(const std::string& path) {
  auto reader = TraceReader::open(path);
  if (!reader) return;
  test::read_content(*reader);
  Diagnostics diagnostics;
  reader->scan(TraceReader::Order::kBackward, {}, diagnostics, [](const Chunk& chunk) {
    WalkAll all;
    chunk.walk_back(all);
    chunk.walk_from(chunk.first_seq + chunk.steps / 2, all);
    for (const Run& run : chunk.runs) {
      chunk.walk_thread(run.thread, all);
      if (run.first_exec > 100) break;  // enough: many runs would make this quadratic
    }
    return true;
  });
  for (std::size_t i = 0; i < reader->chunks().size(); ++i)
    (void)reader->may_touch(i, Addr(0x5000), 8);
  reader->column_sizes();
  print_and_copy(*reader);
}

}  // namespace
}  // namespace svd

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::vector<std::uint8_t> file(data, data + size);
  if (size > 0 && data[size - 1] % 2 == 0) svd::mend_checksums(file);
  int fd = memfd_create("fuzz", MFD_CLOEXEC);
  if (write(fd, file.data(), file.size()) == static_cast<ssize_t>(file.size())) {
    svd::read_everything(fmt::format("/proc/self/fd/{}", fd));
  }
  close(fd);
  return 0;
}
