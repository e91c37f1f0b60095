// SPDX-License-Identifier: Apache-2.0
//
// Textual traces: what people and tests write by hand, and what `svd-analyze dump --text` prints.
// Everything that a trace holds can be said; a trace and its text are one thing in two forms:
//
// - assemble(print_text(t)) equals t: tables, executions, parts, accesses, values, events; only
//   where chunks begin may differ.
//
// - print_text(assemble(s)) is s for every s that print_text prints: the canonical text.
//
//     svd-trace 1                     # always the first line; comments begin with #
//     process engine=text             # without this line: engine=text has-values=false
//     var outcnt 4                    # 4 bytes at an address of our choice
//     var buf 64 @0x5000              # or of yours
//     lock L
//     stmt 3.02 "if (ready)"
//     stmt 3.05 "n = outcnt + len" at log.c:1327 in writer by 3.02   # controlled by 3.02
//     T1 create T3                    # an event of thread 1
//     T3 lock L
//     T3 3.05 r outcnt=5 r buf[0..3]=1 w buf[4..7]=6   # 3.05 reads two places and writes one
//     T3 unlock L
//     T3 signal 11 fatal=true
//
// The lines: process, module, stack, var, lock, symbol, stmt, block (with insn or step lines), and
// T<n>: an execution or an event. What a line refers to stands above it (only `by` may look ahead).
// The grammar of executions and blocks: src/text_code.h; of events: src/text_events.h; of places
// and names: src/text_symbols.h.
#pragma once

#include <functional>
#include <iosfwd>
#include <limits>
#include <memory>
#include <string>
#include <string_view>

#include "svd/trace/diagnostic.h"
#include "svd/trace/reader.h"
#include "svd/trace/result.h"
#include "svd/trace/writer.h"

namespace svd {

// Makes the writer once the process is known; usually TraceWriter::create with a path.
using WriterFactory = std::function<Result<std::unique_ptr<TraceWriter>>(const Process&)>;

// Writes what `text` says and finishes the trace. An error (kText: the line number and a sentence)
// may leave an unfinished file, which is the caller's to remove. `name` is for error messages.
// `progress` hears of lines.
Status assemble(std::string_view text, const std::string& name, const WriterFactory& make_writer,
                const ProgressFunction& progress = no_progress);

// What of a trace to print. An execution is printed whole if any step of it is in [first, end).
struct TextSelection {
  Seq first;
  Seq end{std::numeric_limits<std::uint64_t>::max()};
  std::function<bool(const Exec&)> exec;    // empty: all
  std::function<bool(const Event&)> event;  // empty: all
};

// Prints the canonical text. With a selection, blocks that nothing selected executes are left out,
// so that the text, though complete in itself, numbers blocks and instructions anew when assembled.
// What cannot be decoded is left out and counted. `progress` hears of instructions.
Status print_text(const TraceReader& reader, const TextSelection& selection, std::ostream& out,
                  Diagnostics& diagnostics, const ProgressFunction& progress = no_progress);

}  // namespace svd
