// SPDX-License-Identifier: Apache-2.0
//
// The walk through the chunks that can hold something selected, and the search backward for where
// the last ones begin.

#include "analyze/listing.h"

#include <algorithm>
#include <vector>

namespace svd::cli {
namespace {

// Takes executions apart into steps and passes on what matches, after the first `skip`, until there
// were `left`.
class Visitor {
 public:
  Visitor(const Matcher& matcher, bool has_addresses, std::uint64_t skip, std::uint64_t left,
          Listing& listing)
      : matcher_(matcher),
        has_addresses_(has_addresses),
        skip_(skip),
        left_(left),
        listing_(listing) {}

  std::uint64_t shown() const { return shown_; }

  void exec(const Exec& exec) {
    if (left_ == 0 || !matcher_.may_match(exec)) return;
    accesses_.clear();
    if (has_addresses_)
      exec.accesses([this](const MemoryAccess& access) { accesses_.push_back(access); });
    const MemoryAccess* next = accesses_.data();
    const MemoryAccess* last = next + accesses_.size();
    for (std::uint32_t i = 0; i < exec.shape->part.steps() && left_ > 0; ++i) {
      Seq seq = exec.seq + i;
      const MemoryAccess* end =
          std::find_if(next, last, [seq](const MemoryAccess& access) { return access.seq > seq; });
      Step step{seq,
                exec.thread,
                &exec.block(),
                static_cast<std::uint16_t>(exec.shape->part.first + i),
                {next, end}};
      next = end;
      if (matches(step) && take()) listing_.step(step);
    }
  }

  void event(const Event& event) {
    if (left_ > 0 && matcher_.matches(event) && take()) listing_.event(event);
  }

 private:
  bool matches(const Step& step) const {
    if (!matcher_.matches(step.seq)) return false;
    if (matcher_.by_function() && !matcher_.in_function(*step.block, step.instruction))
      return false;
    auto touches = [this](const MemoryAccess& access) { return matcher_.matches(access); };
    return !matcher_.by_address() ||
           std::any_of(step.accesses.begin(), step.accesses.end(), touches);
  }

  bool take() {
    if (skip_ > 0) {
      --skip_;
      return false;
    }
    --left_;
    ++shown_;
    return true;
  }

  const Matcher& matcher_;
  bool has_addresses_;
  std::uint64_t skip_;
  std::uint64_t left_;
  std::uint64_t shown_ = 0;
  Listing& listing_;
  std::vector<MemoryAccess> accesses_;  // of the execution at hand
};

std::uint64_t visit(const Matcher& matcher, Seq first, const Chunk& chunk, std::uint64_t skip,
                    std::uint64_t limit, Listing& listing) {
  Visitor visitor(matcher, chunk.has_addresses, skip, limit, listing);
  chunk.walk_from(first, visitor);
  return visitor.shown();
}

class Nothing : public Listing {
  void step(const Step&) override {}
  void event(const Event&) override {}
};

// Where the last `tail` begin: a chunk, and how many of its matches come before them.
struct Beginning {
  std::size_t chunk = 0;
  std::uint64_t skip = 0;
};

Beginning find_tail(const TraceReader& trace, const Matcher& matcher, Seq first, std::uint64_t tail,
                    Chunk& chunk) {
  Nothing nothing;
  for (std::size_t i = trace.chunks().size(); i-- > 0;) {
    auto decoded = matcher.decode(i, chunk);
    if (!decoded || !*decoded) continue;  // the walk forward tells the error
    std::uint64_t here =
        visit(matcher, first, chunk, 0, std::numeric_limits<std::uint64_t>::max(), nothing);
    if (here >= tail) return {i, here - tail};
    tail -= here;
  }
  return {};
}

}  // namespace

void list(const TraceReader& trace, const Selection& selection, const Bounds& bounds,
          Listing& listing, Diagnostics& diagnostics, const std::function<bool(Seq)>& at) {
  Matcher matcher(trace, selection);
  Chunk chunk;
  Beginning begin;
  if (bounds.tail != Bounds().tail)
    begin = find_tail(trace, matcher, selection.first, bounds.tail, chunk);
  std::uint64_t left = bounds.limit;
  for (std::size_t i = begin.chunk; i < trace.chunks().size() && left > 0; ++i) {
    auto decoded = matcher.decode(i, chunk);
    if (!decoded) {
      add_lost_chunk(diagnostics, trace.chunks()[i], decoded.error());
      continue;
    }
    if (*decoded)
      left -=
          visit(matcher, selection.first, chunk, i == begin.chunk ? begin.skip : 0, left, listing);
    if (!at(trace.chunks()[i].end_seq())) return;
  }
}

}  // namespace svd::cli
