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

#include "chunk_columns.h"
#include "slot_ops.h"

namespace svd {

class ChunkDecoder {
 public:
  // Empty when `out` is good, else what is wrong with the columns.
  std::string decode(const ChunkCounts& counts,
                     const ColumnSet<std::span<const std::uint8_t>>& columns,
                     std::span<const Block> blocks, const Columns& wanted, Chunk& out);

 private:
  bool decode_successors(MissDecoder coder, Chunk& out);
  void prepare(std::span<const Shape> shapes, std::size_t block_count);
  bool decode_addresses(MissDecoder coder, MissDecoder length_coder, Chunk& out);
  bool decode_values(MissDecoder coder, Chunk& out);

  // Kept between chunks so that their memory is.
  std::vector<SlotOp> ops_;
  std::vector<OpSpan> spans_;  // by shape
  std::vector<StridePredictor> predictors_;
  std::vector<StridePredictor> length_predictors_;
  SuccessorPredictor successors_;
  ValueCache cache_;
  std::unordered_map<std::uint32_t, std::uint32_t> histories_;  // by thread
  std::vector<std::uint32_t> first_predictor_;  // by block, plus 1; 0: not in this chunk
  std::vector<std::uint32_t> used_blocks_;
};

}  // namespace svd
