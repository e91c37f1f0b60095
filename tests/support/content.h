// SPDX-License-Identifier: Apache-2.0
//
// What a trace says, boiled down so that two readings can be compared: one digest for the static
// tables, and one for each chunk.
#pragma once

#include <cstdint>
#include <map>

#include "svd/trace/diagnostic.h"
#include "svd/trace/reader.h"

namespace svd::test {

struct Content {
  std::uint64_t tables = 0;
  std::map<std::uint64_t, std::uint64_t> chunks;  // by first seq
  std::uint64_t summary = 0;                      // threads and ending
  Diagnostics diagnostics;                        // of opening and of decoding everything
  friend bool operator==(const Content& a, const Content& b) {
    return a.tables == b.tables && a.chunks == b.chunks && a.summary == b.summary;
  }
};

Content read_content(const TraceReader& reader);

}  // namespace svd::test
