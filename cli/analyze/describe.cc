// SPDX-License-Identifier: Apache-2.0
//
// One sentence for each kind of event: an overload each, so that the compiler misses none.

#include "analyze/describe.h"

#include <fmt/format.h>
#include <string.h>

#include <algorithm>
#include <variant>

#include "analyze/syscall_names.h"
#include "common/terminal.h"

namespace svd::cli {
namespace {

std::string value_text(std::uint64_t value) {
  return value < 10 ? fmt::format("{}", value) : fmt::format("{:#x}", value);
}

std::string phase_text(Phase phase, std::int64_t result) {
  if (phase == Phase::kBegin) return " begins";
  std::string text = phase == Phase::kEnd ? " returns" : "";
  return result == 0 ? text : fmt::format("{}{}{}", text, text.empty() ? " = " : " ", result);
}

std::string end_text(EndKind kind, std::int32_t value) {
  switch (kind) {
    case EndKind::kExit:
      return fmt::format("exit status {}", value);
    case EndKind::kSignal:
      return "killed by " + signal_name(value);
    case EndKind::kExec:
      return "replaced by exec";
    case EndKind::kUnknown:
      break;
  }
  return "nobody knows how";
}

std::string errno_text(std::int64_t result) {
  const char* name =
      result < 0 && result > -4096 ? strerrorname_np(static_cast<int>(-result)) : nullptr;
  return name == nullptr ? fmt::format("{}", result) : fmt::format("-{}", name);
}

class Describer {
 public:
  Describer(const TraceReader& trace, const Names& names) : trace_(trace), names_(names) {}

  std::string operator()(const ThreadStart& e) const {
    std::string text = "thread starts";
    if (!e.name.empty()) text += fmt::format(" as {}", printable(e.name));
    if (e.os_tid != 0) text += fmt::format(", tid {}", e.os_tid);
    text += fmt::format(", parent {}", e.parent.value);
    if (e.stack_size != 0)
      text +=
          fmt::format(", stack {:#x}..{:#x}", e.stack_low.value, e.stack_low.value + e.stack_size);
    return text;
  }
  std::string operator()(const ThreadName& e) const {
    return fmt::format("thread is now called {}", printable(e.name));
  }
  std::string operator()(const ThreadExit&) const { return "thread ends"; }
  std::string operator()(const ThreadCreate& e) const {
    return fmt::format("creates thread {}{}", names_.thread(e.child),
                       e.routine.value == 0 ? "" : ", which runs " + code(e.routine)) +
           caller(e.caller);
  }
  std::string operator()(const ThreadJoin& e) const {
    return fmt::format("joins thread {}{}", names_.thread(e.child), phase_text(e.phase, e.result)) +
           caller(e.caller);
  }
  std::string operator()(const ThreadDetach& e) const {
    return fmt::format("detaches thread {}", names_.thread(e.child));
  }
  std::string operator()(const Sync& e) const {
    std::string text = fmt::format("{} {}", to_string(e.op), names_.address(e.object));
    if (e.second.value != 0) text += " with " + names_.address(e.second);
    if (e.argument != 0) text += fmt::format(", argument {}", e.argument);
    return text + phase_text(e.phase, e.result) + caller(e.caller);
  }
  std::string operator()(const Atomic& e) const {
    return fmt::format("atomic block{} {}s", e.name.empty() ? "" : " " + printable(e.name),
                       to_string(e.edge));
  }
  std::string operator()(const Allocation& e) const {
    std::string text =
        fmt::format("{}: {} bytes at {}", to_string(e.function), e.size, names_.address(e.address));
    if (e.alignment > 16) text += fmt::format(", aligned to {}", e.alignment);
    return text + stack(e.stack);
  }
  std::string operator()(const Release& e) const {
    return fmt::format("{}: {}", to_string(e.function), names_.address(e.address)) + stack(e.stack);
  }
  std::string operator()(const Mapping& e) const {
    std::string text =
        fmt::format("{} {:#x}..{:#x}", to_string(e.op), e.address.value, e.address.value + e.size);
    text += fmt::format(" {}{}{}", (e.protection & 1U) != 0 ? 'r' : '-',
                        (e.protection & 2U) != 0 ? 'w' : '-', (e.protection & 4U) != 0 ? 'x' : '-');
    if (e.fd >= 0) text += fmt::format(", file {} at {:#x}", e.fd, e.file_offset);
    if (e.old_address.value != 0)
      text +=
          fmt::format(", was {:#x}..{:#x}", e.old_address.value, e.old_address.value + e.old_size);
    return text;
  }
  std::string operator()(const SyscallEnter& e) const {
    const auto& a = e.arguments;
    return fmt::format("system call {}({:#x}, {:#x}, {:#x}, {:#x}, {:#x}, {:#x})",
                       syscall_name(e.number), a[0], a[1], a[2], a[3], a[4], a[5]);
  }
  std::string operator()(const SyscallExit& e) const {
    return fmt::format("system call {} returns {}", syscall_name(e.number), errno_text(e.result));
  }
  std::string operator()(const KernelAccess& e) const {
    std::string text =
        fmt::format("kernel {}s {}", to_string(e.access), names_.access(e.address, e.size));
    if (!e.data.empty()) text += fmt::format(" \"{}\"", excerpt(e.data));
    return text;
  }
  std::string operator()(const Transfer& e) const {
    std::string bytes = fmt::format("{} bytes of {}", e.size, printable(e.name));
    if (e.channel == 0) return bytes + ", not known where";
    std::string at = fmt::format("{} at {}", bytes, e.position);
    if (e.address.value == 0) return at + " are no longer what was written";
    return fmt::format("{} {} {}", at, e.access == Access::kRead ? "are written from" : "go to",
                       names_.access(e.address, e.size));
  }
  std::string operator()(const Signal& e) const {
    std::string text = fmt::format("{} at {:#x}", signal_name(e.number), e.pc.value);
    if (std::string place = names_.code(e.pc); !place.empty()) text += " " + place;
    text += fmt::format(", address {}, code {}", names_.address(e.address), e.code);
    if (e.handler.value != 0) text += ", handled by " + code(e.handler);
    return text + (e.fatal ? ", fatal" : "");
  }
  std::string operator()(const SignalReturn& e) const {
    return fmt::format("handler of {} returns", signal_name(e.number));
  }
  std::string operator()(const Fork& e) const {
    return fmt::format("forks process {}{}", e.child_pid,
                       e.trace.empty() ? "" : ", trace " + printable(e.trace));
  }
  std::string operator()(const ModuleLoad& e) const { return "loads " + module(e.module); }
  std::string operator()(const ModuleUnload& e) const { return "unloads " + module(e.module); }
  std::string operator()(const ProcessEnd& e) const {
    return "the process ends: " + end_text(e.kind, e.value);
  }
  std::string operator()(const Gap& e) const {
    std::string text = (e.cause == GapCause::kLoss ? "GAP: " : "") + printable(e.reason);
    if (e.instructions != 0) text += fmt::format(", {} instructions", e.instructions);
    if (e.accesses != 0) text += fmt::format(", {} accesses", e.accesses);
    return text;
  }
  std::string operator()(const Note& e) const { return "note: " + printable(e.text); }

 private:
  std::string code(Pc pc) const {
    std::string place = names_.code(pc);
    return place.empty() ? fmt::format("{:#x}", pc.value) : place;
  }
  std::string caller(Pc pc) const { return pc.value == 0 ? "" : ", from " + code(pc); }
  std::string stack(StackId id) const {
    if (id == kNoStack || id.value >= trace_.stacks().size()) return "";
    std::string text;
    for (Pc frame : trace_.stacks()[id.value].frames)
      text += (text.empty() ? ", from " : " < ") + code(frame);
    return text;
  }
  std::string module(ModuleId id) const {
    return id.value < trace_.modules().size() ? printable(trace_.modules()[id.value].path)
                                              : fmt::format("module {}", id.value);
  }
  static std::string excerpt(std::span<const std::uint8_t> data) {
    constexpr std::size_t kMost = 24;
    std::string text;
    for (std::uint8_t byte : data.first(std::min(kMost, data.size()))) {
      text += byte >= 0x20 && byte < 0x7f ? static_cast<char>(byte) : '.';
    }
    return data.size() > kMost ? text + "…" : text;
  }

  const TraceReader& trace_;
  const Names& names_;
};

}  // namespace

std::string signal_name(int number) {
  const char* name = sigabbrev_np(number);
  return name == nullptr ? fmt::format("signal {}", number) : fmt::format("SIG{}", name);
}

std::string step_place(const Step& step, const TraceReader& trace, const Names& names) {
  if (!step.abstract()) {
    std::string place = names.code(step.pc());
    return fmt::format("{:#x}{}{}", step.pc().value, place.empty() ? "" : " ", place);
  }
  const Statement& statement = step.statement(trace);
  std::string text = printable(statement.label);
  if (!statement.function.empty())
    text += (text.empty() ? "" : " ") + printable(statement.function);
  if (!statement.file.empty())
    text +=
        fmt::format("{}{}:{}", text.empty() ? "" : " ", printable(statement.file), statement.line);
  return text;
}

std::string step_accesses(const Step& step, const Names& names) {
  std::string text;
  for (const MemoryAccess& access : step.accesses) {
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", access.slot->write ? "write" : "read",
                        names.access(access.address, access.size));
    if (access.has_value) text += " = " + value_text(access.value);
    if (access.slot->atomic) text += " (atomic)";
  }
  return text;
}

std::string describe(const Event& event, const TraceReader& trace, const Names& names) {
  return std::visit(Describer(trace, names), event.body);
}

bool is_alarming(const Event& event) {
  const auto* signal = std::get_if<Signal>(&event.body);
  const auto* gap = std::get_if<Gap>(&event.body);
  return (signal != nullptr && signal->fatal) || (gap != nullptr && gap->cause == GapCause::kLoss);
}

}  // namespace svd::cli
