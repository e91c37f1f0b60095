// SPDX-License-Identifier: Apache-2.0

#include "detectors/two_phase_sharing.h"

#include <limits>
#include <utility>

namespace svd {
namespace {

constexpr std::uint64_t kWidest = 8;  // of words
// Of larger memory that is given back only pages count that somebody accessed.
constexpr std::uint64_t kLarge = 1U << 16;

}  // namespace

void Births::bear(std::uint64_t begin, std::uint64_t end, std::size_t lifetime) {
  auto next = births_.lower_bound(begin);
  if (next != births_.begin()) {
    auto& [before, birth] = *std::prev(next);
    if (birth.end > end) births_[end] = birth;
    if (birth.end > begin) birth.end = begin;
  }
  next = births_.lower_bound(begin);
  while (next != births_.end() && next->first < end) {
    if (next->second.end > end) births_[end] = next->second;
    next = births_.erase(next);
  }
  births_[begin] = {end, lifetime};
}

std::size_t Births::lifetime(Addr address) const {
  auto birth = births_.upper_bound(address.value);
  if (birth == births_.begin() || std::prev(birth)->second.end <= address.value) return 0;
  return std::prev(birth)->second.lifetime;
}

void SharingScan::access(const Touch& access) {
  std::uint32_t thread = access.thread.value + 1U;
  bool word = access.atomic && access.size <= kWidest && access.address.value % access.size == 0;
  auto learn = [&](Addr, unsigned, Known& known) {
    if (known.thread == 0) known.thread = thread & 0xffff;
    known.several = known.several || known.thread != thread;
    known.written = known.written || access.writes();
    if (word) known.locked = access.size & 15;
  };
  if (access.kind == TouchKind::kFree && access.size > kLarge)
    memory_.update_present(access.address, access.size, learn);
  else
    memory_.update(access.address, access.size, learn);
}

void SharingScan::fresh(Addr address, std::uint64_t size) {
  memory_.update_present(address, size, [&](Addr at, unsigned bytes, Known& known) {
    close(at, bytes, known);
    known = {};
  });
  births_.bear(address.value, address.value + size, found_.bytes.size());
  found_.bytes.emplace_back();
  found_.words.emplace_back();
}

// What is shared of the bytes belongs to the lifetime that ends here.
void SharingScan::close(Addr address, std::uint64_t bytes, const Known& known) {
  if (known.several) {
    found_.accessors.add_several(address, bytes);
  } else if (known.thread != 0) {
    found_.accessors.add(address, bytes, known.thread);
  }
  if (!known.several || !known.written) return;
  std::size_t lifetime = births_.lifetime(address);
  for (Addr at = address; known.locked != 0 && at < address + bytes; at += 1)
    if (at.value % known.locked == 0) found_.words[lifetime].push_back({at, known.locked});
  std::vector<Range>& ranges = found_.bytes[lifetime];
  if (!ranges.empty() && ranges.back().address + ranges.back().size == address) {
    ranges.back().size += bytes;
  } else {
    ranges.push_back({address, bytes});
  }
}

SharingScan::Found SharingScan::take() {
  memory_.visit_all(
      [this](Addr at, unsigned bytes, const Known& known) { close(at, bytes, known); });
  return std::move(found_);
}

SharedBytes::SharedBytes(SharedInLifetime shared) : shared_(std::move(shared)) { add(0); }

void SharedBytes::fresh(Addr address, std::uint64_t size) {
  bytes_.remove(address, size);
  add(++lifetime_);
}

void SharedBytes::add(std::size_t lifetime) {
  if (lifetime >= shared_.size()) return;
  for (const Range& range : shared_[lifetime]) bytes_.add(range.address, range.size);
}

}  // namespace svd
