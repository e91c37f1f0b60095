// SPDX-License-Identifier: Apache-2.0
//
// The programs of examples/, as their manifest lists them.
#pragma once

#include <nlohmann/json.hpp>
#include <ostream>
#include <string>
#include <vector>

namespace svd::test {

// A member of the manifest's list, and what gtest calls it.
struct Example {
  nlohmann::json entry;

  std::string name() const { return entry.at("name"); }
  bool can_fail() const { return !entry.at("symptom").is_null(); }

  friend std::ostream& operator<<(std::ostream& out, const Example& example) {
    return out << example.name();
  }
};

std::vector<Example> examples();

// A folder for what a program writes; it goes when the test is over.
class Scratch {
 public:
  Scratch();
  ~Scratch();
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;

  // The words of a command of the manifest.
  std::vector<std::string> command(const nlohmann::json& words) const;

 private:
  std::string path_;
};

}  // namespace svd::test
