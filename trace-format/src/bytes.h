// SPDX-License-Identifier: Apache-2.0
//
// Byte-level reading and writing of the record streams. Integers are LEB128 varints, signed ones
// zigzag first. The reader never reads past its end: it returns zeros and remembers that it failed.
#pragma once

#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>
#include <vector>

namespace svd {

using Bytes = std::vector<std::uint8_t>;

inline std::uint64_t zigzag(std::uint64_t difference) {
  return (difference << 1) ^ (0 - (difference >> 63));
}
inline std::uint64_t unzigzag(std::uint64_t code) { return (code >> 1) ^ (0 - (code & 1)); }

inline void put_varint(Bytes& out, std::uint64_t value) {
  while (value >= 0x80) {
    out.push_back(static_cast<std::uint8_t>(value | 0x80));
    value >>= 7;
  }
  out.push_back(static_cast<std::uint8_t>(value));
}

inline void put_bytes(Bytes& out, const void* data, std::size_t size) {
  const auto* from = static_cast<const std::uint8_t*>(data);
  out.insert(out.end(), from, from + size);
}

class ByteReader {
 public:
  explicit ByteReader(std::span<const std::uint8_t> bytes)
      : at_(bytes.data()), end_(bytes.data() + bytes.size()) {}

  // Most are a single byte.
  std::uint64_t varint() { return at_ != end_ && *at_ < 0x80 ? *at_++ : long_varint(); }

  std::span<const std::uint8_t> bytes(std::uint64_t size) {
    if (size > left()) {
      fail();
      return {};
    }
    std::span<const std::uint8_t> view(at_, static_cast<std::size_t>(size));
    at_ += size;
    return view;
  }

  std::size_t left() const { return static_cast<std::size_t>(end_ - at_); }
  bool failed() const { return failed_; }
  void fail() {
    failed_ = true;
    at_ = end_;
  }

 private:
  [[gnu::noinline]] std::uint64_t long_varint() {
    std::uint64_t value = 0;
    for (unsigned shift = 0; shift < 64; shift += 7) {
      if (at_ == end_) break;
      std::uint8_t byte = *at_++;
      value |= static_cast<std::uint64_t>(byte & 0x7F) << shift;
      if (byte < 0x80) return value;
    }
    fail();
    return 0;
  }

  const std::uint8_t* at_;
  const std::uint8_t* end_;
  bool failed_ = false;
};

}  // namespace svd
