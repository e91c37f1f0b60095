// SPDX-License-Identifier: Apache-2.0
//
// The part of a trace that someone wants to see, as a condition on executions, steps and events.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "analyze/names.h"
#include "svd/trace/chunk.h"
#include "svd/trace/reader.h"
#include "svd/trace/result.h"

namespace svd::cli {

// As the user wrote it; what is empty selects everything.
struct SelectionText {
  std::string seq;      // "A..B", "A..", "..B", "A"
  std::string threads;  // "1,worker-2"
  std::string address;  // see Names::range
  std::string function;
  bool empty() const {
    return seq.empty() && threads.empty() && address.empty() && function.empty();
  }
};

// All conditions hold together. An event belongs to an address or a function when one of its fields
// does.
struct Selection {
  Seq first;
  Seq last{std::numeric_limits<std::uint64_t>::max() - 1};
  std::vector<ThreadId> threads;
  std::optional<AddressRange> address;
  std::string function;
  std::vector<AddressRange> function_code;  // from symbols

  static Result<Selection> parse(const SelectionText& text, const TraceReader& trace,
                                 const Names& names);
};

// Answers for one trace whether something is selected. Holds on to both; const methods are cheap.
class Matcher {
 public:
  Matcher(const TraceReader& trace, const Selection& selection);

  // Decodes what of the chunk can match; false when the index says that nothing can.
  Result<bool> decode(std::size_t index, Chunk& chunk) const;

  bool matches(Seq seq) const { return seq >= selection_.first && seq <= selection_.last; }
  bool matches(ThreadId thread) const;
  bool matches(const MemoryAccess& access) const {
    return selection_.address->overlaps(AddressRange::of(access.address.value, access.size));
  }
  bool by_address() const { return selection_.address.has_value(); }
  bool by_function() const { return !selection_.function.empty(); }
  // Whether instruction `i` of the block lies in the selected function.
  bool in_function(const Block& block, std::size_t i) const;
  // Whether a step of it may match, by thread and code.
  bool may_match(const Exec& exec) const;
  // Whether one does.
  bool matches(const Exec& exec) const;
  // Events at both borders of a range of instructions belong to it.
  bool matches(const Event& event) const;

 private:
  const TraceReader& trace_;
  const Selection& selection_;
  std::vector<bool> block_matches_;  // by block; empty without a function
};

}  // namespace svd::cli
