// SPDX-License-Identifier: Apache-2.0
//
// The instructions that lead to the jump are executed on symbolic values. Compilers make
//
//     cmp $4,%edi;  ja default;  mov %edi,%edi;  lea table(%rip),%rdx
//     movslq (%rdx,%rdi,4),%rax;  add %rdx,%rax;  jmp *%rax          distances from the table
//     cmp $4,%edi;  ja default;  mov %edi,%edi;  jmp *table(,%rdi,8)  addresses
//
// with much between, in other registers, with the index on the stack, with the table's address
// taken before a loop. What counts is the sum that the load takes its address from: one constant,
// one index with the scale of an entry. The comparison that decides about the same index tells how
// many entries there are.

#include "cfg/jump_table.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <optional>
#include <unordered_map>

#include "decode/effects.h"

namespace svd {

namespace {

constexpr std::size_t kMostSteps = 48;      // from the comparison to the jump
constexpr std::size_t kMostEntries = 8192;  // of a table; larger ones would be programs' data
constexpr std::uint8_t kRegisters = 16;
constexpr std::uint8_t kRax = 0;
constexpr std::uint8_t kRdx = 2;

// One step on the way to the jump.
struct PathStep {
  Address at = 0;
  CodeStep step;
  bool taken = false;  // of a branch
};

enum class Kind : std::uint8_t {
  kIndex,     // `origin`, multiplied by `scale`
  kConstant,  // `constant`
  kEntry,     // of the table at `constant`, as large as `scale`
  kTarget,    // the same, plus `base`
};

struct Value {
  Kind kind = Kind::kIndex;
  std::uint8_t scale = 1;
  std::uint64_t origin = 0;  // names what is not known; below kRegisters: the register at the start
  std::uint64_t constant = 0;
  std::uint64_t base = 0;
};

Value constant(std::uint64_t value) { return {.kind = Kind::kConstant, .constant = value}; }

class Evaluator {
 public:
  Evaluator(const CodeRegion& region, const CodeRange& piece) : region_(region), piece_(piece) {
    for (std::uint8_t i = 0; i < kRegisters; ++i) registers_[i].origin = i;
  }

  JumpTable table(Address jump) {
    auto path = path_to(jump);
    path_begin_ = path.empty() ? jump : path.front().at;
    for (const PathStep& p : path) execute(p);
    CodeStep step = region_.step(jump);
    Value value = step.memory ? load(step, 8) : registers_[step.rm];
    return entries(value);
  }

 private:
  std::vector<PathStep> path_to(Address jump) const {
    std::vector<PathStep> path;
    Address at = jump;
    while (path.size() < kMostSteps) {
      auto before = predecessor(at);
      if (!before || before->step.flow == Flow::kCall || before->step.flow == Flow::kIndirectCall)
        break;
      at = before->at;
      path.push_back(*before);
    }
    std::reverse(path.begin(), path.end());
    return path;
  }

  // An instruction that can come before the one at `at`: the one above it, else one that jumps.
  std::optional<PathStep> predecessor(Address at) const {
    for (std::uint8_t length = 1; length <= kLengthMask; ++length) {
      if (at - length < piece_.begin) break;
      if ((region_.mark(at - length) & kLengthMask) != length) continue;
      CodeStep step = region_.step(at - length);
      if (step.flow == Flow::kJump || step.flow == Flow::kIndirectJump ||
          step.flow == Flow::kReturn || step.flow == Flow::kTrap)
        break;
      return PathStep{at - length, step, false};
    }
    for (Address from = piece_.begin; from < piece_.end; ++from) {
      if ((region_.mark(from) & kFlows) == 0) continue;
      CodeStep step = region_.step(from);
      if (step.target == at && (step.flow == Flow::kJump || step.flow == Flow::kBranch))
        return PathStep{from, step, true};
    }
    return {};
  }

  void execute(const PathStep& p) {
    const CodeStep& step = p.step;
    if (step.flow == Flow::kBranch) return branch(p);
    if (step.map == OpcodeMap::kVector) return;
    if (step.map == OpcodeMap::k0f && (step.code == 0xb6 || step.code == 0xb7))  // movzx
      return set(step.reg, step.memory ? load(step, 1) : registers_[step.rm]);
    if (step.map != OpcodeMap::kOneByte) return clobber(step);
    if ((step.code & 0xf8) == 0xb8)
      return set(step.rm, constant(static_cast<std::uint32_t>(step.immediate)));
    if ((step.code & 0xf8) == 0x50) return;  // push
    switch (step.code) {
      case 0x8d:
        return set(step.reg, sum(step));
      case 0x8b:
        return set(step.reg, step.memory ? load(step, step.wide ? 8 : 4) : registers_[step.rm]);
      case 0x89:
        if (step.memory) return store(step);
        return set(step.rm, registers_[step.reg]);
      case 0x63:
        return set(step.reg, step.memory ? load(step, 4) : registers_[step.rm]);
      case 0xc7:
        if (!step.memory) set(step.rm, constant(static_cast<std::uint64_t>(step.immediate)));
        return;
      case 0x01:
      case 0x03:
        return add(step);
      case 0xc1:
        return shift(step);
      case 0x3c:
      case 0x3d:
        return compare(registers_[kRax], step);
      case 0x80:
      case 0x81:
      case 0x83:
        return immediate_arithmetic(step);
      case 0x98:  // sign extension of eax
      case 0x84:
      case 0x85:
      case 0x38:
      case 0x39:
      case 0x3a:
      case 0x3b:  // cmp, test
      case 0x90:
      case 0x88:
      case 0xc6:
        return;
      case 0x99:
        return forget(kRdx);
      default:
        return clobber(step);
    }
  }

  void set(std::uint8_t reg, const Value& value) { registers_[reg] = value; }
  void forget(std::uint8_t reg) { registers_[reg] = Value{.origin = next_origin_++}; }

  void clobber(const CodeStep& step) {
    if (!step.memory) forget(step.rm);
    if (step.has_modrm) forget(step.reg);
  }

  void add(const CodeStep& step) {
    std::uint8_t to = step.code == 0x03 ? step.reg : step.rm;
    if (step.memory) return step.code == 0x03 ? forget(to) : void();
    set(to, plus(registers_[step.reg], registers_[step.rm]));
  }

  // A register that is not known here, but to which an entry is added, must hold the table.
  Value plus(const Value& a, const Value& b) {
    if (b.kind == Kind::kEntry && a.kind != Kind::kEntry) return plus(b, a);
    std::optional<std::uint64_t> base = as_constant(b);
    if (a.kind != Kind::kEntry || !base) return Value{.origin = next_origin_++};
    Value result = a;
    result.kind = Kind::kTarget, result.base = *base;
    return result;
  }

  void shift(const CodeStep& step) {
    if (step.memory) return;
    Value& value = registers_[step.rm];
    bool fits = step.extension() == 4 && step.immediate >= 0 && step.immediate <= 3;
    if (fits && value.kind == Kind::kIndex && value.scale == 1) {
      value.scale = static_cast<std::uint8_t>(1 << step.immediate);
    } else {
      forget(step.rm);
    }
  }

  void immediate_arithmetic(const CodeStep& step) {
    constexpr std::uint8_t kAnd = 4;
    constexpr std::uint8_t kSub = 5;
    constexpr std::uint8_t kCmp = 7;
    Value value = step.memory ? load(step, 4) : registers_[step.rm];
    if (step.extension() == kCmp || step.extension() == kSub) compare(value, step);
    if (step.extension() == kCmp || step.memory) return;
    forget(step.rm);
    auto mask = static_cast<std::uint64_t>(step.immediate);
    if (step.extension() == kAnd && mask < kMostEntries && (mask & (mask + 1)) == 0)
      sizes_[registers_[step.rm].origin] = mask + 1;
  }

  void compare(const Value& value, const CodeStep& step) {
    compared_ = value;
    compared_with_ = static_cast<std::uint64_t>(step.immediate);
  }

  void branch(const PathStep& p) {
    if (compared_.kind != Kind::kIndex || compared_with_ >= kMostEntries) return;
    switch (p.step.code & 0x0f) {
      case 7:  // ja
        if (!p.taken) sizes_[compared_.origin] = compared_with_ + 1;
        break;
      case 6:  // jbe
        if (p.taken) sizes_[compared_.origin] = compared_with_ + 1;
        break;
      case 3:  // jae
        if (!p.taken) sizes_[compared_.origin] = compared_with_;
        break;
      case 2:  // jb
        if (p.taken) sizes_[compared_.origin] = compared_with_;
        break;
      default:
        break;
    }
  }

  // The address of a memory operand: a constant, or a constant and an index that is multiplied.
  struct Sum {
    std::uint64_t constant = 0;
    std::vector<Value> indexes;
  };

  Sum address(const CodeStep& step) const {
    Sum result{.constant = step.displacement, .indexes = {}};
    auto term = [&](std::uint8_t reg, std::uint8_t scale) {
      if (reg >= kRegisters) return;
      Value value = registers_[reg];
      if (value.kind == Kind::kConstant) {
        result.constant += value.constant * scale;
      } else if (value.kind == Kind::kIndex && value.scale * scale <= 8) {
        value.scale = static_cast<std::uint8_t>(value.scale * scale);
        result.indexes.push_back(value);
      } else {
        result.indexes.push_back(value);
      }
    };
    term(step.base, 1);
    term(step.index, step.scale);
    return result;
  }

  Value sum(const CodeStep& step) {
    Sum operand = address(step);
    if (operand.indexes.empty()) return constant(operand.constant);
    if (operand.indexes.size() == 1 && operand.constant == 0) return operand.indexes[0];
    if (operand.indexes.size() == 1 && operand.indexes[0].kind == Kind::kEntry)
      return plus(operand.indexes[0], constant(operand.constant));
    if (operand.indexes.size() == 2 && operand.constant == 0)
      return plus(operand.indexes[0], operand.indexes[1]);
    return Value{.origin = next_origin_++};
  }

  Value load(const CodeStep& step, std::uint8_t size) {
    Sum operand = address(step);
    auto& indexes = operand.indexes;
    if (indexes.size() == 2) {  // one of them is the table, if it is known from elsewhere
      if (indexes[0].scale != 1) std::swap(indexes[0], indexes[1]);
      if (auto table = as_constant(indexes[0])) {
        operand.constant += *table;
        indexes.erase(indexes.begin());
      }
    }
    bool scaled = indexes.size() == 1 && indexes[0].kind == Kind::kIndex &&
                  indexes[0].scale == size && size >= 4;
    if (scaled && !region_.file->bytes_at(operand.constant).empty())
      return {.kind = Kind::kEntry,
              .scale = size,
              .origin = indexes[0].origin,
              .constant = operand.constant};
    if (indexes.size() > 1) return Value{.origin = next_origin_++};
    auto [known, fresh] = memory_.try_emplace(place(operand));
    if (fresh) known->second.origin = next_origin_++;
    return known->second;
  }

  void store(const CodeStep& step) {
    Sum operand = address(step);
    if (operand.indexes.size() <= 1) memory_[place(operand)] = registers_[step.reg];
  }

  // Names a memory location by a register's unknown value and a distance from there.
  static std::uint64_t place(const Sum& operand) {
    std::uint64_t origin = operand.indexes.empty() ? 0 : operand.indexes[0].origin + 1;
    return origin << 40 ^ operand.constant;
  }

  // The constant that `value` is. A register that was not written on the path may have got one by
  // the lea to it that stands nearest above: tables are addressed before the loop around the
  // switch.
  std::optional<std::uint64_t> as_constant(const Value& value) const {
    if (value.kind == Kind::kConstant) return value.constant;
    if (value.kind != Kind::kIndex || value.origin >= kRegisters || value.scale != 1) return {};
    for (Address at = path_begin_; at-- > piece_.begin;) {
      if ((region_.mark(at) & kLengthMask) == 0) continue;
      CodeStep step = region_.step(at);
      if (step.is(OpcodeMap::kOneByte, 0x8d) && step.base == CodeStep::kRip &&
          step.reg == value.origin)
        return step.displacement;
    }
    return {};
  }

  JumpTable entries(const Value& value) const {
    bool distances = value.kind == Kind::kTarget && value.scale == 4;
    bool addresses = value.kind == Kind::kEntry && value.scale == 8;
    if (!distances && !addresses) return {};
    JumpTable result{.address = value.constant, .entry_size = value.scale};
    auto size = sizes_.find(value.origin);
    result.sized = size != sizes_.end();
    std::size_t limit = result.sized ? size->second : kMostEntries;
    for (std::size_t i = 0; i < limit; ++i) {
      Address at = value.constant + i * value.scale;
      std::optional<Address> target =
          distances ? distance_at(at, value.base) : region_.file->pointer_at(at);
      bool inside = target && *target >= piece_.begin && *target < piece_.end;
      if (!result.sized && !inside) break;
      if (!target) return {};
      result.targets.push_back(*target);
    }
    return result;
  }

  std::optional<Address> distance_at(Address at, Address base) const {
    auto bytes = region_.file->bytes_at(at);
    std::int32_t distance = 0;
    if (bytes.size() < sizeof distance) return {};
    std::memcpy(&distance, bytes.data(), sizeof distance);
    return base + static_cast<std::uint64_t>(std::int64_t{distance});
  }

  const CodeRegion& region_;
  CodeRange piece_;
  Address path_begin_ = 0;
  std::array<Value, kRegisters> registers_{};
  std::unordered_map<std::uint64_t, Value> memory_;         // by place
  std::unordered_map<std::uint64_t, std::uint64_t> sizes_;  // entries, by the origin of the index
  Value compared_{};
  std::uint64_t compared_with_ = kMostEntries;
  std::uint64_t next_origin_ = kRegisters;
};

}  // namespace

JumpTable jump_table(const CodeRegion& region, const CodeRange& piece, Address jump) {
  if (region.file == nullptr) return {};
  return Evaluator(region, piece).table(jump);
}

}  // namespace svd
