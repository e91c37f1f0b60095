// SPDX-License-Identifier: Apache-2.0

#include "cfg/module_file.h"

#include <algorithm>
#include <cstring>

namespace svd {

namespace {

// Entries of .plt and the like are that large where the section does not say.
constexpr std::uint64_t kStubSize = 16;

std::span<const std::uint8_t> bytes_of(const Elf_Data* data) {
  if (data == nullptr || data->d_buf == nullptr) return {};
  return {static_cast<const std::uint8_t*>(data->d_buf), data->d_size};
}

template <class T>
std::vector<T> records(const Elf_Data* data) {
  auto bytes = bytes_of(data);
  std::vector<T> result(bytes.size() / sizeof(T));
  if (!result.empty()) std::memcpy(result.data(), bytes.data(), result.size() * sizeof(T));
  return result;
}

std::string name_at(std::span<const std::uint8_t> names, std::size_t offset) {
  if (offset >= names.size()) return {};
  auto rest = names.subspan(offset);
  return {rest.begin(), std::find(rest.begin(), rest.end(), 0)};
}

}  // namespace

std::unique_ptr<ModuleFile> ModuleFile::open(const Module& module) {
  Diagnostics names_only;  // a module without a file is told by who asks for its code
  ModuleFiles files = open_module(module, names_only);
  if (!files.file) return nullptr;
  std::unique_ptr<ModuleFile> result(new ModuleFile(std::move(files), module.bias));
  result->read_sections();
  if (result->code_.empty()) return nullptr;
  result->read_relocations();
  result->read_symbols(result->files_.file, SHT_DYNSYM);
  if (!result->read_symbols(result->files_.file, SHT_SYMTAB) && result->files_.debug)
    result->read_symbols(result->files_.debug, SHT_SYMTAB);
  return result;
}

void ModuleFile::read_sections() {
  auto section = [&](Elf_Scn* scn, const GElf_Shdr& header) {
    Elf_Data* data = elf_rawdata(scn, nullptr);
    if (data == nullptr || data->d_buf == nullptr || (header.sh_flags & SHF_ALLOC) == 0) return;
    LoadedBytes loaded{header.sh_addr + bias_, bytes_of(data)};
    std::string_view name = files_.file.section_name(header);
    if (name == ".eh_frame") frames_ = frame_descriptions(loaded.bytes, loaded.begin);
    sections_.push_back(loaded);
    if ((header.sh_flags & SHF_EXECINSTR) == 0) return;
    if (name.starts_with(".plt"))
      loaded.stub_size = header.sh_entsize != 0 ? header.sh_entsize : kStubSize;
    code_.push_back(loaded);
  };
  files_.file.each_section(SHT_PROGBITS, section);
  files_.file.each_section(SHT_X86_64_UNWIND, section);
  auto by_address = [](const LoadedBytes& a, const LoadedBytes& b) { return a.begin < b.begin; };
  std::sort(code_.begin(), code_.end(), by_address);
  std::sort(sections_.begin(), sections_.end(), by_address);
  for (std::size_t i = 1; i < code_.size();) {  // of a damaged file they can overlap
    bool good = code_[i].begin >= code_[i - 1].end() && code_[i].end() > code_[i].begin;
    good ? void(++i) : void(code_.erase(code_.begin() + static_cast<std::ptrdiff_t>(i)));
  }
}

void ModuleFile::read_relocations() {
  std::vector<Elf64_Sym> symbols;
  std::span<const std::uint8_t> names;
  files_.file.each_section(SHT_DYNSYM, [&](Elf_Scn* scn, const GElf_Shdr&) {
    symbols = records<Elf64_Sym>(elf_rawdata(scn, nullptr));
  });
  files_.file.each_section(SHT_STRTAB, [&](Elf_Scn* scn, const GElf_Shdr& header) {
    if (header.sh_flags & SHF_ALLOC) names = bytes_of(elf_rawdata(scn, nullptr));
  });
  files_.file.each_section(SHT_RELA, [&](Elf_Scn* scn, const GElf_Shdr& header) {
    if ((header.sh_flags & SHF_ALLOC) == 0) return;
    for (const auto& entry : records<Elf64_Rela>(elf_rawdata(scn, nullptr))) {
      Address where = entry.r_offset + bias_;
      auto type = ELF64_R_TYPE(entry.r_info);
      auto symbol = ELF64_R_SYM(entry.r_info);
      if (type == R_X86_64_RELATIVE)
        relocated_.emplace_back(where, static_cast<std::uint64_t>(entry.r_addend) + bias_);
      if ((type == R_X86_64_JUMP_SLOT || type == R_X86_64_GLOB_DAT) && symbol < symbols.size())
        imports_.emplace(where, name_at(names, symbols[symbol].st_name));
    }
  });
  std::sort(relocated_.begin(), relocated_.end());
}

bool ModuleFile::read_symbols(const ElfFile& file, std::uint32_t type) {
  bool dynamic = type == SHT_DYNSYM;
  return file.symbols(type, [&](const char* name, const GElf_Sym& symbol) {
    unsigned kind = GELF_ST_TYPE(symbol.st_info);
    if ((kind != STT_FUNC && kind != STT_GNU_IFUNC) || symbol.st_shndx == SHN_UNDEF) return;
    Address begin = symbol.st_value + bias_;
    functions_.push_back({{begin, begin + symbol.st_size}, name, dynamic});
  });
}

std::span<const std::uint8_t> ModuleFile::bytes_at(Address at) const {
  auto next = std::upper_bound(sections_.begin(), sections_.end(), at,
                               [](Address a, const LoadedBytes& s) { return a < s.begin; });
  if (next == sections_.begin() || !(--next)->contains(at)) return {};
  return next->bytes.subspan(at - next->begin);
}

std::optional<Address> ModuleFile::pointer_at(Address at) const {
  auto found = std::lower_bound(relocated_.begin(), relocated_.end(), std::pair(at, Address{0}));
  if (found != relocated_.end() && found->first == at) return found->second;
  auto bytes = bytes_at(at);
  Address pointer = 0;
  if (bytes.size() < sizeof pointer) return {};
  std::memcpy(&pointer, bytes.data(), sizeof pointer);
  return pointer + bias_;
}

const std::string& ModuleFile::import(Address at) const {
  static const std::string kNoName;
  auto found = imports_.find(at);
  return found == imports_.end() ? kNoName : found->second;
}

}  // namespace svd
