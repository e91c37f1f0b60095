// SPDX-License-Identifier: Apache-2.0

#include "findings/member_names.h"

#include <algorithm>
#include <cctype>
#include <set>

namespace svd {
namespace {

bool is_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

std::string last_member(const std::string& expression) {
  return expression.substr(expression.find_last_of(".>") + 1);
}

// The code of a line: no comment, and nothing in quotes.
std::string code_of(std::string_view line) {
  std::string code;
  char quote = 0;
  for (std::size_t i = 0; i < line.size(); ++i) {
    char c = line[i];
    if (quote != 0) {
      if (c == '\\') ++i;
      if (c == quote) quote = 0;
    } else if (c == '"' || c == '\'') {
      quote = c;
    } else if (line.substr(i).starts_with("//")) {
      break;
    } else {
      code += c;
    }
  }
  return code;
}

}  // namespace

std::vector<std::string> member_expressions(std::string_view line) {
  std::vector<std::string> found;
  std::string code = code_of(line);
  auto word_at = [&code](std::size_t i) {
    std::size_t end = i;
    while (end < code.size() && is_word(code[end])) ++end;
    return code.substr(i, end - i);
  };
  for (std::size_t i = 0; i < code.size();) {
    if (!is_word(code[i])) {
      ++i;
      continue;
    }
    bool number = std::isdigit(static_cast<unsigned char>(code[i])) != 0;
    std::string expression = word_at(i);
    i += expression.size();
    bool member = false;
    while (!number) {
      std::size_t link = code.compare(i, 2, "->") == 0 ? 2 : code.compare(i, 1, ".") == 0 ? 1 : 0;
      std::string next = link == 0 ? "" : word_at(i + link);
      if (next.empty()) break;
      expression += code.substr(i, link) + next;
      i += link + next.size();
      member = true;
    }
    if (member && code.compare(i, 1, "(") != 0) found.push_back(expression);
  }
  return found;
}

std::string common_member(const std::vector<std::string_view>& lines) {
  std::set<std::string> common;
  std::vector<std::string> spellings;
  bool first = true;
  for (std::string_view line : lines) {
    std::vector<std::string> expressions = member_expressions(line);
    if (expressions.empty()) continue;
    std::set<std::string> members;
    for (const std::string& expression : expressions) members.insert(last_member(expression));
    if (first) {
      common = members;
    } else {
      std::erase_if(common, [&members](const std::string& m) { return !members.contains(m); });
    }
    first = false;
    spellings.insert(spellings.end(), expressions.begin(), expressions.end());
  }
  if (common.size() != 1) return "";
  return *std::find_if(spellings.begin(), spellings.end(),
                       [&common](const std::string& s) { return common.contains(last_member(s)); });
}

}  // namespace svd
