// SPDX-License-Identifier: Apache-2.0
#include "shell/code_places.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <set>

#include "svd/trace/nearest.h"
#include "symbols/source_text.h"

namespace svd::cli {
namespace {

std::optional<std::uint64_t> number(std::string_view text) {
  int base = 10;
  if (text.starts_with("0x")) text.remove_prefix(2), base = 16;
  std::uint64_t value = 0;
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, base);
  if (error != std::errc() || end != text.data() + text.size() || text.empty()) return std::nullopt;
  return value;
}

// Takes "@N" off the end.
std::optional<std::int64_t> take_count(std::string_view& text) {
  std::size_t at = text.rfind('@');
  if (at == std::string_view::npos || at == 0) return std::nullopt;
  std::string_view digits = text.substr(at + 1);
  bool negative = digits.starts_with("-");
  auto value = number(negative ? digits.substr(1) : digits);
  if (!value) return std::nullopt;
  text = text.substr(0, text.find_last_not_of(' ', at - 1) + 1);
  auto count = static_cast<std::int64_t>(*value);
  return negative ? -count : count;
}

std::vector<bool> at_pcs(const CodeTable& code, const std::vector<Pc>& pcs) {
  std::vector<bool> wanted(code.instr_count());
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    Pc pc = code.pc_of(InstrId(static_cast<std::uint32_t>(i)));
    wanted[i] = pc.value != 0 && std::binary_search(pcs.begin(), pcs.end(), pc);
  }
  return wanted;
}

// The instructions that are statements of a kind, in a trace that is made of them.
template <class F>
std::vector<bool> statements(Session& session, F&& meant) {
  const CodeTable& code = session.run().code();
  std::vector<bool> wanted(code.instr_count());
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    InstrId id(static_cast<std::uint32_t>(i));
    if (!code.block(code.home_of(id).block).abstract) continue;
    wanted[i] = meant(session.trace().statements()[code.step_of(id).statement.value]);
  }
  return wanted;
}

Result<CodePlaces> at_pc(Session& session, std::string_view text) {
  std::size_t plus = text.rfind('+');
  auto offset = number(plus == std::string_view::npos ? text : text.substr(plus + 1));
  if (!offset) return wrong(fmt::format("'pc:{}': an address such as 0x401136 must follow", text));
  std::uint64_t pc = *offset;
  if (plus != std::string_view::npos) {
    std::string_view name = text.substr(0, plus);
    auto modules = session.trace().modules();
    auto module = std::find_if(modules.begin(), modules.end(),
                               [name](const Module& m) { return means_file(name, m.path); });
    if (module == modules.end())
      return wrong(fmt::format("no module of the trace is called '{}'", name));
    pc += module->bias;
  }
  CodePlaces places{at_pcs(session.run().code(), {Pc(pc)}), fmt::format("pc {:#x}", pc), {}};
  if (!any(places.wanted)) return wrong(places.what + " was never executed");
  return places;
}

Result<CodePlaces> at_function(Session& session, std::string_view name) {
  CodePlaces places{at_pcs(session.run().code(), session.source().entries_of_function(name)),
                    fmt::format("{}()", name),
                    {}};
  if (any(places.wanted)) return places;
  places.wanted = statements(
      session, [name](const Statement& s) { return s.label == name || s.function == name; });
  places.what = name;
  if (any(places.wanted)) return places;
  if (!session.source().entries_of_function(name).empty())
    return wrong(fmt::format("{}() was never executed", name));
  auto executed = functions_like(session, "");
  std::vector<std::string_view> names(executed.begin(), executed.end());
  return wrong(fmt::format("no function is called '{}'{}", name, did_you_mean(name, names)));
}

// Whether `text` is the pattern, in which * is anything.
bool matches(std::string_view pattern, std::string_view text) {
  std::size_t star = pattern.find('*');
  if (star == std::string_view::npos) return pattern == text;
  if (!text.starts_with(pattern.substr(0, star))) return false;
  for (std::size_t at = star; at <= text.size(); ++at)
    if (matches(pattern.substr(star + 1), text.substr(at))) return true;
  return false;
}

}  // namespace

bool any(const std::vector<bool>& wanted) {
  return std::find(wanted.begin(), wanted.end(), true) != wanted.end();
}

std::optional<FileLine> file_line(std::string_view text) {
  std::size_t colon = text.rfind(':');
  if (colon == std::string_view::npos || colon == 0) return std::nullopt;
  auto line = number(text.substr(colon + 1));
  if (!line || *line > 0xffffffff || text.starts_with("pc:")) return std::nullopt;
  return FileLine{std::string(text.substr(0, colon)), static_cast<std::uint32_t>(*line)};
}

std::vector<bool> instructions_of(Session& session, const FileLine& line) {
  auto wanted = at_pcs(session.run().code(), session.source().pcs_of_line(line.file, line.line));
  if (any(wanted)) return wanted;
  return statements(session, [&line](const Statement& s) {
    return s.line == line.line && means_file(line.file, s.file);
  });
}

Error no_code(Session& session, const FileLine& line) {
  if (!session.source().pcs_of_line(line.file, line.line).empty())
    return wrong(fmt::format("{}:{} was never executed", line.file, line.line));
  auto near = session.source().lines_near(line.file, line.line);
  if (!near.empty())
    return wrong(fmt::format("{}:{} has no code; lines that have: {}", line.file, line.line,
                             fmt::join(near, ", ")));
  auto files = session.source().files_like(line.file);
  return wrong(fmt::format("no source file of the program is called '{}'{}{}", line.file,
                           files.empty() ? "" : "; did you mean ",
                           files.empty() ? "" : fmt::format("{}?", fmt::join(files, ", "))));
}

Result<CodePlaces> code_places(Session& session, std::string_view text) {
  auto count = take_count(text);
  Result<CodePlaces> places = [&]() -> Result<CodePlaces> {
    if (text.starts_with("pc:")) return at_pc(session, text.substr(3));
    if (text.starts_with("0x")) return at_pc(session, text);
    auto line = file_line(text);
    if (!line) return at_function(session, text);
    CodePlaces at{instructions_of(session, *line), std::string(text), {}};
    return any(at.wanted) ? Result<CodePlaces>(at) : no_code(session, *line);
  }();
  if (places) places->count = count;
  return places;
}

std::vector<std::string> functions_like(Session& session, std::string_view pattern) {
  std::set<std::string> found;
  auto add = [&](const std::string& name) {
    if (!name.empty() && matches(fmt::format("*{}*", pattern), name)) found.insert(name);
  };
  // Of the program itself also what was inlined.
  const CodeTable& code = session.run().code();
  const Symbol* last = nullptr;
  for (std::uint32_t i = 0; i < code.instr_count(); ++i) {
    Pc pc = code.pc_of(InstrId(i));
    if (pc.value == 0) continue;
    const Symbol* symbol = session.names().function(pc);
    if (symbol != nullptr && symbol != last) add(symbol->name);
    last = symbol;
    if (!session.source().is_user(pc)) continue;
    for (const Frame& frame : session.source().at(pc).frames) add(std::string(frame.function));
  }
  for (const Statement& statement : session.trace().statements()) add(statement.function);
  return {found.begin(), found.end()};
}

}  // namespace svd::cli
