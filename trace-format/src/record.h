// SPDX-License-Identifier: Apache-2.0
//
// The binary form of every struct that lists its fields(): a varint length, then the fields in
// order. A reader that knows more fields than were written leaves the rest at their defaults; one
// that knows fewer skips the rest. That is what lets fields be added.
//
//   integers, ids, enums, bool   varint (zigzag when signed)
//   strings, byte ranges         varint length, bytes
//   vectors                      varint count, elements (nested structs as records)
#pragma once

#include <concepts>
#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "bytes.h"
#include "svd/trace/event.h"
#include "svd/trace/process.h"
#include "svd/trace/types.h"

namespace svd {

template <class T>
concept IsWrapped = requires(T t) {
  typename T::rep;
  t.value;
};

template <class T>
void put_record(Bytes& out, const T& record);

class FieldWriter {
 public:
  explicit FieldWriter(Bytes& out) : out_(out) {}
  template <class T>
  void operator()(std::string_view, const T& field) {
    put(field);
  }

 private:
  template <class T>
  void put(const T& field) {
    if constexpr (IsWrapped<T>) {
      put_varint(out_, field.value);
    } else if constexpr (std::is_enum_v<T> || std::is_unsigned_v<T>) {
      put_varint(out_, static_cast<std::uint64_t>(field));
    } else if constexpr (std::is_signed_v<T>) {
      put_varint(out_, zigzag(static_cast<std::uint64_t>(static_cast<std::int64_t>(field))));
    } else if constexpr (std::convertible_to<T, std::string_view> ||
                         std::convertible_to<T, std::span<const std::uint8_t>>) {
      put_varint(out_, field.size());
      put_bytes(out_, field.data(), field.size());
    } else if constexpr (requires { field.begin(); }) {
      put_varint(out_, field.size());
      for (const auto& element : field) put(element);
    } else {
      put_record(out_, field);
    }
  }

  Bytes& out_;
};

template <class T>
void put_record(Bytes& out, const T& record) {
  Bytes body;
  FieldWriter writer(body);
  T::fields(record, writer);
  put_varint(out, body.size());
  put_bytes(out, body.data(), body.size());
}

template <class T>
bool get_record(ByteReader& in, T& record);

class FieldReader {
 public:
  explicit FieldReader(ByteReader& in) : in_(in) {}
  template <class T>
  void operator()(std::string_view, T& field) {
    if (in_.left() > 0) get(field);
  }

 private:
  template <class T>
  void get(T& field) {
    if constexpr (IsWrapped<T>) {
      std::uint64_t value = in_.varint();
      if (value > std::numeric_limits<typename T::rep>::max()) in_.fail();
      field = T(static_cast<typename T::rep>(value));
    } else if constexpr (std::is_same_v<T, bool>) {
      field = in_.varint() != 0;
    } else if constexpr (std::is_enum_v<T>) {
      std::uint64_t value = in_.varint();
      if (value >= names(T{}).size()) in_.fail();
      field = static_cast<T>(value);
    } else if constexpr (std::is_unsigned_v<T>) {
      std::uint64_t value = in_.varint();
      if (value > std::numeric_limits<T>::max()) in_.fail();
      field = static_cast<T>(value);
    } else if constexpr (std::is_signed_v<T>) {
      auto value = static_cast<std::int64_t>(unzigzag(in_.varint()));
      if (!std::in_range<T>(value)) in_.fail();
      field = static_cast<T>(value);
    } else if constexpr (std::is_same_v<T, std::string_view> || std::is_same_v<T, std::string>) {
      auto view = in_.bytes(in_.varint());
      field = T(reinterpret_cast<const char*>(view.data()), view.size());
    } else if constexpr (std::is_same_v<T, std::span<const std::uint8_t>>) {
      field = in_.bytes(in_.varint());
    } else if constexpr (std::is_same_v<T, std::vector<std::uint8_t>>) {
      auto view = in_.bytes(in_.varint());
      field.assign(view.begin(), view.end());
    } else if constexpr (requires { field.emplace_back(); }) {
      std::uint64_t count = in_.varint();
      if (count > in_.left()) in_.fail();  // every element takes a byte at least
      field.clear();
      for (std::uint64_t i = 0; i < count && !in_.failed(); ++i) get(field.emplace_back());
    } else if (!get_record(in_, field)) {
      in_.fail();
    }
  }

  ByteReader& in_;
};

// False when the bytes are not such a record.
template <class T>
bool get_record(ByteReader& in, T& record) {
  ByteReader body(in.bytes(in.varint()));
  if (in.failed()) return false;
  FieldReader reader(body);
  T::fields(record, reader);
  return !body.failed();
}

}  // namespace svd
