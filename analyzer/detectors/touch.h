// SPDX-License-Identifier: Apache-2.0
//
// What detectors see of a run: accesses to memory, each by one thread at one moment from one place
// in the code, and what was released and acquired between them. Scan (scan.h) makes this of a
// trace.
#pragma once

#include <cstdint>

#include "detectors/lock_sets.h"
#include "detectors/moments.h"
#include "detectors/sites.h"
#include "svd/trace/types.h"

namespace svd {

// Threads in the order of TraceReader::threads(), so that they index arrays.
using ThreadIndex = Name<struct ThreadIndexTag, std::uint16_t>;

// Something that one thread leaves and another one takes up: a lock, a started thread, a barrier's
// round. Numbered from 0.
using ChannelId = Name<struct ChannelTag, std::uint32_t>;

enum class EdgeKind : std::uint8_t {
  kLock,    // an unlock, and a later lock: says only who came first in this run
  kOrder,   // one had to wait for the other: create, join, post, signal, barrier, …
  kAtomic,  // an atomic write, and a later read of it
};

enum class TouchKind : std::uint8_t {
  kRead,
  kWrite,
  kFree,  // the memory was given back: as bad as a write for whoever uses it
};

struct Touch {
  Moment moment{};
  Addr address{};
  std::uint64_t size = 0;
  SiteId site{};
  ThreadIndex thread{};
  LockSetId locks = kNoLocks;
  TouchKind kind = TouchKind::kRead;
  bool atomic = false;
  // False: nobody else accesses these bytes in their lifetime, or nobody writes them.
  bool shared = true;

  bool writes() const { return kind != TouchKind::kRead; }
};

// An access as a shadow cell remembers it. Nine million million moments are six days of analysis.
struct [[gnu::packed, gnu::aligned(4)]] BriefMark {
  static constexpr unsigned kMomentBits = 43, kMannerBits = 29;
  static constexpr std::uint64_t kMoments = (std::uint64_t{1} << kMomentBits) - 1;
  static constexpr std::uint32_t kMostManners = (std::uint32_t{1} << kMannerBits) - 1;
  static constexpr std::uint64_t kKeepers = 31;
  std::uint64_t moment : kMomentBits = 0;  // 0: none
  std::uint64_t keepers : 5 = 0;           // who remembers it: see history.h
  std::uint64_t thread : 16 = 0;
  std::uint32_t manner : kMannerBits = 0;  // its site and locks: see manners.h
  std::uint32_t kind : 2 = 0;
  std::uint32_t atomic : 1 = 0;

  // The last three, as one word.
  static std::uint32_t manner_word(std::uint32_t manner, const Touch& access) {
    return manner | static_cast<std::uint32_t>(access.kind) << kMannerBits |
           (access.atomic ? 1U : 0U) << 31;
  }

  BriefMark() = default;
  BriefMark(std::uint64_t at, std::uint64_t by, std::uint32_t word)
      : moment(at & kMoments),
        thread(by & 0xffffU),
        manner(word & kMostManners),
        kind(word >> kMannerBits & 3U),
        atomic(word >> 31 != 0) {}

  bool is(ThreadIndex index) const { return thread == index.value; }
};
static_assert(sizeof(BriefMark) == 12);

// An access as it is told.
struct Mark : BriefMark {
  std::uint32_t site = 0;
  std::uint32_t locks = 0;

  Mark() = default;
  Mark(const BriefMark& brief, std::uint32_t s, std::uint32_t l)
      : BriefMark(brief), site(s), locks(l) {}
  explicit Mark(const Touch& access)
      : Mark({access.moment.value, access.thread.value, manner_word(0, access)}, access.site.value,
             access.locks.value) {}

  LockSetId lock_set() const { return LockSetId(locks); }
};

// Whether the two do not race because they are atomic. Where a read and a write meet one atomic
// instruction is enough: atomic loads and stores are compiled to plain ones.
inline bool atomic_pair(const BriefMark& earlier, const Touch& now) {
  auto is = [&earlier](TouchKind kind) { return earlier.kind == static_cast<std::uint32_t>(kind); };
  if (is(TouchKind::kFree) || now.kind == TouchKind::kFree) return false;
  bool reads = is(TouchKind::kRead) || !now.writes();
  return reads ? earlier.atomic || now.atomic : earlier.atomic && now.atomic;
}

}  // namespace svd
