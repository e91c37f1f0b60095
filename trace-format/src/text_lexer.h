// SPDX-License-Identifier: Apache-2.0
//
// The words of a textual trace: how a line splits into tokens, and how numbers, strings and bytes
// are spelt, both ways.
//
// A token is a run of characters without spaces; a part of it in double quotes may hold any, with
// the escapes \" \\ \n \t and \xNN. A '#' at the start of a token begins a comment.
#pragma once

#include <fmt/format.h>

#include <charconv>
#include <concepts>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace svd::text {

// Leaves the parser; assemble() catches it and adds file and line.
struct ParseError {
  std::string what;
};

template <class... Args>
[[noreturn]] void fail(fmt::format_string<Args...> format, Args&&... args) {
  throw ParseError{fmt::format(format, std::forward<Args>(args)...)};
}

// The tokens of one line, taken from left to right.
class Tokens {
 public:
  void split(std::string_view line);
  bool empty() const { return next_ == tokens_.size(); }
  std::string_view peek() const { return tokens_[next_]; }
  std::string_view take(std::string_view expected);  // fails with what was expected
  bool skip(std::string_view word);                  // takes the next token if it is `word`
  void finish() const;                               // fails if anything is left

 private:
  std::vector<std::string_view> tokens_;
  std::size_t next_ = 0;
};

// A string that is one token: bare where nothing in it could be mistaken, else quoted.
std::string word(std::string_view string);
std::string quoted(std::string_view string);
std::string unquoted(std::string_view token);

std::string hex_bytes(std::span<const std::uint8_t> bytes);  // "-" for none
std::vector<std::uint8_t> bytes_of(std::string_view token);

inline std::string hex(std::uint64_t value) { return fmt::format("{:#x}", value); }

// Whether `name` can stand for a variable or statement without quotes.
bool is_bare_name(std::string_view name);

// Decimal, or hexadecimal after 0x; negative only for signed types.
template <std::integral T>
T number(std::string_view token, std::string_view expected) {
  std::string_view digits = token;
  bool negative = std::is_signed_v<T> && digits.starts_with('-');
  if (negative) digits.remove_prefix(1);
  int base = digits.starts_with("0x") ? 16 : 10;
  if (base == 16) digits.remove_prefix(2);
  std::uint64_t magnitude = 0;
  auto [end, error] =
      std::from_chars(digits.data(), digits.data() + digits.size(), magnitude, base);
  if (digits.empty() || end != digits.data() + digits.size() ||
      (error != std::errc() && error != std::errc::result_out_of_range)) {
    fail("expected {} instead of '{}'", expected, token);
  }
  constexpr auto kMax = static_cast<std::uint64_t>(std::numeric_limits<T>::max());
  if (error != std::errc() || magnitude > kMax + (negative ? 1 : 0)) {
    fail("{} is too large for {}", token, expected);
  }
  return static_cast<T>(negative ? 0 - magnitude : magnitude);
}

}  // namespace svd::text
