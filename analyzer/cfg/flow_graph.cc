// SPDX-License-Identifier: Apache-2.0

#include "cfg/flow_graph.h"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include "decode/effects.h"

namespace svd {

namespace {

// Functions of libraries that never return although their code does not show it, or is not at hand.
constexpr std::array<std::string_view, 36> kNoReturn{"_Exit",
                                                     "_Unwind_Resume",
                                                     "_ZSt9terminatev",
                                                     "____longjmp_chk",
                                                     "__assert",
                                                     "__assert_fail",
                                                     "__assert_perror_fail",
                                                     "__chk_fail",
                                                     "__cxa_bad_cast",
                                                     "__cxa_bad_typeid",
                                                     "__cxa_call_unexpected",
                                                     "__cxa_pure_virtual",
                                                     "__cxa_rethrow",
                                                     "__cxa_throw",
                                                     "__cxa_throw_bad_array_new_length",
                                                     "__fortify_fail",
                                                     "__libc_fatal",
                                                     "__libc_longjmp",
                                                     "__libc_siglongjmp",
                                                     "__libc_start_main",
                                                     "__longjmp",
                                                     "__longjmp_chk",
                                                     "__stack_chk_fail",
                                                     "__stack_chk_fail_local",
                                                     "_exit",
                                                     "_longjmp",
                                                     "abort",
                                                     "err",
                                                     "errx",
                                                     "exit",
                                                     "longjmp",
                                                     "pthread_exit",
                                                     "quick_exit",
                                                     "siglongjmp",
                                                     "thrd_exit",
                                                     "verrx"};

static_assert(std::is_sorted(kNoReturn.begin(), kNoReturn.end()));

bool never_returns(std::string_view name) {
  return std::binary_search(kNoReturn.begin(), kNoReturn.end(), name) ||
         (name.starts_with("_ZSt") && name.find("__throw_") != std::string_view::npos);
}

bool can_return(const FlowGraph& flow) {
  std::vector<bool> seen(flow.blocks.size() + 1);
  std::vector<std::uint32_t> pending;
  for (std::uint32_t v = 0; v < flow.blocks.size(); ++v)
    if (flow.blocks[v].root) seen[v] = true, pending.push_back(v);
  while (!pending.empty()) {
    std::uint32_t v = pending.back();
    pending.pop_back();
    if (flow.blocks[v].returns) return true;
    for (std::uint32_t to : flow.graph.of(v))
      if (!seen[to] && to != flow.graph.exit()) seen[to] = true, pending.push_back(to);
  }
  return flow.blocks.empty();
}

}  // namespace

class FlowGraphs::Builder {
 public:
  Builder(const FlowGraphs& graphs, std::uint32_t function)
      : graphs_(graphs), discovery_(graphs.discovery_), function_(function) {}

  FlowGraph build() {
    for (std::uint32_t i : graphs_.pieces(function_)) begin_blocks(discovery_.pieces()[i]);
    for (std::uint32_t i : graphs_.pieces(function_)) {
      piece_ = &discovery_.pieces()[i];
      region_ = discovery_.map().find(piece_->range.begin);
      while (block_ < result_.blocks.size() && piece_->contains(result_.blocks[block_].begin)) {
        flow(result_.blocks[block_]);
        ++block_;
        result_.graph.close();
      }
    }
    return std::move(result_);
  }

 private:
  void begin_blocks(const CodePiece& piece) {
    const CodeRegion& region = *discovery_.map().find(piece.range.begin);
    for (Address at = piece.range.begin; at < piece.range.end; ++at) {
      std::uint8_t mark = region.mark(at);
      if ((mark & kLeader) == 0 || (mark & kLengthMask) == 0) continue;
      result_.blocks.push_back({.begin = at, .last = at, .root = (mark & kRoot) != 0});
    }
  }

  // Follows a block to its end.
  void flow(BasicBlock& block) {
    for (Address at = block.begin;;) {
      std::uint8_t mark = region_->mark(at);
      block.last = at;
      Address next = at + (mark & kLengthMask);
      if ((mark & kFlows) != 0 && ends(block, region_->step(at), at, next)) return;
      if (next >= piece_->range.end || (region_->mark(next) & kLeader) != 0)
        return edge(block, next);
      if ((region_->mark(next) & kLengthMask) == 0) return leave(block, true);
      at = next;
    }
  }

  bool ends(BasicBlock& block, const CodeStep& step, Address at, Address next) {
    switch (step.flow) {
      case Flow::kBranch:
        block.branch = true;
        edge(block, step.target);
        edge(block, next);
        return true;
      case Flow::kJump:
        edge(block, step.target);
        return true;
      case Flow::kIndirectJump:
        jump(block, step, at);
        return true;
      case Flow::kReturn:
        leave(block, true);
        return true;
      case Flow::kCall:
      case Flow::kIndirectCall:
        // Nothing can come back to what is not part of the function any more.
        if (!stops(step) && next < piece_->range.end) return false;
        leave(block, false);
        return true;
      default:
        leave(block, false);
        return true;
    }
  }

  void jump(BasicBlock& block, const CodeStep& step, Address at) {
    const auto& targets = discovery_.targets(at);
    block.branch = targets.size() > 1;
    for (Address target : targets) edge(block, target);
    if (targets.empty()) leave(block, !never_returns(import(step)));
  }

  bool stops(const CodeStep& step) {
    if (step.flow == Flow::kIndirectCall) return never_returns(import(step));
    const CodePiece* callee = discovery_.piece(step.target);
    if (callee == nullptr) return false;
    result_.callees.push_back(callee->function);
    return graphs_.noreturn_[callee->function];
  }

  std::string_view import(const CodeStep& step) const {
    bool slot = step.memory && step.base == CodeStep::kRip && region_->file != nullptr;
    return slot ? std::string_view(region_->file->import(step.displacement)) : std::string_view();
  }

  void edge(BasicBlock& block, Address target) {
    const CodePiece* to = piece_->contains(target) ? piece_ : discovery_.piece(target);
    if (to == nullptr) {
      if (region_->file == nullptr) ++result_.unknown_targets;
      return leave(block, true);
    }
    if (to->function != function_) {
      result_.callees.push_back(to->function);
      return leave(block, !graphs_.noreturn_[to->function]);
    }
    auto found = std::lower_bound(
        result_.blocks.begin(), result_.blocks.end(), target,
        [](const BasicBlock& candidate, Address at) { return candidate.begin < at; });
    if (found == result_.blocks.end() || found->begin != target) return leave(block, true);
    result_.graph.successors.push_back(static_cast<std::uint32_t>(found - result_.blocks.begin()));
  }

  void leave(BasicBlock& block, bool returns) {
    block.returns = block.returns || returns;
    result_.graph.successors.push_back(static_cast<std::uint32_t>(result_.blocks.size()));
  }

  const FlowGraphs& graphs_;
  const Discovery& discovery_;
  std::uint32_t function_;
  const CodePiece* piece_ = nullptr;  // of the block at hand, and its region
  const CodeRegion* region_ = nullptr;
  std::size_t block_ = 0;
  FlowGraph result_;
};

FlowGraphs::FlowGraphs(const Discovery& discovery)
    : discovery_(discovery), noreturn_(discovery.function_count()) {
  std::uint32_t count = discovery.function_count();
  const auto& pieces = discovery.pieces();
  pieces_.first.assign(count + 1, 0);
  pieces_.successors.resize(pieces.size());
  for (const CodePiece& piece : pieces) ++pieces_.first[piece.function + 1];
  for (std::uint32_t f = 0; f < count; ++f) pieces_.first[f + 1] += pieces_.first[f];
  std::vector<std::uint32_t> next(pieces_.first.begin(), pieces_.first.end() - 1);
  for (std::uint32_t i = 0; i < pieces.size(); ++i) {
    pieces_.successors[next[pieces[i].function]++] = i;
    // A program's own function may have any name but those that are reserved for libraries.
    if ((pieces[i].stub || pieces[i].name.starts_with('_')) && never_returns(pieces[i].name))
      noreturn_[pieces[i].function] = true;
  }
  infer();
}

FlowGraph FlowGraphs::of(std::uint32_t function) const { return Builder(*this, function).build(); }

FlowGraph FlowGraphs::with_exits(std::uint32_t function) const {
  FlowGraph flow = of(function);
  for (std::uint32_t head : tie_endless(flow.graph)) {
    Address begin = flow.blocks[head].begin;
    flow.blocks.push_back({.begin = begin, .last = begin});
  }
  return flow;
}

// A function that turns out not to return can be the reason for its callers not to return, either.
void FlowGraphs::infer() {
  std::vector<std::pair<std::uint32_t, std::uint32_t>> calls;  // callee, caller
  std::vector<std::uint32_t> changed;
  auto look = [&](std::uint32_t function, bool first) {
    FlowGraph flow = of(function);
    if (first)
      for (std::uint32_t callee : flow.callees) calls.emplace_back(callee, function);
    if (noreturn_[function]) {
      if (first) changed.push_back(function);
    } else if (!can_return(flow)) {
      noreturn_[function] = true;
      changed.push_back(function);
    }
  };
  for (std::uint32_t f = 0; f < discovery_.function_count(); ++f) look(f, true);
  std::sort(calls.begin(), calls.end());
  calls.erase(std::unique(calls.begin(), calls.end()), calls.end());
  while (!changed.empty()) {
    std::pair<std::uint32_t, std::uint32_t> key(changed.back(), 0);
    changed.pop_back();
    auto call = std::lower_bound(calls.begin(), calls.end(), key);
    for (; call != calls.end() && call->first == key.first; ++call)
      if (!noreturn_[call->second]) look(call->second, false);
  }
}

}  // namespace svd
