// SPDX-License-Identifier: Apache-2.0
//
// What goes through files, pipes and pairs of sockets of the process. A byte that a system call put
// into a channel and another one took out of it follows from the one that put it there, and who
// reads it from memory follows from that call, too: the kernel only carried it.
//
//     T1  buffer[0] = x;
//     T1  write(fd, buffer, 1);      puts byte 7 of the file there
//     T2  read(fd, line, 1);         takes it out
//     T2  if (line[0] == 'x')        follows from both calls
//
// Bytes of channels have addresses beyond those of memory, so that one shadow can hold both.
#pragma once

#include <cstdint>
#include <optional>

#include "dpdg/byte_shadow.h"
#include "svd/trace/event.h"

namespace svd {

// The program's addresses have both of the highest bits alike (canonical form), but for those of an
// access that faults.
inline constexpr unsigned kChannelShift = 40;  // a channel of 1 TiB
inline constexpr std::uint64_t kChannelBase = std::uint64_t{1} << 63;
inline constexpr std::uint32_t kMostChannels = 1U << (62 - kChannelShift);

constexpr bool is_channel(Addr address) { return address.value >> 62 == 2; }
constexpr std::uint32_t channel_of(Addr address) {
  return static_cast<std::uint32_t>((address.value - kChannelBase) >> kChannelShift);
}

// Where the bytes of a transfer are in their channel; nothing where that is not known.
constexpr std::optional<Addr> channel_bytes(const Transfer& transfer) {
  constexpr std::uint64_t kEnd = std::uint64_t{1} << kChannelShift;
  bool fits = transfer.position < kEnd && transfer.size <= kEnd - transfer.position;
  if (transfer.channel == 0 || transfer.channel >= kMostChannels || !fits) return std::nullopt;
  return Addr(kChannelBase | std::uint64_t{transfer.channel} << kChannelShift | transfer.position);
}

// Of each byte that came out of a channel, and of those that are in one: who put it there.
template <class Word>
class Carried {
 public:
  void event(const Event& event, const Word& me) {
    const auto* transfer = std::get_if<Transfer>(&event.body);
    if (transfer == nullptr || transfer->address.value == 0) return;
    std::optional<Addr> there = channel_bytes(*transfer);
    if (there && transfer->access == Access::kRead)
      by_.set(*there, transfer->size, me);
    else if (there && !by_.empty())
      copy(*there, transfer->address, transfer->size);
  }

  // These bytes are not what came out of a channel any more, or the channel's not what was put in.
  void forget(Addr address, std::uint64_t size) {
    if (!by_.empty()) by_.clear(address, size);
  }

  // f(Addr, length, word) where it is known.
  template <class F>
  void visit(Addr address, std::uint64_t size, F&& f) const {
    if (!by_.empty()) by_.visit(address, size, f);
  }

 private:
  void copy(Addr from, Addr to, std::uint64_t size) {
    by_.clear(to, size);
    by_.visit(from, size, [&](Addr at, unsigned length, const Word& word) {
      by_.set(to + (at - from), length, word);
    });
  }

  ByteShadow<Word> by_;
};

}  // namespace svd
