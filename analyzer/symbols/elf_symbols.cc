// SPDX-License-Identifier: Apache-2.0

#include "symbols/elf_symbols.h"

#include <cxxabi.h>
#include <elf.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <gelf.h>
#include <libelf.h>
#include <unistd.h>

#include <cstdlib>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>

namespace svd {

namespace {

// An ELF file opened for reading; empty when it cannot be, or is none.
class ElfFile {
 public:
  explicit ElfFile(const std::string& path) : fd_(open(path.c_str(), O_RDONLY | O_CLOEXEC)) {
    if (fd_ < 0) return;
    elf_version(EV_CURRENT);
    elf_ = elf_begin(fd_, ELF_C_READ_MMAP, nullptr);
    if (elf_ != nullptr && elf_kind(elf_) != ELF_K_ELF) elf_ = (elf_end(elf_), nullptr);
  }
  ~ElfFile() {
    if (elf_ != nullptr) elf_end(elf_);
    if (fd_ >= 0) close(fd_);
  }
  ElfFile(const ElfFile&) = delete;
  ElfFile& operator=(const ElfFile&) = delete;

  explicit operator bool() const { return elf_ != nullptr; }

  std::vector<std::uint8_t> build_id() const {
    std::vector<std::uint8_t> id;
    each_section(SHT_NOTE, [&](Elf_Scn* section, const GElf_Shdr&) {
      Elf_Data* data = elf_getdata(section, nullptr);
      GElf_Nhdr note;
      std::size_t name = 0;
      std::size_t content = 0;
      for (std::size_t at = 0;
           data != nullptr && (at = gelf_getnote(data, at, &note, &name, &content)) > 0;) {
        const char* bytes = static_cast<const char*>(data->d_buf);
        if (note.n_type == NT_GNU_BUILD_ID && std::string_view(bytes + name, note.n_namesz) ==
                                                  std::string_view("GNU", sizeof "GNU")) {
          id.assign(bytes + content, bytes + content + note.n_descsz);
        }
      }
    });
    return id;
  }

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

 private:
  template <class F>
  void each_section(std::uint32_t type, F&& f) const {
    for (Elf_Scn* section = elf_nextscn(elf_, nullptr); section != nullptr;
         section = elf_nextscn(elf_, section)) {
      GElf_Shdr header;
      if (gelf_getshdr(section, &header) != nullptr && header.sh_type == type) f(section, header);
    }
  }

  int fd_;
  Elf* elf_ = nullptr;
};

// The demangler would also read `m` as a type.
std::string readable(const char* name) {
  if (!std::string_view(name).starts_with("_Z")) return name;
  int status = 0;
  std::unique_ptr<char, decltype(&std::free)> demangled(
      abi::__cxa_demangle(name, nullptr, nullptr, &status), &std::free);
  return status == 0 ? demangled.get() : name;
}

// Where distributions keep the debug information of a stripped file.
std::string debug_path(const std::vector<std::uint8_t>& build_id) {
  if (build_id.size() < 2) return {};
  std::string path = fmt::format("/usr/lib/debug/.build-id/{:02x}/", build_id[0]);
  for (std::size_t i = 1; i < build_id.size(); ++i) path += fmt::format("{:02x}", build_id[i]);
  return path + ".debug";
}

class Loader {
 public:
  void load(const Module& module, Diagnostics& diagnostics) {
    ElfFile file(module.path);
    if (!file) return missing(module, "cannot be read", diagnostics);
    if (file.build_id() != module.build_id) {
      return missing(module, "is not the build that was recorded", diagnostics);
    }
    auto take = [&](const char* name, const GElf_Sym& symbol) { add(module, name, symbol); };
    if (file.symbols(SHT_SYMTAB, take)) return;
    ElfFile debug(debug_path(module.build_id));
    if (debug && debug.symbols(SHT_SYMTAB, take)) return;
    file.symbols(SHT_DYNSYM, take);
  }

  std::vector<Symbol> symbols;

 private:
  void add(const Module& module, const char* name, const GElf_Sym& symbol) {
    unsigned type = GELF_ST_TYPE(symbol.st_info);
    bool function = type == STT_FUNC || type == STT_GNU_IFUNC;
    if ((!function && type != STT_OBJECT) || symbol.st_shndx == SHN_UNDEF) return;
    std::uint64_t address = symbol.st_value + module.bias;
    if (!seen_.emplace(address, symbol.st_size).second) return;  // an alias: the first name serves
    symbols.push_back({readable(name), function ? SymbolKind::kFunction : SymbolKind::kData,
                       address, symbol.st_size});
  }

  static void missing(const Module& module, const char* why, Diagnostics& diagnostics) {
    if (module.path.empty() || module.path.front() != '/') return;  // the vdso, generated code
    diagnostics.add("no-symbols", Severity::kInfo, 1,
                    fmt::format("{} {}: no names from it", module.path, why));
  }

  std::set<std::pair<std::uint64_t, std::uint64_t>> seen_;
};

}  // namespace

std::vector<Symbol> load_elf_symbols(const TraceReader& trace, Diagnostics& diagnostics) {
  Loader loader;
  for (const Module& module : trace.modules()) loader.load(module, diagnostics);
  return std::move(loader.symbols);
}

}  // namespace svd
