// SPDX-License-Identifier: Apache-2.0
//
// The report as a person pastes it into a ticket: how the run ended, then each finding as one
// sentence and the accesses of its threads side by side, the first above.

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "analyze/info_facts.h"
#include "findings/summary.h"
#include "report/report.h"
#include "symbols/function_name.h"

namespace svd::cli {
namespace {

constexpr std::size_t kRelated = 5;  // lines of them, of each finding
constexpr std::size_t kColumn = 42;  // of a thread; two of them and a seq make 100

std::string file_name(const std::string& path) { return path.substr(path.rfind('/') + 1); }

std::string where(const CodePlace& place) {
  std::string text;
  auto add = [&text](const std::string& word) {
    if (!word.empty()) text += (text.empty() ? "" : " ") + word;
  };
  add(place.label);
  if (place.line > 0) add(fmt::format("{}:{}", file_name(place.file), place.line));
  add(place.function);
  if (place.line == 0 && place.label.empty() && place.pc.value != 0)
    add(fmt::format("{:#x}", place.pc.value));
  return text;
}

std::string what(const FindingAccess& access) {
  std::string by = access.kernel ? "the kernel " : "";
  std::string at = fmt::format("{:#x}:{}", access.address.value, access.size);
  std::string indivisibly = access.atomic ? ", atomic" : "";
  switch (access.kind) {
    case TouchKind::kFree:
      return "frees " + at;
    case TouchKind::kRead:
      if (!access.value) return fmt::format("{}reads {}{}", by, at, indivisibly);
      return fmt::format("{}reads {:#x} from {}{}", by, *access.value, at, indivisibly);
    case TouchKind::kWrite:
      if (!access.value) return fmt::format("{}writes {}{}", by, at, indivisibly);
      return fmt::format("{}writes {:#x} to {}{}", by, *access.value, at, indivisibly);
  }
  return "";
}

std::string_view action(const FindingAccess& access) {
  if (access.kind == TouchKind::kFree) return "freed";
  return access.kind == TouchKind::kRead ? "read" : "written";
}

std::string locks(const FindingAccess& access) {
  std::string text;
  for (const std::string& lock : access.locks) text += (text.empty() ? "holds " : ", ") + lock;
  return text;
}

// Of a stack, what the program's own code was called by, and the library's function that it called.
constexpr std::size_t kCallers = 3;

std::string library_call(const FindingAccess& access) {
  auto own = first_own(access.stack);
  if (own == access.stack.begin() || own == access.stack.end()) return "";
  const std::string& function = std::prev(own)->place.function;
  return function.empty() ? "" : "in " + without_template_arguments(function);
}

std::string callers(const FindingAccess& access) {
  struct Caller {
    std::string place;
    std::size_t times = 0;
  };
  std::vector<Caller> all;
  std::size_t left_out = 0;
  for (auto frame = first_own(access.stack); frame != access.stack.end(); ++frame) {
    if (frame->own) {
      std::string place = describe(frame->place);
      bool again = all.size() > 1 && all.back().place == place;
      if (!again) all.push_back({place});
      all.back().times += 1 + (again ? left_out : 0);
      left_out = 0;
    }
    left_out += frame->left_out;
  }
  std::string text;
  for (std::size_t i = 1; i < std::min(all.size(), kCallers + 1); ++i) {
    text += (i == 1 ? "called from " : ", ") + all[i].place;
    if (all[i].times > 1) text += fmt::format(" {} times", grouped(all[i].times));
  }
  if (all.size() > kCallers + 1) text += ", …";
  return text;
}

// Of the failure's story in a report; svd-analyze slice tells more.
constexpr std::size_t kStorySteps = 5;

class Text {
 public:
  Text(const Report& report, const Style& style, Output& output)
      : report_(report), style_(style), output_(output) {}

  void print() {
    headline();
    for (const Finding& finding : report_.findings) print(finding);
    if (report_.slice != nullptr) {
      line("");
      print_story(*report_.slice, kStorySteps, style_, output_);
    }
    missing();
  }

 private:
  void line(std::string_view text) { output_.write(fmt::format("{}\n", text)); }

  void headline() {
    const Ending& ending = report_.trace.ending();
    std::string end = ending_text(ending);
    if (ending.thread) {
      std::string place = where(report_.last_place);
      end += fmt::format(" in thread {}{}{}", ending.thread->value, place.empty() ? "" : " at ",
                         place);
    }
    std::size_t count = report_.findings.size();
    line(style_.bold(fmt::format("{}: {}", printable(report_.trace.path()), printable(end))));
    std::string looked;
    for (const std::string& name : report_.looked) looked += (looked.empty() ? "" : ", ") + name;
    std::string found = count == 0   ? "no finding"
                        : count == 1 ? "1 finding"
                                     : fmt::format("{} findings", grouped(count));
    if (report_.suppressed > 0) found += fmt::format(", {} suppressed", report_.suppressed);
    line(fmt::format("{} ({})", found, looked));
    for (const Suppressions::Use& use : report_.suppressions) {
      if (use.of_finding)
        line(style_.faint(fmt::format("suppressed {}: {}", use.count, printable(use.rule))));
    }
    for (const Annotations::Use& use : report_.annotations) {
      if (!use.built_in && use.count > 0)
        line(style_.faint(fmt::format("annotated {}: {}", use.count, printable(use.rule))));
    }
  }

  void print(const Finding& finding) {
    line("");
    line(fmt::format("{}. {}", finding.rank, style_.bold(printable(finding.summary))));
    std::string facts;
    for (const std::string& name : finding.detectors) facts += name + ", ";
    facts += finding.occurrences == 1 ? "once" : grouped(finding.occurrences) + " times";
    if (finding.serializable.value_or(false)) facts += ", serializable";
    if (finding.on_slice.value_or(false)) facts += ", on the slice of the failure";
    line(style_.faint(fmt::format("   {}, {}", facts, finding.fingerprint)));
    if (!finding.memory.empty() && !finding.variable.empty())
      line(style_.faint(
          fmt::format("   {} is in {}", printable(finding.variable), printable(finding.memory))));
    table(finding);
    related(finding);
  }

  // Places only: the one that is told stands for them.
  void related(const Finding& finding) {
    std::vector<std::string> all;
    for (const Finding& other : finding.related) {
      std::string places;
      for (const FindingAccess& access : other.accesses)
        places += (places.empty() ? "" : ", ") + std::string(action(access)) + " in " +
                  describe(access.place);
      if (std::find(all.begin(), all.end(), places) == all.end()) all.push_back(places);
    }
    std::size_t shown = std::min(all.size(), kRelated);
    for (std::size_t i = 0; i < shown; ++i)
      line(style_.faint(fmt::format("   also: {}", printable(all[i]))));
    if (shown < all.size()) line(style_.faint(fmt::format("   and {} more", all.size() - shown)));
  }

  void table(const Finding& finding) {
    std::vector<ThreadId> threads;
    std::string head = fmt::format("   {:>12}  ", "");
    for (const FindingAccess& access : finding.accesses) {
      if (std::find(threads.begin(), threads.end(), access.thread) != threads.end()) continue;
      threads.push_back(access.thread);
      std::string name = access.thread_name.empty() ? "" : " " + printable(access.thread_name);
      head += fmt::format("{:<{}}", fmt::format("thread {}{}", access.thread.value, name), kColumn);
    }
    head.erase(head.find_last_not_of(' ') + 1);
    line(style_.faint(head));
    for (const FindingAccess& access : finding.accesses) {
      auto column = static_cast<std::size_t>(
          std::find(threads.begin(), threads.end(), access.thread) - threads.begin());
      std::string indent(column * kColumn, ' ');
      auto row = [&](const std::string& number, const std::string& text) {
        if (!text.empty()) line(fmt::format("   {:>12}  {}{}", number, indent, printable(text)));
      };
      row(fmt::format("{}", access.seq.value), where(access.place));
      row("", access.place.text.empty() ? "" : "  " + access.place.text);
      row("", "  " + what(access));
      for (const std::string& more : {library_call(access), callers(access), locks(access)})
        row("", more.empty() ? "" : "  " + more);
    }
  }

  void missing() {
    if (report_.diagnostics.list().empty()) return;
    line("");
    for (const Diagnostic& diagnostic : report_.diagnostics.list()) {
      std::string times =
          diagnostic.count > 1 ? fmt::format(" ({})", grouped(diagnostic.count)) : "";
      std::string text = fmt::format("{}: {}{}: {}", to_string(diagnostic.severity),
                                     diagnostic.name, times, printable(diagnostic.text));
      line(diagnostic.severity >= Severity::kLoss ? style_.bad(text) : text);
    }
  }

  const Report& report_;
  Style style_;
  Output& output_;
};

}  // namespace

void print_text(const Report& report, const Style& style, Output& output) {
  Text(report, style, output).print();
}

}  // namespace svd::cli
