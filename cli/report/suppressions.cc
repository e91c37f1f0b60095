// SPDX-License-Identifier: Apache-2.0
//
// Rules that leave out each finding of a report, for a file of --suppressions.

#include <fmt/format.h>

#include <string_view>

#include "report/report.h"

namespace svd::cli {
namespace {

// As one word that matches `name` (and others only where it has spaces).
std::string pattern(std::string_view name) {
  std::string word;
  for (char c : name) {
    if (c == '*' || c == '?' || c == '[' || c == ']' || c == '\\') word += '\\';
    word += c == ' ' || c == '\t' ? '?' : c;
  }
  return word;
}

}  // namespace

void print_suppressions(const Report& report, Output& output) {
  for (const Finding& finding : report.findings) {
    std::string_view detector =
        finding.detectors.size() == 1 ? std::string_view(finding.detectors.front()) : "*";
    const CodePlace& place = finding.accesses.front().place;
    output.write(fmt::format("# {}\n", finding.summary));
    if (!finding.variable.empty()) {
      output.write(fmt::format("finding {} variable {}\n", detector, pattern(finding.variable)));
    } else if (!place.function.empty()) {
      output.write(fmt::format("finding {} function {}\n", detector, pattern(place.function)));
    } else {
      output.write("# nothing has a name by which it could be left out\n");
    }
  }
}

}  // namespace svd::cli
