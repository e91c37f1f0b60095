// SPDX-License-Identifier: Apache-2.0
//
// What the ELF file of a module says about its code, at run-time addresses: the sections, what
// begins a function, which external function a stub or pointer of the linker's stands for.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "cfg/eh_frame.h"
#include "svd/trace/process.h"
#include "symbols/elf_file.h"

namespace svd {

// Bytes that are loaded at `begin`.
struct LoadedBytes {
  Address begin = 0;
  std::span<const std::uint8_t> bytes{};
  std::uint64_t stub_size = 0;  // of each entry, in a section of linkage stubs (.plt)

  Address end() const { return begin + bytes.size(); }
  bool contains(Address at) const { return at >= begin && at < end(); }
};

struct FunctionSymbol {
  CodeRange range{};  // empty where the symbol has no size
  std::string name{};
  bool exported = false;
};

class ModuleFile {
 public:
  // Null when the file cannot be read, is of another build, or has no sections of code.
  static std::unique_ptr<ModuleFile> open(const Module& module);

  // The sections, not the segments: an executable segment can also hold tables.
  const std::vector<LoadedBytes>& code() const { return code_; }
  const std::vector<FunctionSymbol>& functions() const { return functions_; }
  const std::vector<FrameDescription>& frames() const { return frames_; }

  // Bytes of any loaded section from `at` to its end.
  std::span<const std::uint8_t> bytes_at(Address at) const;
  // The pointer into the module itself that stands at `at` when it is loaded.
  std::optional<Address> pointer_at(Address at) const;
  // The function whose address the dynamic linker puts at `at`; empty: none, or without a name.
  const std::string& import(Address at) const;

 private:
  ModuleFile(ModuleFiles files, std::uint64_t bias) : files_(std::move(files)), bias_(bias) {}
  void read_sections();
  void read_relocations();
  bool read_symbols(const ElfFile& file, std::uint32_t type);

  ModuleFiles files_;
  std::uint64_t bias_;
  std::vector<LoadedBytes> code_;
  std::vector<LoadedBytes> sections_;  // all that are loaded from the file, code among them
  std::vector<FunctionSymbol> functions_;
  std::vector<FrameDescription> frames_;
  std::unordered_map<Address, std::string> imports_;
  std::vector<std::pair<Address, Address>> relocated_;  // where and to what, ascending
};

}  // namespace svd
