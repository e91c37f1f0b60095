// SPDX-License-Identifier: Apache-2.0

#include "symbols/elf_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <string_view>

namespace svd {

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

std::string ElfFile::section_name(const GElf_Shdr& header) const {
  std::size_t names = 0;
  if (elf_getshdrstrndx(elf_, &names) != 0) return {};
  const char* name = elf_strptr(elf_, names, header.sh_name);
  return name == nullptr ? std::string() : name;
}

std::string debug_path(const std::vector<std::uint8_t>& build_id) {
  if (build_id.size() < 2) return {};
  std::string path = fmt::format("/usr/lib/debug/.build-id/{:02x}/", build_id[0]);
  for (std::size_t i = 1; i < build_id.size(); ++i) path += fmt::format("{:02x}", build_id[i]);
  return path + ".debug";
}

}  // namespace svd
