// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <map>
#include <nlohmann/json.hpp>

#include "report/slice_text.h"

namespace svd::cli {
namespace {

using Json = nlohmann::ordered_json;

std::string hex(std::uint64_t value) { return fmt::format("{:#x}", value); }

std::string why(Via via) {
  switch (via) {
    case Via::kCriterion:
      return "criterion";
    case Via::kValue:
    case Via::kAddress:
    case Via::kSystemCall:
      return "raw";
    case Via::kControl:
    case Via::kCall:
    case Via::kSpawn:
      return "control";
  }
  return "";
}

Json place_json(const StoryPlace& place) {
  Json json{{"file", place.file},
            {"line", place.line},
            {"function", place.function},
            {"module", place.module},
            {"pc", hex(place.pc.value)}};
  if (!place.label.empty()) json["statement"] = place.label;
  return json;
}

Json access_json(const StoryAccess& access) {
  Json json = place_json(access.place);
  json["thread"] = access.instance.thread.value;
  json["seq"] = access.instance.seq.value;
  json["kind"] = access.write ? "write" : "read";
  if (access.has_value) json["value"] = hex(access.value);
  return json;
}

std::string_view kind_name(StoryEntry::Kind kind) {
  switch (kind) {
    case StoryEntry::Kind::kStatement:
      return "statement";
    case StoryEntry::Kind::kRemoteRead:
      return "remote-read";
    case StoryEntry::Kind::kTriple:
      return "triple";
    case StoryEntry::Kind::kRace:
      return "race";
  }
  return "";
}

Json step_json(const StoryEntry& entry) {
  Json json{{"kind", kind_name(entry.kind)}, {"key", entry.key}, {"instances", entry.instances}};
  if (entry.size != 0) {
    json["variable"] = entry.variable;
    json["address"] = hex(entry.address.value);
    json["size"] = entry.size;
  }
  json["accesses"] = Json::array();
  for (const StoryAccess& access : entry.accesses) json["accesses"].push_back(access_json(access));
  return json;
}

}  // namespace

Json slice_json(const SliceReport& report) {
  const Story& story = report.explanation.story;
  std::map<StoryPlace::Key, const StoryEntry*> told;  // statements that are entries of their own
  for (const StoryEntry& entry : story.entries)
    if (entry.kind == StoryEntry::Kind::kStatement) told[entry.accesses[0].place.key()] = &entry;
  Json statements = Json::array();
  Json races = Json::array();
  for (const StoryPlace& place : story.statements) {
    Json json{{"order", statements.size() + 1}};
    json.update(place_json(place));
    if (auto found = told.find(place.key()); found != told.end()) {
      const StoryEntry& entry = *found->second;
      Json threads = Json::array();
      for (ThreadId thread : entry.threads) threads.push_back(thread.value);
      json["threads"] = threads;
      json["instances"] = entry.instances;
      json["distance"] = entry.key;
      json["why"] = why(entry.via);
      Json values = Json::array();
      if (entry.accesses[0].has_value) values.push_back(hex(entry.accesses[0].value));
      json["values"] = values;
    }
    statements.push_back(json);
  }
  Json steps = Json::array();
  for (const StoryEntry& entry : story.entries) {
    steps.push_back(step_json(entry));
    if (entry.kind != StoryEntry::Kind::kRace) continue;
    Json json = access_json(entry.accesses[1]);
    json["kind"] = entry.race == RaceEdge::Kind::kWriteAfterRead ? "war" : "waw";
    races.push_back(json);
  }
  Json criterion{{"seq", report.explanation.failure.at.seq.value}};
  criterion.update(place_json(report.explanation.criterion));
  Json json{{"criterion", criterion}};
  if (report.explanation.way == Way::kForward) json["direction"] = "forward";
  if (report.explanation.way == Way::kBetween) {
    Json from{{"seq", report.explanation.from.at.seq.value}};
    from.update(place_json(report.explanation.from_place));
    json["from"] = from;
  }
  json.update(Json{{"instances", report.explanation.slice.instances},
                   {"statements", statements},
                   {"race_statements", races},
                   {"steps", steps}});
  return json;
}

}  // namespace svd::cli
