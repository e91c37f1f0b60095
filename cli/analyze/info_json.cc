// SPDX-License-Identifier: Apache-2.0
//
// The summary for programs. "trace" and "diagnostics" look as they do in a report.

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "analyze/info_facts.h"

namespace svd::cli {
namespace {

using Json = nlohmann::ordered_json;

std::string hex(std::uint64_t value) { return fmt::format("{:#x}", value); }

Json exit_json(const TraceReader& trace, const Facts& facts) {
  const Ending& ending = trace.ending();
  Json exit{{"kind", to_string(ending.kind)}, {"value", ending.value}};
  if (!ending.thread) return exit;
  exit["seq"] = ending.seq.value;
  exit["thread"] = ending.thread->value;
  exit["pc"] = hex(ending.pc.value);
  exit["file"] = facts.last_file;
  exit["line"] = facts.last_line;
  exit["function"] = facts.last_function;
  if (facts.fault) exit["fault_address"] = hex(facts.fault->value);
  return exit;
}

Json trace_json(const TraceReader& trace, const Facts& facts) {
  const Process& process = trace.process();
  return Json{{"file", trace.path()},
              {"engine", process.engine},
              {"engine_version", process.engine_version},
              {"engine_options", process.engine_options},
              {"executable", process.executable},
              {"arguments", process.arguments},
              {"directory", process.working_directory},
              {"start_time_ns", process.start_time_ns},
              {"pid", process.pid},
              {"values", process.has_values},
              {"threads", trace.threads().size()},
              {"instructions", facts.instructions},
              {"complete", trace.complete() && !facts.diagnostics.any_loss()},
              {"exit", exit_json(trace, facts)}};
}

Json threads_json(const TraceReader& trace) {
  Json list = Json::array();
  for (const ThreadInfo& info : trace.threads()) {
    Json thread{{"id", info.id.value},
                {"name", info.name},
                {"parent", info.parent.value},
                {"instructions", info.steps}};
    if (info.steps > 0)
      thread["first_seq"] = info.first_seq.value, thread["last_seq"] = info.last_seq.value;
    list.push_back(std::move(thread));
  }
  return list;
}

Json modules_json(const TraceReader& trace) {
  Json list = Json::array();
  for (const Module& module : trace.modules()) {
    std::string id;
    for (std::uint8_t byte : module.build_id) id += fmt::format("{:02x}", byte);
    list.push_back({{"path", module.path}, {"build_id", id}, {"bias", hex(module.bias)}});
  }
  return list;
}

Json statistics_json(const TraceReader& trace, const Facts& facts) {
  Json events = Json::object();
  for (std::size_t kind = 0; kind < facts.events.size(); ++kind) {
    if (facts.events[kind] > 0) events[std::string(event_name(kind))] = facts.events[kind];
  }
  Json columns = Json::object();
  for (const ColumnSize& column : trace.column_sizes())
    columns[column.name] = {{"raw", column.raw}, {"packed", column.packed}};
  return Json{{"executions", facts.executions},  {"accesses", facts.accesses},
              {"blocks", trace.blocks().size()}, {"statements", trace.statements().size()},
              {"bytes", trace.file_bytes()},     {"columns", std::move(columns)},
              {"events", std::move(events)}};
}

}  // namespace

void print_info_json(const TraceReader& trace, const Facts& facts, Output& output) {
  Json diagnostics = Json::array();
  for (const Diagnostic& diagnostic : facts.diagnostics.list()) {
    diagnostics.push_back({{"name", diagnostic.name},
                           {"severity", to_string(diagnostic.severity)},
                           {"count", diagnostic.count},
                           {"text", diagnostic.text}});
  }
  Json info{{"schema", "svd-info/1"},
            {"trace", trace_json(trace, facts)},
            {"threads", threads_json(trace)},
            {"modules", modules_json(trace)},
            {"notes", facts.notes},
            {"statistics", statistics_json(trace, facts)},
            {"diagnostics", std::move(diagnostics)}};
  output.write(info.dump(2, ' ', false, Json::error_handler_t::replace) + "\n");
}

}  // namespace svd::cli
