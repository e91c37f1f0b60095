// SPDX-License-Identifier: Apache-2.0
//
// Parsing what the user wants, and matching against it. Events are matched by the types of their
// fields, so that a new kind of event is selected like the others.

#include "analyze/selection.h"

#include <fmt/format.h>

#include <algorithm>
#include <type_traits>
#include <variant>

#include "common/options.h"
#include "svd/trace/nearest.h"

namespace svd::cli {
namespace {

Error wrong(std::string what) {
  Error error;
  error.kind = ErrorKind::kUsage;
  error.what = std::move(what);
  return error;
}

Status parse_seq(std::string_view text, Selection& selection) {
  std::size_t dots = text.find("..");
  std::string_view from = text.substr(0, dots);
  std::string_view to = dots == std::string_view::npos ? from : text.substr(dots + 2);
  auto first = from.empty() ? 0 : parse_count(from, 1000);
  auto last = to.empty() ? selection.last.value : parse_count(to, 1000);
  if (!first || !last || text == "..")
    return wrong(fmt::format("--seq takes A..B, A.., ..B or A, not '{}'", text));
  if (*last < *first)
    return wrong(fmt::format("--seq {}: the end lies before the beginning", text));
  selection.first = Seq(*first);
  selection.last = Seq(std::min(*last, selection.last.value));
  return Done{};
}

Status parse_threads(std::string_view text, const TraceReader& trace, Selection& selection) {
  while (true) {
    std::size_t comma = text.find(',');
    std::string_view word = text.substr(0, comma);
    auto number = parse_count(word, 1000);
    bool found = false;
    for (const ThreadInfo& info : trace.threads()) {
      if (number ? info.id.value != *number : info.name != word) continue;
      selection.threads.push_back(info.id);
      found = true;
    }
    if (!found) {
      std::vector<std::string_view> known;
      for (const ThreadInfo& info : trace.threads()) known.push_back(info.name);
      return wrong(fmt::format("the trace has no thread '{}'{}", word, did_you_mean(word, known)));
    }
    if (comma == std::string_view::npos) return Done{};
    text.remove_prefix(comma + 1);
  }
}

Status parse_function(const std::string& name, const TraceReader& trace, const Names& names,
                      Selection& selection) {
  selection.function = name;
  std::vector<std::string_view> known;
  for (const Symbol* symbol : names.functions()) {
    known.push_back(symbol->name);
    if (symbol->name == name)
      selection.function_code.push_back(AddressRange::of(symbol->address, symbol->size));
  }
  for (const Statement& statement : trace.statements()) known.push_back(statement.function);
  if (std::find(known.begin(), known.end(), name) != known.end()) return Done{};
  return wrong(fmt::format("the trace has no function '{}'{}", name, did_you_mean(name, known)));
}

// Whether a field of the event lies in the selected memory, or in the selected code.
struct FieldMatch {
  const Selection& selection;
  std::optional<std::uint64_t> address;
  bool in_memory = false;
  bool in_code = false;

  void operator()(std::string_view, const Addr& a) {
    if (!selection.address) return;
    in_memory = in_memory || selection.address->overlaps(AddressRange::of(a.value, 1));
    if (!address) address = a.value;
  }
  void operator()(std::string_view, const Pc& pc) {
    for (const AddressRange& code : selection.function_code)
      in_code = in_code || code.overlaps(AddressRange::of(pc.value, 1));
  }
  // A size belongs to the event's first address.
  void operator()(std::string_view name, const std::uint64_t& size) {
    if (address && (name == "size" || name == "stack-size"))
      in_memory = in_memory || selection.address->overlaps(AddressRange::of(*address, size));
  }
  void operator()(std::string_view, const auto&) {}
};

// The events that have an address among their fields, as bits of ChunkInfo::event_kinds.
struct HasAddress {
  bool found = false;
  void operator()(std::string_view, const Addr&) { found = true; }
  void operator()(std::string_view, const auto&) {}
};

template <std::size_t kind = 0>
std::uint64_t kinds_with_address() {
  if constexpr (kind == std::variant_size_v<EventBody>) {
    return 0;
  } else {
    using Body = std::variant_alternative_t<kind, EventBody>;
    Body body;
    HasAddress has;
    Body::fields(body, has);
    return (has.found ? std::uint64_t{1} << kind : 0) | kinds_with_address<kind + 1>();
  }
}

}  // namespace

Result<Selection> Selection::parse(const SelectionText& text, const TraceReader& trace,
                                   const Names& names) {
  Selection selection;
  if (!text.seq.empty()) {
    if (auto parsed = parse_seq(text.seq, selection); !parsed) return parsed.error();
  }
  if (!text.threads.empty()) {
    if (auto parsed = parse_threads(text.threads, trace, selection); !parsed) return parsed.error();
  }
  if (!text.function.empty()) {
    if (auto parsed = parse_function(text.function, trace, names, selection); !parsed)
      return parsed.error();
  }
  if (!text.address.empty()) {
    auto range = names.range(text.address);
    if (!range) return range.error();
    selection.address = *range;
  }
  return selection;
}

Matcher::Matcher(const TraceReader& trace, const Selection& selection)
    : trace_(trace), selection_(selection) {
  if (!by_function()) return;
  for (const Block& block : trace.blocks()) {
    bool any = false;
    for (std::size_t i = 0; i < block.size(); ++i) any = any || in_function(block, i);
    block_matches_.push_back(any);
  }
}

Result<bool> Matcher::decode(std::size_t index, Chunk& chunk) const {
  const ChunkInfo& info = trace_.chunks()[index];
  if (info.end_seq() < selection_.first || info.first_seq > selection_.last + 1) return false;
  auto selected = [this](ThreadId id) { return matches(id); };
  if (std::none_of(info.threads.begin(), info.threads.end(), selected)) return false;
  Columns columns;
  if (by_address()) {
    const AddressRange& range = *selection_.address;
    std::uint64_t more = range.last - range.first;
    auto touched = trace_.may_touch(index, Addr(range.first), std::max(more + 1, more));
    if (!touched) return touched.error();
    if (!*touched && (info.event_kinds & kinds_with_address()) == 0) return false;
    columns.addresses = columns.values = *touched;
  }
  if (by_function()) {
    if (auto decoded = trace_.decode(index, chunk, Columns{.addresses = false, .values = false});
        !decoded)
      return decoded.error();
    auto has_code = [this](const Shape& shape) { return block_matches_[shape.id.value]; };
    if (std::none_of(chunk.shapes.begin(), chunk.shapes.end(), has_code)) return true;
  }
  if (auto decoded = trace_.decode(index, chunk, columns); !decoded) return decoded.error();
  return true;
}

bool Matcher::matches(ThreadId thread) const {
  const std::vector<ThreadId>& threads = selection_.threads;
  return threads.empty() || std::find(threads.begin(), threads.end(), thread) != threads.end();
}

bool Matcher::in_function(const Block& block, std::size_t i) const {
  if (block.abstract())
    return trace_.statements()[block.statements[i].value].function == selection_.function;
  std::uint64_t pc = block.instructions[i].pc.value;
  return std::any_of(
      selection_.function_code.begin(), selection_.function_code.end(),
      [pc](const AddressRange& code) { return code.overlaps(AddressRange::of(pc, 1)); });
}

bool Matcher::may_match(const Exec& exec) const {
  return exec.seq <= selection_.last && matches(exec.thread) &&
         (!by_function() || block_matches_[exec.shape->id.value]);
}

bool Matcher::matches(const Exec& exec) const {
  if (!may_match(exec) || exec.end() <= selection_.first) return false;
  bool touches = !by_address();
  if (by_address() && exec.addresses != nullptr) {
    exec.accesses([&](const MemoryAccess& access) { touches = touches || matches(access); });
  }
  return touches;
}

bool Matcher::matches(const Event& event) const {
  if (event.seq < selection_.first || event.seq > selection_.last + 1 || !matches(event.thread))
    return false;
  if (!by_address() && !by_function()) return true;
  FieldMatch match{selection_, std::nullopt};
  std::visit([&match](const auto& body) { body.fields(body, match); }, event.body);
  return (!by_address() || match.in_memory) && (!by_function() || match.in_code);
}

}  // namespace svd::cli
