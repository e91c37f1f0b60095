// SPDX-License-Identifier: Apache-2.0

#include "detectors/two_phase_sharing.h"

#include <limits>
#include <utility>

namespace svd {

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
  auto thread = static_cast<std::uint16_t>(access.thread.value + 1);
  shadow_.touch(access.address, access.size, [&](Cell& cell, Addr, std::uint64_t) {
    if (cell.thread == 0) cell.thread = thread;
    cell.several |= cell.thread != thread;
    cell.written |= access.writes();
  });
}

void SharingScan::fresh(Addr address, std::uint64_t size) {
  close(address, size);
  shadow_.clear(address, size);
  births_.bear(address.value, address.value + size, shared_.size());
  shared_.emplace_back();
}

// What is shared in the range belongs to the lifetimes that end here.
void SharingScan::close(Addr address, std::uint64_t size) {
  shadow_.visit(address, size, [&](Cell& cell, Addr at, std::uint64_t bytes) {
    if (!cell.several || !cell.written) return;
    std::vector<Range>& ranges = shared_[births_.lifetime(at)];
    if (!ranges.empty() && ranges.back().address + ranges.back().size == at) {
      ranges.back().size += bytes;
    } else {
      ranges.push_back({at, bytes});
    }
  });
}

SharedInLifetime SharingScan::take() {
  close(Addr(0), std::numeric_limits<std::uint64_t>::max());
  return std::move(shared_);
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
