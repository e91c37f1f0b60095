// SPDX-License-Identifier: Apache-2.0
//
// Reads a file that has no usable index: every chunk from the start, past damage, which is counted,
// and what the chunks themselves say about threads and the end of the run.
#pragma once

#include "catalog.h"

namespace svd {

// Fills everything of `catalog` but its trace_id, which says whose chunks to take.
Status walk_chunks(const InputFile& file, Catalog& catalog);

}  // namespace svd
