// SPDX-License-Identifier: Apache-2.0
//
// A trace of a run through chosen instructions of an ELF file, and its control flow.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "cfg/control_flow.h"
#include "cfg/machine_code.h"
#include "decode/effects.h"
#include "support/trace_builder.h"
#include "symbols/elf_file.h"

namespace svd::test {

class Traced {
 public:
  explicit Traced(const std::string& path, std::uint64_t bias = 0) : file_(path) {
    module_.path = path;
    module_.build_id = file_.build_id();
    module_.bias = bias;
    file_.each_section(SHT_PROGBITS, [&](Elf_Scn* section, const GElf_Shdr& header) {
      if ((header.sh_flags & SHF_EXECINSTR) == 0) return;
      Elf_Data* data = elf_rawdata(section, nullptr);
      const auto* bytes = static_cast<const std::uint8_t*>(data->d_buf);
      code_.emplace(header.sh_addr + bias, std::vector<std::uint8_t>(bytes, bytes + data->d_size));
      module_.segments.push_back({.address = Addr(header.sh_addr + bias), .size = data->d_size});
    });
    file_.symbols(SHT_SYMTAB, [&](const char* name, const GElf_Sym& symbol) {
      if (symbol.st_shndx == SHN_UNDEF) return;
      labels_[name] = symbol.st_value + bias;
      if (GELF_ST_TYPE(symbol.st_info) == STT_FUNC) functions_.push_back(symbol.st_value + bias);
    });
  }

  Module& module() { return module_; }
  const std::vector<Address>& functions() const { return functions_; }
  Address at(const std::string& label) const { return labels_.at(label); }
  std::span<const std::uint8_t> bytes(Address at) const {
    auto section = std::prev(code_.upper_bound(at));
    return std::span(section->second).subspan(at - section->first);
  }
  CodeStep step(Address pc) const { return decode_code(bytes(pc), pc); }

  // Executes `instructions`, one after the other.
  Block block(Address at, std::size_t instructions = 1) const {
    Block block;
    for (; instructions > 0; --instructions) {
      CodeStep next = step(at);
      auto code = bytes(at).first(next.length);
      block.instructions.push_back({Pc(at), next.length});
      block.code.insert(block.code.end(), code.begin(), code.end());
      at += next.length;
    }
    return block;
  }
  void run(const Block& block) {
    run_.emplace_back(
        [block](TraceWriter& writer) { writer.exec(writer.add(block), nullptr, nullptr); });
  }
  void run(Address at, std::size_t instructions = 1) { run(block(at, instructions)); }
  void run(const std::string& label, std::size_t instructions = 1) { run(at(label), instructions); }

  void load_again() {
    run_.emplace_back([this](TraceWriter& writer) { writer.add(module_); });
  }
  void event(const EventBody& body) {
    run_.emplace_back([body](TraceWriter& writer) { writer.event(ThreadId(1), body); });
  }

  // Of the run so far. `diagnostics` is what is said of it.
  ControlFlow flow() {
    TempFile file;
    auto writer = into(file)(Process{});
    SVD_CHECK(writer);
    (*writer)->add(module_);
    (*writer)->run(ThreadId(1));
    for (const auto& step : run_) step(**writer);
    SVD_CHECK((*writer)->finish());
    TraceReader trace = open_trace(file);
    return ControlFlow::of(trace, diagnostics);
  }

  Diagnostics diagnostics;

 private:
  ElfFile file_;
  Module module_;
  std::map<Address, std::vector<std::uint8_t>> code_;
  std::map<std::string, Address> labels_;
  std::vector<Address> functions_;
  std::vector<std::function<void(TraceWriter&)>> run_;
};

}  // namespace svd::test
