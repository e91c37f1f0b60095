// SPDX-License-Identifier: Apache-2.0

#include "cfg/code_map.h"

#include <algorithm>
#include <utility>

namespace svd {

namespace {

bool below(Address at, const CodeRegion& region) { return at < region.code.begin; }

}  // namespace

bool CodeMap::add(std::unique_ptr<ModuleFile> file) {
  for (const LoadedBytes& code : file->code())
    if (overlaps(code)) return false;
  for (const LoadedBytes& code : file->code()) {
    CodeRegion region{code, file.get(), std::vector<std::uint8_t>(code.bytes.size())};
    regions_.insert(std::upper_bound(regions_.begin(), regions_.end(), code.begin, below),
                    std::move(region));
  }
  files_.push_back(std::move(file));
  return true;
}

void CodeMap::add_seen(std::vector<LoadedBytes> blocks) {
  std::erase_if(blocks, [&](const LoadedBytes& block) {
    return block.end() <= block.begin || overlaps(block);
  });
  std::sort(blocks.begin(), blocks.end(),
            [](const LoadedBytes& a, const LoadedBytes& b) { return a.begin < b.begin; });
  for (const LoadedBytes& block : blocks) {
    if (seen_.empty() || block.begin > seen_.back().first + seen_.back().second.size())
      seen_.emplace_back(block.begin, std::vector<std::uint8_t>());
    auto& [begin, bytes] = seen_.back();
    std::size_t known = begin + bytes.size() - block.begin;  // of the block's bytes
    if (known < block.bytes.size())
      bytes.insert(bytes.end(), block.bytes.begin() + static_cast<std::ptrdiff_t>(known),
                   block.bytes.end());
  }
  for (const auto& [begin, bytes] : seen_)
    regions_.push_back({{begin, bytes}, nullptr, std::vector<std::uint8_t>(bytes.size())});
  std::sort(regions_.begin(), regions_.end(),
            [](const CodeRegion& a, const CodeRegion& b) { return a.code.begin < b.code.begin; });
}

bool CodeMap::overlaps(const LoadedBytes& code) const {
  return std::any_of(regions_.begin(), regions_.end(), [&](const CodeRegion& region) {
    return code.begin < region.code.end() && region.code.begin < code.end();
  });
}

CodeRegion* CodeMap::find(Address at) {
  auto next = std::upper_bound(regions_.begin(), regions_.end(), at, below);
  return next == regions_.begin() || !(--next)->code.contains(at) ? nullptr : &*next;
}

bool CodeMap::holds(const LoadedBytes& code) const {
  const CodeRegion* region = find(code.begin);
  if (region == nullptr || code.end() > region->code.end()) return false;
  auto there = region->code.bytes.subspan(code.begin - region->code.begin, code.bytes.size());
  return std::equal(there.begin(), there.end(), code.bytes.begin());
}

}  // namespace svd
