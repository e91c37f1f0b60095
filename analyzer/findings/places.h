// SPDX-License-Identifier: Apache-2.0
//
// Names for addresses, as findings and rules need them.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "detectors/code_names.h"
#include "findings/finding.h"
#include "svd/trace/reader.h"
#include "symbols/source_map.h"

namespace svd {

class Places : public CodeNames {
 public:
  // Both must outlive it.
  Places(const TraceReader& trace, Diagnostics& diagnostics)
      : trace_(trace), map_(trace, diagnostics) {}

  CodeName code(Pc pc) override;
  std::vector<std::string_view> functions(Pc pc) override;
  std::vector<Variable> variables() override { return map_.variables(); }
  // "stats.hits", "table+8", "" where nothing is known.
  std::string variable(Addr address, std::uint64_t size) override {
    return map_.variable_at(address, size);
  }
  // For a message when there is none: the one that may have been meant, or "".
  std::string_view variable_like(std::string_view name) { return map_.variable_like(name); }
  std::string operand(Pc pc) override { return map_.operand_name(pc); }
  // In the innermost function that is not from a header of the system.
  CodePlace place(Pc pc);
  // In each of the functions that were inlined there, the innermost first, and in the real one.
  std::vector<StackFrame> frames(Pc pc);
  CodePlace place(StatementId statement);
  // The variable, or the address.
  std::string lock(Addr address);

 private:
  CodePlace place(Pc pc, const Frame& frame);

  const TraceReader& trace_;
  SourceMap map_;
};

}  // namespace svd
