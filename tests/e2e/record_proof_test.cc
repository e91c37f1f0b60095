// SPDX-License-Identifier: Apache-2.0
//
// The proof that nothing is missing from a recording: each program's trace is checked against
// itself (support/trace_checker.h), and those of one thread against lackey, a tool of Valgrind that
// counts what it executes.

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <iostream>
#include <map>
#include <set>
#include <sstream>

#include "e2e/record.h"
#include "support/small_trace.h"
#include "support/trace_checker.h"

namespace svd::test {
namespace {

constexpr double kLeastShareEqual = 0.999;
constexpr double kMostDifference = 0.001;  // of counts

struct Subject {
  std::string command;
  std::size_t threads = 1;
  friend std::ostream& operator<<(std::ostream& out, const Subject& subject) {
    return out << subject.command;
  }
};

std::string test_name(std::string command) {
  for (char& c : command) {
    if (std::isalnum(static_cast<unsigned char>(c)) == 0) c = '_';
  }
  return command;
}

class Proof : public testing::TestWithParam<Subject> {};

TEST_P(Proof, NothingIsMissing) {
  Recording recording(program(GetParam().command));
  ASSERT_EQ(recording.result().exit_code, 0) << recording.result().err;
  const TraceReader& trace = recording.trace();
  EXPECT_TRUE(trace.complete());
  EXPECT_EQ(complaints(trace), "");
  EXPECT_EQ(ending(trace), "exit 0");
  EXPECT_GE(trace.threads().size(), GetParam().threads);

  TraceCheck check = check_trace(trace);
  std::cout << check.describe();
  EXPECT_GT(check.counts.instructions, 0U);
  EXPECT_EQ(check.illegal_transitions, 0U);
  EXPECT_GE(check.share_equal(), kLeastShareEqual);
  EXPECT_GT(check.loads_equal, check.loads / 2) << "most loads can be checked";
}

INSTANTIATE_TEST_SUITE_P(
    Programs, Proof,
    testing::Values(Subject{"arithmetic"}, Subject{"arithmetic-static"}, Subject{"atomics", 4},
                    Subject{"atomics-static 8", 8}, Subject{"bank 16", 17},
                    Subject{"bank-static 2", 3}, Subject{"c11_threads", 5},
                    Subject{"conditions", 5}, Subject{"containers"}, Subject{"containers-static"},
                    Subject{"exceptions", 5}, Subject{"exceptions-static", 5},
                    Subject{"generated_code", 3}, Subject{"heap"}, Subject{"longjmp", 5},
                    Subject{"mappings"}, Subject{"mutexes", 5}, Subject{"raw_futex", 4},
                    Subject{"rwlocks", 6}, Subject{"semaphores-static", 5}, Subject{"signals", 2},
                    Subject{"std_threads", 5}, Subject{"syscalls"}, Subject{"text"},
                    Subject{"text-static"}, Subject{"thread_life", 5}, Subject{"wide_stores"},
                    Subject{"wide_stores-static"}, Subject{"work_queue 15", 16}),
    [](const auto& test) { return test_name(test.param.command); });

// ---- The kernel ----

// A size that is wrong is what crashed servers pass; whoever follows what was read must not take
// the whole address space for it.
TEST(Kernel, ReadsNoFurtherThanMemoryGoes) {
  Recording recording(program("syscalls"));
  Diagnostics diagnostics;
  std::uint64_t calls = 0, largest = 0;
  bool asked = false;  // for too much, by the last call
  std::vector<std::uint64_t> read;
  recording.trace().scan(
      TraceReader::Order::kForward, Columns{.addresses = false, .values = false}, diagnostics,
      [&](const Chunk& chunk) {
        for (const Event& event : chunk.events) {
          if (const auto* call = std::get_if<SyscallEnter>(&event.body)) {
            asked = call->number == 1 && call->arguments[2] == 0xfffff000;
            calls += asked ? 1 : 0;
          } else if (const auto* kernel = std::get_if<KernelAccess>(&event.body)) {
            largest = std::max(largest, kernel->size);
            if (asked) read.push_back(kernel->size);
          }
        }
        return true;
      });
  EXPECT_EQ(calls, 2U);
  EXPECT_THAT(read, testing::ElementsAre(96U));
  EXPECT_LT(largest, 1U << 20);
}

// ---- new and delete ----

class Operators : public testing::TestWithParam<std::string> {};

// What new made delete takes back, and so for arrays and for malloc; each of them occurs.
TEST_P(Operators, AreToldFromTheAllocator) {
  Recording recording(program(GetParam()));
  using Pair = std::pair<AllocFn, AllocFn>;
  std::map<Addr, AllocFn> live;
  std::set<Pair> pairs;
  Diagnostics diagnostics;
  recording.trace().scan(TraceReader::Order::kForward, Columns{.addresses = false, .values = false},
                         diagnostics, [&](const Chunk& chunk) {
                           for (const Event& event : chunk.events) {
                             if (const auto* born = std::get_if<Allocation>(&event.body)) {
                               live[born->address] = born->function;
                             } else if (const auto* gone = std::get_if<Release>(&event.body)) {
                               if (auto known = live.find(gone->address); known != live.end())
                                 pairs.emplace(known->second, gone->function);
                             }
                           }
                           return true;
                         });
  EXPECT_THAT(pairs, testing::IsSupersetOf({Pair{AllocFn::kNew, AllocFn::kDelete},
                                            Pair{AllocFn::kNewArray, AllocFn::kDeleteArray},
                                            Pair{AllocFn::kMalloc, AllocFn::kFree}}));
  for (auto [made, taken] : pairs) {
    EXPECT_EQ(made == AllocFn::kNew, taken == AllocFn::kDelete)
        << to_string(made) << to_string(taken);
    EXPECT_EQ(made == AllocFn::kNewArray, taken == AllocFn::kDeleteArray)
        << to_string(made) << to_string(taken);
  }
}

INSTANTIATE_TEST_SUITE_P(Programs, Operators, testing::Values("containers", "containers-static"),
                         [](const auto& test) { return test_name(test.param); });

// ---- Counts beside lackey's ----

struct Counts {
  double instructions = 0;
  double loads = 0;
  double stores = 0;
};

Counts operator-(const Counts& a, const Counts& b) {
  return {a.instructions - b.instructions, a.loads - b.loads, a.stores - b.stores};
}

// "1,234" as a number; false if it is none.
bool read_number(std::istream& in, double& number) {
  std::string word;
  if (!(in >> word)) return false;
  std::erase(word, ',');
  char* end = nullptr;
  number = std::strtod(word.c_str(), &end);
  return *end == 0;
}

// The recorder hides from programs that the processor is good at "rep movsb", or the C library
// would copy by it, and its iterations count. Lackey does not, so neither run may use it. (This C
// library reads past the end of this variable into random bytes, so two starts of one program can
// differ by some hundred instructions: the programs run long enough for that not to matter.)
CommandOptions same_library() {
  CommandOptions options;
  options.environment = {{"GLIBC_TUNABLES", "glibc.cpu.hwcaps=-ERMS,-FSRM"}};
  return options;
}

// Lackey reads a locked instruction's operand twice, once for the compare-and-swap that it is made
// of; the programs compared here have next to none.
Counts count_by_lackey(const std::string& command) {
  std::string log = temp_path("lackey.log");
  std::vector<std::string> words{"/usr/bin/valgrind", "--tool=lackey", "--vex-guest-chase=no",
                                 "--detailed-counts=yes", "--log-file=" + log};
  for (const std::string& word : program(command)) words.push_back(word);
  CommandResult result = run_command(words, same_library());
  EXPECT_EQ(result.exit_code, 0) << result.err;
  std::istringstream in(read_file(log));
  std::filesystem::remove(log);
  Counts counts;
  for (std::string line; std::getline(in, line);) {
    std::istringstream words_of(line.substr(std::min(line.size(), line.find("== ") + 3)));
    std::string first, second;
    words_of >> first;
    double loads = 0, stores = 0;
    if (first == "guest") {
      words_of >> second;
      if (second == "instrs:") read_number(words_of, counts.instructions);
    } else if (first.size() >= 2 && std::string("IVFD").find(first[0]) != std::string::npos &&
               read_number(words_of, loads) && read_number(words_of, stores)) {
      counts.loads += loads;
      counts.stores += stores;
    }
  }
  return counts;
}

// Without what Valgrind leaves to helpers, which lackey does not see.
Counts count_by_us(const std::string& command) {
  Recording recording(program(command), {}, same_library());
  TraceCheck check = check_trace(recording.trace());
  return {static_cast<double>(check.counts.instructions),
          static_cast<double>(check.counts.loads - check.counts.odd_loads),
          static_cast<double>(check.counts.stores - check.counts.odd_stores)};
}

// A program, and how many rounds it runs beside 20.
using Rounds = std::pair<std::string, unsigned>;

class Lackey : public testing::TestWithParam<Rounds> {};

// What our preload library makes the dynamic linker do at the start, and at the first call of each
// function that it stands in front of, is not lackey's business. So each program runs twice, the
// second time with more rounds, and what the two runs differ in is compared. The preload
// library's own instructions are not counted at all.
TEST_P(Lackey, CountsTheSame) {
  const auto& [command, rounds] = GetParam();
  std::string shorter = command + " 20";
  std::string longer = fmt::format("{} {}", command, rounds);
  Counts ours = count_by_us(longer) - count_by_us(shorter);
  Counts theirs = count_by_lackey(longer) - count_by_lackey(shorter);
  std::cout << fmt::format("{:12} {:>14} {:>14}\n", "", "svd", "lackey");
  auto compare = [](const char* what, double our, double their) {
    std::cout << fmt::format("{:12} {:14} {:14} {:+.4f} %\n", what, our, their,
                             100 * (our / their - 1));
    EXPECT_LE(std::abs(our - their), kMostDifference * their) << what;
  };
  compare("instructions", ours.instructions, theirs.instructions);
  compare("loads", ours.loads, theirs.loads);
  compare("stores", ours.stores, theirs.stores);
}

// Not `containers`: "memcmp" compares a vector or single words by whether the strings lie near a
// page's end, and where the stack lies differs, as the preload libraries' names do.
INSTANTIATE_TEST_SUITE_P(Programs, Lackey,
                         testing::Values(Rounds{"arithmetic", 400},
                                         Rounds{"arithmetic-static", 400}, Rounds{"text", 60},
                                         Rounds{"text-static", 60}, Rounds{"wide_stores", 900},
                                         Rounds{"wide_stores-static", 900}),
                         [](const auto& test) { return test_name(test.param.first); });

}  // namespace
}  // namespace svd::test
