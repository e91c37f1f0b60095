// SPDX-License-Identifier: Apache-2.0
//
// An ELF file on disk, for those that read one: the build it says it is, its sections, its symbols.
#pragma once

#include <elf.h>
#include <gelf.h>
#include <libelf.h>

#include <cstdint>
#include <string>
#include <vector>

namespace svd {

// Empty when the file cannot be read, or is none. What is read from it lives as long as it does.
class ElfFile {
 public:
  explicit ElfFile(const std::string& path);
  ~ElfFile();
  ElfFile(const ElfFile&) = delete;
  ElfFile& operator=(const ElfFile&) = delete;

  explicit operator bool() const { return elf_ != nullptr; }

  std::vector<std::uint8_t> build_id() const;
  std::string section_name(const GElf_Shdr& header) const;

  // Calls f(name, symbol) for each symbol of the sections of `type` (SHT_SYMTAB, SHT_DYNSYM);
  // returns whether there was one.
  template <class F>
  bool symbols(std::uint32_t type, F&& f) const {
    bool any = false;
    each_section(type, [&](Elf_Scn* section, const GElf_Shdr& header) {
      Elf_Data* data = elf_getdata(section, nullptr);
      if (data == nullptr || header.sh_entsize == 0) return;
      for (int i = 0; i < static_cast<int>(header.sh_size / header.sh_entsize); ++i) {
        GElf_Sym symbol;
        if (gelf_getsym(data, i, &symbol) == nullptr) break;
        const char* name = elf_strptr(elf_, header.sh_link, symbol.st_name);
        if (name != nullptr && *name != '\0') any = true, f(name, symbol);
      }
    });
    return any;
  }

  // Calls f(section, header) for each section of `type`.
  template <class F>
  void each_section(std::uint32_t type, F&& f) const {
    for (Elf_Scn* section = elf_nextscn(elf_, nullptr); section != nullptr;
         section = elf_nextscn(elf_, section)) {
      GElf_Shdr header;
      if (gelf_getshdr(section, &header) != nullptr && header.sh_type == type) f(section, header);
    }
  }

 private:
  int fd_;
  Elf* elf_ = nullptr;
};

// Where distributions keep the debug information of a stripped file; empty without a build-id.
std::string debug_path(const std::vector<std::uint8_t>& build_id);

}  // namespace svd
