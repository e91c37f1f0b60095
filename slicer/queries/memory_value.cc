// SPDX-License-Identifier: Apache-2.0
//
// A byte has the value that was last written to it or read from it. What was written before without
// a known value (by vector instructions), or not at all, is told by the next read, if that comes
// before the next write.
#include "slicer/queries/memory_value.h"

#include <algorithm>

namespace svd {
namespace {

class Search {
 public:
  explicit Search(Range bytes) : bytes_(bytes), known_(bytes.size), open_(bytes.size, true) {}

  bool back(const MemoryEvent& event) {
    each_open(event, [&](std::size_t i, std::optional<std::uint8_t> value) {
      known_[i] = value;
      return value || event.kind != MemoryEvent::Kind::kRead;
    });
    return any_open();
  }

  bool ahead(const MemoryEvent& event) {
    each_open(event, [&](std::size_t i, std::optional<std::uint8_t> value) {
      if (event.kind == MemoryEvent::Kind::kRead) known_[i] = value;
      return value || event.kind != MemoryEvent::Kind::kRead;
    });
    return any_open();
  }

  // What is not known is open again.
  bool turn() {
    for (std::size_t i = 0; i < open_.size(); ++i) open_[i] = !known_[i];
    return any_open();
  }

  std::vector<std::optional<std::uint8_t>> take() { return std::move(known_); }

 private:
  // f(i, value) says whether the byte is settled.
  template <class F>
  void each_open(const MemoryEvent& event, F&& f) {
    for (std::size_t i = 0; i < open_.size(); ++i) {
      Addr at = bytes_.address + i;
      if (open_[i] && at.value - event.bytes.address.value < event.bytes.size)
        open_[i] = !f(i, event.byte(at));
    }
  }
  bool any_open() const { return std::find(open_.begin(), open_.end(), true) != open_.end(); }

  Range bytes_;
  std::vector<std::optional<std::uint8_t>> known_;
  std::vector<bool> open_;
};

}  // namespace

std::vector<std::optional<std::uint8_t>> memory_value(RunView& run, Range bytes, Seq at) {
  Search search(bytes);
  look_back(run, bytes, at, Interest::kAll,
            [&search](const MemoryEvent& event) { return search.back(event); });
  if (!search.turn()) return search.take();
  bool open = true;
  if (auto found = run.find(at)) {
    for (const MemoryAccess& access : found->facts.accesses) {
      MemoryEvent event{
          .kind = access.slot->write ? MemoryEvent::Kind::kWrite : MemoryEvent::Kind::kRead,
          .seq = at,
          .thread = found->facts.instance.thread,
          .bytes = {access.address, access.size}};
      if (access.has_value) event.value = access.value;
      open = search.ahead(event);
    }
  }
  if (open)
    look_ahead(run, bytes, at, Interest::kAll,
               [&search](const MemoryEvent& event) { return search.ahead(event); });
  return search.take();
}

}  // namespace svd
