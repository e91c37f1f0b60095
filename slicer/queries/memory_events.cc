// SPDX-License-Identifier: Apache-2.0
#include "slicer/queries/memory_events.h"

#include <algorithm>

namespace svd {
namespace {

// What an event of the trace does to memory.
std::optional<MemoryEvent> memory_event(const Event& event) {
  if (const auto* kernel = std::get_if<KernelAccess>(&event.body)) {
    if (kernel->size == 0) return std::nullopt;
    bool write = kernel->access == Access::kWrite;
    return MemoryEvent{.kind = write ? MemoryEvent::Kind::kWrite : MemoryEvent::Kind::kRead,
                       .kernel = true,
                       .seq = event.seq,
                       .thread = event.thread,
                       .bytes = {kernel->address, kernel->size},
                       .data = kernel->data};
  }
  auto fresh = fresh_memory(event);
  if (!fresh || fresh->size == 0) return std::nullopt;
  const auto* made = std::get_if<Allocation>(&event.body);
  if (made != nullptr && made->function == AllocFn::kRealloc) return std::nullopt;  // keeps it
  return MemoryEvent{.kind = MemoryEvent::Kind::kFresh,
                     .kernel = false,
                     .seq = event.seq,
                     .thread = event.thread,
                     .bytes = *fresh};
}

// Passes on what concerns the bytes, until who listens has heard enough.
class Filter {
 public:
  Filter(const RunView& run, Range bytes, Interest interest, const OnMemoryEvent& f)
      : run_(run), bytes_(bytes), interest_(interest), f_(f) {}

  bool done() const { return done_; }

  void event(const Event& event) {
    if (auto found = memory_event(event)) pass(*found);
  }

  // Accesses from `first` on and before `end`.
  void exec(const Exec& exec, Seq first, Seq end, bool backward) {
    found_.clear();
    exec.accesses([&](const MemoryAccess& a) {
      if (a.size == 0 || !overlap({a.address, a.size}, bytes_)) return;
      if (a.slot->write && run_.control().faulted(a.seq)) return;
      if (a.seq >= first && a.seq < end) found_.push_back(a);
    });
    if (backward) std::reverse(found_.begin(), found_.end());
    for (const MemoryAccess& a : found_) {
      MemoryEvent event{
          .kind = a.slot->write ? MemoryEvent::Kind::kWrite : MemoryEvent::Kind::kRead,
          .seq = a.seq,
          .thread = exec.thread,
          .bytes = {a.address, a.size}};
      event.id = run_.code().block(exec.shape->id).steps[a.slot->instruction].id;
      if (a.has_value) event.value = a.value;
      pass(event);
    }
  }

 private:
  void pass(const MemoryEvent& event) {
    if (done_ || !overlap(event.bytes, bytes_)) return;
    if (interest_ == Interest::kChanges && event.kind == MemoryEvent::Kind::kRead) return;
    done_ = !f_(event);
  }

  const RunView& run_;
  Range bytes_;
  Interest interest_;
  const OnMemoryEvent& f_;
  bool done_ = false;
  std::vector<MemoryAccess> found_;
};

bool may_concern(const RunView& run, std::size_t chunk, Range bytes, Interest interest) {
  return interest == Interest::kAll ? run.index().may_touch(chunk, bytes)
                                    : run.index().may_change(chunk, bytes);
}

struct Backward {
  Filter& filter;
  const Chunk& chunk;
  Seq before;
  std::optional<std::size_t> event_before;  // nothing is told until this event was met

  void event(const Event& event) {
    if (event_before) {
      if (static_cast<std::size_t>(&event - chunk.events.data()) == *event_before)
        event_before.reset();
    } else if (!filter.done() && event.seq <= before) {
      filter.event(event);
    }
  }
  void exec(const Exec& exec) {
    if (!event_before && !filter.done() && exec.seq < before)
      filter.exec(exec, exec.seq, before, true);
  }
};

void look_back(RunView& run, Range bytes, std::size_t chunk_index, Seq before,
               std::optional<std::size_t> event_before, Interest interest, const OnMemoryEvent& f) {
  if (run.trace().chunks().empty() || bytes.size == 0) return;
  Filter filter(run, bytes, interest, f);
  for (std::size_t i = chunk_index + 1; i-- > 0 && !filter.done();) {
    if (may_concern(run, i, bytes, interest)) {
      if (auto chunk = run.chunk(i))
        chunk->walk_back(Backward{filter, *chunk, before, event_before});
    }
    event_before.reset();
  }
}

struct Ahead {
  Filter& filter;
  Seq after;

  void event(const Event& event) {
    if (!filter.done() && event.seq > after) filter.event(event);
  }
  void exec(const Exec& exec) {
    if (!filter.done() && exec.end() > after + 1) filter.exec(exec, after + 1, exec.end(), false);
  }
};

// Puts an event down as the writer of those bytes that have none yet.
class WriterSearch {
 public:
  explicit WriterSearch(Range bytes)
      : bytes_(bytes), writer_(bytes.size, kOpen), left_(bytes.size) {}

  bool add(const MemoryEvent& event) {
    std::size_t number = kNobody;
    if (event.kind == MemoryEvent::Kind::kWrite) {
      number = events_.size();
      events_.push_back(event);
      events_.back().data = {};
    }
    for (std::uint64_t i = 0; i < bytes_.size; ++i) {
      bool written = bytes_.address.value + i - event.bytes.address.value < event.bytes.size;
      if (!written || writer_[i] != kOpen) continue;
      writer_[i] = number;
      --left_;
    }
    return left_ != 0;
  }

  std::vector<Writer> take() {
    std::replace(writer_.begin(), writer_.end(), kOpen, kNobody);
    std::vector<Writer> all;
    for (std::size_t i = 0; i < writer_.size();) {
      std::size_t end = i;
      while (end < writer_.size() && writer_[end] == writer_[i]) ++end;
      Writer writer{{bytes_.address + i, end - i}, {}};
      if (writer_[i] != kNobody) writer.event = events_[writer_[i]];
      all.push_back(writer);
      i = end;
    }
    return all;
  }

 private:
  static constexpr std::size_t kNobody = ~std::size_t{0};
  static constexpr std::size_t kOpen = kNobody - 1;
  Range bytes_;
  std::vector<std::size_t> writer_;  // of each byte
  std::uint64_t left_;
  std::vector<MemoryEvent> events_;
};

}  // namespace

std::optional<std::uint8_t> MemoryEvent::byte(Addr address) const {
  std::uint64_t offset = address.value - bytes.address.value;
  if (offset < data.size()) return data[offset];
  if (value && offset < bytes.size) return static_cast<std::uint8_t>(*value >> 8 * offset);
  return std::nullopt;
}

void look_back(RunView& run, Range bytes, Seq before, Interest interest, const OnMemoryEvent& f) {
  look_back(run, bytes, run.last_chunk_at(before), before, {}, interest, f);
}

void look_back(RunView& run, Range bytes, EventPlace before, Interest interest,
               const OnMemoryEvent& f) {
  look_back(run, bytes, before.chunk, run.end(), before.event, interest, f);
}

void look_ahead(RunView& run, Range bytes, Seq after, Interest interest, const OnMemoryEvent& f) {
  if (bytes.size == 0) return;
  Filter filter(run, bytes, interest, f);
  std::size_t chunks = run.trace().chunks().size();
  for (std::size_t i = run.trace().chunk_at(after + 1); i < chunks && !filter.done(); ++i) {
    if (!may_concern(run, i, bytes, interest)) continue;
    if (auto chunk = run.chunk(i)) chunk->walk_from(after, Ahead{filter, after});
  }
}

std::vector<Writer> writers(RunView& run, Range bytes, Seq before) {
  WriterSearch search(bytes);
  look_back(run, bytes, before, Interest::kChanges,
            [&search](const MemoryEvent& event) { return search.add(event); });
  return search.take();
}

std::vector<Writer> writers(RunView& run, Range bytes, EventPlace before) {
  WriterSearch search(bytes);
  look_back(run, bytes, before, Interest::kChanges,
            [&search](const MemoryEvent& event) { return search.add(event); });
  return search.take();
}

std::vector<Writer> next_writers(RunView& run, Range bytes, Seq after) {
  WriterSearch search(bytes);
  look_ahead(run, bytes, after, Interest::kChanges,
             [&search](const MemoryEvent& event) { return search.add(event); });
  return search.take();
}

std::optional<Seq> instruction_of(RunView& run, const MemoryEvent& event) {
  return event.kernel ? run.last_before(event.thread, event.seq) : event.seq;
}

}  // namespace svd
