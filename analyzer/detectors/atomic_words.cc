// SPDX-License-Identifier: Apache-2.0

#include "detectors/atomic_words.h"

#include <algorithm>
#include <utility>

namespace svd {

AtomicWords::AtomicWords(SharedInLifetime words) : words_(std::move(words)) {
  for (const std::vector<Range>& lifetime : words_)
    for (const Range& word : lifetime) filter_.set(filter_bit(word.address));
  add(0);
}

void AtomicWords::fresh(Addr address, std::uint64_t size) {
  live_.erase(live_.lower_bound(address), live_.lower_bound(address + size));
  add(++lifetime_);
}

void AtomicWords::add(std::size_t lifetime) {
  if (lifetime >= words_.size()) return;
  for (const Range& word : words_[lifetime]) live_[word.address].size = word.size;
}

bool AtomicWords::store(const Touch& access, bool constant) {
  auto word = live_.find(access.address);
  if (word == live_.end()) return false;
  std::vector<ThreadIndex>& readers = word->second.readers;
  std::vector<ThreadIndex>& lockers = word->second.lockers;
  auto reader = std::find(readers.begin(), readers.end(), access.thread);
  bool has_read = reader != readers.end();
  bool has_locked = std::find(lockers.begin(), lockers.end(), access.thread) != lockers.end();
  if (access.atomic && !has_locked) lockers.push_back(access.thread);
  if (access.writes()) {
    if (has_read) readers.erase(reader);
    return !access.atomic && has_locked && access.size == word->second.size &&
           (constant || !has_read);
  }
  if (!access.atomic && !has_read) readers.push_back(access.thread);
  return false;
}

}  // namespace svd
