// SPDX-License-Identifier: Apache-2.0
//
// What `info` finds out, and its two forms.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "analyze/names.h"
#include "common/output.h"
#include "common/terminal.h"
#include "svd/trace/diagnostic.h"
#include "svd/trace/event.h"
#include "svd/trace/reader.h"

namespace svd::cli {

// Counts are of what is readable.
struct Facts {
  std::uint64_t instructions = 0;
  std::uint64_t executions = 0;
  std::uint64_t accesses = 0;
  std::array<std::uint64_t, std::variant_size_v<EventBody>> events{};  // by kind
  std::vector<std::string> notes;                                      // of the engine
  std::vector<std::string> windows;  // what part of the run was to be recorded; empty: all of it
  std::optional<Signal> fatal;
  std::optional<Addr> fault;  // when the fatal signal is about an address
  // The last instruction of the thread that ended the run.
  std::string last_place;
  std::string last_function;
  std::string last_statement;
  std::string last_file;
  std::uint32_t last_line = 0;
  std::string last_accesses;
  Diagnostics diagnostics;

  std::uint64_t event_count() const;
};

// The name of an event kind: "sync".
std::string_view event_name(std::size_t kind);

// Decodes the whole trace, but for addresses and values. `progress` hears of the position after
// each chunk.
Facts gather(const TraceReader& trace, const Names& names,
             const std::function<void(Seq)>& progress);

// "killed by SIGSEGV", "exit status 1", "the end is not in the trace".
std::string ending_text(const Ending& ending);
// "2023-11-14 22:13:20 UTC".
std::string time_text(std::uint64_t nanoseconds);
// Bytes an instruction.
double per_instruction(std::uint64_t bytes, std::uint64_t instructions);

void print_info(const TraceReader& trace, const Names& names, const Facts& facts,
                const Style& style, Output& output);
void print_info_json(const TraceReader& trace, const Facts& facts, Output& output);

}  // namespace svd::cli
