// SPDX-License-Identifier: Apache-2.0
//
// svd-analyze graph: drawings that other tools can read, and wrong use.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <set>
#include <vector>

#include "e2e/analyze.h"
#include "support/small_trace.h"
#include "support/trace_builder.h"
#include "svd/trace/writer.h"

namespace svd::test {
namespace {

using testing::HasSubstr;

// What is wrong with a document as XML, as far as GraphML goes: tags are closed in order, values
// are quoted, and what is special is escaped. Empty when nothing is.
std::string xml_problem(std::string_view text) {
  std::vector<std::string> open;
  bool any = false;
  while (!text.empty()) {
    if (text[0] != '<') {
      std::size_t end = std::min(text.find('<'), text.size());
      std::string_view content = text.substr(0, end);
      if (content.find('>') != std::string_view::npos) return "a '>' in text";
      for (std::size_t at = 0; (at = content.find('&', at)) != std::string_view::npos; ++at) {
        std::string_view name = content.substr(at, content.find(';', at) + 1 - at);
        if (name != "&amp;" && name != "&lt;" && name != "&gt;" && name != "&quot;")
          return "an unknown entity";
      }
      if (open.empty() && content.find_first_not_of('\n') != std::string_view::npos)
        return "text outside of everything";
      text.remove_prefix(end);
      continue;
    }
    std::size_t end = text.find('>');
    if (end == std::string_view::npos) return "a tag that does not end";
    std::string tag(text.substr(1, end - 1));
    text.remove_prefix(end + 1);
    if (std::count(tag.begin(), tag.end(), '"') % 2 != 0) return "an open quote in <" + tag + ">";
    std::string name = tag.substr(tag[0] == '/' ? 1 : 0);
    name = name.substr(0, name.find_first_of(" /"));
    if (tag[0] == '?') continue;
    if (open.empty() && any) return "a second root";
    any = true;
    if (tag[0] == '/') {
      if (open.empty() || open.back() != name) return "</" + name + "> closes nothing";
      open.pop_back();
    } else if (tag.back() != '/') {
      open.push_back(name);
    }
  }
  return open.empty() ? "" : "<" + open.back() + "> is not closed";
}

std::string trace_of(const std::string& text) {
  std::string path = temp_path("graph.fb");
  CommandOptions options;
  options.input = text;
  CommandResult result = analyze({"assemble", "-", "-o", path}, options);
  EXPECT_EQ(result.exit_code, 0) << result.err;
  return path;
}

TEST(Graph, GraphmlIsWellFormedWhateverThingsAreCalled) {
  std::string path = trace_of(
      "svd-trace 1\n"
      "process engine=text\n"
      "var x 4\n"
      "stmt $0 label=\"a < b && \\\"c\\\" > 'd'\"\n"
      "stmt use\n"
      "T1 $0 w x=1\n"
      "T2 use r x=1\n");
  CommandResult result = analyze({"graph", "--count=9", "--format=graphml", path});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_EQ(xml_problem(result.out), "") << result.out;
  EXPECT_THAT(result.out, HasSubstr("a &lt; b &amp;&amp; &quot;c&quot; &gt; 'd'"));
  EXPECT_THAT(result.out, HasSubstr("<edge source=\"n1\" target=\"n0\">"));
}

// Nodes outside of the part that is drawn are there, too.
TEST(Graph, EveryEdgeOfADrawingHasItsNodes) {
  CommandResult result =
      analyze({"graph", "--first=10000", "--count=500", "--format=graphml", example_trace()});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_EQ(xml_problem(result.out), "");
  std::set<std::string> nodes;
  std::size_t edges = 0;
  auto each = [&](std::string_view before, auto&& f) {
    for (std::size_t at = 0; (at = result.out.find(before, at)) != std::string::npos;) {
      at += before.size();
      f(result.out.substr(at, result.out.find('"', at) - at));
    }
  };
  each("<node id=\"", [&](const std::string& id) { EXPECT_TRUE(nodes.insert(id).second); });
  for (const char* end : {"source=\"", "target=\""})
    each(end, [&](const std::string& id) {
      EXPECT_TRUE(nodes.contains(id)) << id;
      ++edges;
    });
  EXPECT_GT(edges, 1000U);
}

TEST(Graph, CountsAreJsonForPrograms) {
  CommandResult result = analyze({"graph", "--format=json", example_trace()});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  nlohmann::json graph = nlohmann::json::parse(result.out);
  EXPECT_GE(graph.at("instructions"), 20'000);
  EXPECT_GT(graph.at("arcs").at("register"), 0);
  const auto& together = graph.at("between_threads").at("together");
  EXPECT_GE(together.at("before"), together.at("after_transitivity"));
  EXPECT_GE(together.at("after_transitivity"), together.at("after_happens_before"));
}

// ---- Traces that are not all there ----

nlohmann::json counts_of(const std::string& path, int exit_code) {
  CommandResult result = analyze({"graph", "--format=json", path});
  EXPECT_EQ(result.exit_code, exit_code) << result.err;
  return nlohmann::json::parse(result.out);
}

// How often the diagnostic of that name counts; 0 where there is none.
std::uint64_t told(const nlohmann::json& graph, const std::string& name) {
  for (const auto& diagnostic : graph.at("diagnostics"))
    if (diagnostic.at("name") == name) return diagnostic.at("count");
  return 0;
}

// Chunks that execute what is not there are left out, and counted once.
TEST(GraphOfBadInput, LostChunksAreCountedOnce) {
  std::string bytes = read_file(example_trace());
  bytes[bytes.size() / 50] ^= 1;  // the chunk of the code comes first
  std::string path = temp_path("codeless.fb");
  write_file(path, bytes);
  nlohmann::json graph = counts_of(path, 4);
  EXPECT_GT(told(graph, "damaged-chunk"), 0U) << graph.dump(1);
  EXPECT_EQ(told(graph, "lost-instructions"), graph.at("instructions")) << graph.dump(1);
}

// The chunk that says what one of two blocks is, is damaged. All else can be read.
TEST(GraphOfBadInput, BlocksWithoutCodeAreCounted) {
  std::string path = temp_path("no-code.fb");
  std::size_t lost = 0;
  {
    auto writer = TraceWriter::create(path, TraceBuilder::text_process());
    ASSERT_TRUE(writer && (*writer)->flush());
    lost = read_file(path).size();
    Block block;
    block.instructions = {{Pc(0x401000), 3}};
    block.code = {0x48, 0x89, 0xD8};
    (*writer)->add(block);
    ASSERT_TRUE((*writer)->flush());
    block.instructions[0].pc = Pc(0x402000);
    BlockId id = (*writer)->add(block);
    (*writer)->run(ThreadId(1));
    (*writer)->exec(id, nullptr, nullptr);
    (*writer)->exec(id, nullptr, nullptr);
    ASSERT_TRUE((*writer)->finish());
  }
  std::string bytes = read_file(path);
  bytes[lost + 40] ^= 1;  // behind the chunk's header
  write_file(path, bytes);
  nlohmann::json graph = counts_of(path, 4);
  EXPECT_EQ(told(graph, "blocks-without-code"), 1U) << graph.dump(1);
  EXPECT_EQ(graph.at("instructions"), 2) << graph.dump(1);
  std::filesystem::remove(path);
}

// Its accesses count all the same.
TEST(GraphOfBadInput, InstructionsThatCannotBeDecodedAreCounted) {
  nlohmann::json graph = counts_of(trace_of("svd-trace 1\n"
                                            "process engine=text has-values=false\n"
                                            "block 0\n"
                                            "insn 0x401000 06 w8\n"
                                            "insn 0x401001 488b03 r8\n"
                                            "T1 block 0 0x10000 0x10000\n"),
                                   0);
  EXPECT_EQ(told(graph, "undecodable-instructions"), 1U) << graph.dump(1);
  EXPECT_EQ(graph.at("arcs").at("memory"), 1);
}

TEST(GraphOfBadInput, FunctionsNeedNoSymbols) {
  nlohmann::json graph = counts_of(trace_of("svd-trace 1\n"
                                            "process engine=text has-values=false\n"
                                            "block 0\n"
                                            "insn 0x401000 4839f8\n"
                                            "insn 0x401003 7402\n"
                                            "block 1\n"
                                            "insn 0x401005 89c3\n"
                                            "block 2\n"
                                            "insn 0x401007 c3 r8\n"
                                            "T1 block 0\n"
                                            "T1 block 1\n"
                                            "T1 block 2 0x7000\n"),
                                   0);
  EXPECT_EQ(graph.at("arcs").at("control"), 1);  // the mov, by the je
}

// A return to before the beginning, a register that was saved before it, and no end.
TEST(GraphOfBadInput, ATraceCanBeginAndEndInTheMiddle) {
  nlohmann::json graph = counts_of(trace_of("svd-trace 1\n"
                                            "process engine=text has-values=false\n"
                                            "block 0\n"
                                            "insn 0x401000 5b r8\n"
                                            "insn 0x401001 c3 r8\n"
                                            "block 1\n"
                                            "insn 0x402000 4889d8\n"
                                            "insn 0x402003 c3 r8\n"
                                            "T1 block 0 0x7000 0x7008\n"
                                            "T1 block 1 0x7010\n"
                                            "T1 kernel write 0x7000 8\n"),
                                   0);
  EXPECT_EQ(graph.at("arcs").at("register"), 1);  // the mov, by the pop
  EXPECT_GT(told(counts_of(cut_trace(), 4), "missing-end"), 0U);
}

TEST(GraphOfBadInput, LossesOfTheRecorderAreTold) {
  nlohmann::json graph =
      counts_of(trace_of("svd-trace 1\n"
                         "process engine=text\n"
                         "var x 4\n"
                         "stmt a\n"
                         "T1 a w x=1\n"
                         "T1 gap \"the disk was full\" instructions=7 accesses=3\n"
                         "T1 a r x=2\n"),
                4);
  EXPECT_EQ(graph.at("arcs").at("memory"), 1);
  EXPECT_EQ(told(graph, "gap"), 1U) << graph.dump(1);
  EXPECT_EQ(told(graph, "gap-accesses"), 3U) << graph.dump(1);
}

TEST(Graph, DrawingsNeedToKnowWhat) {
  for (const std::vector<std::string>& words : {std::vector<std::string>{"--format=dot"},
                                                {"--format=graphml", "--first=3"},
                                                {"--format=text", "--count=3"},
                                                {"--format=html"},
                                                {"--order=none"}}) {
    std::vector<std::string> command{"graph", race_trace()};
    command.insert(command.end(), words.begin(), words.end());
    CommandResult result = analyze(command);
    EXPECT_EQ(result.exit_code, 2) << words[0];
    EXPECT_EQ(count_lines(result.err), 1U) << result.err;
  }
}

}  // namespace
}  // namespace svd::test
