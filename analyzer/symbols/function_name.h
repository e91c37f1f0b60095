// SPDX-License-Identifier: Apache-2.0
//
// Readable names of C++, taken apart.
#pragma once

#include <string>
#include <string_view>

namespace svd {

// "int app::scale<int>(int) const" → "app::scale<int>": also without the return type that such
// names of templates carry.
std::string without_parameters(std::string_view name);

// "app::Queue<int>::push" → "app::Queue::push".
std::string without_template_arguments(std::string_view name);

// A name as a person writes it: with or without namespaces and classes, template arguments,
// parameters.
class NameQuery {
 public:
  explicit NameQuery(std::string_view text);

  bool has_parameters() const { return has_parameters_; }
  // After namespaces and classes, without template arguments: "push".
  std::string_view last() const { return last_; }
  // Whether it means this full name; the name has parameters where the query has them.
  bool means(std::string_view name) const;

 private:
  std::string text_;
  bool has_parameters_;
  bool has_arguments_;
  std::string last_;
};

}  // namespace svd
