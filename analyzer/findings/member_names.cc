// SPDX-License-Identifier: Apache-2.0

#include "findings/member_names.h"

#include <algorithm>
#include <cctype>
#include <set>

namespace svd {
namespace {

bool is_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

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

std::string without_indexes(const std::string& name) {
  std::string text;
  int depth = 0;
  for (char c : name) {
    if (c == '[') ++depth;
    if (depth == 0) text += c;
    if (c == ']') --depth;
  }
  return text;
}

std::string last_member(const std::string& name) {
  std::string text = without_indexes(name);
  return text.substr(text.find_last_of(".>") + 1);
}

std::size_t depth_behind(const std::string& name) {
  std::size_t depth = 0;
  int brackets = 0;
  for (char c : name) {
    if (c == ')' || (c == '[' && brackets++ == 0)) ++depth;
    if (c == ']') --brackets;
    if (brackets == 0 && (c == '.' || c == '>')) depth = 0;
  }
  return depth + std::min(name.find_first_not_of('*'), name.size());
}

bool has_reserved(std::string_view name) {
  for (std::size_t i = 0; i + 1 < name.size(); ++i) {
    if (name[i] != '_' || (i > 0 && is_word(name[i - 1]))) continue;
    if (name[i + 1] == '_' || std::isupper(static_cast<unsigned char>(name[i + 1])) != 0)
      return true;
  }
  return false;
}

std::string better_name(const std::string& one, const std::string& other) {
  auto says_little = [](const std::string& name) {
    return name.empty() || name.starts_with("this->");
  };
  return one.empty() || (says_little(one) && !says_little(other)) ? other : one;
}

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
    std::vector<std::size_t> links;  // where they begin in the expression
    while (!number) {
      std::size_t link = code.compare(i, 2, "->") == 0 ? 2 : code.compare(i, 1, ".") == 0 ? 1 : 0;
      std::string next = link == 0 ? "" : word_at(i + link);
      if (next.empty()) break;
      links.push_back(expression.size());
      expression += code.substr(i, link) + next;
      i += link + next.size();
    }
    if (!links.empty() && code.compare(i, 1, "(") == 0) {
      expression.resize(links.back());
      links.pop_back();
    }
    if (!links.empty()) found.push_back(expression);
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

std::string other_spelling(const std::string& name, const std::vector<std::string_view>& lines) {
  if (depth_behind(name) > 0) return "";
  for (std::string_view line : lines) {
    std::set<std::string> spellings;
    for (const std::string& expression : member_expressions(line))
      if (last_member(expression) == last_member(name)) spellings.insert(expression);
    if (spellings.size() == 1) return *spellings.begin();
  }
  return "";
}

}  // namespace svd
