// SPDX-License-Identifier: Apache-2.0
//
// From a chunk's columns to flat arrays, pass by pass over all executions; passes that are not
// wanted are not run. The counterpart of ChunkEncoder.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "access_decoder.h"
#include "chunk_columns.h"

namespace svd {

class ChunkDecoder {
 public:
  explicit ChunkDecoder(
      AccessDecoder::Instructions instructions = AccessDecoder::Instructions::kBest)
      : accesses_(instructions) {}

  // Empty when `out` is good, else what is wrong with the columns.
  std::string decode(const ChunkCounts& counts,
                     const ColumnSet<std::span<const std::uint8_t>>& columns,
                     std::span<const Block> blocks, const Columns& wanted, Chunk& out);

 private:
  template <bool kAccesses>
  std::string decode_executions(const ChunkCounts& counts, Chunk& out);

  // Kept between chunks so that their memory is.
  AccessDecoder accesses_;
  SuccessorPredictor successors_;
  MissDecoder successor_stream_;
  std::unordered_map<std::uint32_t, std::uint32_t> histories_;  // by thread
};

}  // namespace svd
