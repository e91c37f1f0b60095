// SPDX-License-Identifier: Apache-2.0
//
// A base register is followed backward through the straight-line code before the access, only as
// far as no other way leads into it:
//
//     mov -8(%rbp),%rax      -8(%rbp) is the variable `server`: rax is "server"
//     mov 16(%rax),%rax      its type has `log` at 16: rax is "server->log"
//     mov %edx,32(%rax)      and that type `outcnt` at 32: "server->log->outcnt"

#include "symbols/operand_names.h"

#include <capstone/capstone.h>
#include <dwarf.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <unordered_map>
#include <unordered_set>

#include "svd/trace/result.h"
#include "symbols/member_path.h"

namespace svd {
namespace {

constexpr int kMaxSteps = 16;  // registers and loads that one name leads through
constexpr int kNoRegister = -1;

// As DWARF numbers general registers; other parts of a register hold no pointer.
int dwarf_register(unsigned reg) {
  constexpr std::array kOrder = {X86_REG_RAX, X86_REG_RDX, X86_REG_RCX, X86_REG_RBX,
                                 X86_REG_RSI, X86_REG_RDI, X86_REG_RBP, X86_REG_RSP,
                                 X86_REG_R8,  X86_REG_R9,  X86_REG_R10, X86_REG_R11,
                                 X86_REG_R12, X86_REG_R13, X86_REG_R14, X86_REG_R15};
  auto at = std::find(kOrder.begin(), kOrder.end(), static_cast<x86_reg>(reg));
  return at == kOrder.end() ? kNoRegister : static_cast<int>(at - kOrder.begin());
}

// Where memory is, in words of the source: some bytes into an object, or into what a pointer points
// to.
struct Target {
  std::string text;  // of the object or the pointer
  bool pointer;
  Dwarf_Die type;  // of the object, or of what is pointed to
  std::int64_t offset = 0;
  bool indexed = false;  // and an unknown number of elements further
};

// An object in memory by its name and type.
struct Object {
  std::string text;
  std::optional<Dwarf_Die> type;
};

std::string in_brackets(const std::string& text) {
  return text.starts_with('*') ? "(" + text + ")" : text;
}

// "a[2].b[0].c" → "a[...].b[...].c"; false when there is no index.
bool hide_indexes(std::string& path) {
  bool any = false;
  for (std::size_t at = 0; (at = path.find('[', at)) != std::string::npos; ++at, any = true)
    path.replace(at, path.find(']', at) + 1 - at, "[...]");
  return any;
}

// Which array is indexed the instruction does not say: it is taken to be one inside of what the
// pointer points to, where there is one.
Object object_at(const Target& target, std::uint64_t size) {
  auto extent = static_cast<std::int64_t>(size_of(target.type));
  std::int64_t offset = target.offset;
  std::int64_t element = 0;
  if (target.pointer && extent > 0 && (offset < 0 || offset >= extent)) {
    element = offset / extent - (offset % extent < 0 ? 1 : 0);
    offset -= element * extent;
  }
  if (offset < 0) return {};
  MemberPath path = member_path(target.type, static_cast<std::uint64_t>(offset), size);
  bool hidden = target.indexed && hide_indexes(path.text);
  if (!target.pointer) {
    if (target.indexed && !hidden) return {};
    return {target.text + path.text, path.type};
  }
  std::string text = in_brackets(target.text);
  if (target.indexed && !hidden) return {text + "[...]" + path.text, path.type};
  if (element != 0) return {fmt::format("{}[{}]{}", text, element, path.text), path.type};
  if (path.text.empty()) return {"*" + target.text, path.type};
  if (path.text.starts_with('.')) return {text + "->" + path.text.substr(1), path.type};
  return {"(*" + target.text + ")" + path.text, path.type};
}

// What a pointer or reference leads to; nothing when the object is none.
std::optional<Target> follow(const Object& object) {
  if (!object.type || object.text.empty()) return std::nullopt;
  Dwarf_Die type = *object.type;
  int tag = dwarf_tag(&type);
  bool pointer = tag == DW_TAG_pointer_type;
  if (!pointer && tag != DW_TAG_reference_type && tag != DW_TAG_rvalue_reference_type)
    return std::nullopt;
  std::optional<Dwarf_Die> pointee = type_of(type);
  if (!pointee) return std::nullopt;
  return Target{object.text, pointer, *pointee};
}

// One instruction with its operands.
class Decoded {
 public:
  Decoded(csh engine, std::span<const std::uint8_t> code, Pc pc)
      : count_(cs_disasm(engine, code.data(), code.size(), pc.value, 1, &instruction_)) {}
  ~Decoded() {
    if (count_ > 0) cs_free(instruction_, count_);
  }
  Decoded(const Decoded&) = delete;
  Decoded& operator=(const Decoded&) = delete;

  explicit operator bool() const { return count_ > 0; }
  unsigned id() const { return instruction_->id; }
  const cs_insn& instruction() const { return *instruction_; }
  std::span<const cs_x86_op> operands() const {
    return {instruction_->detail->x86.operands, instruction_->detail->x86.op_count};
  }
  // The only operand in memory; null when there are none or several.
  const cs_x86_op* memory() const {
    const cs_x86_op* found = nullptr;
    for (const cs_x86_op& operand : operands()) {
      if (operand.type != X86_OP_MEM) continue;
      if (found != nullptr) return nullptr;
      found = &operand;
    }
    return found;
  }
  bool copies_to_register() const {
    return id() == X86_INS_MOV && operands().size() == 2 && operands()[0].type == X86_OP_REG;
  }

 private:
  cs_insn* instruction_ = nullptr;
  std::size_t count_;
};

}  // namespace

struct OperandNames::Impl {
  struct At {
    const Block* block;
    std::size_t instruction;
  };
  // One question: a module and how far it has been followed.
  struct Search {
    DebugInfo& debug;
    std::uint64_t bias;
    int steps = 0;
  };

  std::span<const std::uint8_t> code_of(At at) const {
    std::size_t offset = 0;
    for (std::size_t i = 0; i < at.instruction; ++i) offset += at.block->instructions[i].length;
    return std::span(at.block->code).subspan(offset, at.block->instructions[at.instruction].length);
  }
  static Pc pc_of(At at) { return at.block->instructions[at.instruction].pc; }

  std::optional<Target> address_of(const Decoded& decoded, const cs_x86_op& memory, At at,
                                   Search& search);
  std::optional<Target> pointer_in(unsigned reg, At at, Search& search);
  std::optional<Target> local_pointer(int reg, Pc pc, Search& search);
  std::optional<Target> loaded_pointer(unsigned reg, At at, Search& search);
  bool writes(const Decoded& decoded, unsigned reg) const;

  csh engine = 0;
  std::unordered_map<Pc, At> places;          // with as much code before it as any block has
  std::unordered_set<std::uint64_t> ways_in;  // where blocks begin
};

bool OperandNames::Impl::writes(const Decoded& decoded, unsigned reg) const {
  cs_regs read;
  cs_regs written;
  std::uint8_t reads = 0;
  std::uint8_t writes = 0;
  if (cs_regs_access(engine, &decoded.instruction(), read, &reads, written, &writes) != CS_ERR_OK)
    return true;
  auto whole = [](unsigned part) {  // 32-bit parts are what compilers write, too
    constexpr std::array kParts = {X86_REG_EAX,  X86_REG_EDX,  X86_REG_ECX,  X86_REG_EBX,
                                   X86_REG_ESI,  X86_REG_EDI,  X86_REG_EBP,  X86_REG_ESP,
                                   X86_REG_R8D,  X86_REG_R9D,  X86_REG_R10D, X86_REG_R11D,
                                   X86_REG_R12D, X86_REG_R13D, X86_REG_R14D, X86_REG_R15D};
    auto found = std::find(kParts.begin(), kParts.end(), static_cast<x86_reg>(part));
    return found == kParts.end() ? dwarf_register(part) : static_cast<int>(found - kParts.begin());
  };
  return std::any_of(written, written + writes,
                     [&](unsigned other) { return whole(other) == dwarf_register(reg); });
}

std::optional<Target> OperandNames::Impl::local_pointer(int reg, Pc pc, Search& search) {
  for (const LocalVariable& local : search.debug.locals_at(pc.value - search.bias)) {
    if (local.in_memory || local.reg != reg) continue;
    const char* name = dwarf_diename(const_cast<Dwarf_Die*>(&local.entry));
    // What a thread is given as a pointer to void stands in the same register by another name.
    auto target = name == nullptr ? std::nullopt : follow({name, type_of(local.entry)});
    if (target) return target;
  }
  return std::nullopt;
}

// The last instruction before that writes the register, when nothing but the code in between leads
// to here.
std::optional<Target> OperandNames::Impl::loaded_pointer(unsigned reg, At at, Search& search) {
  while (at.instruction > 0 && ways_in.count(pc_of(at).value) == 0) {
    --at.instruction;
    Decoded decoded(engine, code_of(at), pc_of(at));
    if (!decoded) return std::nullopt;
    if (!writes(decoded, reg)) continue;
    if (decoded.operands().empty() || decoded.operands()[0].reg != reg) return std::nullopt;
    const cs_x86_op* memory = decoded.memory();
    if (decoded.id() == X86_INS_LEA && memory != nullptr)
      return address_of(decoded, *memory, at, search);
    if (decoded.copies_to_register() && memory != nullptr) {
      auto from = address_of(decoded, *memory, at, search);
      return from ? follow(object_at(*from, memory->size)) : std::nullopt;
    }
    if (decoded.copies_to_register() && decoded.operands()[1].type == X86_OP_REG)
      return pointer_in(decoded.operands()[1].reg, at, search);
    if (decoded.id() != X86_INS_ADD || decoded.operands().size() != 2) return std::nullopt;
    // A pointer plus a number, or plus a register that counts elements.
    const cs_x86_op& added = decoded.operands()[1];
    auto sum = pointer_in(reg, at, search);
    if (added.type == X86_OP_IMM) {
      if (sum) sum->offset += added.imm;
      return sum;
    }
    if (!sum && added.type == X86_OP_REG) sum = pointer_in(added.reg, at, search);
    if (sum) sum->indexed = true;
    return sum;
  }
  return std::nullopt;
}

std::optional<Target> OperandNames::Impl::pointer_in(unsigned reg, At at, Search& search) {
  int number = dwarf_register(reg);
  if (number == kNoRegister || ++search.steps > kMaxSteps) return std::nullopt;
  if (auto local = local_pointer(number, pc_of(at), search)) return local;
  return loaded_pointer(reg, at, search);
}

std::optional<Target> OperandNames::Impl::address_of(const Decoded& decoded,
                                                     const cs_x86_op& memory, At at,
                                                     Search& search) {
  if (memory.mem.segment != X86_REG_INVALID) return std::nullopt;  // of a thread
  bool indexed = memory.mem.index != X86_REG_INVALID;
  bool fixed = memory.mem.base == X86_REG_INVALID || memory.mem.base == X86_REG_RIP;
  if (fixed) {
    auto address = static_cast<std::uint64_t>(memory.mem.disp) - search.bias;
    if (memory.mem.base == X86_REG_RIP) address += pc_of(at).value + decoded.instruction().size;
    if (const DwarfVariable* variable = search.debug.variable_at(address)) {
      auto type = type_of(variable->entry);
      if (!type) return std::nullopt;
      auto offset = static_cast<std::int64_t>(address - variable->address);
      return Target{std::string(search.debug.name_of(variable->entry)), false, *type, offset,
                    indexed};
    }
    if (!indexed || memory.mem.scale != 1) return std::nullopt;
    auto target = pointer_in(memory.mem.index, at, search);
    if (target) target->offset += memory.mem.disp;
    return target;
  }
  int base = dwarf_register(memory.mem.base);
  for (const LocalVariable& local : search.debug.locals_at(pc_of(at).value - search.bias)) {
    auto type = type_of(local.entry);
    std::int64_t offset = memory.mem.disp - local.offset;
    if (!local.in_memory || local.reg != base || !type || offset < 0 ||
        offset >= static_cast<std::int64_t>(size_of(*type))) {
      continue;
    }
    const char* name = dwarf_diename(const_cast<Dwarf_Die*>(&local.entry));
    return name == nullptr ? std::nullopt
                           : std::optional(Target{name, false, *type, offset, indexed});
  }
  auto target = pointer_in(memory.mem.base, at, search);
  if (!target && indexed && memory.mem.scale == 1)
    target = pointer_in(memory.mem.index, at, search);
  if (!target) return std::nullopt;
  target->offset += memory.mem.disp;
  target->indexed |= indexed;
  return target;
}

OperandNames::OperandNames(std::span<const Block> blocks) : impl_(std::make_unique<Impl>()) {
  SVD_CHECK(cs_open(CS_ARCH_X86, CS_MODE_64, &impl_->engine) == CS_ERR_OK);
  cs_option(impl_->engine, CS_OPT_DETAIL, CS_OPT_ON);
  for (const Block& block : blocks) {
    if (block.instructions.empty()) continue;
    impl_->ways_in.insert(block.instructions.front().pc.value);
    for (std::size_t i = 0; i < block.instructions.size(); ++i) {
      auto [at, is_new] = impl_->places.try_emplace(block.instructions[i].pc, Impl::At{&block, i});
      if (!is_new && at->second.instruction < i) at->second = {&block, i};
    }
  }
}

OperandNames::~OperandNames() { cs_close(&impl_->engine); }

std::string OperandNames::name_at(Pc pc, DebugInfo& debug, std::uint64_t bias) {
  auto found = impl_->places.find(pc);
  if (found == impl_->places.end()) return {};
  Impl::At at = found->second;
  Decoded decoded(impl_->engine, impl_->code_of(at), pc);
  const cs_x86_op* memory = decoded ? decoded.memory() : nullptr;
  Impl::Search search{debug, bias};
  auto target = memory == nullptr ? std::nullopt : impl_->address_of(decoded, *memory, at, search);
  return target ? object_at(*target, memory->size).text : std::string();
}

}  // namespace svd
