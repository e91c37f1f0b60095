// SPDX-License-Identifier: Apache-2.0

#include "cfg/observe.h"

#include <algorithm>
#include <set>
#include <unordered_map>
#include <utility>
#include <variant>

#include "decode/effects.h"

namespace svd {

namespace {

// The flow of the last instruction of a block.
Flow last_flow(const Block& block) {
  if (block.instructions.empty()) return Flow::kNext;
  const Instruction& last = block.instructions.back();
  if (last.length > block.code.size()) return Flow::kNext;
  return decode_code(std::span(block.code).last(last.length), last.pc.value).flow;
}

class Observer {
 public:
  explicit Observer(const TraceReader& trace)
      : blocks_(trace.blocks()), last_seen_(blocks_.size(), kNothing) {
    for (const Block& block : blocks_) {
      Flow flow = last_flow(block);
      indirect_.push_back(flow == Flow::kIndirectJump || flow == Flow::kIndirectCall);
      for (const LoadedBytes& piece : straight_pieces(block))
        result_.executed.push_back(piece.begin);
    }
  }

  static constexpr Columns kColumns{
      .addresses = false,
      .values = false,
      .events = EventKinds::of<Signal, SignalReturn, ThreadCreate, Gap>()};

  void chunk(const Chunk& chunk) {
    shapes_.clear();
    for (const Shape& shape : chunk.shapes) shapes_.push_back(seen(shape));
    std::uint32_t exec = 0;
    auto run = chunk.runs.begin();
    auto until = [&](std::uint32_t end) {
      while (exec < end) {
        while (run->first_exec + run->exec_count <= exec) ++run;
        std::uint32_t stop = std::min(end, run->first_exec + run->exec_count);
        pass(of(run->thread), std::span(chunk.execs).subspan(exec, stop - exec));
        exec = stop;
      }
    };
    for (const Event& event : chunk.events) {
      until(event.exec);
      this->event(event);
    }
    until(static_cast<std::uint32_t>(chunk.execs.size()));
  }

  Observations finish() {
    for (auto [from, to] : seen_) {
      const Block& block = blocks_[from];
      bool call = last_flow(block) == Flow::kIndirectCall;
      auto& targets = call ? result_.entries : result_.jumps[block.instructions.back().pc.value];
      targets.push_back(blocks_[to].instructions.front().pc.value);
    }
    for (auto& [jump, targets] : result_.jumps) unique(targets);
    unique(result_.entries);
    unique(result_.executed);
    return std::move(result_);
  }

 private:
  static constexpr std::uint32_t kNothing = ~0U;
  struct Thread {
    std::uint32_t from = kNothing;           // the block that went somewhere last
    std::vector<std::uint32_t> interrupted;  // those of before each signal
  };

  // What an execution of a shape is here.
  struct Seen {
    std::uint32_t id = 0;
    bool begins = false;            // at the block's beginning, of machine code
    std::uint32_t from = kNothing;  // the block, when it goes somewhere at its end
  };

  Seen seen(const Shape& shape) const {
    const Block& block = *shape.block;
    std::uint32_t id = shape.id.value;
    bool begins = shape.part.first == 0 && !block.abstract() && !block.instructions.empty();
    return {id, begins, shape.part.end == block.size() && indirect_[id] ? id : kNothing};
  }

  // Consecutive executions of one thread.
  void pass(Thread& thread, std::span<const std::uint32_t> execs) {
    std::uint32_t from = thread.from;
    for (std::uint32_t shape : execs) {
      const Seen& seen = shapes_[shape];
      if (from != kNothing && seen.begins) transition(from, seen.id);
      from = seen.from;
    }
    thread.from = from;
  }

  void event(const Event& event) {
    if (const auto* signal = std::get_if<Signal>(&event.body)) {
      Thread& thread = of(event.thread);
      if (signal->handler.value != 0) thread.interrupted.push_back(thread.from);
      thread.from = kNothing;
      entry(signal->handler);
    } else if (std::holds_alternative<SignalReturn>(event.body)) {
      Thread& thread = of(event.thread);
      if (thread.interrupted.empty()) return;
      thread.from = thread.interrupted.back();
      thread.interrupted.pop_back();
    } else if (const auto* create = std::get_if<ThreadCreate>(&event.body)) {
      entry(create->routine);
    } else if (const auto* gap = std::get_if<Gap>(&event.body)) {
      if (gap->cause == GapCause::kLeftOut)
        of(event.thread) = {};
      else
        for (auto& [id, thread] : threads_) thread = {};
    }
  }

  Thread& of(ThreadId id) {
    if (last_ == nullptr || last_id_ != id) last_ = &threads_[id], last_id_ = id;
    return *last_;
  }

  void transition(std::uint32_t from, std::uint32_t to) {
    if (last_seen_[from] == to) return;
    last_seen_[from] = to;
    seen_.emplace(from, to);
  }

  void entry(Pc pc) {
    if (pc.value != 0) result_.entries.push_back(pc.value);
  }

  static void unique(std::vector<Address>& all) {
    std::sort(all.begin(), all.end());
    all.erase(std::unique(all.begin(), all.end()), all.end());
  }

  std::span<const Block> blocks_;
  std::vector<bool> indirect_;  // by block: ends with an indirect jump or call
  std::unordered_map<ThreadId, Thread> threads_;
  Thread* last_ = nullptr;
  ThreadId last_id_{};
  std::vector<Seen> shapes_;              // of the chunk
  std::vector<std::uint32_t> last_seen_;  // by block: where it went last
  std::set<std::pair<std::uint32_t, std::uint32_t>> seen_;
  Observations result_;
};

}  // namespace

std::vector<LoadedBytes> straight_pieces(const Block& block) {
  std::vector<LoadedBytes> pieces;
  std::size_t offset = 0;
  for (const Instruction& instruction : block.instructions) {
    if (offset + instruction.length > block.code.size()) break;
    if (pieces.empty() || pieces.back().end() != instruction.pc.value)
      pieces.push_back({instruction.pc.value, std::span(block.code).subspan(offset, 0)});
    auto& bytes = pieces.back().bytes;
    bytes = {bytes.data(), bytes.size() + instruction.length};
    offset += instruction.length;
  }
  return pieces;
}

Observations observe(const TraceReader& trace) {
  Observer observer(trace);
  Diagnostics lost;  // is told by who reads the trace for what is in it
  trace.scan(TraceReader::Order::kForward, Observer::kColumns, lost, [&](const Chunk& chunk) {
    observer.chunk(chunk);
    return true;
  });
  return observer.finish();
}

}  // namespace svd
