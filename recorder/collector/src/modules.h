// SPDX-License-Identifier: Apache-2.0
//
// Which files' code is mapped where. A file becomes a module of the trace when a piece of it that
// may be executed is mapped, which is before any of its code runs; the rest of its segments follow
// from its headers. It is unloaded when that piece is gone.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "trace_feed.h"

namespace svd {

class Modules {
 public:
  explicit Modules(TraceFeed& feed) : feed_(feed) {}

  // [address, address + size) now is `path` from `offset` on; "": no file.
  void map(ThreadId thread, std::uint64_t address, std::uint64_t size, std::uint64_t offset,
           std::uint32_t protection, const std::string& path);
  void unmap(ThreadId thread, std::uint64_t address, std::uint64_t size);

  // Whether `pc` is in the preload library of our own.
  bool in_preload(std::uint64_t pc) const { return pc - preload_ < preload_size_; }

 private:
  struct Loaded {
    ModuleId id;
    std::string path;
    std::uint64_t bias = 0;
    std::uint64_t address = 0;  // of the executable piece
    std::uint64_t size = 0;
  };
  TraceFeed& feed_;
  std::vector<Loaded> loaded_;
  std::uint64_t preload_ = 0;
  std::uint64_t preload_size_ = 0;
};

}  // namespace svd
