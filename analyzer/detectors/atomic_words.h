// SPDX-License-Identifier: Apache-2.0
//
// Plain stores that are atomic ones. On x86 a store with release order is compiled to a plain mov;
// what tells it from a variable's is that other instructions access the same word with a lock
// prefix:
//
//     thread 1: lock cmpxchg lock   data = 1   mov $0, lock
//     thread 2:                                               lock cmpxchg lock   use(data)
//
// Definition. A word is atomic in a lifetime of its memory in which a locked instruction accesses
// it. A plain store of exactly the word is atomic if its thread has accessed the word by a locked
// instruction before (else it may be what makes the word, before anybody else can know it), unless
// it may be the second half of an update that is not: what it stores comes from a register or from
// the word itself, and the thread has read the word by a plain instruction since it wrote it last.
// That one loses what others write in between, and stays a plain store.
//
// An atomic store releases. Whether it races with locked accesses that nothing orders stays to be
// told (harmless.h): it may have been meant to be a plain one.
//
// Known unsoundness: what decided that a constant is stored may have been read before, plainly.
#pragma once

#include <bitset>
#include <cstdint>
#include <map>
#include <vector>

#include "detectors/touch.h"
#include "detectors/two_phase_sharing.h"

namespace svd {

class AtomicWords {
 public:
  AtomicWords() = default;
  explicit AtomicWords(SharedInLifetime words);

  // The next lifetime begins.
  void fresh(Addr address, std::uint64_t size);
  bool may_hold(Addr address) const { return filter_[filter_bit(address)]; }
  // To be told of every access to what may be a word of it, in order. Whether it is an atomic
  // store, though its instruction is plain; `constant`: it stores what the code says.
  bool store(const Touch& access, bool constant);

 private:
  static constexpr unsigned kFilterBits = 16;
  struct Word {
    std::uint64_t size = 0;
    std::vector<ThreadIndex> readers{};  // by plain instructions, since they wrote it last
    std::vector<ThreadIndex> lockers{};  // by locked ones
  };

  static std::size_t filter_bit(Addr address) {
    return (address.value * 0x9e3779b97f4a7c15) >> (64 - kFilterBits);
  }
  void add(std::size_t lifetime);

  SharedInLifetime words_;
  std::size_t lifetime_ = 0;
  std::map<Addr, Word> live_;
  std::bitset<std::size_t{1} << kFilterBits> filter_;  // of addresses that are words at some time
};

}  // namespace svd
