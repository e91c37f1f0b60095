// SPDX-License-Identifier: Apache-2.0
//
// What a reverse walk knows of each byte of memory, in one word for 8 bytes, because an access asks
// for all of it: who wants it, the write after here and whether that is in the slice, and the reads
// of what other threads wrote whose threads' accesses before are looked for.
//
// Of a byte all who want it are kept, because each can be another thread than the writer: the last
// one in the word itself, since mostly there are no more, the others in a list. What has been found
// is forgotten: memory is for what is wanted at one time, not for the slice.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "dpdg/bring_near.h"
#include "dpdg/byte_shadow.h"
#include "slicer/wants.h"

namespace svd {

using WantList = std::uint32_t;  // 0: empty
using Triples = std::uint32_t;   // a list of open ones; 0: empty

// A read of memory by an instance of the slice.
class MemoryWant {
 public:
  MemoryWant() = default;
  // `own`: instructions of its thread from it to the end of the trace; `access`: which of its
  // reads.
  MemoryWant(Want by, std::uint64_t own, std::uint64_t access)
      : want(by), rest_(own << kKindBits | (access & (kSaved - 1))) {}
  // Of the value of a cell, saved there with its register.
  static MemoryWant saved(Want by, std::uint64_t own, Cell cell) {
    MemoryWant want(by, own, cell);
    want.rest_ |= kSaved;
    return want;
  }

  bool any() const { return want.any(); }
  std::uint64_t own() const { return rest_ >> kKindBits; }
  bool is_saved() const { return (rest_ & kSaved) != 0; }
  Cell cell() const { return static_cast<Cell>(access()); }
  // Which instance wants it, and by which of its reads.
  std::pair<Seq, std::uint64_t> reader() const { return {want.mark().seq(), access()}; }
  bool same_kind(const MemoryWant& other) const { return kind() == other.kind(); }
  friend bool operator==(const MemoryWant&, const MemoryWant&) = default;

  Want want;

 private:
  static constexpr unsigned kKindBits = 16;
  static constexpr std::uint64_t kSaved = std::uint64_t{1} << (kKindBits - 1);
  std::uint64_t access() const { return rest_ & (kSaved - 1); }
  std::uint64_t kind() const { return is_saved() ? rest_ & (2 * kSaved - 1) : 0; }
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
  MemoryWant want;
  WantList more = 0;  // who else wants it
  Triples triples = 0;
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
      bring_near(&nodes_[free_]);
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
  std::uint32_t next(std::uint32_t id) const { return nodes_[id].next; }
  // Brings nearer what is asked for soon.
  void prefetch(std::uint32_t id) const { bring_near(&nodes_[id]); }

 private:
  struct Node {
    T value;
    std::uint32_t next = 0;
    std::uint32_t references = 0;  // bytes and nodes
  };
  std::vector<Node, LargePages<Node>> nodes_ = std::vector<Node, LargePages<Node>>(1);
  std::uint32_t free_ = 0;
};

// Where a thread may have triples open: most of what it accesses is elsewhere.
class TriplePages {
 public:
  void add(std::uint32_t thread, Addr at, unsigned bytes) {
    bytes_[place(thread, at)] += bytes;
    all_ += bytes;
  }
  void remove(std::uint32_t thread, Addr at, unsigned bytes) {
    bytes_[place(thread, at)] -= bytes;
    all_ -= bytes;
  }
  bool empty() const { return all_ == 0; }
  // False: there is none in these bytes, which are fewer than a page.
  bool any(std::uint32_t thread, Addr at, std::uint64_t size) const {
    return bytes_[place(thread, at)] != 0 || bytes_[place(thread, at + (size - 1))] != 0;
  }

 private:
  static constexpr unsigned kPageBits = 12;
  static constexpr unsigned kBits = 12;
  // Pages that have the same place are taken for one.
  static std::size_t place(std::uint32_t thread, Addr at) {
    std::uint64_t page = (at.value >> kPageBits) + (std::uint64_t{thread} << 52);
    return static_cast<std::size_t>(page * 0x9E3779B97F4A7C15U >> (64 - kBits));
  }
  std::uint64_t all_ = 0;
  std::vector<std::uint64_t> bytes_ = std::vector<std::uint64_t>(std::size_t{1} << kBits);
};

class MemoryWants {
 public:
  // What the words of one access that were alike have become.
  struct Alike {
    MemoryWant first_before{};
    WantList before = 0;
    WantList after = 0;
    bool known = false;
  };

  // `length` bytes that `word` stands for are wanted.
  void want(MemoryWord& word, unsigned length, const MemoryWant& want, Alike& alike) {
    if (word.want.any() && !add(word, length, want, alike)) return;
    word.want = want;
  }
  void want(MemoryWord& word, unsigned length, const MemoryWant& wanted) {
    Alike alike;
    want(word, length, wanted, alike);
  }

  // `bytes` bytes have been found that had this list.
  void found(WantList list, std::uint64_t bytes) {
    wants_.release(list, static_cast<std::uint32_t>(bytes));
  }

  // f(const MemoryWant&) for all who want the same.
  void prefetch(WantList more) const { wants_.prefetch(more); }
  template <class F>
  void each(const MemoryWant& first, WantList more, F&& f) const {
    f(first);
    for (; more != 0; more = wants_.next(more)) f(wants_[more]);
  }

 private:
  // Makes room in a word that is wanted already; false if that one will do.
  [[gnu::noinline]] bool add(MemoryWord& word, unsigned length, const MemoryWant& want,
                             Alike& alike) {
    if (!alike.first_before.any() || !(alike.first_before == word.want) ||
        alike.before != word.more) {
      alike = {word.want, word.more, 0, is_known(word, want)};
      if (!alike.known) alike.after = wants_.make(word.want, word.more);
    }
    if (alike.known) return false;
    wants_.hold(alike.after, length);
    wants_.release(word.more, length);
    word.more = alike.after;
    return true;
  }

  // Whether the same instruction and thread wants it from nearer for the same already (what a
  // value's want costs depends on who writes).
  bool is_known(const MemoryWord& word, const MemoryWant& wanted) const {
    if (covers(word.want, wanted)) return true;
    WantList list = word.more;
    constexpr int kLooked = 2;  // so that what is read in turns by few is wanted once by each
    for (int i = 0; i < kLooked && list != 0; ++i, list = wants_.next(list))
      if (covers(wants_[list], wanted)) return true;
    return false;
  }
  static bool covers(const MemoryWant& known, const MemoryWant& wanted) {
    Want want = wanted.want, other = known.want;
    return other.id() == want.id() && other.mark().same_thread(want.mark()) &&
           other.via() == want.via() && known.same_kind(wanted) && other.cost() <= want.cost();
  }

  Shared<MemoryWant> wants_;
};

}  // namespace svd
