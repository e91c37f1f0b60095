// SPDX-License-Identifier: Apache-2.0
//
// The two forms of `dump` that show one line per instruction or event.
#pragma once

#include <memory>

#include "analyze/listing.h"
#include "analyze/names.h"
#include "common/output.h"
#include "common/terminal.h"

namespace svd::cli {

// For people: columns, names, sentences.
std::unique_ptr<Listing> make_text_listing(const TraceReader& trace, const Names& names,
                                           const Style& style, Output& output);

// For programs: one JSON object per line. An instruction has "seq", "thread", "pc" (or "label",
// "text", "file", "line"), "function" and "accesses"; an event has "seq", "thread", "event" and the
// fields of its kind.
std::unique_ptr<Listing> make_json_listing(const TraceReader& trace, const Names& names,
                                           Output& output);

}  // namespace svd::cli
