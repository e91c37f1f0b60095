// SPDX-License-Identifier: Apache-2.0
#include "shell/session.h"

#include <fmt/format.h>

#include "common/options.h"

namespace svd::cli {

std::vector<std::string_view> words_of(std::string_view text) {
  std::vector<std::string_view> words;
  constexpr std::string_view kBlanks = " \t\r";
  for (std::size_t at = 0; (at = text.find_first_not_of(kBlanks, at)) != std::string_view::npos;) {
    std::size_t end = std::min(text.find_first_of(kBlanks, at), text.size());
    words.push_back(text.substr(at, end - at));
    at = end;
  }
  return words;
}

Error wrong(std::string sentence) { return {ErrorKind::kUsage, {}, {}, {}, std::move(sentence)}; }

Session::Session(const TraceReader& trace, Explainer& explainer, RunView& run, const Names& names,
                 const Style& style, Output& output, ProgressFunction patience)
    : trace_(trace),
      explainer_(explainer),
      run_(run),
      names_(names),
      style_(style),
      output_(output),
      patience_(std::move(patience)) {
  run_.before_decoding([this] { patience_(0); });
  bool known = trace.ending().thread.has_value();
  if (known)
    ending_ = trace.ending().seq;
  else if (trace.steps() != 0)
    ending_ = run.end() - 1;
  position_ = ending_;
}

void Session::say(std::string_view line) {
  output_.write(line);
  output_.write("\n");
}

ThreadId Session::thread() {
  auto found = run_.find(position_);
  return found ? found->facts.instance.thread : ThreadId();
}

void Session::go(Seq to) {
  if (to == position_) return;
  been_.push_back(position_);
  position_ = to;
  say(style_.faint(fmt::format("now at {}; back returns to {}", to.value, been_.back().value)));
}

Status Session::back() {
  if (been_.empty()) return wrong("there is nowhere to go back to");
  position_ = been_.back();
  been_.pop_back();
  return Done{};
}

Result<Seq> Session::seq(std::string_view word) const {
  auto number = parse_count(word, 1000);
  if (!number) return wrong(fmt::format("'{}' is no number of an instruction", word));
  if (trace_.steps() == 0) return wrong("the trace has no instructions");
  if (*number < trace_.first_seq().value || *number >= run_.end().value)
    return wrong(fmt::format("instruction {} is not in the trace, which has {} to {}", *number,
                             trace_.first_seq().value, run_.end().value - 1));
  return Seq(*number);
}

Result<Found> Session::find(Seq seq) {
  if (trace_.steps() == 0) return wrong("the trace has no instructions");
  auto found = run_.find(seq);
  if (!found) return wrong(fmt::format("instruction {} was lost", seq.value));
  return *std::move(found);
}

Result<Range> Session::memory(std::string_view word) {
  // What is printed and followed byte by byte; larger objects are asked for in parts.
  constexpr std::uint64_t kMost = 4096;
  auto range = names_.range(word);
  Range bytes;
  if (range) {
    bytes = {Addr(range->first), range->last - range->first + 1};
    // An address alone means what most accesses are.
    if (word.find(',') == std::string_view::npos && word.starts_with("0x")) bytes.size = 8;
  } else {
    // Of functions and classes only the debug information knows variables.
    auto variables = source().find_variables(word);
    if (variables.size() != 1) return range.error();
    bytes = {variables[0].address, std::max<std::uint64_t>(variables[0].size, 1)};
  }
  bytes.size = std::min(bytes.size, kMost);
  return bytes;
}

}  // namespace svd::cli
