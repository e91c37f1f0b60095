// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "report/graph.h"

namespace svd::cli {
namespace {

constexpr std::array<std::string_view, kArcKinds> kStyles{"color=gray",
                                                          "color=black",
                                                          "color=red,penwidth=2",
                                                          "color=red,style=bold",
                                                          "style=dashed",
                                                          "color=orange,style=dotted",
                                                          "color=blue,style=dotted"};

std::string quoted(std::string_view text) {
  std::string escaped;
  for (char c : text) {
    if (c == '"' || c == '\\') escaped += '\\';
    escaped += c;
  }
  return escaped;
}

}  // namespace

void print_graph_dot(const GraphDrawing& drawing, Output& output) {
  output.write("digraph dependences {\n  node [shape=box, fontsize=9];\n");
  for (const GraphDrawing::Node& node : drawing.nodes)
    output.write(fmt::format("  n{} [label=\"{} T{} {}\"{}];\n", node.seq.value, node.seq.value,
                             node.thread.value, quoted(node.label),
                             node.outside ? ", color=gray" : ""));
  for (const GraphDrawing::Arc& arc : drawing.arcs)
    output.write(fmt::format("  n{} -> n{} [{}{}];\n", arc.use.value, arc.def.value,
                             kStyles[static_cast<std::size_t>(arc.kind)],
                             arc.ordered ? ",arrowhead=empty" : ""));
  output.write("}\n");
}

}  // namespace svd::cli
