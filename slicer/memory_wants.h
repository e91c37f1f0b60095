// SPDX-License-Identifier: Apache-2.0
//
// Who wants each byte of memory, as a reverse walk knows it.
//
// Of a byte all who want it are kept, because each can be another thread than the writer: the last
// one in the word itself, since mostly there are no more, the others in a list. What has been found
// is forgotten: memory is for what is wanted at one time, not for the slice.
#pragma once

#include <cstdint>
#include <utility>

#include "slicer/shared_list.h"
#include "slicer/wants.h"

namespace svd {

using WantList = std::uint32_t;  // 0: empty

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

struct MemoryWord {
  MemoryWant want;
  WantList more = 0;  // who else wants it
  friend bool operator==(const MemoryWord&, const MemoryWord&) = default;
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
