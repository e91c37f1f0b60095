// SPDX-License-Identifier: Apache-2.0
#include "dpdg/control_index.h"

#include <utility>

#include "svd/trace/chunk_stream.h"

namespace svd {
namespace {

// Follows a chunk, and on its way notes the calls that are active at each of the points: at an
// instruction when control has come to it, and before what it and those behind it do.
class CallsAt {
 public:
  CallsAt(ControlTracker tracker, std::span<const ControlIndex::Point> points,
          std::vector<CallStack>& out)
      : tracker_(std::move(tracker)), left_(points), out_(out) {}

  void exec(const Exec& exec) {
    note_before(exec.seq);
    if (!left_.empty()) tracker_.exec(exec, [&](std::uint16_t, Seq) { note_before(exec.end()); });
  }
  void event(const Event& event) {
    note_before(event.seq);
    if (!left_.empty()) tracker_.event(event);
  }
  void note_before(Seq seq) {
    while (!left_.empty() && left_.front().seq < seq) note();
  }
  void note_rest() {
    while (!left_.empty()) note();
  }

 private:
  void note() {
    out_.push_back(tracker_.call_stack(left_.front().thread, left_.front().most));
    left_ = left_.subspan(1);
  }

  ControlTracker tracker_;
  std::span<const ControlIndex::Point> left_;
  std::vector<CallStack>& out_;
};

// What is found on the way: a fault is told right after the instruction that had it, and by its
// address.
class Learn {
 public:
  Learn(ControlTracker& tracker, const CodeTable& code) : tracker_(tracker), code_(code) {}

  void exec(const Exec& exec) {
    tracker_.exec(exec, [](std::uint16_t, Seq) {});
    thread_ = exec.thread;
    block_ = exec.shape->id;
    end_ = exec.shape->part.end;
    seq_ = exec.end() - 1;
  }
  void event(const Event& event) {
    tracker_.event(event);
    if (ThreadOrder::matters(event)) ordering_.push_back(event);
    left_out_.event(event);
    const auto* signal = std::get_if<Signal>(&event.body);
    if (signal == nullptr || !is_fault(signal->number) || signal->code <= 0) return;
    const CodeBlock& block = code_.block(block_);
    if (end_ == 0 || end_ > block.steps.size() || block.abstract || event.thread != thread_) return;
    if (block.steps[end_ - 1].pc == signal->pc) faults_.push_back(seq_);
  }
  std::vector<Seq> faults() { return std::move(faults_); }
  std::vector<Event> ordering() { return std::move(ordering_); }
  LeftOut left_out() { return std::move(left_out_); }

 private:
  ControlTracker& tracker_;
  const CodeTable& code_;
  ThreadId thread_{};  // of the last execution, as the rest
  BlockId block_{};
  std::uint16_t end_ = 0;
  Seq seq_{};
  std::vector<Seq> faults_;
  std::vector<Event> ordering_;
  LeftOut left_out_;
};

// Notes where the parent changes.
class Collect {
 public:
  explicit Collect(ChunkControl& out) : out_(out) {
    out.segments.assign(1, {0, kNoParent});
    out.last.assign(1, 0);
  }

  [[gnu::always_inline]] void operator()(std::uint16_t first, Seq parent) {
    if (parent == parent_) return;
    parent_ = parent;
    out_.segments.push_back({first, parent});
  }
  void end_exec() { out_.last.push_back(static_cast<std::uint32_t>(out_.segments.size() - 1)); }

 private:
  ChunkControl& out_;
  Seq parent_ = kNoParent;
};

struct Follow {
  ControlTracker tracker;
  Collect& collect;

  void exec(const Exec& exec) {
    tracker.exec(exec, collect);
    collect.end_exec();
  }
  void event(const Event& event) { tracker.event(event); }
};

constexpr Columns kLearn{
    .values = false, .events = ControlTracker::kEvents | ThreadOrder::kEvents | LeftOut::kEvents};
constexpr Columns kFollow{.values = false, .events = ControlTracker::kEvents};

}  // namespace

ControlIndex ControlIndex::of(const TraceReader& trace, CodeTable& code, const ControlFlow& flow,
                              Diagnostics& diagnostics, const ProgressFunction& progress) {
  ControlIndex index;
  ControlTracker tracker(code, flow);
  tracker.set_statements(trace.statements());
  std::vector<bool> failed(code.instr_count());
  tracker.collect_restores(&failed);
  Learn learn(tracker, code);
  ChunkStream stream(trace, TraceReader::Order::kForward, kLearn);
  while (const ChunkStream::Decoded* next = stream.next()) {
    index.at_chunk_.push_back(tracker);
    index.at_chunk_.back().collect_restores(nullptr);
    if (!next->status) {
      add_lost_chunk(diagnostics, trace.chunks()[next->index], next->status.error());
      continue;
    }
    next->chunk.walk(learn);
    progress(next->chunk.end_seq().value);
  }
  failed.flip();
  code.mark_restores(failed);
  index.faults_ = learn.faults();
  index.ordering_ = learn.ordering();
  index.left_out_ = learn.left_out();
  return index;
}

void ControlIndex::parents(std::size_t index, const Chunk& chunk, ChunkControl& out) const {
  Collect collect{out};
  chunk.walk(Follow{at_chunk_[index], collect});
}

std::vector<CallStack> ControlIndex::call_stacks(const TraceReader& trace,
                                                 std::span<const Point> points) const {
  std::vector<std::size_t> chunks;  // that hold some
  for (const Point& point : points) {
    std::size_t index = trace.chunk_of(point.seq);
    if (index >= at_chunk_.size()) break;
    if (chunks.empty() || chunks.back() != index) chunks.push_back(index);
  }
  std::vector<CallStack> stacks;
  ChunkStream stream(trace, std::move(chunks), kFollow);
  while (const ChunkStream::Decoded* next = stream.next()) {
    auto end = std::find_if(points.begin(), points.end(), [&](const Point& point) {
      return trace.chunk_of(point.seq) != next->index;
    });
    std::span<const Point> held(points.begin(), end);
    CallsAt walk(at_chunk_[next->index], held, stacks);
    if (next->status) next->chunk.walk(walk);
    walk.note_rest();
    points = points.subspan(held.size());
  }
  stacks.resize(stacks.size() + points.size());
  return stacks;
}

}  // namespace svd
