// SPDX-License-Identifier: Apache-2.0

#include "findings/heap_blocks.h"

#include <algorithm>
#include <utility>
#include <variant>

#include "svd/trace/chunk_stream.h"

namespace svd {

void find_heap_blocks(const TraceReader& trace, const Moments& moments,
                      std::vector<HeapQuestion>& questions) {
  std::vector<HeapQuestion*> by_address;
  Moment last;
  for (HeapQuestion& question : questions) {
    by_address.push_back(&question);
    last = std::max(last, question.moment);
  }
  std::sort(by_address.begin(), by_address.end(),
            [](const auto* a, const auto* b) { return a->address < b->address; });
  std::vector<std::size_t> chunks;
  for (std::size_t i = 0; i < trace.chunks().size() && moments.first(i) <= last; ++i)
    if ((trace.chunks()[i].event_kinds & EventKinds::of<Allocation>().bits) != 0)
      chunks.push_back(i);
  ChunkStream stream(trace, std::move(chunks), Columns{.addresses = false, .values = false});
  while (const ChunkStream::Decoded* next = stream.next()) {
    if (!next->status) continue;
    Moment now = moments.first(next->index) - next->chunk.first_seq.value;
    for (const Event& event : next->chunk.events) {
      const auto* made = std::get_if<Allocation>(&event.body);
      if (made != nullptr) {
        auto question = std::lower_bound(
            by_address.begin(), by_address.end(), made->address,
            [](const HeapQuestion* q, Addr address) { return q->address < address; });
        for (; question != by_address.end() && (*question)->address - made->address < made->size;
             ++question) {
          if (now + event.seq.value < (*question)->moment)
            (*question)->block = HeapBlock{made->address, made->size, made->stack};
        }
      }
      now += 1;
    }
  }
}

}  // namespace svd
