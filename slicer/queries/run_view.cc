// SPDX-License-Identifier: Apache-2.0
#include "slicer/queries/run_view.h"

#include <algorithm>

namespace svd {

Seq RunView::end() const {
  return trace_.chunks().empty() ? Seq() : trace_.chunks().back().end_seq();
}

std::shared_ptr<const Chunk> RunView::chunk(std::size_t index) {
  auto known = std::find_if(kept_.begin(), kept_.end(), [index](const Kept& kept) {
    return kept.chunk != nullptr && kept.index == index;
  });
  if (known == kept_.end()) {
    before_decoding_();
    known = std::min_element(kept_.begin(), kept_.end(),
                             [](const Kept& a, const Kept& b) { return a.used < b.used; });
    known->chunk = nullptr;
    auto chunk = std::make_shared<Chunk>();
    if (auto status = trace_.decode(index, *chunk); !status) {
      add_lost_chunk(diagnostics_, trace_.chunks()[index], status.error());
      return nullptr;
    }
    known->index = index;
    known->chunk = std::move(chunk);
  }
  known->used = ++clock_;
  return known->chunk;
}

std::size_t RunView::last_chunk_at(Seq seq) const {
  auto chunks = trace_.chunks();
  auto after = std::partition_point(chunks.begin(), chunks.end(), [seq](const ChunkInfo& chunk) {
    return chunk.first_seq <= seq;
  });
  return after == chunks.begin() ? 0 : static_cast<std::size_t>(after - chunks.begin() - 1);
}

std::optional<Found> RunView::find(Seq seq) {
  Found found;
  found.chunk_index = trace_.chunk_of(seq);
  if (found.chunk_index >= trace_.chunks().size()) return std::nullopt;
  if (seq < trace_.chunks()[found.chunk_index].first_seq) return std::nullopt;
  found.chunk = chunk(found.chunk_index);
  if (found.chunk == nullptr) return std::nullopt;
  const Chunk& chunk = *found.chunk;
  auto run = std::upper_bound(chunk.runs.begin(), chunk.runs.end(), seq,
                              [](Seq at, const Run& r) { return at < r.first_seq; });
  if (run == chunk.runs.begin()) return std::nullopt;
  --run;
  Seq at = run->first_seq;
  std::size_t access = run->first_access;
  std::size_t range = run->first_range;
  for (std::uint32_t i = run->first_exec; i < run->first_exec + run->exec_count; ++i) {
    const Shape& shape = chunk.shapes[chunk.execs[i]];
    if (seq < at + shape.part.steps()) {
      found.exec_index = i;
      found.exec = Exec{at,
                        run->thread,
                        &shape,
                        chunk.addresses.data() + access,
                        chunk.lengths.data() + range,
                        chunk.has_values ? chunk.values.data() + access : nullptr};
      std::size_t step = shape.part.first + (seq - at);
      const std::vector<Step>& steps = code().block(shape.id).steps;
      if (step >= steps.size()) return std::nullopt;
      found.facts.step = &steps[step];
      found.facts.instance = {seq, steps[step].id, run->thread};
      found.exec.accesses([&](const MemoryAccess& a) {
        if (a.seq == seq) found.facts.accesses.push_back(a);
      });
      return found;
    }
    at += shape.part.steps();
    access += shape.accesses;
    range += shape.ranges;
  }
  return std::nullopt;
}

std::optional<Seq> RunView::last_before(ThreadId thread, Seq seq) {
  if (trace_.chunks().empty()) return std::nullopt;
  for (std::size_t i = last_chunk_at(seq) + 1; i-- > 0;) {
    auto last = index_.last(i, thread);
    if (!last) continue;
    if (*last < seq) return last;
    auto here = chunk(i);
    if (here == nullptr) continue;
    for (std::size_t r = here->runs.size(); r-- > 0;) {
      const Run& run = here->runs[r];
      if (run.thread != thread || run.first_seq >= seq) continue;
      Seq end = r + 1 < here->runs.size() ? here->runs[r + 1].first_seq : here->end_seq();
      return std::min(end, seq) - 1;
    }
  }
  return std::nullopt;
}

}  // namespace svd
