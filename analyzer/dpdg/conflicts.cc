// SPDX-License-Identifier: Apache-2.0
//
// Definition: slicing paper §3.1 (transitivity) and §3.2 (happens-before).
//
//     T1  D1: x = 1;
//     T1  D2: x = 2;
//     T2  D3: x = 3;       D1 -> D3 and D2 -> D3 are dependences, D2 -> D3 is adjacent
//     T1  unlock(m)
//     T2  lock(m)
//     T2  D4: x = 4;       D2 -> D4 is not adjacent; were it, it would be ordered
//
// One scan finds the words that several threads access; only these are looked at in the second one.
// They are cut into pieces at which no access begins or ends inside. All pairs are counted without
// being listed: two accesses meet first where the later one begins, or where the earlier one begins
// inside of it, so a piece counts for each thread what covers it and what begins there.
// Cost: linear in the trace, and a search for each access to what is shared. An access that reaches
// over both ends of an allocation would be counted twice.
#include "dpdg/conflicts.h"

#include <algorithm>
#include <array>
#include <limits>
#include <map>
#include <utility>
#include <vector>

#include "dpdg/byte_shadow.h"
#include "dpdg/conflict_accesses.h"

namespace svd {
namespace {

constexpr std::uint64_t kWord = 8;
constexpr Seq kEnd{std::numeric_limits<std::uint64_t>::max()};

// Words that two threads access.
class Shared {
 public:
  void access(const Touched& touched) {
    auto [first, size] = words(touched);
    std::uint64_t at = first.value;
    auto own = [&](std::uint64_t to) {
      if (at < to) words_.set(Addr(at), to - at, touched.thread.value + 1);
    };
    words_.visit(first, size, [&](Addr from, unsigned length, std::uint32_t owner) {
      own(from.value);
      if (owner != touched.thread.value + 1 && owner != kMany) words_.set(from, length, kMany);
      at = from.value + length;
    });
    own(first.value + size);
  }
  void fresh(Range) {}

  // Calls f(begin, end) for the parts of the access that are shared.
  template <class F>
  void each(const Touched& touched, F&& f) const {
    auto [first, size] = words(touched);
    std::uint64_t begin = 0, end = 0;
    std::uint64_t low = touched.address.value, high = low + touched.size;
    words_.visit(first, size, [&](Addr from, unsigned length, std::uint32_t owner) {
      if (owner != kMany) return;
      if (from.value != end) {
        if (begin < end) f(std::max(begin, low), std::min(end, high));
        begin = from.value;
      }
      end = from.value + length;
    });
    if (begin < end) f(std::max(begin, low), std::min(end, high));
  }

 private:
  static constexpr std::uint32_t kMany = ~std::uint32_t{0};
  static std::pair<Addr, std::uint64_t> words(const Touched& touched) {
    std::uint64_t begin = touched.address.value & ~(kWord - 1);
    std::uint64_t end = (touched.address.value + touched.size + kWord - 1) & ~(kWord - 1);
    return {Addr(begin), end - begin};
  }
  ByteShadow<std::uint32_t> words_;  // the thread + 1, or kMany
};

class Counter {
 public:
  Counter(const Shared& shared, const Sequencers& sequencers)
      : shared_(shared), sequencers_(sequencers) {}

  void access(const Touched& touched) {
    ++number_;
    for (auto& found : found_) found.clear();
    shared_.each(touched, [&](std::uint64_t begin, std::uint64_t end) {
      auto piece = cut(begin, end);
      for (; piece != pieces_.end() && piece->first < end; ++piece)
        meet(touched, piece->second, piece->first == touched.address.value);
    });
    add(found_[0], counts_.raw, touched, false);
    counts_.raw.all = counts_.raw.adjacent;
    add(found_[1], counts_.waw, touched, true);
    add(found_[2], counts_.war, touched, true);
  }

  void fresh(Range range) {
    std::uint64_t begin = range.address.value, end = begin + range.size;
    split(begin);
    split(end);
    auto after = pieces_.erase(pieces_.lower_bound(begin), pieces_.lower_bound(end));
    // What reached over the end now begins there.
    if (after != pieces_.end() && after->first == end)
      for (Tally& tally : after->second.tallies)
        tally.writes.begin = tally.writes.cover, tally.reads.begin = tally.reads.cover;
  }

  const ConflictCounts& counts() const { return counts_; }

 private:
  struct Met {
    std::uint64_t number = 0;  // of the access; 0: none
    ThreadId thread{};
    Seq seq{};
  };
  struct Number {
    std::uint64_t cover = 0, begin = 0;
  };
  struct Tally {  // of one thread
    ThreadId thread{};
    Number reads, writes;
    Met last_read;  // since the last write
  };
  struct Piece {
    std::uint64_t end = 0;
    Met writer;
    std::vector<Tally> tallies;
  };
  using Pieces = std::map<std::uint64_t, Piece>;

  // Lets no piece reach over `at`.
  void split(std::uint64_t at) {
    auto piece = pieces_.lower_bound(at);
    if (piece == pieces_.begin() || std::prev(piece)->second.end <= at) return;
    --piece;
    Piece right = piece->second;
    for (Tally& tally : right.tallies) tally.reads.begin = tally.writes.begin = 0;
    piece->second.end = at;
    pieces_.emplace(at, std::move(right));
  }

  // Makes [begin, end) whole pieces; the first of them.
  Pieces::iterator cut(std::uint64_t begin, std::uint64_t end) {
    split(begin);
    split(end);
    auto next = pieces_.lower_bound(begin);
    std::uint64_t at = begin;
    while (at < end) {
      std::uint64_t to = next == pieces_.end() ? end : std::min(end, next->first);
      if (at < to) pieces_.emplace_hint(next, at, Piece{to, {}, {}});
      if (next == pieces_.end() || next->first >= end) break;
      at = next->second.end;
      ++next;
    }
    return pieces_.lower_bound(begin);
  }

  void meet(const Touched& touched, Piece& piece, bool begins) {
    Met me{number_, touched.thread, touched.seq};
    auto other = [&](const Met& met) { return met.number != 0 && met.thread != touched.thread; };
    if (other(piece.writer)) found_[touched.write ? 1 : 0].push_back(piece.writer);
    if (touched.write) {
      for (Tally& tally : piece.tallies) {
        if (tally.thread == touched.thread) continue;
        counts_.waw.all += begins ? tally.writes.cover : tally.writes.begin;
        counts_.war.all += begins ? tally.reads.cover : tally.reads.begin;
        if (tally.last_read.number != 0) found_[2].push_back(tally.last_read);
      }
      for (Tally& tally : piece.tallies) tally.last_read = {};
      piece.writer = me;
    }
    Tally& own = tally(piece, touched.thread);
    Number& number = touched.write ? own.writes : own.reads;
    ++number.cover;
    number.begin += begins;
    if (!touched.write) own.last_read = me;
  }

  static Tally& tally(Piece& piece, ThreadId thread) {
    auto found = std::find_if(piece.tallies.begin(), piece.tallies.end(),
                              [thread](const Tally& t) { return t.thread == thread; });
    if (found != piece.tallies.end()) return *found;
    piece.tallies.emplace_back().thread = thread;
    return piece.tallies.back();
  }

  // Each access that was met at several pieces once.
  void add(std::vector<Met>& found, ConflictCounts::Row& row, const Touched& touched,
           bool filtered) {
    std::sort(found.begin(), found.end(),
              [](const Met& a, const Met& b) { return a.number < b.number; });
    std::uint64_t last = 0;
    for (const Met& met : found) {
      if (met.number == std::exchange(last, met.number)) continue;
      ++row.adjacent;
      bool ordered =
          filtered && sequencers_.ordered(met.thread, met.seq, touched.thread, touched.seq);
      row.unordered += !ordered;
    }
  }

  const Shared& shared_;
  const Sequencers& sequencers_;
  Pieces pieces_;
  std::uint64_t number_ = 0;
  std::array<std::vector<Met>, 3> found_;  // RAW, WAW, WAR of the access at hand
  ConflictCounts counts_;
};

}  // namespace

ConflictCounts count_conflicts(const TraceReader& trace, std::span<const Seq> faults,
                               const Sequencers& sequencers, Diagnostics& diagnostics,
                               const ProgressFunction& progress) {
  Shared shared;
  walk_accesses(trace, faults, shared, kEnd, diagnostics, progress);
  Counter counter(shared, sequencers);
  Diagnostics told;  // the first walk has told what cannot be read
  walk_accesses(trace, faults, counter, kEnd, told, progress);
  return counter.counts();
}

}  // namespace svd
