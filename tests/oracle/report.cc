// SPDX-License-Identifier: Apache-2.0
#include "oracle/report.h"

#include <fmt/format.h>

#include <iterator>

#include "oracle/describe.h"
#include "oracle/explanations.h"
#include "oracle/zydis_explanations.h"

namespace svd::test {

void Report::add(const std::string& unexplained_text, bool any_explained) {
  ++checked;
  if (!unexplained_text.empty())
    unexplained.push_back(unexplained_text);
  else if (any_explained)
    ++explained;
  else
    ++equal;
}

std::string Report::text() const {
  std::string text;
  auto out = std::back_inserter(text);
  fmt::format_to(out, "{}: {} forms checked, {} equal, {} explained, {} unexplained\n", title,
                 checked, equal, explained, unexplained.size());
  for (const auto& [reason, count] : explanations)
    fmt::format_to(out, "  {:7} differences explained: {}\n", count, reason);
  for (const auto& [reason, count] : left_out)
    fmt::format_to(out, "  {:7} forms left out: {}\n", count, reason);
  for (const std::string& line : unexplained) fmt::format_to(out, "  UNEXPLAINED {}\n", line);
  return text;
}

std::string hex(const Code& code) { return fmt::format("{:02x}", fmt::join(code, "")); }

Report check_hardware(const Forms& forms, std::size_t step) {
  Report report{.title = "hardware"};
  HardwareOracle oracle;
  std::size_t index = 0;
  for (const auto& [key, code] : forms) {
    if (index++ % step != 0) continue;
    HardwareResult result = oracle.check(code);
    if (!result.left_out.empty()) {
      report.leave_out(result.left_out);
      continue;
    }
    std::string unexplained;
    for (const Difference& difference : result.differences) {
      if (const Explanation* explanation = explain(result, difference))
        ++report.explanations[explanation->name];
      else
        unexplained += "; " + describe(difference);
    }
    if (!unexplained.empty())
      unexplained =
          fmt::format("{} {}{}; decoder: {}", hex(code), oracle.front().text(result.instruction),
                      unexplained, describe(result.effects));
    report.add(unexplained, !result.differences.empty());
  }
  return report;
}

Report check_zydis(const Forms& forms, std::size_t step) {
  Report report{.title = "Zydis"};
  ZydisFrontEnd front;
  Decoder decoder;
  ZydisInstruction zydis;
  std::size_t index = 0;
  for (const auto& [key, code] : forms) {
    if (index++ % step != 0 || !front.decode(code, zydis)) continue;
    InstrEffects effects = decoder.decode(code, Pc{});
    // Without effects, but not without the length where there is one.
    if (!effects.known && (effects.length == 0 || effects.length == code.size())) {
      report.leave_out(fmt::format("unknown to the decoder, {} length",
                                   effects.length == 0 ? "without" : "with"));
      continue;
    }
    std::vector<Disagreement> disagreements = compare(effects, zydis);
    std::string unexplained;
    for (const Disagreement& disagreement : disagreements) {
      if (const char* rule = explain({effects, zydis, disagreement}))
        ++report.explanations[rule];
      else
        unexplained += "; " + disagreement.text;
    }
    if (!unexplained.empty())
      unexplained = fmt::format("{} {}{}; decoder: {}", hex(code), front.text(zydis), unexplained,
                                describe(effects));
    report.add(unexplained, !disagreements.empty());
  }
  return report;
}

}  // namespace svd::test
