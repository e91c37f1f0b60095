// SPDX-License-Identifier: Apache-2.0

#include "symbols/elf_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <limits>

namespace svd {
namespace {

constexpr const char* kDebugRoot = "/usr/lib/debug";

// Where a stripped file's debug information may be: where distributions keep it, by build-id, and
// where the file itself says.
std::vector<std::string> debug_paths(const Module& module, const ElfFile& file) {
  std::vector<std::string> paths;
  if (std::string path = debug_path(module.build_id); !path.empty()) paths.push_back(path);
  std::string_view link = file.section(".gnu_debuglink");
  link = link.substr(0, link.find('\0'));
  if (!link.empty() && link.find('/') == std::string_view::npos) {
    std::string folder = std::filesystem::path(module.path).parent_path();
    paths.push_back(fmt::format("{}/{}", folder, link));
    paths.push_back(fmt::format("{}/.debug/{}", folder, link));
    paths.push_back(fmt::format("{}{}/{}", kDebugRoot, folder, link));
  }
  return paths;
}

bool has_dwarf(const ElfFile& file) {
  return file.has_section(".debug_info") || file.has_section(".zdebug_info");
}

}  // namespace

ElfFile::ElfFile(const std::string& path) : fd_(open(path.c_str(), O_RDONLY | O_CLOEXEC)) {
  if (fd_ < 0) return;
  elf_version(EV_CURRENT);
  elf_ = elf_begin(fd_, ELF_C_READ_MMAP, nullptr);
  if (elf_ != nullptr && elf_kind(elf_) != ELF_K_ELF) elf_ = (elf_end(elf_), nullptr);
}

ElfFile::~ElfFile() {
  if (elf_ != nullptr) elf_end(elf_);
  if (fd_ >= 0) close(fd_);
}

std::vector<std::uint8_t> ElfFile::build_id() const {
  std::vector<std::uint8_t> id;
  each_section(SHT_NOTE, [&](Elf_Scn* section, const GElf_Shdr&) {
    Elf_Data* data = elf_getdata(section, nullptr);
    GElf_Nhdr note;
    std::size_t name = 0;
    std::size_t content = 0;
    for (std::size_t at = 0;
         data != nullptr && (at = gelf_getnote(data, at, &note, &name, &content)) > 0;) {
      const char* bytes = static_cast<const char*>(data->d_buf);
      if (note.n_type == NT_GNU_BUILD_ID &&
          std::string_view(bytes + name, note.n_namesz) == std::string_view("GNU", sizeof "GNU")) {
        id.assign(bytes + content, bytes + content + note.n_descsz);
      }
    }
  });
  return id;
}

std::string_view ElfFile::section_name(const GElf_Shdr& header) const {
  std::size_t strings = 0;
  if (elf_getshdrstrndx(elf_, &strings) != 0) return {};
  const char* name = elf_strptr(elf_, strings, header.sh_name);
  return name == nullptr ? "" : name;
}

bool ElfFile::has_section(std::string_view name) const { return section(name).data() != nullptr; }

std::string_view ElfFile::section(std::string_view name) const {
  std::string_view found;
  each_section([&](Elf_Scn* section, const GElf_Shdr& header) {
    if (header.sh_type == SHT_NOBITS || section_name(header) != name) return;
    Elf_Data* data = elf_rawdata(section, nullptr);
    if (data != nullptr && data->d_buf != nullptr)
      found = {static_cast<const char*>(data->d_buf), data->d_size};
  });
  return found;
}

std::pair<std::uint64_t, std::uint64_t> ElfFile::code() const {
  std::pair<std::uint64_t, std::uint64_t> code(std::numeric_limits<std::uint64_t>::max(), 0);
  each_section([&](Elf_Scn*, const GElf_Shdr& header) {
    if ((header.sh_flags & SHF_EXECINSTR) == 0) return;
    code.first = std::min(code.first, header.sh_addr);
    code.second = std::max(code.second, header.sh_addr + header.sh_size);
  });
  return code;
}

std::string debug_path(const std::vector<std::uint8_t>& build_id) {
  if (build_id.size() < 2) return {};
  std::string path = fmt::format("{}/.build-id/{:02x}/", kDebugRoot, build_id[0]);
  for (std::size_t i = 1; i < build_id.size(); ++i) path += fmt::format("{:02x}", build_id[i]);
  return path + ".debug";
}

ModuleFiles open_module(const Module& module, Diagnostics& diagnostics) {
  ModuleFiles files;
  if (!module.path.starts_with('/')) return files;  // the vdso, generated code
  ElfFile file(module.path);
  const char* why = !file                                ? "cannot be read"
                    : file.build_id() != module.build_id ? "is not the build that was recorded"
                                                         : nullptr;
  if (why != nullptr) {
    diagnostics.add("no-symbols", Severity::kInfo, 1,
                    fmt::format("{} {}: no names from it", module.path, why));
    return files;
  }
  files.file = std::move(file);
  if (has_dwarf(files.file) || module.build_id.empty()) return files;
  for (const std::string& path : debug_paths(module, files.file)) {
    ElfFile debug(path);
    if (!debug || debug.build_id() != module.build_id) continue;
    files.debug = std::move(debug);
    break;
  }
  return files;
}

}  // namespace svd
