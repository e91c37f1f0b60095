// SPDX-License-Identifier: Apache-2.0
//
// Spells steps and events for people.
#pragma once

#include <string>
#include <string_view>

#include "analyze/listing.h"
#include "analyze/names.h"
#include "svd/trace/event.h"
#include "svd/trace/reader.h"

namespace svd::cli {

// "SIGSEGV", or "signal 77".
std::string signal_name(int number);

// "0x401a2f append_log+0x1f", "3.09 append_log log.c:1327".
std::string step_place(const Step& step, const TraceReader& trace, const Names& names);

// "read outcnt = 5, write outcnt = 6 (atomic)".
std::string step_accesses(const Step& step, const Names& names);

// "locks log_mutex", "malloc: 64 bytes at 0x5a0000", ….
std::string describe(const Event& event, const TraceReader& trace, const Names& names);

// Events that say that something went wrong: a fatal signal, a gap.
bool is_alarming(const Event& event);

}  // namespace svd::cli
