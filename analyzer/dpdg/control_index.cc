// SPDX-License-Identifier: Apache-2.0
#include "dpdg/control_index.h"

#include "svd/trace/chunk_stream.h"

namespace svd {
namespace {

struct Feed {
  ControlTracker& tracker;
  Seq end{std::numeric_limits<std::uint64_t>::max()};
  void exec(const Exec& exec) {
    if (exec.seq < end) tracker.exec(exec, [](std::uint16_t, Seq) {});
  }
  void event(const Event& event) {
    if (event.seq < end) tracker.event(event);
  }
};

constexpr Columns kColumns{.addresses = true, .values = false, .events = true};

}  // namespace

ControlIndex ControlIndex::of(const TraceReader& trace, CodeTable& code, const ControlFlow& flow,
                              Diagnostics& diagnostics, const ProgressFunction& progress) {
  ControlIndex index;
  ControlTracker tracker(code, flow);
  tracker.set_statements(trace.statements());
  std::vector<bool> failed(code.instr_count());
  tracker.collect_restores(&failed);
  ChunkStream stream(trace, TraceReader::Order::kForward, kColumns);
  while (const ChunkStream::Decoded* next = stream.next()) {
    index.at_chunk_.push_back(tracker);
    index.at_chunk_.back().collect_restores(nullptr);
    if (!next->status) {
      add_lost_chunk(diagnostics, trace.chunks()[next->index], next->status.error());
      continue;
    }
    next->chunk.walk(Feed{tracker});
    progress(next->chunk.end_seq().value);
  }
  failed.flip();
  code.mark_restores(failed);
  return index;
}

void ControlIndex::parents(std::size_t index, const Chunk& chunk, ChunkControl& out) const {
  struct Collect {
    ControlTracker tracker;
    ChunkControl& out;
    void exec(const Exec& exec) {
      out.first_segment.push_back(static_cast<std::uint32_t>(out.segments.size()));
      tracker.exec(exec, [this](std::uint16_t first, Seq parent) {
        out.segments.push_back({first, parent});
      });
    }
    void event(const Event& event) { tracker.event(event); }
  };
  out.segments.clear();
  out.first_segment.clear();
  Collect collect{at_chunk_[index], out};
  chunk.walk(collect);
  out.first_segment.push_back(static_cast<std::uint32_t>(out.segments.size()));
}

std::vector<Seq> ControlIndex::call_stack(const TraceReader& trace, ThreadId thread,
                                          Seq seq) const {
  std::size_t i = trace.chunk_at(seq);
  if (i >= at_chunk_.size()) return {};
  Chunk chunk;
  ControlTracker tracker = at_chunk_[i];
  if (trace.decode(i, chunk, kColumns)) chunk.walk(Feed{tracker, seq});
  return tracker.call_stack(thread);
}

}  // namespace svd
