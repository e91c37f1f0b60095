// SPDX-License-Identifier: Apache-2.0
//
// Names for addresses, as findings and rules need them.
#pragma once

#include <string>
#include <vector>

#include "detectors/code_names.h"
#include "findings/finding.h"
#include "svd/trace/reader.h"

namespace svd {

class Places : public CodeNames {
 public:
  Places(const TraceReader& trace, Diagnostics& diagnostics);

  CodeName code(Pc pc) override;
  CodePlace place(Pc pc);
  CodePlace place(StatementId statement);
  // "buf->outcnt", "table+8", "" where nothing is known.
  std::string variable(Addr address, std::uint64_t size);
  // The same, or the address.
  std::string lock(Addr address);

 private:
  const Symbol* find(const std::vector<const Symbol*>& table, std::uint64_t address) const;

  const TraceReader& trace_;
  std::vector<Symbol> loaded_;
  std::vector<const Symbol*> functions_, data_;
};

}  // namespace svd
