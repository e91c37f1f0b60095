// SPDX-License-Identifier: Apache-2.0
//
// svd-oracle FILE...
// Holds the decoder against the hardware and against Zydis on every form of instruction in ELF
// files, and measures how fast it decodes. Fails if anything differs that is not explained.

#include <fmt/format.h>

#include <chrono>
#include <cstdio>

#include "decode/decoder.h"
#include "oracle/machine.h"
#include "oracle/report.h"

namespace svd::test {
namespace {

double seconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

void print_rate(const Forms& forms) {
  Decoder decoder;
  auto start = std::chrono::steady_clock::now();
  std::size_t count = 0, uses = 0;
  do {
    for (const auto& [key, code] : forms) uses += decoder.decode(code, Pc{}).uses.size();
    count += forms.size();
  } while (seconds_since(start) < 1);
  fmt::print("decode: {:.2f} million forms a second, {:.1f} uses each\n",
             static_cast<double>(count) / seconds_since(start) / 1e6,
             static_cast<double>(uses) / static_cast<double>(count));
}

int run(int argc, char** argv) {
  Forms forms;
  for (int i = 1; i < argc; ++i) {
    std::size_t before = forms.size();
    bool read = collect_forms(argv[i], forms);
    fmt::print("{}: {}\n", argv[i],
               read ? fmt::format("{} more forms", forms.size() - before) : "not there");
  }
  fmt::print("{} forms\n", forms.size());
  print_rate(forms);
  bool failed = forms.empty();
  auto check = [&](Report (*how)(const Forms&, std::size_t)) {
    auto start = std::chrono::steady_clock::now();
    Report report = how(forms, 1);
    fmt::print("{}  {:.1f} seconds\n", report.text(), seconds_since(start));
    std::fflush(stdout);
    failed = failed || !report.unexplained.empty();
  };
  check(check_zydis);
  if (Machine::possible())
    check(check_hardware);
  else
    fmt::print("hardware: not checked, this processor has no AVX\n");
  return failed ? 1 : 0;
}

}  // namespace
}  // namespace svd::test

int main(int argc, char** argv) { return svd::test::run(argc, argv); }
