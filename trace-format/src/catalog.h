// SPDX-License-Identifier: Apache-2.0
//
// What a reader knows once a file is open: the static tables, and where the chunks are. Taken from
// the index when the file has a good one, else by walking the file chunk by chunk, past damage,
// which is counted.
#pragma once

#include <cstdint>
#include <vector>

#include "chunk_columns.h"
#include "chunk_decoder.h"
#include "input_file.h"
#include "svd/trace/reader.h"
#include "tables.h"

namespace svd {

struct Catalog {
  std::uint64_t trace_id = 0;
  Tables tables;
  std::vector<ChunkInfo> chunks;
  Seq first_seq{};  // of the first instruction that was to be kept
  std::vector<ThreadInfo> threads;
  Ending ending;
  bool finished = false;  // by its writer: it has an index, or the process's end
  Diagnostics diagnostics;
};

// Fills in first_seq, once the process record and the chunks are there.
void find_beginning(Catalog& catalog);

Result<Catalog> load_catalog(const InputFile& file);

// Decodes the data chunk described by `info`.
Status decode_data(const InputFile& file, const Catalog& catalog, const ChunkInfo& info,
                   const Columns& wanted, ChunkDecoder& decoder, Chunk& out);

// The FlatBuffer's view of a data chunk's columns by the names that ColumnSet uses.
ColumnSet<const fb::Column*> columns_of(const fb::Data& data);

}  // namespace svd
