// SPDX-License-Identifier: Apache-2.0
//
// Places, lines and names in small programs that were compiled in several ways, checked against
// what their sources say and, instruction by instruction, against addr2line.

#include "symbols/source_map.h"

#include <capstone/capstone.h>
#include <dlfcn.h>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gnu/libc-version.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <set>
#include <sstream>

#include "support/run_command.h"
#include "support/trace_builder.h"
#include "svd/trace/writer.h"
#include "symbols/elf_file.h"
#include "symbols/elf_symbols.h"
#include "symbols/function_name.h"

namespace svd::test {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::Field;
using ::testing::IsEmpty;
using ::testing::SizeIs;
using ::testing::UnorderedElementsAre;

constexpr std::uint64_t kBias = 0x7000'0000;
const std::string kCxx = std::string(SVD_SOURCE_FOLDER) + "/source_program.cc";
const std::string kC = std::string(SVD_SOURCE_FOLDER) + "/source_program.c";

std::string program(const std::string& name) {
  return std::string(SVD_SOURCE_PROGRAMS) + "/" + name;
}

// The line that says "here: `what`".
std::uint32_t line_of(const std::string& what, const std::string& file = kCxx) {
  std::ifstream in(file);
  std::uint32_t number = 0;
  for (std::string line; std::getline(in, line);) {
    ++number;
    std::size_t at = line.find("here: " + what);
    if (at == std::string::npos) continue;
    std::string_view rest = std::string_view(line).substr(at + 6 + what.size());
    if (rest.empty() || rest.starts_with(" */")) return number;
  }
  ADD_FAILURE() << "no line for " << what;
  return 0;
}

// A run of one module at kBias.
class Recorded {
 public:
  explicit Recorded(const std::string& path) {
    Module module;
    module.path = path;
    module.bias = kBias;
    module.build_id = ElfFile(path).build_id();
    module.segments = {{Addr(kBias), 0x100000, 0, 5}};
    open(module);
  }
  explicit Recorded(const Module& module) { open(module); }
  // With the code of these functions among the trace's blocks.
  Recorded(const std::string& path, const std::vector<std::string>& functions) : Recorded(path) {
    std::vector<Block> blocks;
    for (const std::string& function : functions) add_code(path, function, blocks);
    Module module = trace_->modules()[0];
    open(module, blocks);
  }

  SourceMap& operator*() { return *map_; }
  SourceMap* operator->() { return map_.get(); }

  const Place& at_line(const std::string& what, const std::string& file = kCxx) {
    std::vector<Pc> pcs = map_->pcs_of_line(file, line_of(what, file));
    SVD_CHECK(!pcs.empty());
    return map_->at(pcs.front());
  }
  std::vector<std::string> diagnostics() const {
    std::vector<std::string> names;
    for (const Diagnostic& diagnostic : diagnostics_.list()) names.push_back(diagnostic.name);
    return names;
  }

 private:
  // Straight-line runs of its instructions.
  void add_code(const std::string& path, const std::string& function, std::vector<Block>& blocks) {
    std::uint64_t at = map_->entries_of_function(function).at(0).value;
    std::ifstream in(path, std::ios::binary);
    std::string file{std::istreambuf_iterator<char>(in), {}};
    csh engine = 0;
    SVD_CHECK(cs_open(CS_ARCH_X86, CS_MODE_64, &engine) == CS_ERR_OK);
    cs_option(engine, CS_OPT_DETAIL, CS_OPT_ON);
    blocks.emplace_back();
    while (map_->at(Pc(at)).frames.back().function == function) {
      // The first segments of such small programs lie in memory as in the file.
      const auto* bytes = reinterpret_cast<const std::uint8_t*>(&file.at(at - kBias));
      cs_insn* decoded = nullptr;
      SVD_CHECK(cs_disasm(engine, bytes, 15, at, 1, &decoded) == 1);
      auto length = static_cast<std::uint8_t>(decoded->size);
      bool ends = cs_insn_group(engine, decoded, CS_GRP_JUMP) ||
                  cs_insn_group(engine, decoded, CS_GRP_CALL) ||
                  cs_insn_group(engine, decoded, CS_GRP_RET);
      cs_free(decoded, 1);
      blocks.back().instructions.push_back({Pc(at), length});
      blocks.back().code.insert(blocks.back().code.end(), bytes, bytes + length);
      at += length;
      if (ends) blocks.emplace_back();
    }
    cs_close(&engine);
    if (blocks.back().instructions.empty()) blocks.pop_back();
  }

  void open(const Module& module, const std::vector<Block>& blocks = {}) {
    map_.reset();
    auto writer = TraceWriter::create(file_.path(), Process{});
    SVD_CHECK(writer);
    (*writer)->add(module);
    for (const Block& block : blocks) (*writer)->add(block);
    SVD_CHECK((*writer)->finish());
    auto reader = TraceReader::open(file_.path());
    SVD_CHECK(reader);
    trace_ = std::make_unique<TraceReader>(std::move(*reader));
    map_ = std::make_unique<SourceMap>(*trace_, diagnostics_);
  }

  TempFile file_;
  std::unique_ptr<TraceReader> trace_;
  Diagnostics diagnostics_;
  std::unique_ptr<SourceMap> map_;
};

std::vector<std::string> functions_of(const Place& place) {
  std::vector<std::string> names;
  for (const Frame& frame : place.frames) names.emplace_back(frame.function);
  return names;
}

std::vector<std::uint32_t> lines_of(const Place& place) {
  std::vector<std::uint32_t> lines;
  for (const Frame& frame : place.frames) lines.push_back(frame.line);
  return lines;
}

std::vector<std::string> names_of(const std::vector<Variable>& variables) {
  std::vector<std::string> names;
  names.reserve(variables.size());
  for (const Variable& variable : variables) names.push_back(variable.name);
  return names;
}

class SourceMapOfForm : public ::testing::TestWithParam<const char*> {
 protected:
  Recorded run_{program(GetParam())};
};
INSTANTIATE_TEST_SUITE_P(Forms, SourceMapOfForm,
                         ::testing::Values("dwarf5", "dwarf4", "split", "separate"),
                         [](const auto& form) { return std::string(form.param); });

TEST_P(SourceMapOfForm, HasInlinedFramesInnermostFirst) {
  const Place& place = run_.at_line("innermost");
  EXPECT_THAT(functions_of(place), ElementsAre("app::twice", "app::Log::append"));
  EXPECT_THAT(lines_of(place), ElementsAre(line_of("innermost"), line_of("call of twice")));
  EXPECT_EQ(place.frames[0].file, kCxx);
  EXPECT_EQ(place.frames[1].file, kCxx);
  EXPECT_EQ(place.module, program(GetParam()));
  EXPECT_THAT(run_.diagnostics(), IsEmpty());
}

TEST_P(SourceMapOfForm, NamesFunctionsWithWhatTheyAreIn) {
  EXPECT_THAT(functions_of(run_.at_line("append")), ElementsAre("app::Log::append"));
  EXPECT_THAT(functions_of(run_.at_line("local class")), ElementsAre("main::Local::go"));
  std::vector<Pc> in_lambda = run_->entries_of_function("main::{lambda}");
  ASSERT_THAT(in_lambda, SizeIs(1));
  EXPECT_THAT(functions_of(run_->at(in_lambda[0])), ElementsAre("main::{lambda}"));
  EXPECT_THAT(lines_of(run_->at(in_lambda[0])), ElementsAre(line_of("lambda")));
}

TEST_P(SourceMapOfForm, FindsFunctionsByName) {
  for (const char* name : {"main", "app::twice", "Local::go", "main()::Local::go"})
    EXPECT_THAT(run_->entries_of_function(name), SizeIs(1)) << name;
  EXPECT_THAT(run_->entries_of_function("Log::append"), SizeIs(2));
  EXPECT_THAT(run_->entries_of_function("scale"), SizeIs(2));
  EXPECT_THAT(run_->entries_of_function("scale<int>"), SizeIs(1));
  EXPECT_THAT(run_->entries_of_function("pend"), IsEmpty());
  std::vector<Pc> entry = run_->entries_of_function("app::Log::append(int)");
  ASSERT_THAT(entry, SizeIs(1));
  EXPECT_THAT(functions_of(run_->at(entry[0])), testing::Contains("app::Log::append"));
  EXPECT_THAT(run_->entries_of_function("append(char const*)"), SizeIs(1));
  EXPECT_THAT(run_->entries_of_function("append(long)"), IsEmpty());
}

TEST_P(SourceMapOfForm, NamesPartsOfVariables) {
  auto address_of = [this](const char* name) {
    std::vector<Variable> found = run_->find_variables(name);
    return found.size() == 1 ? found[0].address : Addr{};
  };
  Addr table = address_of("app::table");
  Addr stats = address_of("stats");
  ASSERT_NE(table, Addr{});
  ASSERT_NE(stats, Addr{});
  EXPECT_EQ(run_->variable_at(table, 8), "app::table[0].key");
  EXPECT_EQ(run_->variable_at(table + 24, 4), "app::table[1].value" + std::string()) << "offset 8";
  EXPECT_EQ(run_->variable_at(table + 16 * 3 + 14, 2), "app::table[3].range.high");
  EXPECT_EQ(run_->variable_at(table + 16 * 3 + 12, 4), "app::table[3].range");
  EXPECT_EQ(run_->variable_at(table + 16, 16), "app::table[1]");
  EXPECT_EQ(run_->variable_at(table, 32), "app::table");
  EXPECT_EQ(run_->variable_at(address_of("matrix") + 4 * 7, 4), "app::matrix[1][2]");
  EXPECT_EQ(run_->variable_at(address_of("matrix") + 4 * 5, 20), "app::matrix[1]");
  EXPECT_EQ(run_->variable_at(address_of("fixed") + 8, 4), "app::fixed[2]");
  EXPECT_EQ(run_->variable_at(stats, 4), "app::stats.of_base");
  EXPECT_EQ(run_->variable_at(stats + 4, 4), "app::stats.hits");
  EXPECT_EQ(run_->variable_at(stats + 8, 4), "app::stats.mutex");
  EXPECT_EQ(run_->variable_at(stats + 48, 8), "app::stats.real");
  EXPECT_EQ(run_->variable_at(stats + 48, 4), "app::stats.whole");
  EXPECT_EQ(run_->variable_at(stats + 56, 4), "app::stats") << "two fields of bits";
  EXPECT_EQ(run_->variable_at(stats + 57, 1), "app::stats.rest");
  EXPECT_EQ(run_->variable_at(address_of("Log::count"), 4), "app::Log::count");
  EXPECT_EQ(run_->variable_at(address_of("total"), 4), "app::Log::append::total");
  EXPECT_EQ(run_->variable_at(address_of("hidden"), 4), "app::(anonymous namespace)::hidden");
  EXPECT_EQ(run_->variable_at(Addr(8), 4), "");
}

TEST_P(SourceMapOfForm, FindsPartsOfVariables) {
  std::vector<Variable> whole = run_->find_variables("table");
  std::vector<Variable> part = run_->find_variables("table[3].range.high");
  ASSERT_THAT(whole, SizeIs(1));
  ASSERT_THAT(part, SizeIs(1));
  EXPECT_EQ(whole[0].size, 64U);
  EXPECT_EQ(part[0].address - whole[0].address, 16U * 3 + 14);
  EXPECT_EQ(part[0].size, 2U);
  EXPECT_THAT(names_of(run_->find_variables("stats.of_base")), ElementsAre("app::stats.of_base"));
  for (const char* wrong : {"table[4]", "table[1].no", "table.key", "tabl", "of_thread"})
    EXPECT_THAT(run_->find_variables(wrong), IsEmpty()) << wrong;
}

TEST_P(SourceMapOfForm, FindsLines) {
  EXPECT_THAT(run_->pcs_of_line("source_program.cc", line_of("no code")), IsEmpty());
  std::uint32_t without = line_of("no code");
  EXPECT_THAT(run_->lines_near("source_program.cc", without),
              AllOf(SizeIs(4), testing::Contains(without - 1), testing::Contains(without + 1)));
  EXPECT_THAT(run_->pcs_of_line("rogram.cc", line_of("append")), IsEmpty());
  EXPECT_THAT(run_->files_like("src/sourceprogram.cc"), ElementsAre(kCxx));
  for (const char* what : {"append", "scale", "local class", "lambda", "innermost"})
    for (Pc pc : run_->pcs_of_line("unit/source_program.cc", line_of(what)))
      EXPECT_THAT(run_->at(pc).frames, testing::Contains(Field(&Frame::line, line_of(what))));
}

TEST_P(SourceMapOfForm, ShowsTheSource) {
  const Place& place = run_.at_line("append");
  EXPECT_EQ(run_->source_line(place.frames[0].file, place.frames[0].line),
            "total = total + n;  // here: append");
  EXPECT_EQ(run_->source_line(kCxx, 0), "");
  EXPECT_EQ(run_->source_line(kCxx, 100000), "");
  EXPECT_EQ(run_->source_line("/nonexistent/file.cc", 1), "");
}

TEST(SourceMap, OfCDistinguishesVariablesByTheirFunction) {
  Recorded run(program("c"));
  EXPECT_THAT(names_of(run->find_variables("counter")),
              UnorderedElementsAre("counter", "next_id::counter"));
  std::vector<Variable> buffers = run->find_variables("buffers");
  ASSERT_THAT(buffers, SizeIs(1));
  EXPECT_EQ(run->variable_at(buffers[0].address + 36 + 32, 4), "buffers[1].count");
  EXPECT_EQ(run->variable_at(buffers[0].address + 5, 1), "buffers[0].bytes[5]");
  EXPECT_THAT(functions_of(run.at_line("put", kC)), ElementsAre("put", "main"));
  EXPECT_EQ(run.at_line("put", kC).frames[1].line, line_of("call of put", kC));
}

TEST(SourceMap, FollowsLineDirectives) {
  Recorded run(program("c"));
  std::vector<Pc> pcs = run->pcs_of_line("grammar.y", 700);
  ASSERT_FALSE(pcs.empty());
  EXPECT_THAT(functions_of(run->at(pcs[0])), ElementsAre("main"));
  EXPECT_EQ(run->at(pcs[0]).frames[0].line, 700U);
  EXPECT_EQ(run->source_line(run->at(pcs[0]).frames[0].file, 700), "");
}

TEST(SourceMap, DropsWhatTheLinkerThrewAway) {
  EXPECT_THAT(Recorded(program("c"))->entries_of_function("never_called"), SizeIs(1));
  Recorded run(program("collected"));
  EXPECT_THAT(run->entries_of_function("never_called"), IsEmpty());
  EXPECT_THAT(run->entries_of_function("next_id"), SizeIs(1));
  EXPECT_THAT(functions_of(run->at(Pc(kBias + 4))), ElementsAre(""));
}

TEST(SourceMap, WithoutDebugInformationHasSymbols) {
  Recorded run(program("symbols_only"));
  std::vector<Pc> entry = run->entries_of_function("Log::append(int)");
  ASSERT_THAT(entry, SizeIs(1));
  EXPECT_THAT(functions_of(run->at(entry[0] + 1)), ElementsAre("app::Log::append"));
  EXPECT_THAT(lines_of(run->at(entry[0])), ElementsAre(0));
  std::vector<Variable> table = run->find_variables("app::table");
  ASSERT_THAT(table, SizeIs(1));
  EXPECT_EQ(run->variable_at(table[0].address, 8), "app::table");
  EXPECT_EQ(run->variable_at(table[0].address + 24, 8), "app::table+24");
  EXPECT_THAT(run->pcs_of_line(kCxx, line_of("append")), IsEmpty());
  EXPECT_THAT(run->files_like(kCxx), IsEmpty());
  EXPECT_THAT(run.diagnostics(), ElementsAre("no-debug-information"));
}

TEST(SourceMap, OfAStrippedFileHasModuleAndOffset) {
  Pc entry = Recorded(program("dwarf5"))->entries_of_function("next_id").empty()
                 ? Recorded(program("dwarf5"))->entries_of_function("Log::append(int)").at(0)
                 : Pc{};
  for (const char* name : {"stripped", "strange"}) {  // strange: its debug file is of another build
    Recorded run(program(name));
    const Place& place = run->at(entry);
    EXPECT_EQ(place.module, program(name));
    EXPECT_EQ(place.offset, entry.value - kBias);
    EXPECT_THAT(functions_of(place), ElementsAre(""));
    EXPECT_EQ(run->variable_at(Addr(entry.value), 1), "");
    EXPECT_THAT(run.diagnostics(), ElementsAre("no-debug-information"));
  }
}

TEST(SourceMap, OfAnotherBuildIsNotBelieved) {
  Module module;
  module.path = program("dwarf5");
  module.bias = kBias;
  module.build_id = ElfFile(program("dwarf4")).build_id();
  module.segments = {{Addr(kBias), 0x100000, 0, 5}};
  Recorded run(module);
  EXPECT_THAT(run->entries_of_function("main"), IsEmpty());
  EXPECT_THAT(run->pcs_of_line(kCxx, line_of("append")), IsEmpty());
  EXPECT_THAT(run.diagnostics(), ElementsAre("no-symbols"));
}

// The C library's own, which Valgrind needs, too.
TEST(SourceMap, FindsDebugFilesByBuildId) {
  Dl_info libc;
  ASSERT_NE(dladdr(reinterpret_cast<void*>(&gnu_get_libc_version), &libc), 0);
  std::string path = std::filesystem::canonical(libc.dli_fname);
  if (!std::filesystem::exists(debug_path(ElfFile(path).build_id())))
    GTEST_SKIP() << "no debug information of " << path;
  Recorded run(path);
  std::vector<Pc> entry = run->entries_of_function("malloc");  // one of its names
  ASSERT_THAT(entry, SizeIs(1));
  const Place& place = run->at(entry[0]);
  EXPECT_THAT(functions_of(place), ElementsAre("malloc"));
  EXPECT_TRUE(place.frames[0].file.ends_with("malloc.c")) << place.frames[0].file;
  EXPECT_GT(place.frames[0].line, 0U);
  EXPECT_FALSE(run->is_user(entry[0]));
  EXPECT_THAT(run->entries_of_function("__libc_malloc"), ElementsAre(entry[0]));
}

TEST(SourceMap, SaysThatASplitFileIsMissing) {
  Recorded run(program("split_lost"));
  const Place& place = run.at_line("append");                         // lines are not split off
  EXPECT_THAT(functions_of(place), ElementsAre("app::Log::append"));  // by its symbol
  EXPECT_THAT(lines_of(place), ElementsAre(line_of("append")));
  EXPECT_EQ(run->variable_at(run->find_variables("table").at(0).address + 8, 4), "app::table+8");
  EXPECT_THAT(run.diagnostics(), ElementsAre("no-split-debug-file"));
}

TEST(SourceMap, OwnFrameIsTheInnermostOutsideOfSystemHeaders) {
  Recorded run(program("dwarf5"));
  Pc entry = run->entries_of_function("main").at(0);
  std::uint64_t atomic = 0;
  while (!run->at(entry + atomic).frames[0].file.ends_with("/atomic_base.h"))
    ASSERT_LT(++atomic, 4096U) << "no atomic addition in main";
  const Place& place = run->at(entry + atomic);
  EXPECT_EQ(place.own_frame().function, "main");
  EXPECT_EQ(place.own_frame().file, kCxx);
  EXPECT_EQ(place.own_frame().line, line_of("atomic"));
}

TEST(SourceMap, KnowsWhatIsTheProgramsOwn) {
  struct {
    const char* path;
    bool own;
  } const cases[] = {
      {"/usr/sbin/apache2", true},
      {"/usr/lib/postgresql/15/bin/postgres", true},
      {"/usr/lib/apache2/modules/mod_log_config.so", true},
      {"/home/me/project/libserver.so", true},
      {"", true},
      {"/usr/lib/x86_64-linux-gnu/libc.so.6", false},
      {"/lib/x86_64-linux-gnu/libpthread-2.31.so", false},
      {"/lib64/ld-linux-x86-64.so.2", false},
      {"/usr/lib/x86_64-linux-gnu/libssl.so.3", false},
      {"/opt/gcc/lib64/libstdc++.so.6", false},
      {"/usr/libexec/valgrind/vgpreload_core-amd64-linux.so", false},
      {"/usr/libexec/valgrind/memcheck-amd64-linux", false},
      {"[vdso]", false},
  };
  for (const auto& c : cases) {
    Module module;
    module.path = c.path;
    module.segments = {{Addr(kBias), 0x1000, 0, 5}};
    EXPECT_EQ(Recorded(module)->is_user(Pc(kBias)), c.own) << c.path;
  }
  EXPECT_TRUE(Recorded(Module{})->is_user(Pc(kBias)));
}

TEST(SourceMap, NamesWhatIsAccessedThroughPointers) {
  for (const char* name : {"c", "c_unoptimised"}) {
    Recorded run(program(name), {"drain", "serve", "on_stack"});
    // Of all instructions of a line: each row of the line table may have several.
    auto operands = [&](const char* what) {
      std::set<std::string> names;
      for (Pc pc : run->pcs_of_line(kC, line_of(what, kC)))
        for (std::uint64_t i = 0; run->at(pc + i).frames[0].line == line_of(what, kC); ++i)
          names.insert(run->operand_name(pc + i));
      return names;
    };
    std::set<std::string> drain = operands("drain");
    std::set<std::string> index = operands("index");
    EXPECT_THAT(drain, testing::IsSupersetOf({"server->log", "server->log->count", "*limit"}));
    EXPECT_THAT(index, testing::IsSupersetOf({"server->port", "server->log->bytes[...]"})) << name;
    EXPECT_THAT(operands("serve"), testing::Contains("served->port")) << name;
    EXPECT_THAT(operands("own"), testing::Contains("own.count")) << name;
  }
}

// addr2line's answer for each address: lines of frames, innermost first.
std::vector<std::vector<std::string>> oracle(const std::string& path,
                                             const std::vector<std::uint64_t>& offsets) {
  std::vector<std::string> words{SVD_ADDR2LINE, "-a", "-i", "-e", path};
  for (std::uint64_t offset : offsets) words.push_back(fmt::format("{:#x}", offset));
  CommandResult result = run_command(words);
  EXPECT_EQ(result.exit_code, 0) << result.err;
  std::vector<std::vector<std::string>> places;
  std::istringstream out(result.out);
  for (std::string line; std::getline(out, line);) {
    if (line.starts_with("0x")) {
      places.emplace_back();
    } else {
      line = line.substr(0, line.find(" (discriminator"));
      std::size_t colon = line.rfind(':');
      places.back().push_back(
          std::filesystem::path(line.substr(0, colon)).lexically_normal().string() +
          line.substr(colon));
    }
  }
  return places;
}

TEST(SourceMap, AgreesWithAddr2line) {
  for (const char* name : {"dwarf5", "dwarf4", "c", "collected"}) {
    Recorded run(program(name));
    Module module;
    ModuleFiles files;
    files.file = ElfFile(program(name));
    std::vector<std::uint64_t> offsets;
    for (const Symbol& symbol : symbols_of(module, files)) {
      if (symbol.kind != SymbolKind::kFunction || symbol.name.starts_with("_")) continue;
      for (std::uint64_t i = 0; i < symbol.size; ++i) offsets.push_back(symbol.address + i);
    }
    ASSERT_GT(offsets.size(), 50U);
    std::vector<std::vector<std::string>> expected = oracle(program(name), offsets);
    ASSERT_EQ(expected.size(), offsets.size());
    for (std::size_t i = 0; i < offsets.size(); ++i) {
      std::vector<std::string> found;
      for (const Frame& frame : run->at(Pc(kBias + offsets[i])).frames)
        found.push_back(fmt::format("{}:{}", frame.file, frame.line));
      EXPECT_EQ(found, expected[i]) << name << fmt::format(" {:#x}", offsets[i]);
    }
  }
}

}  // namespace
}  // namespace svd::test
