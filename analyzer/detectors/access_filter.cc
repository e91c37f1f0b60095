// SPDX-License-Identifier: Apache-2.0

#include "detectors/access_filter.h"

#include <algorithm>
#include <iterator>
#include <span>

namespace svd {
namespace {

// ret, with or without a prefix or an operand.
bool ends_with_return(const Block& block) {
  if (block.instructions.empty()) return false;
  std::size_t length = block.instructions.back().length;
  if (length > block.code.size()) return false;
  const std::uint8_t* code = block.code.data() + block.code.size() - length;
  bool prefixed = length == 2 && (code[0] == 0xf2 || code[0] == 0xf3);
  std::uint8_t opcode = code[prefixed ? 1 : 0];
  return (length <= 3) && (opcode == 0xc3 || opcode == 0xc2);
}

// jmp *offset(%rip), or what pushes the number of a function and goes to the loader.
bool is_linkage(const Block& block) {
  if (block.instructions.empty() || block.instructions.size() > 3) return false;
  std::span<const std::uint8_t> code = block.code;
  constexpr std::uint8_t kEndbr[] = {0xf3, 0x0f, 0x1e, 0xfa};
  if (code.size() > 4 && std::equal(std::begin(kEndbr), std::end(kEndbr), code.begin()))
    code = code.subspan(4);
  if (code.size() > 2 && code[0] == 0xf2) code = code.subspan(1);
  if (code.size() < 2) return false;
  return (code[0] == 0xff && (code[1] == 0x25 || code[1] == 0x35)) || code[0] == 0x68;
}

}  // namespace

AccessFilter::AccessFilter(const TraceReader& trace, const Rules& rules, CodeNames& names,
                           std::size_t threads)
    : trace_(trace), rules_(rules), names_(names), code_(trace.blocks().size()), threads_(threads) {
  if (!rules.annotations.any_variables()) return;
  for (const Variable& variable : names.variables()) {
    bool whole = rules.annotations.variable(variable.name);
    if (!whole && !rules.annotations.part_of(variable.name)) continue;
    Annotated& known = variables_[variable.address];
    known.end = std::max(known.end, variable.address + std::max<std::uint64_t>(variable.size, 1));
    known.whole = known.whole || whole;
  }
}

void AccessFilter::classify(BlockId id, Code& code) {
  const Block& block = trace_.blocks()[id.value];
  code.kind = Kind::kUser;
  code.counts = true;
  code.atomics = rules_.annotations.any_variables();
  if (block.instructions.empty()) return;
  CodeName name = names_.code(block.instructions.front().pc);
  code.named = !name.function.empty();
  code.returns = ends_with_return(block);
  code.stub = is_linkage(block);
  code.counts = !rules_.suppressions.code(name.module, name.function);
  if (code.counts) find_atomics(id, name, code);
  auto next = static_cast<std::uint16_t>(modules_.size());
  code.module = modules_.emplace(name.module, next).first->second;
  if (rules_.suppressions.code(name.module, "")) {
    code.kind = Kind::kTransparent;
  } else if (name.system) {
    code.kind = Kind::kSystem;
    code.overreads = !code.named || rules_.suppressions.overread(name.module, name.function);
  }
}

void AccessFilter::find_atomics(BlockId id, const CodeName& name, Code& code) {
  const Annotations& annotations = rules_.annotations;
  auto is_atomic = [&](std::string_view function) {
    auto [known, added] = atomic_functions_.try_emplace({name.module, std::string(function)});
    if (added) known->second = annotations.code(name.module, function);
    return known->second;
  };
  const Block& block = trace_.blocks()[id.value];
  for (const Slot& slot : block.slots) {
    Pc pc = block.instructions[slot.instruction].pc;
    std::vector<std::string_view> functions = names_.functions(pc);
    bool atomic = std::count_if(functions.begin(), functions.end(), is_atomic) != 0;
    if (annotations.any_variables() && !name.system)
      atomic = annotations.variable(names_.operand(pc)) || atomic;
    if (!atomic) continue;
    code.atomics = true;
    std::vector<bool>& atomics = atomics_[id];
    atomics.resize(block.instructions.size());
    atomics[slot.instruction] = true;
  }
}

bool AccessFilter::has_rule(BlockId id, std::size_t instruction, Addr address, std::uint64_t size) {
  auto variable = variables_.lower_bound(address + std::max<std::uint64_t>(size, 1));
  if (variable != variables_.begin() && (--variable)->second.end > address) {
    if (variable->second.whole) return true;
    auto [known, added] = parts_.try_emplace({address, size});
    if (added) known->second = rules_.annotations.variable(names_.variable(address, size));
    if (known->second) return true;
  }
  auto atomics = atomics_.find(id);
  return atomics != atomics_.end() && atomics->second[instruction];
}

bool AccessFilter::in_system(Thread& state, const Code& code) {
  if (state.depth == 0) {
    bool counts = state.user_counts && code.counts && (code.named || !state.user_returned);
    state.entries[0] = {code.module, counts};
    state.depth = 1;
  } else if (code.module == state.entries[0].module) {
    state.depth = 1;
  } else if (state.depth == 1 || code.module != state.entries[1].module) {
    state.entries[1] = {code.module, state.entries[0].counts && code.counts};
    state.depth = 2;
  }
  return state.entries[state.depth - 1].counts;
}

}  // namespace svd
