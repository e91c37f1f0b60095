// SPDX-License-Identifier: Apache-2.0
//
// The reading side of one ring (layout and protocol: svd/wire/ring.h). Owns the mapping; one thread
// uses it. The header is shared with another process, which is trusted no further than that what
// lies before `published` is whole records: its sizes are checked once, when the ring is opened.
#pragma once

#include <cstdint>
#include <string>

#include "svd/trace/result.h"
#include "svd/wire/ring.h"

namespace svd {

// The bytes between two positions of a ring.
struct Window {
  const std::uint8_t* data = nullptr;  // of position 0 of a lap
  std::uint64_t capacity = 0;
  std::uint64_t lap = 0;
  std::uint64_t end = 0;  // everything before it is whole records
  bool last = false;      // nothing will follow it
};

class Ring {
 public:
  // Maps the file and removes its name: when both sides are gone it is gone.
  static Result<Ring> open(const std::string& path);
  Ring(Ring&& other) noexcept;
  Ring& operator=(Ring&&) = delete;
  ~Ring();

  const SvdWireHeader& header() const { return *header_; }
  Window window(bool last) const;
  // Lets the writer have what lies before `position`.
  void consume(std::uint64_t position);
  // Returns when there is something behind `end`, or after some milliseconds.
  void wait(std::uint64_t end);
  bool writer_lives() const;
  // Tells the writer to record no more.
  void stop();

 private:
  Ring(int fd, void* base, std::size_t size);
  int fd_;
  void* base_;
  std::size_t size_;  // of the mapping
  SvdWireHeader* header_;
};

}  // namespace svd
