// SPDX-License-Identifier: Apache-2.0
//
// Tables first, then chunk by chunk; each chunk is flushed, so that a full disk ends the copy at
// once.

#include "svd/trace/copy.h"

#include <map>
#include <set>
#include <string_view>
#include <variant>
#include <vector>

namespace svd {
namespace {

class Copier {
 public:
  Copier(const TraceReader& from, TraceWriter& to, const CopyFilter& filter)
      : from_(from), to_(to), filter_(filter) {
    if (!from.threads().empty()) thread_ = from.threads().front().id;
    // An edge without steps says what was dropped; where it is missing, that is said here.
    bool has_edge = !from.chunks().empty() && from.chunks().front().steps == 0;
    if (has_edge) expected_ = from.first_seq();
  }

  void tables() {
    for (const Module& module : from_.modules()) to_.add(module);
    for (const Symbol& symbol : from_.symbols()) to_.add(symbol);
    for (const Stack& stack : from_.stacks()) to_.add(stack);
    for (const Statement& statement : from_.statements()) to_.add(statement);
    for (const Block& block : from_.blocks()) {
      if (block.size() > 0) {
        to_.add(block);
        continue;
      }
      Block placeholder;
      placeholder.instructions.emplace_back();
      to_.add(placeholder);
      ++loss_.blocks;
    }
  }

  Status chunk(std::size_t index) {
    const ChunkInfo& info = from_.chunks()[index];
    if (info.first_seq > expected_) gap("lost chunk", info.first_seq - expected_, 0);
    expected_ = info.end_seq();
    if (auto decoded = from_.decode(index, chunk_); decoded) {
      chunk_.walk(*this);
    } else {
      ++loss_.chunks;
      loss_.bytes += info.bytes;
      loss_.events += info.events;
      gap("damaged chunk", info.steps, info.accesses);
    }
    return to_.flush();
  }

  void end() {
    if (!ended_) tell_left_out();
    if (ended_ || from_.finished()) return;
    loss_.end = true;
    gap("the end of the trace is missing", 0, 0);
  }

  const CopyLoss& loss() const { return loss_; }

  void exec(const Exec& exec) {
    const Part& part = exec.shape->part;
    if (filter_.exec && !filter_.exec(exec)) {
      left_out_[exec.thread] += part.steps();
      out_.insert(exec.thread);
      return;
    }
    tell_left_out();
    out_.erase(exec.thread);
    logged_.clear();
    values_.clear();
    const std::uint64_t* length = exec.lengths;
    for (std::uint32_t i = 0; i < exec.shape->accesses; ++i) {
      const Slot& slot = exec.block().slots[part.first_slot + i];
      if (is_logged(slot, part)) logged_.push_back(exec.addresses[i]);
      if (slot.is_range()) logged_.push_back(*length++);
      if (exec.values != nullptr && slot.has_value()) values_.push_back(exec.values[i]);
    }
    thread_ = exec.thread;
    to_.run(exec.thread);
    to_.exec(exec.shape->id, part, logged_.data(),
             exec.values == nullptr ? nullptr : values_.data());
  }

  void event(const Event& event) {
    bool end = std::holds_alternative<ProcessEnd>(event.body);
    ended_ = ended_ || end;
    if (end) tell_left_out();
    if (out_.count(event.thread) != 0 && belongs_to_code(event.body)) return;
    to_.event(event.thread, event.body);
  }

 private:
  static bool belongs_to_code(const EventBody& body) {
    const auto* signal = std::get_if<Signal>(&body);
    const auto* transfer = std::get_if<Transfer>(&body);
    if (transfer != nullptr)
      return transfer->address.value != 0;  // a file that is cut is so for all
    return (signal != nullptr && !signal->fatal) || std::holds_alternative<SignalReturn>(body) ||
           std::holds_alternative<SyscallEnter>(body) ||
           std::holds_alternative<SyscallExit>(body) || std::holds_alternative<KernelAccess>(body);
  }

  void tell_left_out() {
    for (auto [thread, instructions] : left_out_)
      to_.event(thread, Gap{filter_.reason, instructions, 0, GapCause::kLeftOut});
    left_out_.clear();
  }

  void gap(std::string_view reason, std::uint64_t instructions, std::uint64_t accesses) {
    loss_.instructions += instructions;
    loss_.accesses += accesses;
    to_.event(thread_, Gap{reason, instructions, accesses});
  }

  const TraceReader& from_;
  TraceWriter& to_;
  const CopyFilter& filter_;
  CopyLoss loss_;
  Chunk chunk_;
  Seq expected_;
  ThreadId thread_{1};  // the last one that ran
  bool ended_ = false;
  std::map<ThreadId, std::uint64_t> left_out_;  // instructions, since the last that was kept
  std::set<ThreadId> out_;                      // what they did last was left out
  std::vector<std::uint64_t> logged_;
  std::vector<std::uint64_t> values_;
};

}  // namespace

Result<CopyLoss> copy_trace(const TraceReader& from, TraceWriter& to,
                            const ProgressFunction& progress, const CopyFilter& filter) {
  Copier copier(from, to, filter);
  copier.tables();
  for (std::size_t i = 0; i < from.chunks().size(); ++i) {
    if (auto copied = copier.chunk(i); !copied) return copied.error();
    progress(from.chunks()[i].end_seq() - from.first_seq());
  }
  copier.end();
  return copier.loss();
}

}  // namespace svd
