// SPDX-License-Identifier: Apache-2.0
#include "oracle/experiment.h"

#include <algorithm>
#include <cstring>

namespace svd::test {
namespace {

// Why an instruction is not tried; nullptr: it is.
const char* reason_to_leave_out(const ZydisInstruction& decoded) {
  const auto& instruction = decoded.instruction;
  switch (instruction.encoding) {
    case ZYDIS_INSTRUCTION_ENCODING_EVEX:
    case ZYDIS_INSTRUCTION_ENCODING_MVEX:
      return "EVEX";
    case ZYDIS_INSTRUCTION_ENCODING_3DNOW:
    case ZYDIS_INSTRUCTION_ENCODING_XOP:
      return "AMD only";
    default:
      break;
  }
  switch (instruction.meta.category) {
    case ZYDIS_CATEGORY_COND_BR:
    case ZYDIS_CATEGORY_UNCOND_BR:
    case ZYDIS_CATEGORY_CALL:
    case ZYDIS_CATEGORY_RET:
      return "control flow";
    case ZYDIS_CATEGORY_SYSCALL:
    case ZYDIS_CATEGORY_SYSRET:
    case ZYDIS_CATEGORY_INTERRUPT:
    case ZYDIS_CATEGORY_SYSTEM:
    case ZYDIS_CATEGORY_SEGOP:
    case ZYDIS_CATEGORY_IO:
    case ZYDIS_CATEGORY_IOSTRINGOP:
    case ZYDIS_CATEGORY_RDWRFSGS:
    case ZYDIS_CATEGORY_XSAVE:
    case ZYDIS_CATEGORY_XSAVEOPT:
    case ZYDIS_CATEGORY_PKU:
      return "system";
    case ZYDIS_CATEGORY_X87_ALU:
    case ZYDIS_CATEGORY_FCMOV:
    case ZYDIS_CATEGORY_MMX:
      return "x87 and MMX";
    case ZYDIS_CATEGORY_KMASK:
      return "mask registers";
    case ZYDIS_CATEGORY_RDRAND:
    case ZYDIS_CATEGORY_RDSEED:
    case ZYDIS_CATEGORY_RDPID:
      return "gives another value each time";
    default:
      break;
  }
  switch (instruction.meta.isa_ext) {
    case ZYDIS_ISA_EXT_X87:
    case ZYDIS_ISA_EXT_MMX:
      return "x87 and MMX";
    case ZYDIS_ISA_EXT_RTM:
      return "system";
    default:
      break;
  }
  switch (instruction.mnemonic) {
    case ZYDIS_MNEMONIC_RDTSC:
    case ZYDIS_MNEMONIC_RDTSCP:
    case ZYDIS_MNEMONIC_CPUID:
      return "gives another value each time";
    case ZYDIS_MNEMONIC_XGETBV:
    case ZYDIS_MNEMONIC_FXSAVE:
    case ZYDIS_MNEMONIC_FXRSTOR:
    case ZYDIS_MNEMONIC_FXSAVE64:
    case ZYDIS_MNEMONIC_FXRSTOR64:
      return "system";
    default:
      break;
  }
  for (const auto& operand : decoded.all()) {
    if (operand.type != ZYDIS_OPERAND_TYPE_REGISTER) continue;
    switch (ZydisRegisterGetClass(operand.reg.value)) {
      case ZYDIS_REGCLASS_MMX:
      case ZYDIS_REGCLASS_X87:
        return "x87 and MMX";
      case ZYDIS_REGCLASS_SEGMENT:
      case ZYDIS_REGCLASS_CONTROL:
      case ZYDIS_REGCLASS_DEBUG:
        return "system";
      default:
        break;
    }
  }
  return nullptr;
}

// The number of a general register; none for others.
std::optional<unsigned> general(ZydisRegister reg) {
  if (reg == ZYDIS_REGISTER_NONE) return std::nullopt;
  ZydisRegister whole = ZydisRegisterGetLargestEnclosing(ZYDIS_MACHINE_MODE_LONG_64, reg);
  if (ZydisRegisterGetClass(whole) != ZYDIS_REGCLASS_GPR64) return std::nullopt;
  return static_cast<unsigned>(ZydisRegisterGetId(whole));
}

class Preparation {
 public:
  Preparation(const ZydisInstruction& decoded, const Machine& machine, Experiment& out)
      : decoded_(decoded), machine_(machine), out_(out) {}

  void run() {
    out_.addresses[4] = machine_.middle(Window::kStack);
    const auto& instruction = decoded_.instruction;
    const auto& raw = instruction.raw;
    if (raw.disp.size != 0) set_displacement(0);
    switch (instruction.meta.category) {
      case ZYDIS_CATEGORY_PUSH:
      case ZYDIS_CATEGORY_POP:
      case ZYDIS_CATEGORY_STRINGOP:
        out_.steps = true;
        break;
      default:
        break;
    }
    out_.steps |= instruction.mnemonic == ZYDIS_MNEMONIC_LEAVE;
    for (const auto& operand : decoded_.all())
      if (operand.type == ZYDIS_OPERAND_TYPE_MEMORY && operand.mem.type != ZYDIS_MEMOP_TYPE_AGEN)
        place(operand);
    for (unsigned i = 0; i < raw.prefix_count; ++i)
      if (raw.prefixes[i].value == 0x64) out_.code[i] = 0x65;

    switch (instruction.mnemonic) {
      case ZYDIS_MNEMONIC_DIV:
      case ZYDIS_MNEMONIC_IDIV:
        out_.divides = true;
        break;
      case ZYDIS_MNEMONIC_POPF:
      case ZYDIS_MNEMONIC_POPFQ:
        out_.pops_flags = true;
        break;
      case ZYDIS_MNEMONIC_LDMXCSR:
      case ZYDIS_MNEMONIC_VLDMXCSR:
        out_.loads_mxcsr = true;
        break;
      case ZYDIS_MNEMONIC_XLAT:
        out_.roams = true;
        break;
      case ZYDIS_MNEMONIC_LEAVE:
        out_.addresses[5] = machine_.middle(Window::kStack);
        break;
      case ZYDIS_MNEMONIC_BT:
      case ZYDIS_MNEMONIC_BTS:
      case ZYDIS_MNEMONIC_BTR:
      case ZYDIS_MNEMONIC_BTC:
        bit_offset();
        break;
      default:
        break;
    }
    if (raw.imm[0].size != 0 && !is_vector(decoded_)) {
      out_.immediate_offset = raw.imm[0].offset;
      out_.immediate_bytes = raw.imm[0].size / 8;
      out_.immediate = raw.imm[0].value.u;
    }
    out_.repeats = (instruction.attributes &
                    (ZYDIS_ATTRIB_HAS_REP | ZYDIS_ATTRIB_HAS_REPE | ZYDIS_ATTRIB_HAS_REPNE)) != 0;
  }

 private:
  void set_displacement(std::uint64_t value) {
    const auto& disp = decoded_.instruction.raw.disp;
    std::memcpy(out_.code.data() + disp.offset, &value, disp.size / 8);
  }

  void bit_offset() {
    const auto& operands = decoded_.operands;
    if (operands[0].type != ZYDIS_OPERAND_TYPE_MEMORY ||
        operands[1].type != ZYDIS_OPERAND_TYPE_REGISTER)
      return;
    auto reg = general(operands[1].reg.value);
    if (reg && !out_.addresses[*reg]) out_.addresses[*reg] = 0x123;
  }

  void place(const ZydisDecodedOperand& operand) {
    const auto& memory = operand.mem;
    bool string = decoded_.instruction.meta.category == ZYDIS_CATEGORY_STRINGOP;
    if (memory.segment == ZYDIS_REGISTER_FS || memory.segment == ZYDIS_REGISTER_GS)
      out_.segment = true;
    auto base = general(memory.base), index = general(memory.index);
    Window window = Window::kData;
    if (base == 4U) window = Window::kStack;
    if (base == 7U && string) window = Window::kDestination;
    std::uint64_t middle = machine_.middle(window);
    if (memory.index != ZYDIS_REGISTER_NONE && !index) {
      out_.roams = true;
      out_.vector_index = static_cast<unsigned>(ZydisRegisterGetId(memory.index));
      auto mnemonic = std::string_view(decoded_.mnemonic());
      out_.vector_index_bytes = mnemonic.find("gatherq") != std::string_view::npos ? 8 : 4;
    }
    if (memory.base == ZYDIS_REGISTER_RIP || memory.base == ZYDIS_REGISTER_EIP) {
      set_displacement(middle - machine_.code_address() - out_.code.size());
      out_.steps = false;
    } else if (base && index && *base == *index) {
      out_.addresses[*base] = middle / (1U + memory.scale);
    } else if (base && index) {
      out_.addresses[*base] = middle;
      out_.addresses[*index] = 0;
      out_.scaled = {*base, *index, memory.scale};
    } else if (base) {
      out_.addresses[*base] = middle;
    } else if (index) {
      out_.addresses[*index] = middle / memory.scale;
    } else {
      set_displacement(middle);
      out_.steps = false;
    }
  }

  const ZydisInstruction& decoded_;
  const Machine& machine_;
  Experiment& out_;
};

}  // namespace

Experiment prepare(const ZydisFrontEnd& front, Code code, const Machine& machine) {
  Experiment out;
  out.code = std::move(code);
  ZydisInstruction decoded;
  if (!front.decode(out.code, decoded)) {
    out.left_out = "no instruction";
    return out;
  }
  if (const char* reason = reason_to_leave_out(decoded)) {
    out.left_out = reason;
    return out;
  }
  Preparation(decoded, machine, out).run();
  return out;
}

}  // namespace svd::test
