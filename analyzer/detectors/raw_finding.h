// SPDX-License-Identifier: Apache-2.0
//
// What a detector found, in its own terms: moments and sites. Findings (findings/finding.h) are
// made of them when all are known, with a second look into the trace for values and names.
//
// Occurrences with the same sites are one raw finding: its accesses are those of the first one.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "cu/units.h"
#include "detectors/touch.h"

namespace svd {

struct RawAccess {
  std::string_view role;  // as in the report: "first", "remote", …
  Moment moment{};
  ThreadIndex thread{};
  std::optional<SiteId> site{};  // none: all that is known is the moment, the trace says the rest
  LockSetId locks = kNoLocks;
  TouchKind kind = TouchKind::kRead;
  bool atomic = false;
  Addr address{};  // of the bytes that it has in common with the others
  std::uint64_t size = 0;

  RawAccess(std::string_view r, Moment m) : role(r), moment(m) {}
  RawAccess(std::string_view r, const Mark& mark, Addr a, std::uint64_t s)
      : role(r),
        moment(mark.moment),
        thread(static_cast<std::uint16_t>(mark.thread)),
        site(mark.site),
        locks(mark.lock_set()),
        kind(static_cast<TouchKind>(mark.kind)),
        atomic(mark.atomic),
        address(a),
        size(s) {}
  RawAccess(std::string_view r, const Touch& access, Addr a, std::uint64_t s)
      : RawAccess(r, Mark(access), a, s) {}
};

// One time that two accesses met: of a race both, of a violation the unit's and the other thread's.
struct Meeting {
  Moment earlier{}, later{};
  Addr address{};
};

// Of a violation the members of the two, of the units by which it was found. 0: not known.
struct UnitPair {
  UnitMember unit = 0, other = 0;
};

inline constexpr std::size_t kMostInstances = 65'536;  // 1.5 MB

struct RawFinding {
  std::string_view detector{};
  std::vector<RawAccess> accesses{};  // in the order of their moments, mostly
  std::uint64_t occurrences = 0;
  // How much speaks for it, and how near what belongs together lies: of detectors that rank.
  std::uint64_t score = 0;
  std::uint64_t distance = 0;
  bool minor = false;                  // of a violation: may well be meant so
  std::optional<bool> serializable{};  // of a violation, where it was asked: see unit_cycles.h
  std::vector<Meeting> instances{};    // of a race or violation, the first kMostInstances
  std::vector<UnitPair> units{};       // of a violation: of each instance

  // A violation, once more.
  void happened(const Meeting& meeting, const UnitPair& pair) {
    ++occurrences;
    if (instances.size() >= kMostInstances) return;
    instances.push_back(meeting);
    units.push_back(pair);
  }
};

// Raw findings with two or three accesses, grouped by their sites.
class RawFindings {
 public:
  explicit RawFindings(std::string_view detector) : detector_(detector) {}

  // Two accesses that conflict; which of both came first does not tell groups apart.
  void conflict(const Mark& earlier, const Touch& later, Addr address, std::uint64_t size) {
    Mark mark(later);
    Key key{place(earlier), place(mark), 0};
    if (key[1] < key[0]) std::swap(key[0], key[1]);
    std::uint64_t instance = earlier.moment << 16 ^ later.moment.value;
    auto [found, added] = count(key, instance);
    if (added) {
      found->accesses = {RawAccess("first", earlier, address, size),
                         RawAccess("second", mark, address, size)};
    }
    if (found != nullptr && found->instances.size() < kMostInstances)
      found->instances.push_back({Moment(earlier.moment), later.moment, address});
  }

  // `keys` are the marks whose sites make the group; the finding to be filled in when it is new.
  RawFinding* triple(const Mark& a, const Mark& b, const Mark& c) {
    auto [found, added] =
        count({place(a), place(b), place(c)}, (a.moment << 32) ^ (b.moment << 16) ^ c.moment);
    return added ? found : nullptr;
  }

  const std::vector<RawFinding>& list() const { return list_; }

 private:
  using Key = std::array<std::uint64_t, 3>;
  struct Hash {
    std::size_t operator()(const Key& key) const {
      return key[0] * 0x9e3779b97f4a7c15 ^ key[1] * 0xc2b2ae3d27d4eb4f ^
             key[2] * 0x165667b19e3779f9;
    }
  };
  struct Group {
    std::size_t index;
    std::uint64_t last;
  };
  using Groups = std::unordered_map<Key, Group, Hash>;

  // As ==, which is a call.
  static bool same(const Key& a, const Key& b) {
    return ((a[0] ^ b[0]) | (a[1] ^ b[1]) | (a[2] ^ b[2])) == 0;
  }
  static std::uint64_t place(const Mark& mark) {
    return std::uint64_t{mark.site} << 3 | std::uint64_t{mark.kind} << 1 | 1;
  }

  // The finding, unless the instance is known, and whether it is new. The bytes of one pair of
  // accesses come one after the other, and count once.
  [[gnu::always_inline]] std::pair<RawFinding*, bool> count(const Key& key,
                                                            std::uint64_t instance) {
    Groups::value_type*& recent = recent_[Hash()(key) >> (64 - kRecentBits)];
    bool added = recent == nullptr || !same(recent->first, key) ? find(key, recent) : false;
    if (std::exchange(recent->second.last, instance) == instance && !added) return {nullptr, false};
    RawFinding& found = list_[recent->second.index];
    ++found.occurrences;
    return {&found, added};
  }
  // Its group, and whether it is new.
  [[gnu::noinline]] bool find(const Key& key, Groups::value_type*& group) {
    auto [entry, added] = groups_.try_emplace(key, Group{list_.size(), 0});
    if (added) list_.push_back({.detector = detector_});
    group = &*entry;
    return added;
  }

  static constexpr unsigned kRecentBits = 6;

  std::string_view detector_;
  Groups groups_;
  // What meets mostly meets again soon: the newest group of each part of the hashes, or null.
  std::array<Groups::value_type*, std::size_t{1} << kRecentBits> recent_{};
  std::vector<RawFinding> list_;
};

}  // namespace svd
