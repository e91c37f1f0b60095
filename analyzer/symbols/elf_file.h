// SPDX-License-Identifier: Apache-2.0
//
// ELF files of the modules of a trace, and whether they are to be believed: a file counts only when
// its build-id is the recorded one, for a name from another build would be a lie.
#pragma once

#include <elf.h>
#include <gelf.h>
#include <libelf.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "svd/trace/diagnostic.h"
#include "svd/trace/process.h"

namespace svd {

// Empty when the file cannot be read, or is none. What is read from it lives as long as it does.
class ElfFile {
 public:
  ElfFile() = default;
  explicit ElfFile(const std::string& path);
  ElfFile(ElfFile&& other) noexcept
      : fd_(std::exchange(other.fd_, -1)), elf_(std::exchange(other.elf_, nullptr)) {}
  ElfFile& operator=(ElfFile&& other) noexcept {
    std::swap(fd_, other.fd_);
    std::swap(elf_, other.elf_);
    return *this;
  }
  ~ElfFile();

  explicit operator bool() const { return elf_ != nullptr; }
  Elf* elf() const { return elf_; }

  std::vector<std::uint8_t> build_id() const;
  std::string_view section_name(const GElf_Shdr& header) const;
  bool has_section(std::string_view name) const;
  std::string_view section(std::string_view name) const;  // its bytes; empty when there is none
  // From the first to the last address of code, as sections tell; also true of a debug file.
  std::pair<std::uint64_t, std::uint64_t> code() const;

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
    each_section([&](Elf_Scn* section, const GElf_Shdr& header) {
      if (header.sh_type == type) f(section, header);
    });
  }

 private:
  template <class F>
  void each_section(F&& f) const {
    for (Elf_Scn* section = elf_nextscn(elf_, nullptr); section != nullptr;
         section = elf_nextscn(elf_, section)) {
      GElf_Shdr header;
      if (gelf_getshdr(section, &header) != nullptr) f(section, header);
    }
  }

  int fd_ = -1;
  Elf* elf_ = nullptr;
};

// Where distributions keep the debug information of a stripped file; empty without a build-id.
std::string debug_path(const std::vector<std::uint8_t>& build_id);

// What is believed about one module.
struct ModuleFiles {
  ElfFile file;   // false: nothing is
  ElfFile debug;  // its separate debug file, if it needs one and has one

  // The file that holds DWARF; false: none does.
  const ElfFile& dwarf() const { return debug ? debug : file; }
};

// Says in `diagnostics` when a file that should be there is not, or is of another build.
ModuleFiles open_module(const Module& module, Diagnostics& diagnostics);

}  // namespace svd
