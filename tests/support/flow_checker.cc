// SPDX-License-Identifier: Apache-2.0

#include "support/flow_checker.h"

#include <fmt/format.h>

#include <algorithm>

#include "svd/trace/result.h"

namespace svd::test {
namespace {

// A handler that is left by longjmp never returns; only so many are remembered.
constexpr std::size_t kMostInterruptions = 64;

bool in_group(const cs_insn& instruction, unsigned group) {
  const auto* groups = instruction.detail->groups;
  return std::find(groups, groups + instruction.detail->groups_count, group) !=
         groups + instruction.detail->groups_count;
}

bool repeats(const cs_insn& instruction) {
  std::uint8_t prefix = instruction.detail->x86.prefix[0];
  return prefix == X86_PREFIX_REP || prefix == X86_PREFIX_REPNE;
}

bool locked(const cs_insn& instruction) {
  return instruction.detail->x86.prefix[0] == X86_PREFIX_LOCK || instruction.id == X86_INS_XCHG;
}

}  // namespace

FlowChecker::FlowChecker(std::span<const Block> blocks) : blocks_(blocks), known_(blocks.size()) {
  SVD_CHECK(cs_open(CS_ARCH_X86, CS_MODE_64, &capstone_) == CS_ERR_OK);
  cs_option(capstone_, CS_OPT_DETAIL, CS_OPT_ON);
}

FlowChecker::~FlowChecker() { cs_close(&capstone_); }

FlowChecker::Successors FlowChecker::decode(const Block& block, std::uint16_t index) const {
  const Instruction& instruction = block.instructions[index];
  std::size_t offset = 0;
  for (std::uint16_t i = 0; i < index; ++i) offset += block.instructions[i].length;
  Successors result{.known = true, .next = instruction.pc + instruction.length};
  result.target = result.next;
  cs_insn* decoded = nullptr;
  std::size_t count = cs_disasm(capstone_, block.code.data() + offset, instruction.length,
                                instruction.pc.value, 1, &decoded);
  if (count != 1) return result;  // what Capstone does not know is no jump
  const cs_insn& insn = *decoded;
  const cs_x86& x86 = insn.detail->x86;
  if (in_group(insn, CS_GRP_JUMP) || in_group(insn, CS_GRP_CALL)) {
    bool direct = x86.op_count == 1 && x86.operands[0].type == X86_OP_IMM;
    if (!direct) result.anywhere = true;
    if (direct) result.target = Pc(static_cast<std::uint64_t>(x86.operands[0].imm));
    if (insn.id == X86_INS_JMP || insn.id == X86_INS_CALL) result.next = result.target;
  } else if (in_group(insn, CS_GRP_RET) || in_group(insn, CS_GRP_IRET)) {
    result.anywhere = true;
  } else if (repeats(insn) || locked(insn)) {
    result.target = instruction.pc;
    result.may_stop = true;
  }
  if (in_group(insn, CS_GRP_JUMP)) result.may_stop = true;
  cs_free(decoded, count);
  return result;
}

const FlowChecker::Successors& FlowChecker::successors(BlockId id, std::uint16_t instruction) {
  auto& of_block = known_[id.value];
  if (of_block.empty()) of_block.resize(blocks_[id.value].size());
  Successors& result = of_block[instruction];
  if (!result.known) result = decode(blocks_[id.value], instruction);
  return result;
}

bool FlowChecker::legal(const Thread& thread, Pc pc) {
  const Successors& to = thread.successors;
  if (thread.anywhere || to.anywhere) return true;
  if (!thread.stopped && (pc == to.next || pc == to.target)) return true;
  if (!thread.signalled) return false;
  const Interruption& interruption = thread.interruptions.back();
  // A call that a signal interrupts is made again.
  return pc == interruption.handler || pc == interruption.pc || pc == thread.last;
}

std::optional<std::string> FlowChecker::exec(const Exec& exec) {
  const Part& part = exec.shape->part;
  const Block& block = exec.block();
  if (block.abstract() || part.steps() == 0) return std::nullopt;
  Thread& thread = threads_[exec.thread];
  Pc pc = block.instructions[part.first].pc;
  std::optional<std::string> problem;
  ++transitions_;
  indirect_ += thread.anywhere || thread.successors.anywhere;
  bool inside = part.first_slot > 0 && block.slots[part.first_slot - 1U].instruction == part.first;
  bool rest = exec.shape->id == thread.block && part.first == thread.end - (inside ? 1 : 0);
  if (!(rest && (part.first > 0 || inside)) && !legal(thread, pc)) {
    problem = fmt::format("{}: T{} goes from {:#x} to {:#x}, not to {:#x} or {:#x}{}",
                          exec.seq.value, exec.thread.value, thread.last.value, pc.value,
                          thread.successors.next.value, thread.successors.target.value,
                          thread.stopped ? ", in the middle of a block" : "");
  }
  std::uint16_t last = static_cast<std::uint16_t>(part.end - 1);
  thread.anywhere = thread.signalled = false;
  thread.last = block.instructions[last].pc;
  thread.block = exec.shape->id;
  thread.end = part.end;
  thread.successors = successors(exec.shape->id, last);
  thread.stopped = part.end < block.size() && !thread.successors.may_stop;
  return problem;
}

void FlowChecker::event(const Event& event) {
  Thread& thread = threads_[event.thread];
  if (const auto* signal = std::get_if<Signal>(&event.body)) {
    auto& stack = thread.interruptions;
    if (stack.size() == kMostInterruptions) stack.erase(stack.begin());
    stack.push_back({signal->pc, signal->handler, thread.successors});
    thread.signalled = true;
  } else if (std::holds_alternative<SignalReturn>(event.body)) {
    // Back to where the handler's signal came; the handler may have changed that.
    if (thread.interruptions.empty()) {
      thread.anywhere = true;
      return;
    }
    Interruption back = thread.interruptions.back();
    thread.interruptions.pop_back();
    thread.successors = back.before;
    thread.successors.target = back.pc;
    thread.stopped = false;
  } else if (std::holds_alternative<Gap>(event.body)) {
    for (auto& [id, other] : threads_) other.anywhere = true;
  }
}

}  // namespace svd::test
