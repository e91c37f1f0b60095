// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "report/graph.h"

namespace svd::cli {
namespace {

constexpr std::array<std::string_view, kArcKinds> kNames{"through registers",
                                                         "through memory, one thread",
                                                         "through memory, between threads",
                                                         "through files, pipes and sockets",
                                                         "control",
                                                         "write after write, between threads",
                                                         "write after read, between threads"};

using Json = nlohmann::ordered_json;

Json row_json(const ConflictCounts::Row& row) {
  return {{"before", row.all},
          {"after_transitivity", row.adjacent},
          {"after_happens_before", row.unordered}};
}

}  // namespace

std::string_view arc_name(ArcKind kind) {
  constexpr std::array<std::string_view, kArcKinds> kShort{
      "register",          "memory",          "remote", "channel", "control",
      "write-after-write", "write-after-read"};
  return kShort[static_cast<std::size_t>(kind)];
}

void print_graph_counts(const GraphCounts& counts, Output& output) {
  output.write(fmt::format("{:>16}  instructions\n", counts.instructions));
  std::uint64_t all = 0;
  for (std::size_t i = 0; i < kArcKinds; ++i) {
    output.write(fmt::format("{:>16}  arcs {}\n", counts.arcs[i], kNames[i]));
    all += counts.arcs[i];
  }
  double steps = static_cast<double>(std::max<std::uint64_t>(counts.instructions, 1));
  output.write(fmt::format("{:>16.2f}  arcs an instruction; none is stored\n",
                           static_cast<double>(all) / steps));
  output.write(fmt::format("{:>16.2f}  bytes of memory an instruction while walking\n",
                           static_cast<double>(counts.memory_bytes) / steps));
  output.write(fmt::format("\n{:34}{:>16}{:>20}{:>22}\n", "Dependences between threads", "before",
                           "after transitivity", "after happens-before"));
  auto print = [&output](std::string_view name, const ConflictCounts::Row& row) {
    output.write(
        fmt::format("  {:32}{:>16}{:>20}{:>22}\n", name, row.all, row.adjacent, row.unordered));
  };
  print("read after write", counts.conflicts.raw);
  print("write after write", counts.conflicts.waw);
  print("write after read", counts.conflicts.war);
  print("together", counts.conflicts.total());
}

void print_graph_json(const GraphCounts& counts, const Diagnostics& diagnostics, Output& output) {
  Json arcs = Json::object();
  for (std::size_t i = 0; i < kArcKinds; ++i)
    arcs[std::string(arc_name(static_cast<ArcKind>(i)))] = counts.arcs[i];
  Json told = Json::array();
  for (const Diagnostic& diagnostic : diagnostics.list())
    told.push_back({{"name", diagnostic.name},
                    {"severity", to_string(diagnostic.severity)},
                    {"count", diagnostic.count},
                    {"text", diagnostic.text}});
  Json json{{"schema", "svd-graph/1"},
            {"instructions", counts.instructions},
            {"arcs", std::move(arcs)},
            {"between_threads",
             {{"read-after-write", row_json(counts.conflicts.raw)},
              {"write-after-write", row_json(counts.conflicts.waw)},
              {"write-after-read", row_json(counts.conflicts.war)},
              {"together", row_json(counts.conflicts.total())}}},
            {"memory_bytes", counts.memory_bytes},
            {"diagnostics", std::move(told)}};
  output.write(json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n");
}

}  // namespace svd::cli
