// SPDX-License-Identifier: Apache-2.0
//
// From addresses to the names that people use, and back: variables and functions from the trace's
// symbols and from the recorded files, where they are still there; else module and offset.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "svd/trace/reader.h"
#include "svd/trace/result.h"
#include "symbols/symbol_table.h"

namespace svd::cli {

// Never empty; may end with the last byte of memory.
struct AddressRange {
  std::uint64_t first = 0;
  std::uint64_t last = 0;
  static AddressRange of(std::uint64_t address, std::uint64_t size) {
    std::uint64_t more = size == 0 ? 0 : size - 1;
    return {address, address + std::min(more, ~address)};
  }
  bool overlaps(const AddressRange& other) const {
    return first <= other.last && other.first <= last;
  }
};

// Reads the trace's tables and the symbol tables of its modules; the reader must outlive it.
class Names {
 public:
  Names(const TraceReader& trace, Diagnostics& diagnostics);
  Names(const Names&) = delete;  // the tables point into it
  Names& operator=(const Names&) = delete;

  // The innermost symbol that covers the address; null when there is none.
  const Symbol* data(Addr address) const { return data_.find(address.value); }
  const Symbol* function(Pc pc) const { return functions_.find(pc.value); }

  const std::vector<const Symbol*>& variables() const { return data_.symbols(); }
  const std::vector<const Symbol*>& functions() const { return functions_.symbols(); }

  // "outcnt", "log_buffer+4:2", "0x7ffe10:8": an access of `size` bytes. The size is left out where
  // it is the variable's.
  std::string access(Addr address, std::uint64_t size) const;
  // "outcnt", "log_buffer+4", "0x7ffe10".
  std::string address(Addr address) const;
  // "append_log+0x1f", "server+0x1a2f", "" where neither is known.
  std::string code(Pc pc) const;
  // "2 worker-1".
  std::string thread(ThreadId id) const;

  // "outcnt", "outcnt+4", "0x4c0018", each with ",SIZE" or without.
  Result<AddressRange> range(std::string_view text) const;

 private:
  const TraceReader& trace_;
  std::vector<Symbol> loaded_;
  SymbolTable data_;
  SymbolTable functions_;
};

}  // namespace svd::cli
