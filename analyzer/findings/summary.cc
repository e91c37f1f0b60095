// SPDX-License-Identifier: Apache-2.0

#include "findings/summary.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <string_view>

#include "findings/member_names.h"
#include "svd/trace/result.h"

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
  if (!finding.memory.empty()) return fmt::format("memory ({})", finding.memory);
  const FindingAccess& access = finding.accesses.front();
  return fmt::format("{:#x}:{}", access.address.value, access.size);
}

std::string clause(const FindingAccess& access, std::string_view object) {
  return fmt::format("thread {} {} {} in {}", access.thread.value, verb(access), object,
                     describe(access.place));
}

std::string file_name(const std::string& path) { return path.substr(path.rfind('/') + 1); }

const FindingAccess& access_of(const Finding& finding, std::string_view role) {
  auto found = std::find_if(finding.accesses.begin(), finding.accesses.end(),
                            [role](const FindingAccess& access) { return access.role == role; });
  SVD_CHECK(found != finding.accesses.end());
  return *found;
}

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
  if (finding.detectors.front() == "svd-cycle") {
    return fmt::format(
        "computations cannot be put one after the other: {} of thread {} comes before and after "
        "what others do",
        describe(finding.accesses.front().place), finding.accesses.front().thread.value);
  }
  const FindingAccess& first = finding.accesses.front();
  if (finding.detectors.front() == "svd-log") {
    const FindingAccess& local = access_of(finding, "local-write");
    const FindingAccess& remote = access_of(finding, "remote-write");
    const FindingAccess& read = access_of(finding, "read");
    return fmt::format("thread {} writes {} in {}, and reads in {} what thread {} wrote in {}",
                       local.thread.value, what(finding), describe(local.place),
                       describe(read.place), remote.thread.value, describe(remote.place));
  }
  if (finding.detectors.front().starts_with("svd-2pl") ||
      finding.detectors.front() == "svd-online") {
    const FindingAccess& remote = access_of(finding, "remote");
    const FindingAccess& second = access_of(finding, "local-second");
    bool overwritten = remote.kind != TouchKind::kRead;
    const char* then = first.kind == TouchKind::kRead ? "goes on with what it had read"
                       : second.kind == TouchKind::kWrite && !overwritten ? "writes it once more"
                                                                          : "goes on";
    return fmt::format("{}, thread {} {} it in {}, and thread {} {} in {}",
                       clause(first, what(finding)), remote.thread.value,
                       overwritten ? "changes" : "reads", describe(remote.place),
                       second.thread.value, then, describe(second.place));
  }
  if (finding.detectors.front() == "race-lockset") {
    return fmt::format("no lock protects {}: {}, {}", what(finding), clause(first, "it"),
                       clause(finding.accesses.back(), "it"));
  }
  if (finding.detectors.front() == "race-hybrid") {
    return fmt::format("possible data race on {}: {}, {}, and no common lock keeps them apart",
                       what(finding), clause(first, "it"), clause(finding.accesses.back(), "it"));
  }
  const FindingAccess& last = finding.accesses.back();
  return fmt::format("data race on {}: {}, {}, and nothing orders the two", what(finding),
                     clause(first, "it"), clause(last, "it"));
}

std::string fingerprint(const Finding& finding) {
  std::uint64_t hash = 0xcbf29ce484222325;  // FNV-1a
  auto mix = [&hash](std::string_view text) {
    for (char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3;
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
  // One line can access several members, and what one of them points to.
  if (!finding.memory.empty())
    mix(last_member(finding.variable) + std::string(depth_behind(finding.variable), '*'));
  return fmt::format("{:016x}", hash);
}

}  // namespace svd
