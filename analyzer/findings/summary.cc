// SPDX-License-Identifier: Apache-2.0

#include "findings/summary.h"

#include <fmt/format.h>

#include <cstdint>
#include <string_view>

namespace svd {
namespace {

std::string_view verb(const FindingAccess& access) {
  switch (access.kind) {
    case TouchKind::kRead:
      return "reads";
    case TouchKind::kWrite:
      return "writes";
    case TouchKind::kFree:
      return "frees";
  }
  return "";
}

std::string what(const Finding& finding) {
  if (!finding.variable.empty()) return finding.variable;
  const FindingAccess& access = finding.accesses.front();
  return fmt::format("{:#x}:{}", access.address.value, access.size);
}

std::string clause(const FindingAccess& access, std::string_view object) {
  return fmt::format("thread {} {} {} in {}", access.thread.value, verb(access), object,
                     describe(access.place));
}

std::string file_name(const std::string& path) { return path.substr(path.rfind('/') + 1); }

}  // namespace

std::string describe(const CodePlace& place) {
  std::string text = place.label.empty() ? place.function : place.label;
  if (!place.label.empty() && !place.function.empty()) text += " " + place.function;
  if (place.line > 0) {
    std::string line = fmt::format("{}:{}", file_name(place.file), place.line);
    return text.empty() ? line : fmt::format("{} ({})", text, line);
  }
  if (text.empty()) text = place.module;
  if (place.pc.value == 0) return text;
  return text.empty() ? fmt::format("{:#x}", place.pc.value)
                      : fmt::format("{} ({:#x})", text, place.pc.value);
}

std::string summarize(const Finding& finding) {
  if (finding.detectors.front() == "declared-atomic") {
    return fmt::format(
        "atomic blocks cannot be put one after the other: {} of thread {} comes before and after "
        "what others do",
        describe(finding.accesses.front().place), finding.accesses.front().thread.value);
  }
  const FindingAccess& first = finding.accesses.front();
  const FindingAccess& last = finding.accesses.back();
  return fmt::format("data race on {}: {}, {}, and nothing orders the two", what(finding),
                     clause(first, "it"), clause(last, "it"));
}

std::string fingerprint(const Finding& finding) {
  std::uint64_t hash = 0xcbf29ce484222325;  // FNV-1a
  auto mix = [&hash](std::string_view text) {
    for (unsigned char c : text) hash = (hash ^ c) * 0x100000001b3;
    hash = (hash ^ 0xff) * 0x100000001b3;
  };
  mix(finding.detectors.front());
  for (const FindingAccess& access : finding.accesses) {
    mix(access.place.module);
    mix(access.place.function);
    mix(access.place.label);
    mix(access.place.text.empty() ? fmt::format("{:x}", access.place.offset) : access.place.text);
    mix(access.kind == TouchKind::kRead ? "r" : "w");
  }
  return fmt::format("{:016x}", hash);
}

}  // namespace svd
