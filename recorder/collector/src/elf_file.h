// SPDX-License-Identifier: Apache-2.0
//
// What a module needs to be known by: build-id and loadable segments of an ELF file, read from its
// headers. Any file may be given; damaged ones are just not ELF files.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace svd {

struct ElfSegment {
  std::uint64_t address = 0;
  std::uint64_t file_offset = 0;
  std::uint64_t memory_size = 0;
  std::uint32_t protection = 0;  // PROT_*
};

struct ElfFile {
  std::vector<ElfSegment> segments;  // that are loaded
  std::vector<std::uint8_t> build_id;
  bool dynamic_linker = false;  // it asks for one: not statically linked
  bool dynamic = false;         // it has a dynamic section
};

std::optional<ElfFile> read_elf(const std::string& path);

}  // namespace svd
