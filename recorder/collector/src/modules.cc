// SPDX-License-Identifier: Apache-2.0

#include "modules.h"

#include <sys/mman.h>

#include <algorithm>

#include "elf_file.h"

namespace svd {
namespace {

constexpr std::uint64_t kPage = 4096;
constexpr std::string_view kPreload = "/vgpreload_svd-amd64-linux.so";

// Bytes from the file's addresses to where this piece of it is; 0 when no segment fits.
std::uint64_t bias_of(const ElfFile& elf, std::uint64_t address, std::uint64_t offset) {
  for (const ElfSegment& segment : elf.segments) {
    std::uint64_t first = segment.file_offset & ~(kPage - 1);
    if ((segment.protection & PROT_EXEC) != 0 && offset >= first &&
        offset < segment.file_offset + segment.memory_size)
      return address - offset + segment.file_offset - segment.address;
  }
  return 0;
}

}  // namespace

void Modules::map(ThreadId thread, std::uint64_t address, std::uint64_t size, std::uint64_t offset,
                  std::uint32_t protection, const std::string& path) {
  unmap(thread, address, size);  // what was there is gone
  if (path.empty() || (protection & PROT_EXEC) == 0) return;
  Module module;
  module.path = path;
  if (auto elf = read_elf(path)) {
    module.build_id = elf->build_id;
    module.bias = bias_of(*elf, address, offset);
    for (const ElfSegment& segment : elf->segments)
      module.segments.push_back({Addr(segment.address + module.bias), segment.memory_size,
                                 segment.file_offset, segment.protection});
  } else {
    module.bias = address - offset;
    module.segments.push_back({Addr(address), size, offset, protection});
  }
  bool known = std::any_of(loaded_.begin(), loaded_.end(), [&module](const Loaded& other) {
    return other.bias == module.bias && other.path == module.path;
  });
  if (known) return;
  if (path.ends_with(kPreload)) {
    preload_ = address;
    preload_size_ = size;
  }
  ModuleId id = feed_.add(module);
  loaded_.push_back({id, path, module.bias, address, size});
  feed_.event(thread, ModuleLoad{id});
}

void Modules::unmap(ThreadId thread, std::uint64_t address, std::uint64_t size) {
  for (auto module = loaded_.begin(); module != loaded_.end();) {
    bool gone = address <= module->address && module->address + module->size <= address + size;
    if (gone) feed_.event(thread, ModuleUnload{module->id});
    module = gone ? loaded_.erase(module) : module + 1;
  }
}

}  // namespace svd
