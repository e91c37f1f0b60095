// SPDX-License-Identifier: Apache-2.0
//
// The summary as a person pastes it into a ticket: no line that says nothing, most important first.

#include <fmt/format.h>

#include <algorithm>

#include "analyze/describe.h"
#include "analyze/info_facts.h"

namespace svd::cli {
namespace {

// Valgrind and the tool put these into the address space of every program that they run.
bool is_recorders(std::string_view path) {
  std::string_view name = path.substr(path.rfind('/') + 1);
  return name == "svd-amd64-linux" || name.starts_with("vgpreload_");
}

class InfoText {
 public:
  InfoText(const TraceReader& trace, const Names& names, const Facts& facts, const Style& style,
           Output& output)
      : trace_(trace), names_(names), facts_(facts), style_(style), output_(output) {}

  void print() {
    headline();
    run();
    ending();
    threads();
    contents();
    modules();
    sizes();
    missing();
  }

 private:
  void line(std::string_view text) {
    if (!title_.empty()) output_.write(fmt::format("\n{}\n", style_.bold(title_)));
    title_ = {};
    output_.write(fmt::format("{}\n", text));
  }
  // A section appears with its first line.
  void title(std::string_view text) { title_ = text; }
  void row(std::string_view name, std::string_view value) {
    if (!value.empty()) line(fmt::format("  {:<13} {}", name, value));
  }

  void headline() {
    line(style_.bold(fmt::format(
        "{}: {} of {}, {}", printable(trace_.path()), counted(facts_.instructions, "instruction"),
        counted(trace_.threads().size(), "thread"), ending_text(trace_.ending()))));
  }

  void run() {
    const Process& process = trace_.process();
    title("Run");
    row("program", printable(process.executable));
    std::string arguments;
    for (const std::string& argument : process.arguments)
      arguments += (arguments.empty() ? "" : " ") + printable(argument);
    row("arguments", arguments);
    row("directory", printable(process.working_directory));
    if (process.start_time_ns != 0) row("started", time_text(process.start_time_ns));
    if (process.pid != 0) row("process", fmt::format("{}", process.pid));
    if (!process.parent_trace.empty()) row("forked from", printable(process.parent_trace));
    std::string engine = printable(process.engine);
    if (!process.engine_version.empty()) engine += " " + printable(process.engine_version);
    if (!process.engine_options.empty())
      engine += fmt::format(" ({})", printable(process.engine_options));
    row("recorded by", engine);
    if (!process.has_values) row("values", "not recorded");
    for (const std::string& window : facts_.windows) row("window", printable(window));
    for (const std::string& note : facts_.notes) row("note", printable(note));
  }

  void ending() {
    const Ending& ending = trace_.ending();
    title("End");
    std::string how = ending_text(ending);
    if (ending.thread) how += " in thread " + names_.thread(*ending.thread);
    row("how", ending.kind == EndKind::kSignal ? style_.bad(how) : how);
    if (ending.thread) row("instruction", fmt::format("{}", ending.seq.value));
    row("where", facts_.last_place);
    row("statement", printable(facts_.last_statement));
    row("accesses", facts_.last_accesses);
    if (facts_.fault) row("fault address", names_.address(*facts_.fault));
  }

  void threads() {
    title("Threads");
    line(style_.faint(fmt::format("  {:>4}  {:<16}{:>7}{:>17}{:>15}{:>15}", "id", "name", "parent",
                                  "instructions", "first", "last")));
    for (const ThreadInfo& info : trace_.threads()) {
      std::string parent = info.parent == info.id ? "-" : fmt::format("{}", info.parent.value);
      std::string first = info.steps == 0 ? "-" : fmt::format("{}", info.first_seq.value);
      std::string last = info.steps == 0 ? "-" : fmt::format("{}", info.last_seq.value);
      line(fmt::format("  {:>4}  {:<16}{:>7}{:>17}{:>15}{:>15}", info.id.value,
                       info.name.empty() ? "-" : printable(info.name), parent, grouped(info.steps),
                       first, last));
    }
  }

  void contents() {
    title("Contents");
    auto count = [this](std::string_view name, std::uint64_t number, std::string_view remark) {
      line(fmt::format("  {:<20}{:>15}{}{}", name, grouped(number), remark.empty() ? "" : "  ",
                       remark));
    };
    count("instructions", facts_.instructions, "");
    count("accesses", facts_.accesses,
          facts_.instructions == 0
              ? ""
              : fmt::format("{:.2f} an instruction",
                            per_instruction(facts_.accesses, facts_.instructions)));
    count("code blocks", trace_.blocks().size(), "");
    if (!trace_.statements().empty()) count("statements", trace_.statements().size(), "");
    count("events", facts_.event_count(), "");
    for (std::size_t kind = 0; kind < facts_.events.size(); ++kind) {
      if (facts_.events[kind] > 0)
        count(fmt::format("  {}", event_name(kind)), facts_.events[kind], "");
    }
  }

  void modules() {
    if (trace_.modules().empty()) return;
    title("Modules");
    for (const Module& module : trace_.modules()) {
      std::string id;
      for (std::uint8_t byte : module.build_id) id += fmt::format("{:02x}", byte);
      line(
          fmt::format("  {:#014x}  {}{}{}",
                      module.segments.empty() ? module.bias : module.segments.front().address.value,
                      printable(module.path), id.empty() ? ", no build-id" : ", build-id " + id,
                      is_recorders(module.path) ? ", the recorder's" : ""));
    }
  }

  void sizes() {
    title("Size");
    std::uint64_t instructions = facts_.instructions;
    row("file", fmt::format("{}{}", human_bytes(trace_.file_bytes()),
                            instructions == 0
                                ? ""
                                : fmt::format(", {:.3f} bytes an instruction",
                                              per_instruction(trace_.file_bytes(), instructions))));
    if (instructions == 0) return;
    line(style_.faint(
        fmt::format("  {:<13}{:>12}{:>12}   bytes an instruction, before and after compression",
                    "column", "raw", "packed")));
    for (const ColumnSize& column : trace_.column_sizes()) {
      line(fmt::format("  {:<13}{:>12.4f}{:>12.4f}", column.name,
                       per_instruction(column.raw, instructions),
                       per_instruction(column.packed, instructions)));
    }
  }

  void missing() {
    const std::vector<Diagnostic>& list = facts_.diagnostics.list();
    title("Missing");
    if (list.empty()) line("  nothing");
    for (const Diagnostic& diagnostic : list) {
      std::string times =
          diagnostic.count > 1 ? fmt::format(" ({})", grouped(diagnostic.count)) : "";
      std::string text = fmt::format("{}: {}{}: {}", to_string(diagnostic.severity),
                                     diagnostic.name, times, printable(diagnostic.text));
      line("  " + (diagnostic.severity >= Severity::kLoss ? style_.bad(text) : text));
    }
  }

  const TraceReader& trace_;
  const Names& names_;
  const Facts& facts_;
  Style style_;
  Output& output_;
  std::string_view title_;  // not yet shown
};

}  // namespace

void print_info(const TraceReader& trace, const Names& names, const Facts& facts,
                const Style& style, Output& output) {
  InfoText(trace, names, facts, style, output).print();
}

}  // namespace svd::cli
