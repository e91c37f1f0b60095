// SPDX-License-Identifier: Apache-2.0
//
// The report for programs, as docs/report.schema.json describes it.

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "report/report.h"

namespace svd::cli {
namespace {

using Json = nlohmann::ordered_json;

std::string hex(std::uint64_t value) { return fmt::format("{:#x}", value); }

std::string_view kind_name(TouchKind kind) {
  constexpr std::string_view kNames[] = {"read", "write", "free"};
  return kNames[static_cast<std::size_t>(kind)];
}

void add_place(Json& json, const CodePlace& place) {
  if (place.label.empty()) {
    json["pc"] = hex(place.pc.value);
    json["module"] = place.module;
    json["offset"] = hex(place.offset);
  } else {
    json["statement"] = place.label;
  }
  json["file"] = place.file;
  json["line"] = place.line;
  json["function"] = place.function;
  if (!place.text.empty()) json["text"] = place.text;
}

Json access_json(const FindingAccess& access) {
  Json json{{"role", access.role},
            {"thread", access.thread.value},
            {"thread_name", access.thread_name},
            {"seq", access.seq.value}};
  add_place(json, access.place);
  json["kind"] = kind_name(access.kind);
  json["address"] = hex(access.address.value);
  json["size"] = access.size;
  json["value"] = access.value ? Json(hex(*access.value)) : Json();
  json["atomic"] = access.atomic;
  json["kernel"] = access.kernel;
  json["locks"] = access.locks;
  return json;
}

Json stack_json(const FindingAccess& access) {
  Json stack = Json::array();
  for (const StackFrame& frame : access.stack) {
    Json& told = stack.emplace_back(Json::object());
    add_place(told, frame.place);
    told["own"] = frame.own;
    if (frame.left_out != 0) told["left_out"] = frame.left_out;
  }
  return stack;
}

Json accesses_json(const Finding& finding) {
  Json list = Json::array();
  for (const FindingAccess& access : finding.accesses) list.push_back(access_json(access));
  return list;
}

Json finding_json(const Finding& finding) {
  Json related = Json::array();
  for (const Finding& other : finding.related) {
    related.push_back({{"fingerprint", other.fingerprint},
                       {"detectors", other.detectors},
                       {"serializable", other.serializable ? Json(*other.serializable) : Json()},
                       {"occurrences", other.occurrences},
                       {"summary", other.summary},
                       {"accesses", accesses_json(other)}});
  }
  Json json{{"id", finding.id},
            {"fingerprint", finding.fingerprint},
            {"detectors", finding.detectors},
            {"rank", finding.rank},
            {"on_slice", finding.on_slice ? Json(*finding.on_slice) : Json()},
            {"serializable", finding.serializable ? Json(*finding.serializable) : Json()},
            {"occurrences", finding.occurrences},
            {"variable", finding.variable},
            {"memory", finding.memory},
            {"summary", finding.summary},
            {"accesses", accesses_json(finding)},
            {"related", std::move(related)}};
  for (std::size_t i = 0; i < finding.accesses.size(); ++i)
    json["accesses"][i]["stack"] = stack_json(finding.accesses[i]);
  return json;
}

Json trace_json(const Report& report) {
  const Ending& ending = report.trace.ending();
  Json exit{{"kind", to_string(ending.kind)}, {"value", ending.value}};
  if (ending.thread) {
    exit["seq"] = ending.seq.value;
    exit["thread"] = ending.thread->value;
    add_place(exit, report.last_place);
  }
  return Json{{"file", report.trace.path()},
              {"engine", report.trace.process().engine},
              {"threads", report.trace.threads().size()},
              {"instructions", report.trace.steps()},
              {"complete", report.trace.complete() && !report.diagnostics.any_loss()},
              {"exit", std::move(exit)}};
}

}  // namespace

void print_json(const Report& report, Output& output) {
  Json findings = Json::array();
  for (const Finding& finding : report.findings) findings.push_back(finding_json(finding));
  Json diagnostics = Json::array();
  for (const Diagnostic& diagnostic : report.diagnostics.list()) {
    diagnostics.push_back({{"name", diagnostic.name},
                           {"severity", to_string(diagnostic.severity)},
                           {"count", diagnostic.count},
                           {"text", diagnostic.text}});
  }
  Json suppressions = Json::array();
  for (const Suppressions::Use& use : report.suppressions)
    suppressions.push_back({{"rule", use.rule}, {"uses", use.count}});
  Json annotations = Json::array();
  for (const Annotations::Use& use : report.annotations)
    annotations.push_back({{"rule", use.rule}, {"uses", use.count}});
  Json statistics = Json::object();
  for (const auto& [name, number] : report.statistics) statistics[name] = number;
  Json json{{"schema", "svd-report/1"},
            {"trace", trace_json(report)},
            {"detectors", report.looked},
            {"findings", std::move(findings)},
            {"suppressed", report.suppressed},
            {"suppressions", std::move(suppressions)},
            {"annotations", std::move(annotations)},
            {"diagnostics", std::move(diagnostics)},
            {"statistics", std::move(statistics)}};
  if (report.slice != nullptr) json["slice"] = slice_json(*report.slice);
  output.write(json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n");
}

}  // namespace svd::cli
