// SPDX-License-Identifier: Apache-2.0
//
// The predictors behind the columns, shared by encoder and decoder so that both always agree. A
// column stores only where its predictor was wrong:
//
//   miss stream: for each miss a token byte, high nibble = hits since the last miss (15: a varint
//   with the number follows), low nibble = bytes of the residual (0..8), then these bytes, little
//   endian.
//
// Tokens beat varints: a residual is one unaligned load and a mask. Hits cost nothing in the file
// and one counter in the decoder.
#pragma once

#include <bit>
#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

#include "bytes.h"

namespace svd {

// Bytes of one miss at most, rounded up: room that the encoder keeps, and zeros that must follow a
// stream in memory so that decoding a token never needs a bounds check of its own.
inline constexpr std::size_t kMissPadding = 32;

// Both coders have the same two calls, so that a pass over a column is written once: hit() says
// whether the prediction was right, and after a miss, residual() passes on what was stored in its
// place. Passes work on a copy and return it: its members then live in registers.
class MissEncoder {
 public:
  explicit MissEncoder(Bytes& out) : out_(&out) {
    out_->resize(1U << 16);
    at_ = out_->data();
  }

  void finish() { out_->resize(used()); }

  bool hit(bool right) {
    hits_ += right ? 1 : 0;
    return right;
  }

  std::uint64_t residual(std::uint64_t residual) {
    if (out_->size() - used() < kMissPadding) grow();
    auto length = static_cast<unsigned>(8 - std::countl_zero(residual) / 8);
    if (hits_ < 15) {
      *at_++ = static_cast<std::uint8_t>(hits_ << 4 | length);
    } else {
      *at_++ = static_cast<std::uint8_t>(0xF0 | length);
      for (; hits_ >= 0x80; hits_ >>= 7) *at_++ = static_cast<std::uint8_t>(hits_ | 0x80);
      *at_++ = static_cast<std::uint8_t>(hits_);
    }
    std::memcpy(at_, &residual, 8);
    at_ += length;
    hits_ = 0;
    return residual;
  }

 private:
  std::size_t used() const { return static_cast<std::size_t>(at_ - out_->data()); }
  [[gnu::noinline]] void grow() {
    std::size_t size = used();
    out_->resize(2 * out_->size());
    at_ = out_->data() + size;
  }

  Bytes* out_;
  std::uint8_t* at_ = nullptr;
  std::uint64_t hits_ = 0;
};

class MissDecoder {
 public:
  // `stream` is followed by kMissPadding zero bytes.
  explicit MissDecoder(std::span<const std::uint8_t> stream)
      : at_(stream.data()), end_(at_ + stream.size()) {
    next();
  }

  bool hit(bool /*only the encoder knows*/) {
    if (hits_ == 0) return false;
    --hits_;
    return true;
  }

  std::uint64_t residual(std::uint64_t /*only the encoder knows*/) {
    std::uint64_t value = residual_;
    next();
    return value;
  }

  // The stream was used up exactly.
  bool clean() const { return at_ == end_ && done_; }

 private:
  void next() {
    if (at_ >= end_) {
      hits_ = ~std::uint64_t{0};
      done_ = true;
      return;
    }
    unsigned token = *at_++;
    hits_ = token >> 4;
    if (hits_ == 15) long_gap();
    unsigned length = token & 15;
    std::uint64_t word;
    std::memcpy(&word, at_, 8);
    residual_ = length >= 8 ? word : word & ((std::uint64_t{1} << (8 * length)) - 1);
    at_ += length;
  }

  void long_gap() {
    hits_ = 0;
    for (unsigned shift = 0; shift < 63; shift += 7) {
      std::uint8_t byte = *at_++;
      hits_ |= static_cast<std::uint64_t>(byte & 0x7F) << shift;
      if (byte < 0x80) return;
    }
  }

  const std::uint8_t* at_;
  const std::uint8_t* end_;
  std::uint64_t hits_ = 0;
  std::uint64_t residual_ = 0;
  bool done_ = false;
};

// Last value plus stride; a stride is believed when it was seen twice, so that one outlier costs
// one miss.
struct StridePredictor {
  std::uint64_t last = 0;
  std::uint64_t stride = 0;
  std::uint64_t candidate = 0;

  std::uint64_t predict() const { return last + stride; }
  void update(std::uint64_t actual) {
    std::uint64_t difference = actual - last;
    stride = difference == candidate ? difference : stride;
    candidate = difference;
    last = actual;
  }
};

// What followed the last few executed shapes of the same thread.
class SuccessorPredictor {
 public:
  void reset() { table_.assign(kEntries, 0); }
  std::uint32_t& entry(std::uint32_t history) { return table_[history]; }
  // Four shapes of history: each shifts the older ones by a quarter of the index.
  static std::uint32_t extend(std::uint32_t history, std::uint32_t shape) {
    return ((history << 4) ^ ((shape + 1) * 0x9E3779B1U >> 16)) & (kEntries - 1);
  }

 private:
  static constexpr std::uint32_t kEntries = 1U << 16;
  std::vector<std::uint32_t> table_;
};

// The bytes last seen at recently used addresses, in aligned words. Words share entries without
// knowing it: a wrong word is a wrong prediction and no more.
class ValueCache {
 public:
  void reset() { table_.assign(kEntries, 0); }
  std::uint64_t& word(std::uint64_t number) {
    return table_[(number * 0x9E3779B97F4A7C15U) >> (64 - kBits)];
  }
  // The table is larger than the nearest cache: a third of the time of decoding values went into
  // waiting for it.
  void prefetch(std::uint64_t number) { __builtin_prefetch(&word(number), 1); }
  static constexpr std::ptrdiff_t kAhead = 12;  // accesses between prefetch() and word()

 private:
  static constexpr unsigned kBits = 15;
  static constexpr std::size_t kEntries = std::size_t{1} << kBits;
  std::vector<std::uint64_t> table_;
};

}  // namespace svd
