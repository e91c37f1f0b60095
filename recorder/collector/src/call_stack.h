// SPDX-License-Identifier: Apache-2.0
//
// Who called whom, by thread: return addresses, kept up with the calls and returns of the log.
//
// An entry knows where on the stack its return address stands, so entries that a longjmp, an
// exception or a switch of stacks has passed by fall out at the next call or return. After a switch
// between stacks of one thread (makecontext) the frames below the switch are missing.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "trace_feed.h"

namespace svd {

class CallStack {
 public:
  struct Entry {
    std::uint64_t place = 0;  // where the return address stands
    std::uint64_t return_address = 0;
  };

  void call(std::uint64_t place, std::uint64_t return_address) {
    drop(place);
    entries_.push_back({place, return_address});
  }
  void returned(std::uint64_t place) { drop(place); }

  const std::vector<Entry>& entries() const { return entries_; }
  // The return address that stands at `place`; 0: none, whoever would use it has returned.
  std::uint64_t at(std::uint64_t place) const {
    auto entry = entries_.rbegin();
    while (entry != entries_.rend() && entry->place < place) ++entry;
    return entry != entries_.rend() && entry->place == place ? entry->return_address : 0;
  }
  // Where the function that runs will return to; 0: not known.
  std::uint64_t caller() const { return entries_.empty() ? 0 : entries_.back().return_address; }

 private:
  void drop(std::uint64_t place) {
    while (!entries_.empty() && entries_.back().place <= place) entries_.pop_back();
  }
  std::vector<Entry> entries_;
};

// The distinct call stacks of a trace.
class StackTable {
 public:
  explicit StackTable(TraceFeed& feed) : feed_(feed) {}
  StackId add(const CallStack& stack);

 private:
  TraceFeed& feed_;
  std::unordered_map<std::uint64_t, StackId> known_;
};

}  // namespace svd
