// SPDX-License-Identifier: Apache-2.0
//
// The data chunks of a file that is being written, oldest first, and where in the file they go.
//
// A file that keeps everything only grows. One that keeps the newest `limit` bytes grows until they
// are reached; then its definitions move to the end, once, and all before them becomes a ring of
// data chunks and free space, in which a new chunk takes the place of the oldest ones. Definitions
// and the index go on being appended.
//
// Invariant: whenever the process is killed, the file is a sequence of whole chunks and free space.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <span>
#include <vector>

#include "output_file.h"
#include "svd/trace/reader.h"

namespace svd {

struct DataChunk {
  ChunkInfo info;
  std::vector<ThreadInfo> runs;  // steps, first_seq and last_seq are of this chunk; kept if limited
};

class DataChunks {
 public:
  // Is given a chunk, and its bytes, before it is overwritten.
  using Drop = std::function<Status(const DataChunk&, std::span<const std::uint8_t>)>;

  // `limit` 0: keeps everything.
  DataChunks(OutputFile& file, std::uint64_t trace_id, std::uint64_t limit, Drop drop)
      : file_(file), trace_id_(trace_id), limit_(limit), drop_(std::move(drop)) {}

  // `bytes`: the framed chunk. Fills in its offset. `definitions`: those written so far; their
  // offsets change when they move.
  Status write(DataChunk chunk, std::span<const std::uint8_t> bytes,
               std::vector<ChunkInfo>& definitions);

  bool limited() const { return limit_ != 0; }
  const std::deque<DataChunk>& kept() const { return kept_; }
  bool dropped() const { return dropped_; }  // anything

 private:
  Status drop_oldest();
  Status make_ring(std::vector<ChunkInfo>& definitions);
  Status place(std::uint64_t size);
  Status write_free(std::uint64_t offset, std::uint64_t size);
  bool fits(std::uint64_t offset, std::uint64_t size) const;
  bool overlaps(const ChunkInfo& chunk, std::uint64_t offset, std::uint64_t size) const;

  OutputFile& file_;
  std::uint64_t trace_id_;
  std::uint64_t limit_;
  Drop drop_;
  std::deque<DataChunk> kept_;
  std::uint64_t kept_bytes_ = 0;
  bool dropped_ = false;
  std::uint64_t ring_end_ = 0;  // 0: there is none yet; it begins behind the file header
  std::uint64_t next_ = 0;      // where in it the next chunk goes
};

}  // namespace svd
