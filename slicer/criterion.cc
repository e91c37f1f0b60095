// SPDX-License-Identifier: Apache-2.0
#include "slicer/criterion.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <functional>
#include <optional>
#include <set>

#include "slicer/register_names.h"
#include "svd/trace/nearest.h"
#include "symbols/source_text.h"

namespace svd {
namespace {

Error wrong(std::string what) { return {ErrorKind::kUsage, {}, {}, {}, std::move(what)}; }

std::optional<std::uint64_t> number(std::string_view text) {
  int base = 10;
  if (text.starts_with("0x")) text.remove_prefix(2), base = 16;
  std::uint64_t value = 0;
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, base);
  if (error != std::errc() || end != text.data() + text.size() || text.empty()) return {};
  return value;
}

// Splits "thing@N"; N must be a number, or the @ belongs to the thing.
struct Counted {
  std::string_view thing;
  std::optional<std::int64_t> count;
};

// What is asked for before an instruction, which @ names.
constexpr std::array<std::string_view, 3> kOfValues{"addr:", "var:", "reg:"};

Counted split_count(std::string_view text) {
  std::size_t at = text.rfind('@');
  if (at == std::string_view::npos) return {text, {}};
  std::string_view digits = text.substr(at + 1);
  bool negative = digits.starts_with("-");
  auto value = number(negative ? digits.substr(1) : digits);
  if (!value) return {text, {}};
  auto count = static_cast<std::int64_t>(*value);
  return {text.substr(0, at), negative ? -count : count};
}

std::string join(const std::vector<std::string>& words) {
  std::string all;
  for (const std::string& word : words) all += (all.empty() ? "" : ", ") + word;
  return all;
}

class Finder {
 public:
  Finder(const TraceReader& trace, const ProgramModel& model, InstanceReader& instances,
         SourceMap& source, Diagnostics& diagnostics)
      : trace_(trace),
        flow_(model.flow),
        code_(model.code),
        instances_(instances),
        source_(source),
        diagnostics_(diagnostics) {}

  Result<Failure> find(std::string_view text) {
    if (names_end(text)) return find_failure(trace_, flow_, instances_, source_, diagnostics_);
    auto [thing, count] = split_count(text);
    if (text.starts_with("seq:")) return at_seq(text.substr(4));
    if (text.starts_with("output:")) return at_output(text.substr(7));
    if (thing.starts_with("pc:")) return at_pc(thing.substr(3), count);
    bool of_values = std::any_of(kOfValues.begin(), kOfValues.end(),
                                 [text](std::string_view kind) { return text.starts_with(kind); });
    if (of_values && count.value_or(0) < 0)
      return wrong(fmt::format("'@{}': the number of an instruction must follow @", *count));
    if (thing.starts_with("addr:")) return at_address(thing.substr(5), count);
    if (thing.starts_with("var:")) return at_variable(thing.substr(4), count);
    if (thing.starts_with("reg:")) return at_register(thing.substr(4), count);
    std::size_t colon = thing.rfind(':');
    if (colon != std::string_view::npos && number(thing.substr(colon + 1)))
      return at_line(thing.substr(0, colon), *number(thing.substr(colon + 1)), count);
    return at_function(thing, count);
  }

 private:
  Result<Failure> whole(Seq seq, std::string what, bool values = true) {
    instances_.ask(seq);
    instances_.answer(diagnostics_);
    const InstanceFacts& facts = instances_.facts(seq);
    if (facts.step == nullptr) return not_there(seq);
    Failure failure;
    failure.at = facts.instance;
    failure.what = std::move(what);
    failure.criteria.push_back(
        {.seq = seq, .thread = facts.instance.thread, .values = values, .addresses = values});
    return failure;
  }

  Error not_there(Seq seq) const {
    if (trace_.chunks().empty()) return wrong("the trace has no instructions");
    Seq first = trace_.first_seq(), last = trace_.chunks().back().end_seq() - 1;
    if (seq >= first && seq <= last)
      return wrong(fmt::format("instruction {} was left out of the trace, or lost", seq.value));
    return wrong(fmt::format("instruction {} is not in the trace, which has {} to {}", seq.value,
                             first.value, last.value));
  }

  Result<Failure> at_seq(std::string_view text) {
    auto seq = number(text);
    if (!seq) return wrong(fmt::format("'seq:{}': a number must follow", text));
    return whole(Seq(*seq), fmt::format("instruction {}", *seq));
  }

  // Tells found(InstrId, Seq) of every instruction that ran, in order.
  template <class F>
  void each_execution(F&& found) {
    struct Walk {
      const CodeTable& code;
      F& found;
      void event(const Event&) {}
      void exec(const Exec& exec) {
        const CodeBlock& block = code.block(exec.shape->id);
        for (std::uint16_t i = exec.shape->part.first;
             i < exec.shape->part.end && i < block.steps.size(); ++i)
          found(block.steps[i].id,
                exec.seq + static_cast<std::uint64_t>(i - exec.shape->part.first));
      }
    } walk{code_, found};
    trace_.scan(TraceReader::Order::kForward,
                {.addresses = false, .values = false, .events = kNoEvents}, diagnostics_,
                [&walk](const Chunk& chunk) {
                  chunk.walk(walk);
                  return true;
                });
  }

  // Executions of any of these instructions, ascending.
  std::vector<Seq> executions(const std::set<std::uint64_t>& pcs) {
    std::vector<bool> wanted(code_.instr_count());
    for (std::size_t i = 0; i < wanted.size(); ++i)
      wanted[i] = pcs.count(code_.pc_of(InstrId(static_cast<std::uint32_t>(i))).value) != 0;
    std::vector<Seq> all;
    each_execution([&](InstrId id, Seq seq) {
      if (wanted[id.value]) all.push_back(seq);
    });
    return all;
  }

  // Where code ran, for what may have been meant.
  std::vector<Pc> executed() {
    std::vector<bool> ran(code_.instr_count());
    each_execution([&ran](InstrId id, Seq) { ran[id.value] = true; });
    std::vector<Pc> pcs;
    for (std::uint32_t i = 0; i < ran.size(); ++i)
      if (Pc pc = code_.pc_of(InstrId(i)); ran[i] && pc.value != 0) pcs.push_back(pc);
    return pcs;
  }

  Result<Failure> nth(const std::vector<Seq>& all, std::optional<std::int64_t> count,
                      const std::string& what) {
    std::int64_t n = count.value_or(-1);
    auto size = static_cast<std::int64_t>(all.size());
    if (n < 0) n += size + 1;
    if (n < 1 || n > size)
      return wrong(fmt::format("{} was executed {}; @N is from 1 to {}, or from -1 back", what,
                               size == 1 ? "once" : fmt::format("{} times", size), size));
    return whole(all[static_cast<std::size_t>(n - 1)], what);
  }

  // `near` says what was executed instead.
  Result<Failure> at_pcs(const std::vector<Pc>& pcs, std::optional<std::int64_t> count,
                         const std::string& what, const std::function<std::string()>& near) {
    std::set<std::uint64_t> set;
    for (Pc pc : pcs) set.insert(pc.value);
    std::vector<Seq> all = executions(set);
    if (all.empty()) return wrong(fmt::format("{} was never executed{}", what, near()));
    return nth(all, count, what);
  }

  Result<Failure> at_pc(std::string_view text, std::optional<std::int64_t> count) {
    std::size_t plus = text.rfind('+');
    auto offset = number(plus == std::string_view::npos ? text : text.substr(plus + 1));
    if (!offset)
      return wrong(fmt::format("'pc:{}': an address such as 0x401136 must follow", text));
    std::uint64_t pc = *offset;
    if (plus != std::string_view::npos) {
      std::string_view name = text.substr(0, plus);
      auto module = std::find_if(trace_.modules().begin(), trace_.modules().end(),
                                 [name](const Module& m) { return means_file(name, m.path); });
      if (module == trace_.modules().end()) return no_module(name);
      pc += module->bias;
    }
    return at_pcs({Pc(pc)}, count, fmt::format("pc {:#x}", pc), [this, pc] {
      std::vector<std::string> near;
      std::uint64_t below = 0, above = ~std::uint64_t{0};
      for (Pc at : executed()) {
        if (at.value < pc) below = std::max(below, at.value);
        if (at.value > pc) above = std::min(above, at.value);
      }
      if (below != 0) near.push_back(fmt::format("{:#x}", below));
      if (~above != 0) near.push_back(fmt::format("{:#x}", above));
      return "; next to it: " + join(near);
    });
  }

  Error no_module(std::string_view name) const {
    std::vector<std::string_view> names;
    for (const Module& module : trace_.modules())
      names.push_back(std::string_view(module.path).substr(module.path.rfind('/') + 1));
    return wrong(
        fmt::format("no module of the trace is called '{}'{}", name, did_you_mean(name, names)));
  }

  // Lines of the file that were executed, the nearest first.
  std::string lines_that_ran(std::string_view file, std::uint64_t line) {
    std::set<std::pair<std::uint64_t, std::uint32_t>> lines;
    for (Pc pc : executed())
      for (const Frame& frame : source_.at(pc).frames)
        if (frame.line != 0 && means_file(file, frame.file))
          lines.emplace(
              std::max<std::uint64_t>(line, frame.line) - std::min<std::uint64_t>(line, frame.line),
              frame.line);
    std::vector<std::string> near;
    for (auto [distance, number] : lines)
      if (near.size() < 4) near.push_back(std::to_string(number));
    return near.empty() ? "" : "; lines that were: " + join(near);
  }

  Result<Failure> at_line(std::string_view file, std::uint64_t line,
                          std::optional<std::int64_t> count) {
    auto pcs = source_.pcs_of_line(file, static_cast<std::uint32_t>(line));
    if (!pcs.empty())
      return at_pcs(pcs, count, fmt::format("{}:{}", file, line),
                    [&] { return lines_that_ran(file, line); });
    auto near = source_.lines_near(file, static_cast<std::uint32_t>(line));
    if (near.empty()) {
      auto files = source_.files_like(file);
      return wrong(fmt::format("no source file of the program is called '{}'{}", file,
                               files.empty() ? "" : "; did you mean " + join(files) + "?"));
    }
    std::vector<std::string> lines;
    lines.reserve(near.size());
    for (std::uint32_t n : near) lines.push_back(std::to_string(n));
    return wrong(fmt::format("{}:{} has no code; lines that have: {}", file, line, join(lines)));
  }

  Result<Failure> at_function(std::string_view name, std::optional<std::int64_t> count) {
    auto pcs = source_.entries_of_function(name);
    if (!pcs.empty())
      return at_pcs(pcs, count, fmt::format("{}()", name), [&] { return function_like(name); });
    if (!source_.files_like(name).empty())
      return wrong(fmt::format("'{}' names a file; say {}:LINE", name, name));
    return wrong(fmt::format("no function is called '{}'{}", name, function_like(name)));
  }

  std::string function_like(std::string_view name) {
    std::set<std::string_view> functions;
    for (Pc pc : executed()) functions.insert(source_.at(pc).frames.back().function);
    std::vector<std::string_view> names(functions.begin(), functions.end());
    return did_you_mean(name, names);
  }

  Result<Failure> memory(Addr address, std::uint64_t size, std::optional<std::int64_t> seq,
                         const std::string& what) {
    if (trace_.steps() == 0) return wrong("the trace has no instructions");
    Seq at = seq ? Seq(static_cast<std::uint64_t>(*seq)) : trace_.chunks().back().end_seq() - 1;
    auto failure = whole(at, what, false);
    if (!failure) return failure;
    failure->criteria[0].control = false;
    failure->criteria[0].memory.emplace_back(address, size);
    return failure;
  }

  Result<Failure> at_address(std::string_view text, std::optional<std::int64_t> seq) {
    std::size_t comma = text.find(',');
    auto address = number(text.substr(0, comma));
    auto size = comma == std::string_view::npos ? 8 : number(text.substr(comma + 1));
    if (!address || !size || *size == 0 || *size > 1U << 20)
      return wrong(fmt::format("'addr:{}': say addr:0x1234,8", text));
    return memory(Addr(*address), *size, seq, fmt::format("{} bytes at {:#x}", *size, *address));
  }

  Result<Failure> at_variable(std::string_view name, std::optional<std::int64_t> seq) {
    auto variables = source_.find_variables(name);
    if (variables.empty())
      return wrong(fmt::format("no variable of static storage is called '{}'{}", name,
                               did_you_mean(name, std::array{source_.variable_like(name)})));
    if (variables.size() > 1) {
      std::vector<std::string> places;
      places.reserve(variables.size());
      for (const Variable& v : variables)
        places.push_back(fmt::format("addr:{:#x},{}", v.address.value, v.size));
      return wrong(fmt::format("there are {} variables '{}'; say which: {}", variables.size(), name,
                               join(places)));
    }
    return memory(variables[0].address, std::max<std::uint64_t>(variables[0].size, 1), seq,
                  std::string(name));
  }

  Result<Failure> at_register(std::string_view name, std::optional<std::int64_t> seq) {
    auto reg = register_of(name);
    if (!reg)
      return wrong(fmt::format("'{}' is no general register of 64 bits{}", name,
                               did_you_mean(name, kGeneralNames)));
    if (!seq) return wrong(fmt::format("reg:{} needs @SEQ: when?", name));
    auto failure = whole(Seq(static_cast<std::uint64_t>(*seq)), std::string(name), false);
    if (!failure) return failure;
    failure->criteria[0].control = false;
    failure->criteria[0].registers.push_back(*reg);
    return failure;
  }

  // write, pwrite64, writev, sendto, sendmsg, to whatever it is.
  Result<Failure> at_output(std::string_view text) {
    auto n = number(text);
    if (!n || *n == 0) return wrong(fmt::format("'output:{}': count writes from 1", text));
    struct Walk {
      std::uint64_t left;
      bool writing = false;
      std::vector<std::pair<Addr, std::uint64_t>> bytes;
      std::optional<Seq> at;
      ThreadId thread{};
      void exec(const Exec&) {}
      void event(const Event& event) {
        if (at && !writing) return;
        if (const auto* enter = std::get_if<SyscallEnter>(&event.body)) {
          constexpr std::array<std::uint32_t, 5> kWrites{1, 18, 20, 44, 46};
          if (std::find(kWrites.begin(), kWrites.end(), enter->number) == kWrites.end() || at)
            return;
          if (--left != 0) return;
          at = event.seq;
          thread = event.thread;
          writing = true;
        } else if (writing && event.thread == thread) {
          if (const auto* kernel = std::get_if<KernelAccess>(&event.body)) {
            if (kernel->access == Access::kRead) bytes.emplace_back(kernel->address, kernel->size);
          } else if (std::holds_alternative<SyscallExit>(event.body)) {
            writing = false;
          }
        }
      }
    } walk{.left = *n, .writing = false, .bytes = {}, .at = {}, .thread = {}};
    trace_.scan(TraceReader::Order::kForward, {.addresses = false, .values = false}, diagnostics_,
                [&walk](const Chunk& chunk) {
                  chunk.walk(walk);
                  return !walk.at || walk.writing;
                });
    if (!walk.at) {
      std::uint64_t writes = *n - walk.left;
      return wrong(writes == 0   ? "the run has no writes"
                   : writes == 1 ? "the run has only one write"
                                 : fmt::format("the run has only {} writes", writes));
    }
    // The event stands after its system call.
    auto failure = whole(*walk.at - 1, fmt::format("output {}", *n), false);
    if (!failure) return failure;
    failure->criteria[0].memory = walk.bytes;
    return failure;
  }

  const TraceReader& trace_;
  const ControlFlow& flow_;
  const CodeTable& code_;
  InstanceReader& instances_;
  SourceMap& source_;
  Diagnostics& diagnostics_;
};

}  // namespace

bool names_end(std::string_view text) { return text.empty() || text == "fault" || text == "exit"; }

Result<Failure> find_criterion(std::string_view text, const TraceReader& trace,
                               const ProgramModel& model, InstanceReader& instances,
                               SourceMap& source, Diagnostics& diagnostics) {
  return Finder(trace, model, instances, source, diagnostics).find(text);
}

}  // namespace svd
