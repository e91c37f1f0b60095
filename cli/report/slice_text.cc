// SPDX-License-Identifier: Apache-2.0
#include "report/slice_text.h"

#include <fmt/format.h>

#include <filesystem>

namespace svd::cli {
namespace {

std::string short_file(const std::string& file) {
  return std::filesystem::path(file).filename().string();
}

std::string where(const StoryPlace& place) {
  if (!place.label.empty()) return place.label;
  if (place.line != 0)
    return fmt::format("{}:{} {}", short_file(place.file), place.line, place.function);
  std::string function = place.function.empty() ? "?" : place.function;
  return fmt::format("{:#x} {} ({})", place.pc.value, function, short_file(place.module));
}

std::string value_text(std::uint64_t value, std::uint64_t size) {
  if (size < 8) value &= (std::uint64_t{1} << 8 * size) - 1;
  auto sign = static_cast<std::int64_t>(value << (64 - 8 * std::min<std::uint64_t>(size, 8))) >>
              (64 - 8 * std::min<std::uint64_t>(size, 8));
  if (sign < 0 && sign > -100000) return fmt::format("{}", sign);
  return value < 100000 ? fmt::format("{}", value) : fmt::format("{:#x}", value);
}

std::string object_name(const StoryEntry& entry) {
  return entry.variable.empty() ? fmt::format("[{:#x}]", entry.address.value) : entry.variable;
}

// Of what follows from something.
std::string consequence(const StoryEntry& entry) {
  switch (entry.via) {
    case Via::kCriterion:
      return "here the slice begins";
    case Via::kValue:
      return "used a value";
    case Via::kAddress:
      return "used an address";
    case Via::kControl:
      return "was decided";
    case Via::kCall:
      return "was called";
    case Via::kSpawn:
      return "in a thread that was started";
    case Via::kSystemCall:
      return "was given to a system call";
  }
  return "";
}

std::string_view heading(Way way) {
  switch (way) {
    case Way::kBackward:
      return "How it came to this, what explains most first:\n";
    case Way::kForward:
      return "What follows from it, the nearest first:\n";
    case Way::kBetween:
      return "What lies between, what explains most first:\n";
  }
  return "";
}

std::string reason(const StoryEntry& entry, bool failed) {
  switch (entry.via) {
    case Via::kCriterion:
      return failed ? "here it failed" : "here the slice begins";
    case Via::kValue:
      return "gave a value";
    case Via::kAddress:
      return "gave an address";
    case Via::kControl:
      return "decided";
    case Via::kCall:
      return "called";
    case Via::kSpawn:
      return "started the thread";
    case Via::kSystemCall:
      return "input from a system call";
  }
  return "";
}

class Printer {
 public:
  Printer(const SliceReport& report, const Style& style, Output& output)
      : report_(report), style_(style), output_(output) {}

  void head() {
    std::string program = short_file(report_.trace.process().executable);
    output_.write(fmt::format(
        "{} {} in T{} at {}\n", style_.bold(program.empty() ? "trace" : program),
        style_.bad(report_.explanation.failure.what), report_.explanation.failure.at.thread.value,
        style_.bold(where(report_.explanation.criterion))));
    source_line(report_.explanation.criterion, "     ");
    if (report_.explanation.way == Way::kBetween) {
      const Failure& from = report_.explanation.from;
      output_.write(fmt::format("from {} in T{} at {}\n", from.what, from.at.thread.value,
                                style_.bold(where(report_.explanation.from_place))));
      source_line(report_.explanation.from_place, "     ");
    }
    output_.write("\n");
  }

  void steps(std::size_t entries) {
    output_.write(std::string(heading(report_.explanation.way)));
    const std::vector<StoryEntry>& all = report_.explanation.story.entries;
    std::size_t shown = std::min(entries, all.size());
    for (std::size_t i = 0; i < shown; ++i) entry(i + 1, all[i]);
    std::size_t rest = all.size() - shown;
    if (rest != 0)
      output_.write(fmt::format(
          "\n{}\n", style_.faint(fmt::format("{}: svd-analyze slice --all {}",
                                             counted(rest, "more step"), report_.trace.path()))));
  }

  void entry(std::size_t number, const StoryEntry& entry) {
    output_.write(fmt::format("\n{:>3}. ", number));
    switch (entry.kind) {
      case StoryEntry::Kind::kStatement:
        statement(entry);
        break;
      case StoryEntry::Kind::kRemoteRead:
        edge(entry, {"wrote", "read "},
             fmt::format("{} came from another thread", object_name(entry)));
        break;
      case StoryEntry::Kind::kTriple:
        edge(entry, {entry.accesses[0].write ? "wrote" : "read ", "wrote", "read "},
             fmt::format("{} changed between two accesses of T{}, {} of its instructions apart",
                         object_name(entry), entry.accesses[0].instance.thread.value,
                         entry.own_instructions));
        break;
      case StoryEntry::Kind::kRace:
        edge(entry, {entry.accesses[0].write ? "wrote" : "read ", "wrote"},
             fmt::format("{} could have been accessed in the other order", object_name(entry)));
        break;
    }
  }

  void tail() {
    const Story& story = report_.explanation.story;
    std::string statements = counted(story.statements.size(), "statement") + " of the program";
    statements += story.libraries ? " and libraries"
                                  : fmt::format(", {} in libraries (hidden)",
                                                counted(story.hidden_library, "instruction"));
    output_.write(style_.faint(
        fmt::format("\nslice: {} of {}, {}\n", grouped(report_.explanation.slice.instances),
                    counted(report_.trace.steps(), "instruction"), statements)));
  }

 private:
  void statement(const StoryEntry& entry) {
    const StoryAccess& access = entry.accesses[0];
    std::string line =
        fmt::format("T{} {}", access.instance.thread.value, style_.bold(where(access.place)));
    std::string value;
    if (access.has_value)
      value = fmt::format("  {} {} {}", access.write ? "wrote" : "read", object_name(entry),
                          value_text(access.value, entry.size));
    std::string often = entry.instances > 1 ? fmt::format(", {} times", entry.instances) : "";
    std::string initial =
        entry.initial_reads != 0 ? "; reads an initial value: nothing wrote it" : "";
    output_.write(fmt::format("{}{}  {}\n", line, value,
                              style_.faint(fmt::format("({}{}{})", why(entry), often, initial))));
    source_line(access.place, "       ");
  }

  std::string why(const StoryEntry& entry) const {
    const Explanation& explanation = report_.explanation;
    return explanation.way == Way::kForward ? consequence(entry)
                                            : reason(entry, explanation.failure.failed);
  }

  void edge(const StoryEntry& entry, const std::vector<std::string>& verbs,
            const std::string& title) {
    std::string often =
        entry.instances > 1 ? style_.faint(fmt::format("  ({} times)", entry.instances)) : "";
    output_.write(style_.warning(title) + often + "\n");
    for (std::size_t i = 0; i < entry.accesses.size(); ++i) {
      const StoryAccess& access = entry.accesses[i];
      std::string value =
          access.has_value ? " " + value_text(access.value, entry.size) : std::string();
      std::string_view verb = verbs[i];
      if (value.empty()) verb = verb.substr(0, verb.find(' '));
      output_.write(fmt::format("     T{} {}  {}{}\n", access.instance.thread.value,
                                style_.bold(where(access.place)), verb, value));
      source_line(access.place, "          ");
    }
  }

  void source_line(const StoryPlace& place, std::string_view indent) {
    if (place.line == 0) return;
    std::string_view text = report_.source.source_line(place.file, place.line);
    if (!text.empty()) output_.write(fmt::format("{}{}\n", indent, style_.name(text)));
  }

  const SliceReport& report_;
  const Style& style_;
  Output& output_;
};

}  // namespace

void print_slice(const SliceReport& report, std::size_t entries, const Style& style,
                 Output& output) {
  Printer printer(report, style, output);
  printer.head();
  printer.steps(entries);
  printer.tail();
}

void print_story(const SliceReport& report, std::size_t entries, const Style& style,
                 Output& output) {
  Printer(report, style, output).steps(entries);
}

}  // namespace svd::cli
