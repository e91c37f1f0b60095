// SPDX-License-Identifier: Apache-2.0
//
// A chunk goes into the ring in four steps, each a single write: free space over all that it and
// its rest take, free space over the rest, its body, its header. Only the last one makes it a
// chunk.

#include "data_chunks.h"

#include <algorithm>
#include <utility>

#include "frame.h"

namespace svd {
namespace {

constexpr std::uint64_t kRingBegin = sizeof(FileHeader);

template <class T>
std::span<const std::uint8_t> bytes_of(const T& value) {
  return {reinterpret_cast<const std::uint8_t*>(&value), sizeof value};
}

}  // namespace

Status DataChunks::write(DataChunk chunk, std::span<const std::uint8_t> bytes,
                         std::vector<ChunkInfo>& definitions) {
  Status done{Done{}};
  while (done && limited() && !kept_.empty() && kept_bytes_ + bytes.size() > limit_)
    done = drop_oldest();
  if (done && dropped_ && ring_end_ == 0) done = make_ring(definitions);
  if (!done) return done;
  if (fits(kRingBegin, bytes.size())) {
    if (auto placed = place(bytes.size()); !placed) return placed;
    chunk.info.offset = next_;
    done = file_.write_at(next_ + sizeof(ChunkHeader), bytes.subspan(sizeof(ChunkHeader)));
    if (done) done = file_.write_at(next_, bytes.first(sizeof(ChunkHeader)));
    next_ += bytes.size();
  } else {
    // Everything is kept so far, or it is larger than the ring.
    chunk.info.offset = file_.size();
    done = file_.append(bytes);
  }
  kept_bytes_ += bytes.size();
  kept_.push_back(std::move(chunk));
  return done;
}

Status DataChunks::drop_oldest() {
  const ChunkInfo& info = kept_.front().info;
  Bytes bytes(info.bytes);
  if (auto read = file_.read_at(info.offset, bytes); !read) return read;
  if (auto dropped = drop_(kept_.front(), bytes); !dropped) return dropped;
  if (auto freed = write_free(info.offset, info.bytes); !freed) return freed;
  kept_bytes_ -= info.bytes;
  kept_.pop_front();
  dropped_ = true;
  return Done{};
}

Status DataChunks::make_ring(std::vector<ChunkInfo>& definitions) {
  ring_end_ = file_.size();
  next_ = kRingBegin;
  for (ChunkInfo& info : definitions) {
    Bytes bytes(info.bytes);
    std::uint64_t moved = file_.size();
    if (auto read = file_.read_at(info.offset, bytes); !read) return read;
    if (auto written = file_.append(bytes); !written) return written;
    if (auto freed = write_free(info.offset, info.bytes); !freed) return freed;
    info.offset = moved;
  }
  return Done{};
}

// What is left of the ring behind a chunk must be nothing, or have room for a FreeHeader.
bool DataChunks::fits(std::uint64_t offset, std::uint64_t size) const {
  return offset + size == ring_end_ || offset + size + sizeof(FreeHeader) <= ring_end_;
}

bool DataChunks::overlaps(const ChunkInfo& chunk, std::uint64_t offset, std::uint64_t size) const {
  return chunk.offset < offset + size + sizeof(FreeHeader) && offset < chunk.offset + chunk.bytes &&
         chunk.offset != offset + size;
}

// Frees [next_, next_ + size), and what is behind it up to the next chunk.
Status DataChunks::place(std::uint64_t size) {
  if (!fits(next_, size)) next_ = kRingBegin;
  auto in_the_way = [&](const DataChunk& chunk) { return overlaps(chunk.info, next_, size); };
  while (std::any_of(kept_.begin(), kept_.end(), in_the_way)) {
    if (auto dropped = drop_oldest(); !dropped) return dropped;
  }
  std::uint64_t end = ring_end_;
  for (const DataChunk& chunk : kept_) {
    if (chunk.info.offset >= next_ + size) end = std::min(end, chunk.info.offset);
  }
  if (auto freed = write_free(next_, end - next_); !freed || end == next_ + size) return freed;
  return write_free(next_ + size, end - next_ - size);
}

Status DataChunks::write_free(std::uint64_t offset, std::uint64_t size) {
  FreeHeader header;
  header.trace_id = trace_id_;
  header.size = size;
  header.checksum = checksum_of(header);
  return file_.write_at(offset, bytes_of(header));
}

}  // namespace svd
