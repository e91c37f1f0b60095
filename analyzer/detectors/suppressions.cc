// SPDX-License-Identifier: Apache-2.0

#include "detectors/suppressions.h"

#include <fmt/format.h>

namespace svd {
namespace {

// Names of the C library are those of glibc; most of its functions have several.
constexpr std::string_view kBuiltIn =
    R"(# The dynamic loader, and what the recorder puts into the process.
code ld-linux*.so* *
code ld-2.*.so *
code vgpreload_* *
code svd-amd64-linux *
# The allocator.
code libc.so* *alloc*
code libc.so* *free*
code libc.so* *memalign*
code libc.so* _int_*
code libc.so* *tcache*
code libc.so* sysmalloc*
code libc.so* systrim*
code libc.so* *arena*
code libc.so* *sbrk*
# Threads, locks, start and end of the process.
code libc.so* *pthread*
code libc.so* *nptl*
code libc.so* *lll_*
code libc.so* *sem_*
code libc.so* *futex*
code libc.so* *clone*
code libc.so* *thread*
code libc.so* *fork*
code libc.so* *libc_start*
code libc.so* *exit*
code libc.so* *abort*
code libc.so* *raise*
code libc.so* *assert*
code libc.so* *cxa_*
code libc.so* *sched_*
code libc.so* thrd_*
code libc.so* mtx_*
code libc.so* cnd_*
code libc.so* call_once*
code libc.so* *init_cacheinfo*
code libpthread* *
# Buffers and locks of stdio.
code libc.so* *_IO_*
code libc.so* *printf*
code libc.so* *scanf*
code libc.so* *puts*
code libc.so* *putc*
code libc.so* putchar*
code libc.so* *getc*
code libc.so* *getline*
code libc.so* *getdelim*
code libc.so* *fgets*
code libc.so* *fopen*
code libc.so* *fdopen*
code libc.so* *fclose*
code libc.so* *fread*
code libc.so* *fwrite*
code libc.so* *fflush*
code libc.so* *fseek*
code libc.so* *ftell*
code libc.so* *setvbuf*
code libc.so* *setbuf*
code libc.so* *perror*
# Hidden state of time zones, locales, randomness, errors.
code libc.so* *time*
code libc.so* *locale*
code libc.so* *rand*
code libc.so* strerror*
code libc.so* *getenv*
code libc.so* *dl_*
# Vector instructions read whole words of 16 bytes and more, whatever stands behind the string.
overread libc.so* *str*
overread libc.so* *wcs*
overread libc.so* *memchr*
overread libc.so* *memrchr*
# C++ streams and locales, and the allocator behind new.
code libstdc++* operator?new*
code libstdc++* operator?delete*
code libstdc++* std::*stream*
code libstdc++* std::*streambuf*
code libstdc++* std::*filebuf*
code libstdc++* std::*locale*
code libstdc++* std::ios_base*
code libstdc++* std::*basic_ios*
code libstdc++* std::ctype*
code libstdc++* std::__detail::*
)";

}  // namespace

std::string_view Suppressions::built_in_text() { return kBuiltIn; }

Suppressions Suppressions::built_in() {
  Suppressions rules;
  SVD_CHECK(rules.add(kBuiltIn, "built-in suppressions"));
  return rules;
}

Status Suppressions::add(std::string_view rules, const std::string& name_for_errors) {
  using Wrong = std::optional<std::string>;
  return each_rule(rules, name_for_errors, [this](const std::vector<std::string>& word) -> Wrong {
    if (word.size() == 3 && (word[0] == "code" || word[0] == "overread")) {
      (word[0] == "code" ? code_rules_ : overread_rules_).push_back({word[1], word[2]});
      return std::nullopt;
    }
    if (word[0] == "finding" && word.size() == 4) {
      using What = FindingRule::What;
      if (word[2] != "function" && word[2] != "file" && word[2] != "variable")
        return "findings are suppressed by function, file or variable, not by " + word[2];
      What what = word[2] == "function" ? What::kFunction
                  : word[2] == "file"   ? What::kFile
                                        : What::kVariable;
      finding_rules_.push_back({word[1], what, word[3]});
      return std::nullopt;
    }
    if (word[0] == "atomic")
      return "what is atomic is said in a file of --annotations, as 'atomic code MODULE FUNCTION'";
    return "expected 'code MODULE FUNCTION', 'overread MODULE FUNCTION' or "
           "'finding DETECTOR WHAT GLOB'";
  });
}

std::vector<Suppressions::Use> Suppressions::uses() const {
  std::vector<Use> uses;
  auto add = [&uses](const char* kind, const std::vector<CodePattern>& rules) {
    for (const CodePattern& rule : rules)
      if (!rule.used.empty())
        uses.push_back(
            {fmt::format("{} {} {}", kind, rule.module, rule.function), false, rule.used.size()});
  };
  add("code", code_rules_);
  add("overread", overread_rules_);
  constexpr const char* kWhat[] = {"function", "file", "variable"};
  for (const FindingRule& rule : finding_rules_)
    if (rule.uses != 0)
      uses.push_back({fmt::format("finding {} {} {}", rule.detector,
                                  kWhat[static_cast<std::size_t>(rule.what)], rule.glob),
                      true, rule.uses});
  return uses;
}

}  // namespace svd
