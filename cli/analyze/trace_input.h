// SPDX-License-Identifier: Apache-2.0
//
// What every verb that reads a trace does alike: open it or say why not, tell what is imperfect
// about it, and choose the exit code.
#pragma once

#include <optional>
#include <string>

#include "common/options.h"
#include "common/output.h"
#include "svd/trace/diagnostic.h"
#include "svd/trace/event.h"
#include "svd/trace/reader.h"

namespace svd::cli {

// Adds the positional TRACE.
void add_trace(Command& command, std::string& path);
// Adds -o.
CLI::Option* add_output(Command& command, std::string& path, const std::string& what);
// Adds --format for what is printed: text or json.
void add_format(Command& command, std::string& format);
// Adds --cu: which computational units, the default's or the paper's.
void add_units(Command& command, bool& paper);
// Adds --format for logs of other tools.
void add_foreign_format(Command& command);
// The lines of the help that verbs which read a trace have in common.
void add_trace_exits(Command& command);
// The same for verbs that make a trace of something else.
void add_making_exits(Command& command, const std::string& input);

// Nothing after an error: it has been told, and the exit code is kUnreadable.
std::optional<TraceReader> open_trace(const Command& command, const std::string& path);

// Each tells a failure and returns its exit code: to write the output; to read the input; to make a
// trace of the input, where the error says which of both it was.
int output_failed(const Command& command, const Error& error);
int input_failed(const Command& command, const Error& error);
int making_failed(const Command& command, const Error& error);

// One line each on stderr: what is lost or wrong always, the rest unless quiet.
void tell(const Command& command, const Diagnostics& diagnostics);

// What a Gap event says is missing from the run, as diagnostics.
void note_gap(const Event& event, const Gap& gap, Diagnostics& diagnostics);
// Of all of them, by a scan of their own.
void note_gaps(const TraceReader& trace, Diagnostics& diagnostics);

// kDamaged when anything is missing, else kSuccess.
int exit_code(const TraceReader& trace, const Diagnostics& diagnostics);

}  // namespace svd::cli
