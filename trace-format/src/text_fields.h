// SPDX-License-Identifier: Apache-2.0
//
// The textual form of every struct that lists its fields(): `key=value` for each field that differs
// from its default, in the order of the list. A list is given once per element, a nested struct as
// its values with commas.
#pragma once

#include <algorithm>
#include <concepts>
#include <deque>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "svd/trace/event.h"
#include "svd/trace/nearest.h"
#include "svd/trace/process.h"
#include "text_lexer.h"
#include "text_symbols.h"

namespace svd::text {

struct FieldText {
  std::string_view key;
  std::string value;
  bool is_default = false;
};

// `key=value` of a line, not yet decoded.
struct Assignment {
  std::string_view key;
  std::string_view value;
};

// What the strings and bytes of an event under construction point into.
using Arena = std::deque<std::string>;

template <class T>
concept IsText = std::same_as<T, std::string> || std::same_as<T, std::string_view>;
template <class T>
concept IsBytes =
    std::same_as<T, std::vector<std::uint8_t>> || std::same_as<T, std::span<const std::uint8_t>>;
template <class T>
concept IsList = !IsText<T> && !IsBytes<T> && requires(T t) {
  t.emplace_back();
};

template <class T>
std::string value_text(const T& value, const SymbolNames& symbols) {
  if constexpr (IsText<T>) {
    return word(value);
  } else if constexpr (IsBytes<T>) {
    return hex_bytes(value);
  } else if constexpr (std::same_as<T, bool>) {
    return value ? "true" : "false";
  } else if constexpr (std::is_enum_v<T>) {
    return std::string(to_string(value));
  } else if constexpr (std::integral<T>) {
    return fmt::format("{}", value);
  } else if constexpr (std::same_as<T, Addr>) {
    return symbols.address_text(value);
  } else if constexpr (std::same_as<T, Pc>) {
    return hex(value.value);
  } else if constexpr (std::same_as<T, ThreadId>) {
    return fmt::format("T{}", value.value);
  } else if constexpr (requires { typename T::rep; }) {
    return fmt::format("{}", value.value);
  } else {
    std::string out;
    T::fields(value, [&](std::string_view, const auto& field) {
      if (!out.empty()) out += ',';
      out += value_text(field, symbols);
    });
    return out;
  }
}

inline ThreadId parse_thread(std::string_view token) {
  if (!token.starts_with('T')) fail("expected a thread such as T1 instead of '{}'", token);
  return ThreadId(number<std::uint32_t>(token.substr(1), "a thread such as T1"));
}

template <class T>
T parse_value(std::string_view token, std::string_view key, const SymbolNames& symbols,
              Arena& arena) {
  if constexpr (std::same_as<T, std::string>) {
    return unquoted(token);
  } else if constexpr (std::same_as<T, std::string_view>) {
    return arena.emplace_back(unquoted(token));
  } else if constexpr (std::same_as<T, std::vector<std::uint8_t>>) {
    return bytes_of(token);
  } else if constexpr (std::same_as<T, std::span<const std::uint8_t>>) {
    auto bytes = bytes_of(token);
    const std::string& kept = arena.emplace_back(bytes.begin(), bytes.end());
    return {reinterpret_cast<const std::uint8_t*>(kept.data()), kept.size()};
  } else if constexpr (std::same_as<T, bool>) {
    if (token != "true" && token != "false") {
      fail("expected true or false for {} instead of '{}'", key, token);
    }
    return token == "true";
  } else if constexpr (std::is_enum_v<T>) {
    auto table = names(T{});
    auto at = std::find(table.begin(), table.end(), token);
    if (at == table.end()) {
      fail("no {} is called '{}'{}: it is one of {}", key, token, did_you_mean(token, table),
           fmt::join(table, ", "));
    }
    return static_cast<T>(at - table.begin());
  } else if constexpr (std::integral<T>) {
    return number<T>(token, fmt::format("a number for {}", key));
  } else if constexpr (std::same_as<T, Addr>) {
    return symbols.address(token);
  } else if constexpr (std::same_as<T, ThreadId>) {
    return parse_thread(token);
  } else if constexpr (requires { typename T::rep; }) {
    return T(number<typename T::rep>(token, fmt::format("a number for {}", key)));
  } else {
    T record;
    std::string_view rest = token;
    bool first = true;
    T::fields(record, [&](std::string_view name, auto& field) {
      if (!first && rest.empty()) fail("expected {} after the comma in {}={}", name, key, token);
      std::size_t comma = rest.find(',');
      using Field = std::remove_cvref_t<decltype(field)>;
      field = parse_value<Field>(rest.substr(0, comma), name, symbols, arena);
      rest.remove_prefix(comma == std::string_view::npos ? rest.size() : comma + 1);
      first = false;
    });
    if (!rest.empty()) fail("too many values in {}={}", key, token);
    return record;
  }
}

template <class T>
bool same_value(const T& a, const T& b) {
  if constexpr (IsBytes<T>) {
    return std::ranges::equal(a, b);
  } else {
    return a == b;
  }
}

// All fields in order; a list is several, or none.
template <class S>
std::vector<FieldText> field_texts(const S& record, const SymbolNames& symbols) {
  const S defaults{};
  std::vector<const void*> default_fields;
  S::fields(defaults,
            [&](std::string_view, const auto& field) { default_fields.push_back(&field); });
  std::vector<FieldText> texts;
  std::size_t index = 0;
  S::fields(record, [&](std::string_view key, const auto& field) {
    using Field = std::remove_cvref_t<decltype(field)>;
    const auto& standard = *static_cast<const Field*>(default_fields[index++]);
    if constexpr (IsList<Field>) {
      for (const auto& element : field) texts.push_back({key, value_text(element, symbols), false});
    } else {
      texts.push_back({key, value_text(field, symbols), same_value(field, standard)});
    }
  });
  return texts;
}

// " key=value" for each field that is not at its default.
template <class S>
void print_fields(std::string& out, const S& record, const SymbolNames& symbols) {
  for (const FieldText& field : field_texts(record, symbols)) {
    if (!field.is_default)
      fmt::format_to(std::back_inserter(out), " {}={}", field.key, field.value);
  }
}

inline Assignment parse_assignment(std::string_view token) {
  std::size_t equals = token.find('=');
  if (equals == std::string_view::npos) fail("expected KEY=VALUE instead of '{}'", token);
  return Assignment{token.substr(0, equals), token.substr(equals + 1)};
}

template <class S>
void parse_field(S& record, const Assignment& assignment, const SymbolNames& symbols,
                 Arena& arena) {
  std::vector<std::string_view> keys;
  bool found = false;
  S::fields(record, [&](std::string_view key, auto& field) {
    keys.push_back(key);
    if (key != assignment.key) return;
    found = true;
    using Field = std::remove_cvref_t<decltype(field)>;
    if constexpr (IsList<Field>) {
      field.push_back(
          parse_value<typename Field::value_type>(assignment.value, key, symbols, arena));
    } else {
      field = parse_value<Field>(assignment.value, key, symbols, arena);
    }
  });
  if (!found && keys.empty()) fail("expected the end of the line instead of {}", assignment.key);
  if (!found) {
    fail("no field here is called '{}'{}: there are {}", assignment.key,
         did_you_mean(assignment.key, keys), fmt::join(keys, ", "));
  }
}

// What is left of a line.
template <class S>
S parse_fields(Tokens& tokens, const SymbolNames& symbols, Arena& arena) {
  S record{};
  while (!tokens.empty()) {
    parse_field(record, parse_assignment(tokens.take("KEY=VALUE")), symbols, arena);
  }
  return record;
}

}  // namespace svd::text
