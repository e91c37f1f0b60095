// SPDX-License-Identifier: Apache-2.0
//
// Where the bytes of code come from, and what recursive descent has found out about each of them.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "cfg/module_file.h"

namespace svd {

// What is known about the byte at an address of code.
enum CodeMark : std::uint8_t {
  kLengthMask = 0x0f,  // of the instruction that begins here; 0: none does
  kLeader = 0x10,      // a basic block begins here
  kFlows = 0x20,       // the instruction does not, or not only, go on to the next
  kRoot = 0x40,        // can be entered otherwise than by the flow inside of the function
};

// A section of a file, or code that the trace has seen (file is null: around it, nothing is known).
struct CodeRegion {
  LoadedBytes code{};
  const ModuleFile* file = nullptr;
  std::vector<std::uint8_t> marks{};  // one for each byte

  std::uint8_t& mark(Address at) { return marks[at - code.begin]; }
  std::uint8_t mark(Address at) const { return marks[at - code.begin]; }
  CodeStep step(Address at) const { return decode_code(code.bytes.subspan(at - code.begin), at); }
};

class CodeMap {
 public:
  // The code of a module; false, and nothing is added, when some of it overlaps what is there.
  bool add(std::unique_ptr<ModuleFile> file);
  // Blocks of the trace. Called once, last. Those that overlap what is there are left out; where
  // two disagree about a byte one of them is believed.
  void add_seen(std::vector<LoadedBytes> blocks);

  std::vector<CodeRegion>& regions() { return regions_; }
  const std::vector<CodeRegion>& regions() const { return regions_; }
  const std::vector<std::unique_ptr<ModuleFile>>& files() const { return files_; }
  CodeRegion* find(Address at);
  const CodeRegion* find(Address at) const { return const_cast<CodeMap*>(this)->find(at); }
  // Whether exactly these bytes are there.
  bool holds(const LoadedBytes& code) const;

 private:
  bool overlaps(const LoadedBytes& code) const;

  std::vector<std::unique_ptr<ModuleFile>> files_;
  std::vector<CodeRegion> regions_;                                  // ascending, disjoint
  std::vector<std::pair<Address, std::vector<std::uint8_t>>> seen_;  // of regions without a file
};

}  // namespace svd
