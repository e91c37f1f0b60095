// SPDX-License-Identifier: Apache-2.0

#include "detectors/two_phase_sharing.h"

#include <limits>
#include <utility>

namespace svd {
namespace {

constexpr std::uint64_t kWidest = 8;  // of words

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
  auto thread = static_cast<std::uint16_t>(access.thread.value + 1);
  bool word = access.atomic && access.size <= kWidest && access.address.value % access.size == 0;
  shadow_.touch(access.address, access.size, [&](Cell& cell, Addr, std::uint64_t) {
    if (cell.thread == 0) cell.thread = thread;
    cell.several |= cell.thread != thread;
    cell.written |= access.writes();
    if (word) cell.locked = static_cast<std::uint8_t>(access.size);
  });
}

void SharingScan::fresh(Addr address, std::uint64_t size) {
  close(address, size);
  shadow_.clear(address, size);
  births_.bear(address.value, address.value + size, found_.bytes.size());
  found_.bytes.emplace_back();
  found_.words.emplace_back();
}

// What is shared in the range belongs to the lifetimes that end here.
void SharingScan::close(Addr address, std::uint64_t size) {
  shadow_.visit(address, size, [&](Cell& cell, Addr at, std::uint64_t bytes) {
    if (!cell.several || !cell.written) return;
    std::size_t lifetime = births_.lifetime(at);
    // Its cell may have been cut, and each piece then says so.
    if (cell.locked != 0 && at.value % cell.locked == 0)
      found_.words[lifetime].push_back({at, cell.locked});
    std::vector<Range>& ranges = found_.bytes[lifetime];
    if (!ranges.empty() && ranges.back().address + ranges.back().size == at) {
      ranges.back().size += bytes;
    } else {
      ranges.push_back({at, bytes});
    }
  });
}

SharingScan::Found SharingScan::take() {
  close(Addr(0), std::numeric_limits<std::uint64_t>::max());
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
