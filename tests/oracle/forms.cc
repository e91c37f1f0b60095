// SPDX-License-Identifier: Apache-2.0
#include "oracle/forms.h"

#include <elf.h>

#include <algorithm>
#include <cstring>
#include <fstream>
#include <iterator>

namespace svd::test {
namespace {

// Blanks what does not make a form. Of an immediate remains whether it is one of the values that
// matter (0, 1, -1); a vector instruction's selects lanes and remains whole.
Code form_key(std::span<const std::uint8_t> code, const ZydisInstruction& decoded) {
  const auto& raw = decoded.instruction.raw;
  Code key(code.begin(), code.begin() + decoded.instruction.length);
  auto blank = [&](std::size_t offset, std::size_t bits, std::uint8_t value) {
    std::fill_n(key.begin() + static_cast<std::ptrdiff_t>(offset), bits / 8, value);
  };
  if (raw.disp.size != 0) blank(raw.disp.offset, raw.disp.size, 0);
  bool vector = is_vector(decoded);
  for (const auto& imm : raw.imm) {
    if (imm.size == 0 || vector) continue;
    bool special = imm.value.s >= -1 && imm.value.s <= 1;
    blank(imm.offset, imm.size, special ? static_cast<std::uint8_t>(imm.value.s) : 2);
  }
  return key;
}

void sweep(std::span<const std::uint8_t> code, Forms& forms) {
  ZydisFrontEnd front;
  ZydisInstruction decoded;
  while (!code.empty()) {
    if (!front.decode(code, decoded)) {
      code = code.subspan(1);
      continue;
    }
    std::size_t length = decoded.instruction.length;
    forms.try_emplace(form_key(code, decoded), code.begin(),
                      code.begin() + static_cast<std::ptrdiff_t>(length));
    code = code.subspan(length);
  }
}

}  // namespace

bool is_vector(const ZydisInstruction& instruction) {
  return std::ranges::any_of(instruction.all(), [](const ZydisDecodedOperand& operand) {
    return operand.type == ZYDIS_OPERAND_TYPE_REGISTER && operand.size >= 128;
  });
}

ZydisFrontEnd::ZydisFrontEnd() {
  ZydisDecoderInit(&decoder_, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
  ZydisFormatterInit(&formatter_, ZYDIS_FORMATTER_STYLE_INTEL);
}

bool ZydisFrontEnd::decode(std::span<const std::uint8_t> code, ZydisInstruction& out) const {
  return ZYAN_SUCCESS(ZydisDecoderDecodeFull(&decoder_, code.data(), code.size(), &out.instruction,
                                             out.operands.data()));
}

std::string ZydisFrontEnd::text(const ZydisInstruction& instruction) const {
  std::array<char, 256> buffer{};
  ZydisFormatterFormatInstruction(
      &formatter_, &instruction.instruction, instruction.operands.data(),
      instruction.instruction.operand_count_visible, buffer.data(), buffer.size(), 0, nullptr);
  return buffer.data();
}

bool collect_forms(const std::string& path, Forms& forms) {
  std::ifstream file(path, std::ios::binary);
  std::vector<std::uint8_t> bytes(std::istreambuf_iterator<char>(file), {});
  if (bytes.size() < sizeof(Elf64_Ehdr) || std::memcmp(bytes.data(), ELFMAG, SELFMAG) != 0)
    return false;
  Elf64_Ehdr header;
  std::memcpy(&header, bytes.data(), sizeof header);
  if (header.e_machine != EM_X86_64) return false;
  for (unsigned i = 0; i < header.e_shnum; ++i) {
    Elf64_Shdr section;
    std::size_t at = header.e_shoff + i * sizeof section;
    if (at + sizeof section > bytes.size()) return false;
    std::memcpy(&section, bytes.data() + at, sizeof section);
    if ((section.sh_flags & SHF_EXECINSTR) == 0 || section.sh_type != SHT_PROGBITS) continue;
    if (section.sh_offset + section.sh_size > bytes.size()) return false;
    sweep(std::span(bytes).subspan(section.sh_offset, section.sh_size), forms);
  }
  return true;
}

}  // namespace svd::test
