// SPDX-License-Identifier: Apache-2.0
#include "slicer/queries/run_index.h"

#include <algorithm>

#include "svd/trace/chunk_stream.h"

namespace svd {

class RunIndex::Filler {
 public:
  explicit Filler(Entry& entry) : entry_(entry) {}

  void exec(const Exec& exec) {
    exec.accesses([this](const MemoryAccess& access) {
      entry_.touched.add({access.address, access.size});
      if (access.slot->write) entry_.changed.add({access.address, access.size});
    });
  }

  void event(const Event& event) {
    if (const auto* kernel = std::get_if<KernelAccess>(&event.body)) {
      entry_.touched.add({kernel->address, kernel->size});
      if (kernel->access == Access::kWrite) entry_.changed.add({kernel->address, kernel->size});
    } else if (auto fresh = fresh_memory(event)) {
      entry_.touched.add(*fresh);
      entry_.changed.add(*fresh);
    }
  }

  void finish(const Chunk& chunk) {
    for (const Shape& shape : chunk.shapes)
      entry_.shapes.push_back({shape.id, shape.part.first, shape.part.end, 0});
    for (std::uint32_t shape : chunk.execs) ++entry_.shapes[shape].count;
    for (std::size_t i = 0; i < chunk.runs.size(); ++i) {
      ThreadId thread = chunk.runs[i].thread;
      Seq end = i + 1 < chunk.runs.size() ? chunk.runs[i + 1].first_seq : chunk.end_seq();
      auto known = std::find_if(entry_.last.begin(), entry_.last.end(),
                                [thread](const Last& last) { return last.thread == thread; });
      if (known == entry_.last.end()) known = entry_.last.insert(known, Last{thread, {}});
      known->seq = end - 1;
    }
  }

 private:
  Entry& entry_;
};

RunIndex RunIndex::of(const TraceReader& trace, Diagnostics& diagnostics,
                      const ProgressFunction& progress) {
  RunIndex index;
  index.chunks_.resize(trace.chunks().size());
  ChunkStream stream(trace, TraceReader::Order::kForward,
                     {.addresses = true, .values = false, .events = true});
  while (const ChunkStream::Decoded* next = stream.next()) {
    if (!next->status) {
      add_lost_chunk(diagnostics, trace.chunks()[next->index], next->status.error());
      continue;
    }
    Filler filler(index.chunks_[next->index]);
    next->chunk.walk(filler);
    filler.finish(next->chunk);
    progress(next->chunk.end_seq().value);
  }
  return index;
}

std::optional<Seq> RunIndex::last(std::size_t chunk, ThreadId thread) const {
  for (const Last& last : chunks_[chunk].last)
    if (last.thread == thread) return last.seq;
  return std::nullopt;
}

}  // namespace svd
