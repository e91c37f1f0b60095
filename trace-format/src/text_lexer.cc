// SPDX-License-Identifier: Apache-2.0

#include "text_lexer.h"

#include <algorithm>

namespace svd::text {
namespace {

bool is_space(char c) { return c == ' ' || c == '\t' || c == '\r'; }

// The position after the quoted part that starts at `at`.
std::size_t after_quotes(std::string_view line, std::size_t at) {
  for (std::size_t i = at + 1; i < line.size(); ++i) {
    if (line[i] == '\\') {
      ++i;
    } else if (line[i] == '"') {
      return i + 1;
    }
  }
  fail("expected a closing \"");
}

bool is_word_character(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
         std::string_view("_./+-").find(c) != std::string_view::npos;
}

unsigned hex_digit(char c) {
  if (c >= '0' && c <= '9') return static_cast<unsigned>(c - '0');
  if (c >= 'a' && c <= 'f') return static_cast<unsigned>(c - 'a' + 10);
  fail("expected two lower-case hexadecimal digits a byte");
}

std::uint8_t hex_pair(std::string_view text, std::size_t at) {
  if (at + 2 > text.size()) fail("expected two lower-case hexadecimal digits a byte");
  return static_cast<std::uint8_t>(hex_digit(text[at]) * 16 + hex_digit(text[at + 1]));
}

}  // namespace

void Tokens::split(std::string_view line) {
  tokens_.clear();
  next_ = 0;
  std::size_t i = 0;
  while (true) {
    while (i < line.size() && is_space(line[i])) ++i;
    if (i == line.size() || line[i] == '#') return;
    std::size_t start = i;
    while (i < line.size() && !is_space(line[i]))
      i = line[i] == '"' ? after_quotes(line, i) : i + 1;
    tokens_.push_back(line.substr(start, i - start));
  }
}

std::string_view Tokens::take(std::string_view expected) {
  if (empty()) fail("expected {} at the end of the line", expected);
  return tokens_[next_++];
}

bool Tokens::skip(std::string_view word) {
  if (empty() || peek() != word) return false;
  ++next_;
  return true;
}

void Tokens::finish() const {
  if (!empty()) fail("expected the end of the line instead of '{}'", peek());
}

std::string word(std::string_view string) {
  bool bare = !string.empty() && std::all_of(string.begin(), string.end(), is_word_character);
  return bare ? std::string(string) : quoted(string);
}

std::string quoted(std::string_view string) {
  std::string out = "\"";
  for (char c : string) {
    auto code = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (c == '\n') {
      out += "\\n";
    } else if (c == '\t') {
      out += "\\t";
    } else if (code < 0x20 || code == 0x7f) {
      out += fmt::format("\\x{:02x}", code);
    } else {
      out += c;
    }
  }
  return out + '"';
}

std::string unquoted(std::string_view token) {
  if (!token.starts_with('"')) {
    if (token.find('"') != std::string_view::npos) fail("expected a space before \" in {}", token);
    return std::string(token);
  }
  std::string out;
  std::size_t i = 1;
  while (i < token.size() && token[i] != '"') {
    char c = token[i++];
    if (c != '\\') {
      out += c;
      continue;
    }
    char escape = i < token.size() ? token[i++] : ' ';
    if (escape == 'n') {
      out += '\n';
    } else if (escape == 't') {
      out += '\t';
    } else if (escape == 'x') {
      out += static_cast<char>(hex_pair(token, i));
      i += 2;
    } else if (escape == '"' || escape == '\\') {
      out += escape;
    } else {
      fail("expected \\\" \\\\ \\n \\t or \\xNN instead of \\{}", escape);
    }
  }
  if (i + 1 != token.size()) fail("expected a space after the closing \" in {}", token);
  return out;
}

std::string hex_bytes(std::span<const std::uint8_t> bytes) {
  if (bytes.empty()) return "-";
  return fmt::format("{:02x}", fmt::join(bytes, ""));
}

std::vector<std::uint8_t> bytes_of(std::string_view token) {
  std::vector<std::uint8_t> bytes;
  if (token == "-") return bytes;
  bytes.reserve(token.size() / 2);
  for (std::size_t i = 0; i < token.size(); i += 2) bytes.push_back(hex_pair(token, i));
  return bytes;
}

bool is_bare_name(std::string_view name) {
  return !name.empty() && std::all_of(name.begin(), name.end(), [](char c) {
    return c > ' ' && c < 0x7f && std::string_view("\"#=$").find(c) == std::string_view::npos;
  });
}

}  // namespace svd::text
