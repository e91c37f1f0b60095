// SPDX-License-Identifier: Apache-2.0

#include "findings/heap_blocks.h"

#include <algorithm>
#include <variant>

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
  Chunk chunk;
  for (std::size_t i = 0; i < trace.chunks().size() && moments.first(i) <= last; ++i) {
    if ((trace.chunks()[i].event_kinds & EventKinds::of<Allocation>().bits) == 0) continue;
    if (!trace.decode(i, chunk, Columns{.addresses = false, .values = false})) continue;
    Moment now = moments.first(i) - chunk.first_seq.value;
    for (const Event& event : chunk.events) {
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
