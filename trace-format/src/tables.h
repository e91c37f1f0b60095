// SPDX-License-Identifier: Apache-2.0
//
// The static tables of a trace, as they come out of its Definitions chunks.
#pragma once

#include <vector>

#include "input_file.h"
#include "svd/trace/block.h"
#include "svd/trace/process.h"
#include "svd/trace/reader.h"

namespace svd {

struct Tables {
  Process process;
  bool has_process = false;
  std::vector<Module> modules;
  std::vector<Symbol> symbols;
  std::vector<Stack> stacks;
  std::vector<Statement> statements;
  std::vector<Block> blocks;
};

// Adds what `chunk` (at `offset` of `file`) defines. Rows between what was there and the chunk's
// first were lost and stay empty.
Status load_definitions(const LoadedChunk& chunk, const InputFile& file, std::uint64_t offset,
                        Tables& tables);

// The index's table of threads. False when it does not parse.
bool load_threads(const fb::Column* column, std::uint64_t file_bytes,
                  std::vector<ThreadInfo>& threads);

// Statements that are lost at the end of their table can still be referred to: empties the blocks
// that execute them and removes such controls. Returns how many.
std::uint64_t drop_dangling(Tables& tables);

}  // namespace svd
