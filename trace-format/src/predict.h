// SPDX-License-Identifier: Apache-2.0
//
// The predictors behind the columns, shared by encoder and decoder so that both always agree. A
// column stores only where its predictor was wrong:
//
//   miss stream: u32 bytes of tokens, tokens, residuals. For each miss a token byte, high nibble =
//   hits since the last miss (15: a varint with the number follows), low nibble = bytes of the
//   residual (0..8); and these bytes, little endian. Nothing at all where nothing was missed.
//
// Tokens beat varints: a residual is one unaligned load and a mask. Hits cost nothing in the file.
// Tokens stand apart from residuals because LZ4 finds more in them, and because a decoder then need
// not wait for one to know where the next one is.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

#include "bytes.h"

namespace svd {

// Room that the encoder keeps for a miss, and zeros that must follow a stream in memory so that
// decoding one never needs a bounds check of its own.
inline constexpr std::size_t kMissPadding = 32;

// Passes work on a copy and return it: its members then live in registers.
class MissEncoder {
 public:
  // Fills `out`; residuals wait in `residuals` until finish().
  MissEncoder(Bytes& out, Bytes& residuals) : out_(&out), residuals_(&residuals) {
    out_->resize(1U << 16);
    residuals_->resize(1U << 16);
    token_ = out_->data() + kTokensAt;
    residual_ = residuals_->data();
  }

  void finish() {
    auto tokens = static_cast<std::uint32_t>(token_ - out_->data() - kTokensAt);
    std::memcpy(out_->data(), &tokens, sizeof tokens);
    out_->resize(tokens == 0 ? 0 : kTokensAt + tokens);
    out_->insert(out_->end(), residuals_->data(), residual_);
  }

  // Whether the prediction was right; if not, miss() follows.
  bool hit(bool right) {
    hits_ += right ? 1 : 0;
    return right;
  }

  void miss(std::uint64_t residual) {
    if (room(*out_, token_) < kMissPadding || room(*residuals_, residual_) < kMissPadding) grow();
    residual = zigzag(residual);
    auto length = static_cast<unsigned>(8 - std::countl_zero(residual) / 8);
    if (hits_ < 15) {
      *token_++ = static_cast<std::uint8_t>(hits_ << 4 | length);
    } else {
      *token_++ = static_cast<std::uint8_t>(0xF0 | length);
      for (; hits_ >= 0x80; hits_ >>= 7) *token_++ = static_cast<std::uint8_t>(hits_ | 0x80);
      *token_++ = static_cast<std::uint8_t>(hits_);
    }
    std::memcpy(residual_, &residual, sizeof residual);
    residual_ += length;
    hits_ = 0;
  }

 private:
  static constexpr std::ptrdiff_t kTokensAt = sizeof(std::uint32_t);

  static std::size_t room(const Bytes& bytes, const std::uint8_t* at) {
    return static_cast<std::size_t>(bytes.data() + bytes.size() - at);
  }
  [[gnu::noinline]] void grow() {
    auto tokens = token_ - out_->data();
    auto residuals = residual_ - residuals_->data();
    out_->resize(2 * out_->size());
    residuals_->resize(2 * residuals_->size());
    token_ = out_->data() + tokens;
    residual_ = residuals_->data() + residuals;
  }

  Bytes* out_;
  Bytes* residuals_;
  std::uint8_t* token_ = nullptr;
  std::uint8_t* residual_ = nullptr;
  std::uint64_t hits_ = 0;
};

// Masks of the lowest 0 to 8 bytes; of what no writer produces, of all.
inline constexpr auto kLowBytes = [] {
  std::array<std::uint64_t, 16> masks{};
  for (std::size_t i = 0; i < masks.size(); ++i)
    masks[i] = i >= 8 ? ~std::uint64_t{0} : (std::uint64_t{1} << (8 * i)) - 1;
  return masks;
}();

class MissDecoder {
 public:
  MissDecoder() = default;
  // `stream` is followed by kMissPadding zero bytes.
  explicit MissDecoder(std::span<const std::uint8_t> stream) {
    std::uint32_t tokens = 0;
    if (stream.size() > sizeof tokens) {
      std::memcpy(&tokens, stream.data(), sizeof tokens);
      stream = stream.subspan(sizeof tokens);
    }
    token_ = stream.data();
    residual_ = token_ + std::min<std::size_t>(stream.size(), tokens);
    tokens_end_ = residual_;
    end_ = token_ + stream.size();
    next_ = pass_hits();
  }

  // Calls f(number, residual) for each of the next `count` predictions that was missed.
  void misses(std::uint64_t count, auto&& f) {
    MissDecoder local = *this;
    std::uint64_t i = next_;
    while (i < count) {
      f(i, local.residual());
      i += 1 + local.pass_hits();
    }
    local.next_ = i - count;
    *this = local;
  }

  // The same as lists: all ones where missed, or 0.
  void next(std::size_t count, std::uint64_t* missed, std::uint64_t* residuals) {
    std::fill_n(missed, count, 0);
    add(count, missed, residuals);
  }
  // Into lists that hold the misses of another stream; what was missed there is not here.
  void add(std::size_t count, std::uint64_t* missed, std::uint64_t* residuals) {
    misses(count, [&](std::uint64_t i, std::uint64_t residual) {
      missed[i] = ~std::uint64_t{0};
      residuals[i] = residual;
    });
  }

  // The stream was used up exactly.
  bool clean() const { return done_ && token_ == tokens_end_ && residual_ == end_; }

 private:
  std::uint64_t residual() {
    std::uint64_t word;
    std::memcpy(&word, residual_, sizeof word);
    word &= kLowBytes[length_];
    residual_ += length_;
    return unzigzag(word);
  }

  // Returns how many hits come before the next miss, and takes the length of its residual.
  std::uint64_t pass_hits() {
    if (token_ >= tokens_end_ || residual_ > end_) {
      done_ = true;
      return std::uint64_t{1} << 63;
    }
    unsigned token = *token_++;
    length_ = token & 15;
    std::uint64_t hits = token >> 4;
    if (hits == 15) [[unlikely]]
      hits = long_gap();
    return hits;
  }

  std::uint64_t long_gap() {
    std::uint64_t hits = 0;
    for (unsigned shift = 0; shift < 63; shift += 7) {
      std::uint8_t byte = *token_++;
      hits |= static_cast<std::uint64_t>(byte & 0x7F) << shift;
      if (byte < 0x80) break;
    }
    return hits;
  }

  const std::uint8_t* token_ = nullptr;
  const std::uint8_t* tokens_end_ = nullptr;
  const std::uint8_t* residual_ = nullptr;
  const std::uint8_t* end_ = nullptr;
  std::uint64_t next_ = 0;  // hits before the next miss
  unsigned length_ = 0;     // bytes of its residual
  bool done_ = false;
};

// Last value plus stride; a stride is believed when it was seen twice, so that one outlier costs
// one miss.
struct StridePredictor {
  std::uint64_t last = 0;
  std::uint64_t stride = 0;
  std::uint64_t candidate = 0;

  std::uint64_t predict() const { return last + stride; }
  // What is predicted or, where `missed` is all ones, the last value plus `residual`; no branch.
  std::uint64_t told(std::uint64_t missed, std::uint64_t residual) const {
    return last + (stride ^ ((stride ^ residual) & missed));
  }
  std::uint64_t step(std::uint64_t missed, std::uint64_t residual) {
    std::uint64_t actual = told(missed, residual);
    update(actual);
    return actual;
  }
  void update(std::uint64_t actual) {
    std::uint64_t difference = actual - last;
    stride = difference == candidate ? difference : stride;
    candidate = difference;
    last = actual;
  }
};

// What followed the last few executed shapes of the same thread: the low bits of its number. Shapes
// beyond them are never predicted right.
class SuccessorPredictor {
 public:
  void reset() { table_.assign(kEntries, 0); }
  std::uint16_t& entry(std::uint32_t history) { return table_[history]; }
  // Four shapes of history: each shifts the older ones by a quarter of the index.
  static std::uint32_t extend(std::uint32_t history, std::uint32_t shape) {
    return (history * 0x79B0 + shape + 1) & (kEntries - 1);
  }

 private:
  static constexpr std::uint32_t kEntries = 1U << 16;
  std::vector<std::uint16_t> table_;
};

// The bytes last seen at recently used addresses, in aligned words. Words share entries without
// knowing it: a wrong word is a wrong prediction and no more. Neighbours stay neighbours, so that
// what is near in the program's memory is near in the table: most of it is not in the nearest
// cache. A better hash foretells no more of recorded programs, and costs more.
class ValueCache {
 public:
  void reset() { table_.assign(kEntries, 0); }
  std::uint64_t* words() { return table_.data(); }
  // Where the word that holds the byte at `address` is.
  static std::uint32_t place(std::uint64_t address) {
    return static_cast<std::uint32_t>((address >> 3 ^ address >> 17) & (kEntries - 1));
  }

 private:
  static constexpr std::size_t kEntries = std::size_t{1} << 15;
  std::vector<std::uint64_t> table_;
};

}  // namespace svd
