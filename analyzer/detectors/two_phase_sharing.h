// SPDX-License-Identifier: Apache-2.0
//
// Which bytes are shared: accessed by two threads or more, one of which writes or frees them,
// within one lifetime of the memory. Found by one walk (SharingScan), and told in another one
// (SharedBytes) that meets the same lifetimes. The walk also finds which words of them locked
// instructions access (atomic_words.h), and who accesses what at any time (accessors.h).
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "detectors/accessors.h"
#include "detectors/byte_set.h"
#include "detectors/detector.h"
#include "dpdg/byte_shadow.h"
#include "dpdg/lifetimes.h"

namespace svd {

// What is shared in each lifetime; lifetimes are numbered as they begin, from 1, and 0 is that of
// memory that was there from the start.
using SharedInLifetime = std::vector<std::vector<Range>>;

// The lifetimes that memory is in.
class Births {
 public:
  void bear(std::uint64_t begin, std::uint64_t end, std::size_t lifetime);
  std::size_t lifetime(Addr address) const;

 private:
  struct Birth {
    std::uint64_t end = 0;
    std::size_t lifetime = 0;
  };
  std::map<std::uint64_t, Birth> births_;  // by address; they do not overlap
};

class SharingScan final : public Detector {
 public:
  void access(const Touch& access) override;
  void fresh(Addr address, std::uint64_t size) override;
  std::vector<RawFinding> findings() override { return {}; }

  struct Found {
    SharedInLifetime bytes{1}, words{1};
    Accessors accessors;
  };
  Found take();

 private:
  // What is known of a byte.
  struct Known {
    std::uint32_t thread : 16 = 0;  // plus 1
    std::uint32_t several : 1 = 0;
    std::uint32_t written : 1 = 0;
    std::uint32_t locked : 4 = 0;  // bytes of a word that a locked instruction has accessed
    friend bool operator==(const Known&, const Known&) = default;
  };

  void close(Addr address, std::uint64_t bytes, const Known& known);

  ByteShadow<Known> memory_;
  Births births_;
  Found found_;
};

class SharedBytes {
 public:
  SharedBytes() = default;
  explicit SharedBytes(SharedInLifetime shared);

  // The next lifetime begins.
  void fresh(Addr address, std::uint64_t size);
  bool any(Addr address, std::uint64_t size) const { return bytes_.any(address, size); }

 private:
  void add(std::size_t lifetime);

  SharedInLifetime shared_;
  std::size_t lifetime_ = 0;
  ByteSet bytes_;
};

}  // namespace svd
