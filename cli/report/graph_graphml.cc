// SPDX-License-Identifier: Apache-2.0
//
// GraphML (http://graphml.graphdrawing.org): what other graph tools read.
#include <fmt/format.h>

#include "report/graph.h"

namespace svd::cli {
namespace {

// As XML 1.0 can hold it; what it cannot becomes a question mark.
std::string escaped(std::string_view text) {
  std::string out;
  for (char c : text) {
    switch (c) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '"':
        out += "&quot;";
        break;
      case '\t':
      case '\n':
      case '\r':
        out += ' ';
        break;
      default:
        out += static_cast<unsigned char>(c) < 0x20 ? '?' : c;
    }
  }
  return out;
}

}  // namespace

void print_graph_graphml(const GraphDrawing& drawing, Output& output) {
  output.write(
      R"(<?xml version="1.0" encoding="UTF-8"?>
<graphml xmlns="http://graphml.graphdrawing.org/xmlns">
  <key id="thread" for="node" attr.name="thread" attr.type="int"/>
  <key id="label" for="node" attr.name="label" attr.type="string"/>
  <key id="outside" for="node" attr.name="outside" attr.type="boolean"/>
  <key id="kind" for="edge" attr.name="kind" attr.type="string"/>
  <key id="address" for="edge" attr.name="address" attr.type="string"/>
  <key id="ordered" for="edge" attr.name="ordered" attr.type="boolean"/>
  <graph id="dependences" edgedefault="directed">
)");
  for (const GraphDrawing::Node& node : drawing.nodes)
    output.write(fmt::format(
        "    <node id=\"n{}\"><data key=\"thread\">{}</data><data key=\"label\">{}</data>"
        "<data key=\"outside\">{}</data></node>\n",
        node.seq.value, node.thread.value, escaped(node.label), node.outside));
  for (const GraphDrawing::Arc& arc : drawing.arcs) {
    output.write(fmt::format("    <edge source=\"n{}\" target=\"n{}\"><data key=\"kind\">{}</data>",
                             arc.use.value, arc.def.value, arc_name(arc.kind)));
    bool memory = arc.kind != ArcKind::kRegister && arc.kind != ArcKind::kControl;
    if (memory) output.write(fmt::format("<data key=\"address\">{:#x}</data>", arc.address.value));
    if (arc.kind == ArcKind::kWriteAfterWrite || arc.kind == ArcKind::kWriteAfterRead)
      output.write(fmt::format("<data key=\"ordered\">{}</data>", arc.ordered));
    output.write("</edge>\n");
  }
  output.write("  </graph>\n</graphml>\n");
}

}  // namespace svd::cli
