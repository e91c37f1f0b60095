// SPDX-License-Identifier: Apache-2.0
//
// Recursive descent from all that is known to begin something; then, in pieces whose end is known,
// from what that left over (cases of switches that were not understood); at
// last from what ran. Calls are taken to return: which do not is found out later.

#include "cfg/discovery.h"

#include <algorithm>
#include <utility>

#include "cfg/merge.h"
#include "decode/effects.h"

namespace svd {

namespace {

// Whether `at` lies inside of a known instruction, and none begins there.
bool splits_instruction(const CodeRegion& region, Address at) {
  if ((region.mark(at) & kLengthMask) != 0) return false;
  for (std::uint8_t back = 1; back < kLengthMask; ++back) {
    if (at - back < region.code.begin) break;
    if ((region.mark(at - back) & kLengthMask) > back) return true;
  }
  return false;
}

}  // namespace

Discovery::Discovery(CodeMap& map, const Observations& observations)
    : map_(map), observations_(observations), pieces_(pieces_of_files(map)) {
  add_pieces(map_, observations.entries, pieces_);
  for (const CodePiece& piece : pieces_) enter(piece.range.begin, kLeader | kRoot);
  for (Address entry : observations.entries) enter(entry, kLeader | kRoot);
  for (const auto& file : map_.files()) enter_handlers(*file);
  drain();
  for (std::size_t i = 0; i < pieces_.size(); ++i)
    if (pieces_[i].sized) sweep(CodePiece(pieces_[i]));
  drain();
  enter_executed();
  function_count_ = merge_pieces(*this, observations, pieces_);
}

const std::vector<Address>& Discovery::targets(Address indirect_jump) const {
  static const std::vector<Address> kNothing;
  auto found = targets_.find(indirect_jump);
  return found == targets_.end() ? kNothing : found->second;
}

void Discovery::enter_handlers(const ModuleFile& file) {
  for (const FrameDescription& frame : file.frames()) {
    if (frame.handlers == 0) continue;
    auto table = file.bytes_at(frame.handlers);
    for (Address pad : landing_pads(table, frame.handlers, frame.range.begin))
      enter(pad, kLeader | kRoot);
  }
}

// Has `at` walked, unless it has been.
void Discovery::enter(Address at, unsigned marks) {
  CodeRegion* region = region_;
  if (piece_ == nullptr || !piece_->contains(at)) {
    region = map_.find(at);
    if (region == nullptr) return;
    if (find_piece(pieces_, at) == nullptr) return new_pieces_.push_back(at);
  }
  std::uint8_t& mark = region->mark(at);
  mark = static_cast<std::uint8_t>(mark | marks);
  if ((mark & kLengthMask) == 0) pending_.push_back(at);
}

void Discovery::enter_call(Address target) {
  const CodePiece* piece = find_piece(pieces_, target);
  if (piece != nullptr && piece->range.begin == target) return;
  if (piece != nullptr && piece->sized) return enter(target, kLeader | kRoot);
  if (map_.find(target) != nullptr) new_pieces_.push_back(target);
}

void Discovery::walk(Address at) {
  if (piece_ == nullptr || !piece_->contains(at)) {
    piece_ = find_piece(pieces_, at);
    region_ = map_.find(at);
    if (piece_ == nullptr) return;
  }
  while (at < piece_->range.end) {
    std::uint8_t& mark = region_->mark(at);
    if (mark & kLengthMask) {  // flows into what is known
      mark |= kLeader;
      return;
    }
    CodeStep step = region_->step(at);
    if (step.length == 0) return;
    bool flows = step.flow != Flow::kNext && step.flow != Flow::kSystemCall;
    mark = static_cast<std::uint8_t>(mark | step.length | (flows ? kFlows : 0));
    if (flows) follow(step, at);
    if (step.flow == Flow::kJump || step.flow == Flow::kIndirectJump ||
        step.flow == Flow::kReturn || step.flow == Flow::kTrap)
      return;
    at += step.length;
    if (step.flow == Flow::kBranch && at < piece_->range.end) region_->mark(at) |= kLeader;
  }
}

void Discovery::follow(const CodeStep& step, Address at) {
  if (step.flow == Flow::kJump || step.flow == Flow::kBranch) enter(step.target, kLeader);
  if (step.flow == Flow::kCall) enter_call(step.target);
  if (step.flow == Flow::kIndirectJump) indirect_jumps_.push_back(at);
}

void Discovery::walk_pending() {
  while (!pending_.empty()) {
    Address at = pending_.back();
    pending_.pop_back();
    walk(at);
  }
}

void Discovery::drain() {
  auto take = [](std::vector<Address>& from) {
    Address at = from.back();
    from.pop_back();
    return at;
  };
  for (;;) {
    walk_pending();
    if (!indirect_jumps_.empty()) {
      resolve(take(indirect_jumps_), false);
    } else if (!new_pieces_.empty()) {
      begin_new_pieces();
    } else if (!unsized_jumps_.empty()) {
      resolve(take(unsized_jumps_), true);
    } else {
      return;
    }
  }
}

void Discovery::resolve(Address indirect_jump, bool also_unsized) {
  const CodePiece* piece = find_piece(pieces_, indirect_jump);
  std::vector<Address> targets;
  if (auto seen = observations_.jumps.find(indirect_jump); seen != observations_.jumps.end())
    targets = seen->second;
  JumpTable table = jump_table(*map_.find(indirect_jump), piece->range, indirect_jump);
  if (!table.targets.empty()) tables_.insert(table.address);
  if (!table.sized && !also_unsized) return unsized_jumps_.push_back(indirect_jump);
  if (table.sized) {
    add_sized(table, *piece, targets);
  } else {
    add_unsized(table, targets);
  }
  if (targets.empty()) return;
  std::sort(targets.begin(), targets.end());
  targets.erase(std::unique(targets.begin(), targets.end()), targets.end());
  for (Address target : targets) enter(target, kLeader);
  targets_.emplace(indirect_jump, std::move(targets));
}

// Believed when all of it stays in the piece and in fragments.
void Discovery::add_sized(const JumpTable& table, const CodePiece& piece,
                          std::vector<Address>& targets) const {
  bool believed = std::all_of(table.targets.begin(), table.targets.end(), [&](Address target) {
    const CodePiece* other = find_piece(pieces_, target);
    return other == &piece || (other != nullptr && !other->named && !other->stub);
  });
  if (believed) targets.insert(targets.end(), table.targets.begin(), table.targets.end());
}

// Believed up to the next table, and to what leads into the middle of an instruction; where one
// entry leads to is walked before the next one is looked at.
void Discovery::add_unsized(const JumpTable& table, std::vector<Address>& targets) {
  auto next = tables_.upper_bound(table.address);
  std::size_t limit = table.targets.size();
  if (next != tables_.end())
    limit = std::min<std::size_t>(limit, (*next - table.address) / table.entry_size);
  for (std::size_t i = 0; i < limit; ++i) {
    Address target = table.targets[i];
    if (splits_instruction(*map_.find(target), target)) return;
    targets.push_back(target);
    enter(target, kLeader);
    walk_pending();
  }
}

void Discovery::begin_new_pieces() {
  std::vector<Address> starts = std::exchange(new_pieces_, {});
  std::sort(starts.begin(), starts.end());
  starts.erase(std::unique(starts.begin(), starts.end()), starts.end());
  add_pieces(map_, starts, pieces_);
  piece_ = nullptr;
  for (Address start : starts) enter(start, kLeader | kRoot);
}

void Discovery::sweep(const CodePiece& piece) {
  const CodeRegion* region = map_.find(piece.range.begin);
  for (Address at = piece.range.begin; at < piece.range.end;) {
    if (std::uint8_t known = region->mark(at) & kLengthMask; known != 0) {
      at += known;
      continue;
    }
    CodeStep step = region->step(at);
    if (step.length == 0) return;
    if (is_padding(step)) {
      at += step.length;
    } else {
      enter(at, kLeader | kRoot);
      drain();
    }
  }
}

void Discovery::enter_executed() {
  for (Address at : observations_.executed) {
    const CodeRegion* region = map_.find(at);
    if (region == nullptr) continue;
    bool known = (region->mark(at) & kLengthMask) != 0;
    enter(at, known ? kLeader : kLeader | kRoot);
    if (!known) drain();
  }
}

}  // namespace svd
