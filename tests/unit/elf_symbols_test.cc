// SPDX-License-Identifier: Apache-2.0
//
// Names come from the very file that was recorded, at run-time addresses, and from no other build
// of it. The file is this test itself.

#include "symbols/elf_symbols.h"

#include <elf.h>
#include <gtest/gtest.h>
#include <link.h>

#include <algorithm>
#include <filesystem>

#include "support/small_trace.h"
#include "svd/trace/reader.h"
#include "svd/trace/writer.h"

extern "C" {
int svd_test_variable = 1;
__attribute__((noinline)) int svd_test_function(int x) { return x + svd_test_variable; }
}

namespace svd::test {
namespace {

namespace sample {
__attribute__((noinline)) int overloaded(double x) {
  return svd_test_function(static_cast<int>(x));
}
}  // namespace sample

// This program as a module: where it is mapped, and the build-id among its notes.
Module this_program() {
  Module module;
  module.path = std::filesystem::read_symlink("/proc/self/exe");
  dl_iterate_phdr(
      [](dl_phdr_info* info, std::size_t, void* out) {
        auto& found = *static_cast<Module*>(out);
        found.bias = info->dlpi_addr;
        for (int i = 0; i < info->dlpi_phnum; ++i) {
          const auto& header = info->dlpi_phdr[i];
          if (header.p_type != PT_NOTE) continue;
          const auto* at = reinterpret_cast<const char*>(info->dlpi_addr + header.p_vaddr);
          for (const char* end = at + header.p_memsz; at < end;) {
            const auto* note = reinterpret_cast<const ElfW(Nhdr)*>(at);
            const char* content = at + sizeof *note + (note->n_namesz + 3) / 4 * 4;
            if (note->n_type == NT_GNU_BUILD_ID)
              found.build_id.assign(content, content + note->n_descsz);
            at = content + (note->n_descsz + 3) / 4 * 4;
          }
        }
        return 1;  // the first is the program itself
      },
      &module);
  return module;
}

std::vector<Symbol> symbols_of(const Module& module, Diagnostics& diagnostics) {
  std::string path = temp_path("symbols.fb");
  {
    auto writer = TraceWriter::create(path, Process{});
    SVD_CHECK(writer);
    (*writer)->add(module);
    SVD_CHECK((*writer)->finish());
  }
  auto reader = TraceReader::open(path);
  SVD_CHECK(reader);
  std::filesystem::remove(path);
  return load_elf_symbols(*reader, diagnostics);
}

const Symbol* find(const std::vector<Symbol>& symbols, std::string_view name) {
  auto at =
      std::find_if(symbols.begin(), symbols.end(), [&](const Symbol& s) { return s.name == name; });
  return at == symbols.end() ? nullptr : &*at;
}

TEST(ElfSymbols, AreAtRunTimeAddresses) {
  volatile double input = 1.5;  // the compiler must not make a clone for a constant
  EXPECT_EQ(sample::overloaded(input), 2);
  Module module = this_program();
  ASSERT_FALSE(module.build_id.empty());
  Diagnostics diagnostics;
  auto symbols = symbols_of(module, diagnostics);
  const Symbol* function = find(symbols, "svd_test_function");
  ASSERT_NE(function, nullptr);
  EXPECT_EQ(function->kind, SymbolKind::kFunction);
  EXPECT_EQ(function->address, reinterpret_cast<std::uint64_t>(&svd_test_function));
  const Symbol* variable = find(symbols, "svd_test_variable");
  ASSERT_NE(variable, nullptr);
  EXPECT_EQ(variable->kind, SymbolKind::kData);
  EXPECT_EQ(variable->address, reinterpret_cast<std::uint64_t>(&svd_test_variable));
  EXPECT_EQ(variable->size, sizeof svd_test_variable);
  EXPECT_NE(find(symbols, "svd::test::(anonymous namespace)::sample::overloaded(double)"), nullptr);
  EXPECT_TRUE(diagnostics.list().empty());
}

TEST(ElfSymbols, OfAnotherBuildAreNotBelieved) {
  Module module = this_program();
  module.build_id.back() ^= 1;
  Diagnostics diagnostics;
  EXPECT_TRUE(symbols_of(module, diagnostics).empty());
  ASSERT_EQ(diagnostics.list().size(), 1U);
  EXPECT_EQ(diagnostics.list().front().name, "no-symbols");
  module.path = "/nonexistent/program";
  EXPECT_TRUE(symbols_of(module, diagnostics).empty());
  EXPECT_EQ(diagnostics.list().front().count, 2U);
}

}  // namespace
}  // namespace svd::test
