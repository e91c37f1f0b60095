// SPDX-License-Identifier: Apache-2.0
#include "slicer/criterion.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>
#include <set>

#include "svd/trace/nearest.h"

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
  Finder(const TraceReader& trace, const CodeTable& code, InstanceReader& instances,
         SourceMap& source, Diagnostics& diagnostics)
      : trace_(trace),
        code_(code),
        instances_(instances),
        source_(source),
        diagnostics_(diagnostics) {}

  Result<Failure> find(std::string_view text) {
    if (text.empty() || text == "fault" || text == "exit")
      return find_failure(trace_, instances_, source_, diagnostics_);
    auto [thing, count] = split_count(text);
    if (thing.starts_with("seq:")) return at_seq(thing.substr(4));
    if (thing.starts_with("pc:")) return at_pc(thing.substr(3), count);
    if (thing.starts_with("addr:")) return at_address(thing.substr(5), count);
    if (thing.starts_with("var:")) return at_variable(thing.substr(4), count);
    if (thing.starts_with("reg:")) return at_register(thing.substr(4), count);
    if (thing.starts_with("output:")) return at_output(thing.substr(7));
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
    if (facts.step == nullptr)
      return wrong(fmt::format("instruction {} is not in the trace, which has {}", seq.value,
                               trace_.steps()));
    Failure failure;
    failure.at = facts.instance;
    failure.what = std::move(what);
    failure.criteria.push_back(
        {.seq = seq, .thread = facts.instance.thread, .values = values, .addresses = values});
    return failure;
  }

  Result<Failure> at_seq(std::string_view text) {
    auto seq = number(text);
    if (!seq) return wrong(fmt::format("'seq:{}': a number must follow", text));
    return whole(Seq(*seq), fmt::format("instruction {}", *seq));
  }

  // Executions of any of these instructions, ascending.
  std::vector<Seq> executions(const std::set<std::uint64_t>& pcs) {
    std::vector<bool> wanted(code_.instr_count());
    for (std::size_t i = 0; i < wanted.size(); ++i)
      wanted[i] = pcs.count(code_.pc_of(InstrId(static_cast<std::uint32_t>(i))).value) != 0;
    struct Walk {
      const CodeTable& code;
      const std::vector<bool>& wanted;
      std::vector<Seq> found;
      void event(const Event&) {}
      void exec(const Exec& exec) {
        const CodeBlock& block = code.block(exec.shape->id);
        for (std::uint16_t i = exec.shape->part.first;
             i < exec.shape->part.end && i < block.steps.size(); ++i)
          if (wanted[block.steps[i].id.value])
            found.push_back(exec.seq + static_cast<std::uint64_t>(i - exec.shape->part.first));
      }
    } walk{code_, wanted, {}};
    trace_.scan(TraceReader::Order::kForward,
                {.addresses = false, .values = false, .events = false}, diagnostics_,
                [&walk](const Chunk& chunk) {
                  chunk.walk(walk);
                  return true;
                });
    return std::move(walk.found);
  }

  Result<Failure> nth(const std::vector<Seq>& all, std::optional<std::int64_t> count,
                      const std::string& what) {
    std::int64_t n = count.value_or(-1);
    auto size = static_cast<std::int64_t>(all.size());
    if (n < 0) n += size + 1;
    if (n < 1 || n > size)
      return wrong(fmt::format("{} was executed {} times; @N is from 1 to {}, or from -1 back",
                               what, size, size));
    return whole(all[static_cast<std::size_t>(n - 1)], what);
  }

  Result<Failure> at_pcs(const std::vector<Pc>& pcs, std::optional<std::int64_t> count,
                         const std::string& what) {
    std::set<std::uint64_t> set;
    for (Pc pc : pcs) set.insert(pc.value);
    std::vector<Seq> all = executions(set);
    if (all.empty()) return wrong(fmt::format("{} was never executed", what));
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
      auto module =
          std::find_if(trace_.modules().begin(), trace_.modules().end(), [name](const Module& m) {
            return m.path == name || m.path.ends_with("/" + std::string(name));
          });
      if (module == trace_.modules().end())
        return wrong(fmt::format("no module of the trace is called '{}'", name));
      pc += module->bias;
    }
    return at_pcs({Pc(pc)}, count, fmt::format("pc {:#x}", pc));
  }

  Result<Failure> at_line(std::string_view file, std::uint64_t line,
                          std::optional<std::int64_t> count) {
    auto pcs = source_.pcs_of_line(file, static_cast<std::uint32_t>(line));
    if (!pcs.empty()) return at_pcs(pcs, count, fmt::format("{}:{}", file, line));
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
    if (!pcs.empty()) return at_pcs(pcs, count, fmt::format("{}()", name));
    std::set<std::string> executed;
    for (std::uint32_t i = 0; i < code_.instr_count(); ++i) {
      Pc pc = code_.pc_of(InstrId(i));
      if (pc.value != 0) executed.emplace(source_.at(pc).frames.back().function);
    }
    std::vector<std::string_view> names(executed.begin(), executed.end());
    return wrong(fmt::format("no function is called '{}'{}", name, did_you_mean(name, names)));
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
      return wrong(fmt::format("no variable of static storage is called '{}'", name));
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
    static constexpr std::array<std::string_view, 16> kNames{
        "rax", "rcx", "rdx", "rbx", "rsp", "rbp", "rsi", "rdi",
        "r8",  "r9",  "r10", "r11", "r12", "r13", "r14", "r15"};
    auto found = std::find(kNames.begin(), kNames.end(), name);
    if (found == kNames.end())
      return wrong(fmt::format("'{}' is no register{}", name, did_you_mean(name, kNames)));
    if (!seq) return wrong(fmt::format("reg:{} needs @SEQ: when?", name));
    auto failure = whole(Seq(static_cast<std::uint64_t>(*seq)), std::string(name), false);
    if (!failure) return failure;
    failure->criteria[0].control = false;
    failure->criteria[0].registers.push_back(static_cast<Reg>(found - kNames.begin()));
    return failure;
  }

  // write, sendto, sendmsg, writev, pwrite64 to anything but files that only the program reads.
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
    trace_.scan(TraceReader::Order::kForward, {.addresses = false, .values = false, .events = true},
                diagnostics_, [&walk](const Chunk& chunk) {
                  chunk.walk(walk);
                  return !walk.at || walk.writing;
                });
    if (!walk.at) return wrong(fmt::format("the run has only {} writes", *n - walk.left));
    // The event stands after its system call.
    auto failure = whole(*walk.at - 1, fmt::format("output {}", *n), false);
    if (!failure) return failure;
    failure->criteria[0].memory = walk.bytes;
    return failure;
  }

  const TraceReader& trace_;
  const CodeTable& code_;
  InstanceReader& instances_;
  SourceMap& source_;
  Diagnostics& diagnostics_;
};

}  // namespace

Result<Failure> find_criterion(std::string_view text, const TraceReader& trace,
                               const CodeTable& code, InstanceReader& instances, SourceMap& source,
                               Diagnostics& diagnostics) {
  return Finder(trace, code, instances, source, diagnostics).find(text);
}

}  // namespace svd
