// SPDX-License-Identifier: Apache-2.0
#include "slicer/queries/run_index.h"

#include <algorithm>
#include <unordered_map>
#include <utility>

#include "dpdg/register_writers.h"
#include "svd/trace/chunk_stream.h"

namespace svd {

// One for the whole run: registers live on from chunk to chunk.
class RunIndex::Filler {
 public:
  Filler(const CodeTable& code, const ControlIndex& control)
      : code_(code), control_(control), plans_(code) {}

  void begin(Entry& entry) { entry_ = &entry; }

  void exec(const Exec& exec) {
    exec.accesses([this](const MemoryAccess& access) {
      entry_->touched.add({access.address, access.size});
      if (access.slot->write) entry_->changed.add({access.address, access.size});
    });
    std::vector<Seq>& cells = cells_of(exec.thread);
    if (entry_->threads.empty() || entry_->threads.back().thread != exec.thread)
      meet(exec.thread, cells);
    const std::vector<Step>& steps = code_.block(exec.shape->id).steps;
    if (exec.shape->part.end > steps.size()) return;
    if (!control_.faulted(exec.end() - 1)) return define(*exec.shape, exec, cells);
    Shape done = *exec.shape;  // all but what faulted
    const Step& last = steps[--done.part.end];
    done.part.end_slot = std::max(done.part.first_slot, last.first_slot);
    define(done, exec, cells);
  }

  void event(const Event& event) {
    if (const auto* kernel = std::get_if<KernelAccess>(&event.body)) {
      entry_->touched.add({kernel->address, kernel->size});
      if (kernel->access == Access::kWrite) entry_->changed.add({kernel->address, kernel->size});
    } else if (auto fresh = fresh_memory(event)) {
      entry_->touched.add(*fresh);
      entry_->changed.add(*fresh);
    }
    if (const auto* create = std::get_if<ThreadCreate>(&event.body)) {
      std::vector<Seq> parent = cells_of(event.thread);
      cells_of(create->child) = parent;
    }
  }

  void finish(const Chunk& chunk) {
    for (const Shape& shape : chunk.shapes)
      entry_->shapes.push_back({shape.id, shape.part.first, shape.part.end, 0});
    for (std::uint32_t shape : chunk.execs) ++entry_->shapes[shape].count;
    for (std::size_t i = 0; i < chunk.runs.size(); ++i) {
      Seq end = i + 1 < chunk.runs.size() ? chunk.runs[i + 1].first_seq : chunk.end_seq();
      auto in = std::find_if(entry_->threads.begin(), entry_->threads.end(),
                             [&](const InChunk& t) { return t.thread == chunk.runs[i].thread; });
      in->last = end - 1;
    }
  }

 private:
  std::vector<Seq>& cells_of(ThreadId thread) {
    if (recent_ != nullptr && recent_id_ == thread) return *recent_;
    auto [cells, fresh] = cells_.try_emplace(thread, code_.cell_count(), kNoParent);
    recent_id_ = thread;
    return *(recent_ = &cells->second);
  }

  // Keeps the state of a thread that is about to execute something in this chunk for the first
  // time; the one that does stands last.
  void meet(ThreadId thread, const std::vector<Seq>& cells) {
    std::vector<InChunk>& threads = entry_->threads;
    auto known = std::find_if(threads.begin(), threads.end(),
                              [thread](const InChunk& t) { return t.thread == thread; });
    if (known == threads.end())
      threads.push_back({thread, {}, cells});
    else
      std::swap(*known, threads.back());
  }

  void define(const Shape& shape, const Exec& exec, std::vector<Seq>& cells) {
    for (const BlockPlans::Section& section : plans_.of(shape))
      registers_.define(plans_, section, exec, cells);
  }

  const CodeTable& code_;
  const ControlIndex& control_;
  BlockPlans plans_;
  RegisterWriters registers_;
  std::unordered_map<ThreadId, std::vector<Seq>> cells_;  // nodes: recent_ points into one
  ThreadId recent_id_{};
  std::vector<Seq>* recent_ = nullptr;
  Entry* entry_ = nullptr;
};

RunIndex RunIndex::of(const TraceReader& trace, const CodeTable& code, const ControlIndex& control,
                      Diagnostics& diagnostics, const ProgressFunction& progress) {
  RunIndex index;
  index.chunks_.resize(trace.chunks().size());
  Filler filler(code, control);
  ChunkStream stream(trace, TraceReader::Order::kForward, {.addresses = true, .values = false});
  while (const ChunkStream::Decoded* next = stream.next(diagnostics)) {
    filler.begin(index.chunks_[next->index]);
    next->chunk.walk(filler);
    filler.finish(next->chunk);
    progress(next->chunk.end_seq().value);
  }
  return index;
}

const RunIndex::InChunk* RunIndex::find(std::size_t chunk, ThreadId thread) const {
  const std::vector<InChunk>& threads = chunks_[chunk].threads;
  auto known = std::find_if(threads.begin(), threads.end(),
                            [thread](const InChunk& t) { return t.thread == thread; });
  return known == threads.end() ? nullptr : &*known;
}

std::optional<Seq> RunIndex::last(std::size_t chunk, ThreadId thread) const {
  const InChunk* in = find(chunk, thread);
  return in == nullptr ? std::nullopt : std::optional(in->last);
}

std::span<const Seq> RunIndex::register_writers(std::size_t chunk, ThreadId thread) const {
  const InChunk* in = find(chunk, thread);
  return in == nullptr ? std::span<const Seq>() : std::span<const Seq>(in->registers);
}

}  // namespace svd
