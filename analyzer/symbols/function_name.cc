// SPDX-License-Identifier: Apache-2.0

#include "symbols/function_name.h"

#include <array>
#include <cctype>
#include <cstddef>

namespace svd {
namespace {

constexpr std::string_view kAnonymous = "(anonymous namespace)";

bool in_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

// Length of "operator<<" and the like at `at`; of a conversion, "operator unsigned int", only up to
// its type; 0 when there is none.
std::size_t operator_at(std::string_view text, std::size_t at) {
  constexpr std::string_view kOperator = "operator";
  if (!text.substr(at).starts_with(kOperator) || (at > 0 && in_word(text[at - 1]))) return 0;
  std::string_view rest = text.substr(at + kOperator.size());
  if (rest.empty() || in_word(rest.front())) return 0;
  if (rest.starts_with("()") || rest.starts_with("[]")) return kOperator.size() + 2;
  // What template arguments follow is no part of it.
  constexpr std::array<std::string_view, 37> kSymbols{
      "->*", "<<=", ">>=", "<=>", "<<", ">>", "<=", ">=", "==", "!=", "&&", "||", "++",
      "--",  "+=",  "-=",  "*=",  "/=", "%=", "^=", "&=", "|=", "->", "+",  "-",  "*",
      "/",   "%",   "^",   "&",   "|",  "~",  "!",  "=",  "<",  ">",  ","};
  for (std::string_view symbol : kSymbols)
    if (rest.starts_with(symbol)) return kOperator.size() + symbol.size();
  return kOperator.size();
}

// Past the bracket that closes the one at `at`.
std::size_t past_bracket(std::string_view text, std::size_t at) {
  int depth = 0;
  while (at < text.size()) {
    if (std::size_t length = operator_at(text, at)) {
      at += length;
      continue;
    }
    char c = text[at++];
    if (c == '(' || c == '<' || c == '[' || c == '{') ++depth;
    if ((c == ')' || c == '>' || c == ']' || c == '}') && --depth == 0) break;
  }
  return at;
}

// Past namespaces and classes.
std::size_t last_part(std::string_view name) {
  std::size_t last = 0;
  for (std::size_t at = 0; at < name.size();) {
    if (std::size_t length = operator_at(name, at)) {
      at += length;
    } else if (name[at] == '(' || name[at] == '<' || name[at] == '{') {
      at = past_bracket(name, at);
    } else if (name.substr(at).starts_with("::")) {
      last = at += 2;
    } else {
      ++at;
    }
  }
  return last;
}

}  // namespace

std::string without_parameters(std::string_view name) {
  std::string kept;
  for (std::size_t at = 0; at < name.size();) {
    std::size_t end = at + 1;
    if (std::size_t length = operator_at(name, at)) {
      end = at + length;
      if (name.substr(end).starts_with(' ')) end = std::min(name.find('(', end), name.size());
    } else if (name.substr(at).starts_with(kAnonymous)) {
      end = at + kAnonymous.size();
    } else if (name[at] == '<' || name[at] == '{' || name[at] == '[') {
      end = past_bracket(name, at);
    } else if (name[at] == '(') {
      end = past_bracket(name, at);
      // A function that a class is local to goes on as a scope.
      std::string_view rest = name.substr(end);
      if (rest.starts_with(" const")) rest.remove_prefix(std::string_view(" const").size());
      if (!rest.starts_with("::")) break;
      at = name.size() - rest.size();
      continue;
    } else if (name[at] == ' ') {  // what came before was the type that it returns
      at = kept == "decltype" ? past_bracket(name, end) : end;
      kept.clear();
      continue;
    }
    kept += name.substr(at, end - at);
    at = end;
  }
  return kept;
}

std::string without_template_arguments(std::string_view name) {
  std::string kept;
  for (std::size_t at = 0; at < name.size();) {
    std::size_t length = operator_at(name, at);
    if (length == 0 && name[at] == '<' && !name.substr(at).starts_with("<lambda")) {
      at = past_bracket(name, at);
      continue;
    }
    std::size_t end = at + std::max<std::size_t>(length, 1);
    kept += name.substr(at, end - at);
    at = end;
  }
  return kept;
}

NameQuery::NameQuery(std::string_view text)
    : text_(text.starts_with("::") ? text.substr(2) : text) {
  std::string plain = without_parameters(text_);
  has_parameters_ = text_.ends_with(')') && plain.size() < text_.size() && !plain.empty();
  if (!has_parameters_) text_ = plain;
  std::string bare = without_template_arguments(plain);
  has_arguments_ = bare != plain;
  last_ = bare.substr(last_part(bare));
}

bool NameQuery::means(std::string_view name) const {
  auto ends = [this](std::string_view full) {
    return full == text_ || (full.size() > text_.size() && full.ends_with(text_) &&
                             full.substr(0, full.size() - text_.size()).ends_with("::"));
  };
  return ends(name) ||
         (!has_arguments_ && !has_parameters_ && name.find('<') != std::string_view::npos &&
          ends(without_template_arguments(name)));
}

}  // namespace svd
