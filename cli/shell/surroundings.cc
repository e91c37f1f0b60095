// SPDX-License-Identifier: Apache-2.0
#include "shell/surroundings.h"

#include <fmt/format.h>

#include <algorithm>

#include "analyze/describe.h"
#include "shell/narrator.h"
#include "slicer/queries/executions.h"

namespace svd::cli {
namespace {

constexpr std::uint32_t kLinesAround = 5;
constexpr std::size_t kEntriesAround = 8;
// A line of C++ without inlining takes some fifty instructions.
constexpr std::uint64_t kInstructionsAround = 600;

// Instructions of one thread on one line, or one event.
struct Entry {
  Seq first{}, last{};
  ThreadId thread{};
  std::string place{};
  std::string text{};  // source, or what the event says
  bool event = false;
};

class Collect {
 public:
  Collect(Session& session, Seq first, Seq end)
      : session_(session), narrator_(session), first_(first), end_(end) {}

  void exec(const Exec& exec) {
    const std::vector<svd::Step>& steps = session_.run().code().block(exec.shape->id).steps;
    const Part& part = exec.shape->part;
    for (std::uint16_t i = part.first; i < std::min<std::size_t>(part.end, steps.size()); ++i) {
      Seq seq = exec.seq + static_cast<std::uint64_t>(i - part.first);
      if (seq >= first_ && seq < end_) add(seq, exec.thread, steps[i].id);
    }
  }

  void event(const Event& event) {
    if (event.seq < first_ || event.seq > end_) return;
    std::string text = describe(event, session_.trace(), session_.names());
    entries_.push_back({event.seq, event.seq, event.thread, "", text, true});
  }

  std::vector<Entry> take() { return std::move(entries_); }

 private:
  void add(Seq seq, ThreadId thread, InstrId id) {
    std::string place = narrator_.place(id);
    if (!entries_.empty() && !entries_.back().event && entries_.back().thread == thread &&
        entries_.back().place == place) {
      entries_.back().last = seq;
      return;
    }
    entries_.push_back({seq, seq, thread, place, narrator_.source(id), false});
  }

  Session& session_;
  Narrator narrator_;
  Seq first_, end_;
  std::vector<Entry> entries_;
};

}  // namespace

void list_source(Session& session, const FileLine& line) {
  std::uint32_t first = line.line > kLinesAround ? line.line - kLinesAround : 1;
  auto pcs = session.source().pcs_of_line(line.file, line.line);
  std::string file = line.file;
  if (!pcs.empty()) file = std::string(session.source().at(pcs.front()).frames.front().file);
  for (std::uint32_t n = first; n <= line.line + kLinesAround; ++n) {
    std::string text(session.source().source_line(file, n));
    auto wanted = instructions_of(session, {line.file, n});
    std::string often;
    if (any(wanted)) often = grouped(Executions(session.run(), wanted).count()) + "x";
    if (text.empty() && often.empty()) continue;
    session.say(fmt::format("{} {:>5} {:>12}  {}", n == line.line ? "=>" : "  ", n,
                            session.style().faint(often), session.style().name(text)));
  }
}

Status list_run(Session& session, Seq at) {
  RunView& run = session.run();
  if (session.trace().steps() == 0) return wrong("the trace has no instructions");
  Seq first(at.value - std::min(kInstructionsAround, at.value - session.trace().first_seq().value));
  Seq end = at + kInstructionsAround;
  Collect collect(session, first, end);
  bool any = false;
  for (std::size_t i = run.last_chunk_at(first); i < session.trace().chunks().size(); ++i) {
    if (session.trace().chunks()[i].first_seq > end) break;
    auto chunk = run.chunk(i);
    if (chunk == nullptr) continue;
    any = true;
    chunk->walk_from(first, collect);
  }
  if (!any) return wrong(fmt::format("what is around {} was lost", at.value));
  std::vector<Entry> entries = collect.take();
  auto here = std::find_if(entries.begin(), entries.end(), [at](const Entry& entry) {
    return !entry.event && entry.first <= at && at <= entry.last;
  });
  auto index = static_cast<std::size_t>(here - entries.begin());
  std::size_t begin = index - std::min(index, kEntriesAround);
  const Style& style = session.style();
  for (std::size_t i = begin; i < std::min(index + kEntriesAround + 1, entries.size()); ++i) {
    const Entry& entry = entries[i];
    std::string who = style.name(fmt::format("T{}", entry.thread.value));
    std::string mark = i == index ? "=>" : "  ";
    if (entry.event)
      session.say(fmt::format("{} {:>10}  {}  {}", mark, "", who, style.faint(entry.text)));
    else
      session.say(fmt::format("{} {:>10}  {}  {}  {}", mark, entry.first.value, who,
                              style.bold(entry.place), entry.text));
  }
  return Done{};
}

}  // namespace svd::cli
