// SPDX-License-Identifier: Apache-2.0

#include "elf_file.h"

#include <elf.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstring>

namespace svd {
namespace {

// Far more than any real file has; a bound for nonsense.
constexpr std::size_t kMaxHeaders = 4096;
constexpr std::size_t kMaxNotes = 1U << 20;

class Descriptor {
 public:
  explicit Descriptor(const std::string& path)
      : fd_(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)) {}
  ~Descriptor() {
    if (fd_ >= 0) close(fd_);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  bool read(void* out, std::size_t size, std::uint64_t offset) const {
    return fd_ >= 0 &&
           pread(fd_, out, size, static_cast<off_t>(offset)) == static_cast<ssize_t>(size);
  }

 private:
  int fd_;
};

std::vector<std::uint8_t> find_build_id(const std::vector<std::uint8_t>& notes) {
  std::size_t at = 0;
  auto padded = [](std::size_t size) { return (size + 3) & ~std::size_t{3}; };
  while (at + sizeof(Elf64_Nhdr) <= notes.size()) {
    Elf64_Nhdr note;
    std::memcpy(&note, notes.data() + at, sizeof note);
    std::size_t name = at + sizeof note;
    std::size_t content = name + padded(note.n_namesz);
    std::size_t end = content + padded(note.n_descsz);
    if (content + note.n_descsz > notes.size()) break;
    if (note.n_type == NT_GNU_BUILD_ID && note.n_namesz == 4 &&
        std::memcmp(notes.data() + name, "GNU", 4) == 0)
      return {notes.begin() + static_cast<long>(content),
              notes.begin() + static_cast<long>(content + note.n_descsz)};
    at = end;
  }
  return {};
}

std::uint32_t protection_of(std::uint32_t flags) {
  std::uint32_t protection = PROT_NONE;
  if ((flags & PF_R) != 0) protection |= PROT_READ;
  if ((flags & PF_W) != 0) protection |= PROT_WRITE;
  if ((flags & PF_X) != 0) protection |= PROT_EXEC;
  return protection;
}

}  // namespace

std::optional<ElfFile> read_elf(const std::string& path) {
  Descriptor file(path);
  Elf64_Ehdr header;
  if (!file.read(&header, sizeof header, 0)) return std::nullopt;
  if (std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 || header.e_ident[EI_CLASS] != ELFCLASS64 ||
      header.e_machine != EM_X86_64 || header.e_phentsize != sizeof(Elf64_Phdr) ||
      header.e_phnum > kMaxHeaders)
    return std::nullopt;
  std::vector<Elf64_Phdr> headers(header.e_phnum);
  if (!file.read(headers.data(), headers.size() * sizeof(Elf64_Phdr), header.e_phoff))
    return std::nullopt;
  ElfFile elf;
  for (const Elf64_Phdr& segment : headers) {
    if (segment.p_type == PT_LOAD)
      elf.segments.push_back(
          {segment.p_vaddr, segment.p_offset, segment.p_memsz, protection_of(segment.p_flags)});
    if (segment.p_type == PT_INTERP) elf.dynamic_linker = true;
    if (segment.p_type == PT_DYNAMIC) elf.dynamic = true;
    if (segment.p_type == PT_NOTE && elf.build_id.empty() && segment.p_filesz <= kMaxNotes) {
      std::vector<std::uint8_t> notes(segment.p_filesz);
      if (file.read(notes.data(), notes.size(), segment.p_offset))
        elf.build_id = find_build_id(notes);
    }
  }
  return elf;
}

}  // namespace svd
