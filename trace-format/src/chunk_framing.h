// SPDX-License-Identifier: Apache-2.0
//
// Chunks of the run, and the index, as they lie in the file.
#pragma once

#include <cstdint>
#include <span>

#include "chunk_encoder.h"
#include "svd/trace/reader.h"

namespace svd {

struct Framing {
  std::uint64_t trace_id = 0;
  std::uint32_t ordinal = 0;
  Bytes& scratch;
};

// Finishes `chunk` and returns its bytes in the file; `info` becomes what the index says of it, but
// for where it will stand. `edge`: it holds no part of the run, but what is true where that begins.
Bytes frame_data(ChunkEncoder& chunk, Seq first_seq, bool edge, const Framing& framing,
                 ChunkInfo& info);

// `data`: in the order of the run. Empty beyond some 200,000 chunks: readers walk them instead.
Bytes frame_index(std::span<const ChunkInfo> definitions, std::span<const ChunkInfo* const> data,
                  std::span<const ThreadInfo> threads, const Ending& ending,
                  const Framing& framing);

}  // namespace svd
