// SPDX-License-Identifier: Apache-2.0

#include "cfg/merge.h"

#include <algorithm>
#include <numeric>

#include "decode/effects.h"

namespace svd {

namespace {

class Merger {
 public:
  Merger(const Discovery& discovery, std::vector<CodePiece>& pieces)
      : discovery_(discovery), pieces_(pieces), parent_(pieces.size()) {
    std::iota(parent_.begin(), parent_.end(), 0U);
  }

  void read() {
    for (std::uint32_t i = 0; i < pieces_.size(); ++i) read(i);
  }

  void call(Address target) {
    std::uint32_t to = index(target);
    if (to != kNone && pieces_[to].range.begin == target) pieces_[to].called = true;
  }

  std::uint32_t merge() {
    for (const Jump& jump : to_beginnings_)
      if (pieces_[jump.to].cold) join(jump.from, jump.to);
    std::sort(to_beginnings_.begin(), to_beginnings_.end(),
              [](const Jump& a, const Jump& b) { return a.to < b.to; });
    for (auto first = to_beginnings_.begin(); first != to_beginnings_.end();) {
      auto last = std::find_if(first, to_beginnings_.end(),
                               [&](const Jump& jump) { return jump.to != first->to; });
      const CodePiece& piece = pieces_[first->to];
      bool conditional = std::any_of(first, last, [](const Jump& j) { return j.conditional; });
      bool one = std::all_of(first, last,
                             [&](const Jump& j) { return root(j.from) == root(first->from); });
      if (conditional && one && !piece.named && !piece.called && !piece.stub)
        join(first->from, first->to);
      first = last;
    }
    return number();
  }

 private:
  static constexpr std::uint32_t kNone = ~0U;
  struct Jump {
    std::uint32_t from = 0;
    std::uint32_t to = 0;
    bool conditional = false;
  };

  std::uint32_t index(Address at) const {
    const CodePiece* piece = find_piece(pieces_, at);
    return piece == nullptr ? kNone : static_cast<std::uint32_t>(piece - pieces_.data());
  }

  // All jumps and calls of a piece, and where it runs over its end.
  void read(std::uint32_t from) {
    const CodeRange& range = pieces_[from].range;
    const CodeRegion& region = *discovery_.map().find(range.begin);
    for (Address at = range.begin; at < range.end; ++at) {
      std::uint8_t mark = region.mark(at);
      std::uint8_t length = mark & kLengthMask;
      if (length == 0) continue;
      Flow flow = Flow::kNext;
      if (mark & kFlows) {
        CodeStep step = region.step(at);
        flow = step.flow;
        if (flow == Flow::kCall) call(step.target);
        if (flow == Flow::kJump || flow == Flow::kBranch)
          jump(from, step.target, flow == Flow::kBranch);
        if (flow == Flow::kIndirectJump)
          for (Address target : discovery_.targets(at)) jump(from, target, false);
      }
      if (at + length >= range.end && (flow == Flow::kNext || flow == Flow::kBranch))
        jump(from, at + length, false);
    }
  }

  void jump(std::uint32_t from, Address target, bool conditional) {
    if (pieces_[from].contains(target)) return;
    std::uint32_t to = index(target);
    if (to == kNone) return;
    if (pieces_[to].range.begin == target) {
      to_beginnings_.push_back({from, to, conditional});
    } else if (!pieces_[to].stub && !pieces_[from].stub) {
      join(from, to);
    }
  }

  std::uint32_t root(std::uint32_t i) {
    while (parent_[i] != i) i = parent_[i] = parent_[parent_[i]];
    return i;
  }

  void join(std::uint32_t a, std::uint32_t b) { parent_[root(b)] = root(a); }

  std::uint32_t number() {
    constexpr std::uint32_t kUnnumbered = ~0U;
    std::vector<std::uint32_t> numbers(pieces_.size(), kUnnumbered);
    std::uint32_t count = 0;
    for (std::uint32_t i = 0; i < pieces_.size(); ++i) {
      std::uint32_t& number = numbers[root(i)];
      if (number == kUnnumbered) number = count++;
      pieces_[i].function = number;
    }
    return count;
  }

  const Discovery& discovery_;
  std::vector<CodePiece>& pieces_;
  std::vector<std::uint32_t> parent_;
  std::vector<Jump> to_beginnings_;
};

}  // namespace

std::uint32_t merge_pieces(const Discovery& discovery, const Observations& observations,
                           std::vector<CodePiece>& pieces) {
  Merger merger(discovery, pieces);
  merger.read();
  for (Address entry : observations.entries) merger.call(entry);
  return merger.merge();
}

}  // namespace svd
