// SPDX-License-Identifier: Apache-2.0
//
// What a reverse walk knows of each byte of memory, in one word for 8 bytes, because an access asks
// for all of it: who wants it, the write after here and whether that is in the slice, and the read
// of what another thread wrote whose thread's access before is looked for.
//
// Of a byte all who want it are kept, because each can be another thread than the writer. What has
// been found is forgotten: memory is for what is wanted at one time, not for the slice.
#pragma once

#include <cstdint>
#include <vector>

#include "dpdg/byte_shadow.h"
#include "slicer/wants.h"

namespace svd {

using WantId = std::uint32_t;    // 0: none
using TripleId = std::uint32_t;  // 0: none

// A read of memory by an instance of the slice.
class MemoryWant {
 public:
  MemoryWant() = default;
  // `own`: instructions of its thread from it to the end of the trace.
  MemoryWant(Want by, std::uint64_t own) : want(by), rest_(own << kCellBits) {}
  // Of the value of a cell, saved there with its register.
  MemoryWant(Want by, std::uint64_t own, Cell saved)
      : want(by), rest_(own << kCellBits | (std::uint64_t{saved} + 1)) {}

  std::uint64_t own() const { return rest_ >> kCellBits; }
  bool is_saved() const { return cell_and_one() != 0; }
  Cell saved() const { return static_cast<Cell>(cell_and_one() - 1); }
  bool same_kind(const MemoryWant& other) const { return cell_and_one() == other.cell_and_one(); }

  Want want;

 private:
  static constexpr unsigned kCellBits = 16;
  std::uint16_t cell_and_one() const { return static_cast<std::uint16_t>(rest_); }
  std::uint64_t rest_ = 0;  // one word, for the reason that Want is two
};

// A read from another thread whose reader's access before is looked for.
struct OpenTriple {
  Place after;
  Place remote;
  Distance distance = 0;
  std::uint64_t own = 0;
};

struct MemoryWord {
  Mark write;  // the first one after here
  InstrId write_id{};
  Distance write_distance = kNowhere;  // in the slice, if it is
  WantId want = 0;
  TripleId triple = 0;
  friend bool operator==(const MemoryWord&, const MemoryWord&) = default;
};

// Things that bytes refer to, and that are used again when no byte does.
template <class T>
class Shared {
 public:
  std::uint32_t make(const T& value, std::uint32_t next = 0) {
    std::uint32_t id = free_;
    if (id != 0) {
      free_ = nodes_[id].next;
    } else {
      id = static_cast<std::uint32_t>(nodes_.size());
      nodes_.emplace_back();
    }
    nodes_[id] = {value, next, 0};
    if (next != 0) ++nodes_[next].references;
    return id;
  }
  void hold(std::uint32_t id, std::uint32_t bytes) { nodes_[id].references += bytes; }
  void release(std::uint32_t id, std::uint32_t bytes) {
    while (id != 0) {
      Node& node = nodes_[id];
      node.references -= bytes;
      if (node.references != 0) return;
      std::uint32_t next = node.next;
      node.next = free_;
      free_ = id;
      id = next;
      bytes = 1;
    }
  }
  const T& operator[](std::uint32_t id) const { return nodes_[id].value; }
  void prefetch(std::uint32_t id) const { __builtin_prefetch(&nodes_[id]); }
  std::uint32_t next(std::uint32_t id) const { return nodes_[id].next; }

 private:
  struct Node {
    T value;
    std::uint32_t next = 0;
    std::uint32_t references = 0;  // bytes and nodes
  };
  std::vector<Node, LargePages<Node>> nodes_ = std::vector<Node, LargePages<Node>>(1);
  std::uint32_t free_ = 0;
};

class MemoryWants {
 public:
  // What the words of one access that were alike have become.
  struct Alike {
    bool any = false;
    WantId before = 0;
    WantId after = 0;
  };

  // `length` bytes that `word` stands for are wanted.
  void want(MemoryWord& word, unsigned length, const MemoryWant& want, Alike& alike) {
    WantId before = word.want;
    if (!alike.any || alike.before != before) {
      bool known = before != 0 && is_known(before, want);
      alike = {true, before, known ? before : wants_.make(want, before)};
    }
    if (alike.after == before) return;
    word.want = alike.after;
    wants_.hold(word.want, length);
    wants_.release(before, length);
  }

  void found(WantId id, std::uint64_t bytes) {
    wants_.release(id, static_cast<std::uint32_t>(bytes));
  }

  // f(const MemoryWant&) for all who want the same.
  template <class F>
  void each(WantId id, F&& f) const {
    for (; id != 0; id = wants_.next(id)) f(wants_[id]);
  }
  void prefetch(WantId id) const { wants_.prefetch(id); }
  const MemoryWant& first(WantId id) const { return wants_[id]; }

 private:
  // Whether the same instruction and thread wants it from nearer for the same already (what a
  // value's want costs depends on who writes).
  bool is_known(WantId id, const MemoryWant& wanted) const {
    Want want = wanted.want;
    constexpr int kLooked = 3;  // so that what is read in turns by few is wanted once by each
    for (int i = 0; i < kLooked && id != 0; ++i, id = wants_.next(id)) {
      const MemoryWant& other = wants_[id];
      if (other.want.id() == want.id() && other.want.mark().same_thread(want.mark()) &&
          other.want.via() == want.via() && other.same_kind(wanted) &&
          other.want.cost() <= want.cost())
        return true;
    }
    return false;
  }

  Shared<MemoryWant> wants_;
};

}  // namespace svd
