// SPDX-License-Identifier: Apache-2.0
//
// Writes one JSON object, key by key, into a string. It is also a visitor for the fields() of the
// trace's structs, and so decides once for all of them how a type looks: addresses are strings in
// hexadecimal, enumerations their names, bytes a string of hex digits, "no call stack" is null.
#pragma once

#include <fmt/format.h>

#include <concepts>
#include <cstdint>
#include <iterator>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include "svd/trace/event.h"
#include "svd/trace/types.h"

namespace svd::cli {

class JsonObject {
 public:
  // Appends to `out`, which must outlive it.
  explicit JsonObject(std::string& out) : out_(out) { out_ += '{'; }
  void close() { out_ += '}'; }

  template <class T>
  void operator()(std::string_view key, const T& value) {
    begin(key);
    put(value);
  }

  // The key of an object or array that the caller writes.
  void begin(std::string_view key) {
    if (!std::exchange(first_, false)) out_ += ',';
    put(key);
    out_ += ':';
  }

 private:
  void put(bool value) { out_ += value ? "true" : "false"; }
  void put(std::integral auto value) { fmt::format_to(std::back_inserter(out_), "{}", value); }
  template <class Enum>
  requires std::is_enum_v<Enum>
  void put(Enum value) { put(to_string(value)); }
  void put(Seq seq) { put(seq.value); }
  void put(Addr address) { put_hex(address.value); }
  void put(Pc pc) { put_hex(pc.value); }
  template <class Tag, class Rep>
  void put(Name<Tag, Rep> name) {
    put(name.value);
  }
  void put(StackId stack) {
    if (stack == kNoStack) {
      out_ += "null";
    } else {
      put(stack.value);
    }
  }
  void put(const std::string& text) { put(std::string_view(text)); }
  void put(const char* text) { put(std::string_view(text)); }
  void put(std::string_view text);
  void put(std::span<const std::uint8_t> bytes);
  void put_hex(std::uint64_t value) {
    fmt::format_to(std::back_inserter(out_), "\"{:#x}\"", value);
  }

  std::string& out_;
  bool first_ = true;
};

}  // namespace svd::cli
