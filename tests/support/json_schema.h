// SPDX-License-Identifier: Apache-2.0
//
// As much of JSON Schema as docs/report.schema.json uses: type, enum, pattern, required,
// properties, items and references to #/$defs. Any other key but title, description and $schema is
// a fault of the schema.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <regex>
#include <string>

namespace svd::test {

class Schema {
 public:
  explicit Schema(nlohmann::json schema) : root_(std::move(schema)) {}

  // What is wrong with the value, or "".
  std::string problem(const nlohmann::json& value) const { return problem(root_, value, "$"); }

 private:
  using Json = nlohmann::json;

  static bool is(const Json& value, const std::string& type) {
    if (type == "object") return value.is_object();
    if (type == "array") return value.is_array();
    if (type == "string") return value.is_string();
    if (type == "integer") return value.is_number_integer();
    if (type == "boolean") return value.is_boolean();
    return type == "null" && value.is_null();
  }

  std::string problem(const Json& schema, const Json& value, const std::string& at) const {
    for (const auto& [key, rule] : schema.items()) {
      std::string found;
      if (key == "$ref") {
        found = problem(root_.at(Json::json_pointer(rule.get<std::string>().substr(1))), value, at);
      } else if (key == "type") {
        bool fits = false;
        for (const Json& type : rule.is_array() ? rule : Json::array({rule}))
          fits = fits || is(value, type);
        if (!fits) found = at + " is no " + rule.dump();
      } else if (key == "enum") {
        if (std::find(rule.begin(), rule.end(), value) == rule.end())
          found = at + " is none of " + rule.dump();
      } else if (key == "pattern") {
        if (!std::regex_match(value.get<std::string>(), std::regex(rule.get<std::string>())))
          found = at + " does not match " + rule.dump();
      } else if (key == "required") {
        for (const Json& name : rule) {
          if (!value.contains(name.get<std::string>())) found = at + " has no " + name.dump();
        }
      } else if (key == "properties") {
        for (const auto& [name, inner] : value.items()) {
          if (rule.contains(name)) {
            if (found.empty()) found = problem(rule.at(name), inner, at + "." + name);
          } else {
            found = at + "." + name + " is not in the schema";
          }
        }
      } else if (key == "items") {
        for (std::size_t i = 0; i < value.size() && found.empty(); ++i)
          found = problem(rule, value[i], fmt::format("{}[{}]", at, i));
      } else if (key != "title" && key != "description" && key[0] != '$') {
        found = "the schema's key " + key + " is not known";
      }
      if (!found.empty()) return found;
    }
    return "";
  }

  Json root_;
};

}  // namespace svd::test
