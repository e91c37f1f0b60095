// SPDX-License-Identifier: Apache-2.0
//
// A walk back along the thread to the beginning of the chunk; of what is left there the index knows
// the writer. What was saved at a place is looked for in the chunks that can have written there.
#include "slicer/queries/register_writers.h"

#include <algorithm>

namespace svd {
namespace {

class Search {
 public:
  Search(const RunView& run, ThreadId thread, Seq before, const std::vector<Cell>& cells)
      : code_(run.code()), control_(run.control()), thread_(thread), before_(before) {
    for (Cell cell : cells) seeks_.push_back({.cell = cell});
  }

  bool done() const {
    return std::all_of(seeks_.begin(), seeks_.end(), [](const Seek& s) { return s.done; });
  }

  // Whether the thread does something in the chunk that can say more.
  bool may_be_in(const RunIndex& index, std::size_t chunk) const {
    if (index.register_writers(chunk, thread_).empty()) return false;
    return std::any_of(seeks_.begin(), seeks_.end(), [&](const Seek& seek) {
      return !seek.done && (!seek.saved_at || index.may_change(chunk, {*seek.saved_at, 1}));
    });
  }

  // The chunk has been walked.
  void at_beginning(const RunIndex& index, std::size_t chunk) {
    auto writers = index.register_writers(chunk, thread_);
    if (writers.empty()) return;
    for (Seek& seek : seeks_) {
      if (seek.done || seek.saved_at) continue;
      seek.done = true;
      if (writers[seek.cell] != kNoParent) seek.writer = writers[seek.cell];
    }
  }

  void event(const Event& event) {
    const auto* create = std::get_if<ThreadCreate>(&event.body);
    if (create != nullptr && create->child == thread_ && event.seq <= before_)
      thread_ = event.thread;
  }

  void exec(const Exec& exec) {
    if (exec.thread != thread_ || exec.seq >= before_ || done()) return;
    const Part& part = exec.shape->part;
    const std::vector<Step>& steps = code_.block(exec.shape->id).steps;
    if (part.end > steps.size()) return;
    for (std::uint16_t i = part.end; i-- > part.first;) {
      Seq seq = exec.seq + static_cast<std::uint64_t>(i - part.first);
      if (seq < before_ && !control_.faulted(seq)) step(exec, steps[i], seq);
    }
  }

  std::vector<std::optional<Seq>> take() const {
    std::vector<std::optional<Seq>> all;
    for (const Seek& seek : seeks_) all.push_back(seek.writer);
    return all;
  }

 private:
  struct Seek {
    Cell cell = 0;
    std::optional<Addr> saved_at{};  // what is looked for was saved there
    bool done = false;
    std::optional<Seq> writer{};
  };

  void step(const Exec& exec, const Step& step, Seq seq) {
    if (step.saves)
      for (Seek& seek : seeks_)
        if (seek.saved_at && seek.saved_at == place_of(exec, step)) seek.saved_at.reset();
    for (CellDef def : code_.defs(step)) {
      for (Seek& seek : seeks_) {
        if (seek.done || seek.saved_at || seek.cell != def.cell) continue;
        if (!def.stack && step.restores && code_.reg_of(def.cell) == step.saved) {
          seek.saved_at = place_of(exec, step);
          continue;
        }
        seek.done = true;
        if (!def.stack) seek.writer = seq;
      }
    }
  }

  // Of a save or a restore, which have one access.
  static Addr place_of(const Exec& exec, const Step& step) {
    const Part& part = exec.shape->part;
    if (step.first_slot < part.first_slot || step.end_slot > part.end_slot) return kAbsent;
    return Addr(exec.addresses[step.first_slot - part.first_slot]);
  }

  const CodeTable& code_;
  const ControlIndex& control_;
  ThreadId thread_;
  Seq before_;
  std::vector<Seek> seeks_;
};

}  // namespace

std::vector<std::optional<Seq>> register_writers(RunView& run, ThreadId thread, Seq before,
                                                 const std::vector<Cell>& cells) {
  Search search(run, thread, before, cells);
  for (std::size_t i = run.last_chunk_at(before) + 1; i-- > 0 && !search.done();) {
    if (!search.may_be_in(run.index(), i)) continue;
    if (auto chunk = run.chunk(i)) chunk->walk_back(search);
    search.at_beginning(run.index(), i);
  }
  return search.take();
}

}  // namespace svd
