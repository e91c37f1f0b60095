// SPDX-License-Identifier: Apache-2.0
#include "slicer/queries/readers.h"

#include <algorithm>

namespace svd {
namespace {

constexpr std::size_t kMostReaders = 20;  // a person looks at no more
// With reads; an answer in a fraction of a second decodes no more.
constexpr std::size_t kMostChunks = 20;

void add(Readers& readers, const MemoryEvent& event) {
  auto same = [&event](const Reader& reader) {
    const MemoryEvent& first = reader.first;
    return first.kernel == event.kernel && first.id == event.id && first.thread == event.thread;
  };
  auto known = std::find_if(readers.all.begin(), readers.all.end(), same);
  if (known == readers.all.end()) {
    if (readers.all.size() == kMostReaders) {
      ++readers.others;
      return;
    }
    known = readers.all.insert(known, Reader{event, {}, 0});
    known->first.data = {};
  }
  known->last = event.seq;
  ++known->count;
}

}  // namespace

Readers readers_of(RunView& run, Range bytes, Seq after) {
  Readers readers;
  std::vector<bool> valid(bytes.size, true);
  std::size_t chunks = 0;
  Seq chunk_end;
  look_ahead(run, bytes, after, Interest::kAll, [&](const MemoryEvent& event) {
    bool reads = false;
    for (std::size_t i = 0; i < valid.size(); ++i) {
      if (!valid[i] || bytes.address.value + i - event.bytes.address.value >= event.bytes.size)
        continue;
      if (event.kind == MemoryEvent::Kind::kRead)
        reads = true;
      else
        valid[i] = false;
    }
    if (reads && event.seq >= chunk_end) {
      if (chunks++ == kMostChunks) {
        readers.stopped = event.seq;
        return false;
      }
      chunk_end = run.trace().chunks()[run.last_chunk_at(event.seq)].end_seq();
    }
    if (reads) add(readers, event);
    if (std::find(valid.begin(), valid.end(), true) != valid.end()) return true;
    readers.until = event.seq;
    return false;
  });
  return readers;
}

}  // namespace svd
