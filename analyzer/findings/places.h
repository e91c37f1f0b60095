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
  // In the innermost function that is not from a header of the system.
  CodePlace place(Pc pc);
  // In each of the functions that were inlined there, the innermost first, and in the real one.
  std::vector<StackFrame> frames(Pc pc);
  CodePlace place(StatementId statement);
  // "buf->outcnt", "table+8", "" where nothing is known.
  std::string variable(Addr address, std::uint64_t size) { return map_.variable_at(address, size); }
  // The same, or the address.
  std::string lock(Addr address);

 private:
  CodePlace place(Pc pc, const Frame& frame);

  const TraceReader& trace_;
  SourceMap map_;
};

}  // namespace svd
