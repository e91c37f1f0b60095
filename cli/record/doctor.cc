// SPDX-License-Identifier: Apache-2.0
//
// Each check looks at one thing that a recording needs, and is a line of the output. The last one
// records a program that does nothing, because only that proves that it works.

#include "record/doctor.h"

#include <fmt/format.h>
#include <sys/statvfs.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <thread>
#include <vector>

#include "common/terminal.h"
#include "record/exit_codes.h"
#include "record/installation.h"
#include "record/run.h"
#include "svd/trace/reader.h"

namespace svd::cli {
namespace {

namespace fs = std::filesystem;

enum class Verdict { kGood, kSlow, kBad };

struct Finding {
  Verdict verdict = Verdict::kGood;
  std::string what;
  std::string remedy;  // a command, or what to do; "" when there is nothing to mend
};

// A ring of each recorded process, and some air.
constexpr std::uint64_t kNeededMemory = 16U << 20;
constexpr std::uint64_t kNeededDisk = 1U << 30;

std::uint64_t free_bytes(const std::string& place) {
  struct statvfs disk {};
  if (statvfs(place.c_str(), &disk) != 0) return 0;
  return std::uint64_t{disk.f_bavail} * disk.f_frsize;
}

std::string first_line_of(const std::string& command) {
  std::FILE* pipe = popen(command.c_str(), "re");
  if (pipe == nullptr) return {};
  char line[256] = "";
  bool read = std::fgets(line, sizeof line, pipe) != nullptr;
  pclose(pipe);
  std::string text = read ? line : "";
  while (!text.empty() && text.back() == '\n') text.pop_back();
  return text;
}

Finding check_kernel() {
  utsname name{};
  uname(&name);
  bool fits = std::string_view(name.machine) == "x86_64";
  return {fits ? Verdict::kGood : Verdict::kBad,
          fmt::format("{} {} on {}", name.sysname, name.release, name.machine),
          fits ? "" : "record on an x86-64 machine"};
}

Finding check_processors() {
  unsigned count = std::thread::hardware_concurrency();
  if (count >= 2) return {Verdict::kGood, fmt::format("{} processors", count), ""};
  return {Verdict::kSlow, "1 processor: the program waits for its own recorder",
          "give the machine a second one"};
}

Finding check_valgrind() {
  std::string path = find_valgrind();
  if (path.empty()) return {Verdict::kBad, "valgrind is not installed", "apt install valgrind"};
  std::string version = first_line_of("'" + path + "' --version 2>/dev/null");
  if (version.empty())
    return {Verdict::kBad, path + " does not run", "apt install --reinstall valgrind"};
  return {Verdict::kGood, fmt::format("{} at {}", version, path), ""};
}

Finding check_tool() {
  std::string problem = tool_problem();
  if (problem.empty()) return {Verdict::kGood, "the tool is in " + tool_directory(), ""};
  return {Verdict::kBad, problem, "install or build svd again: make"};
}

Finding check_memory() {
  std::string place = session_place();
  std::uint64_t size = free_bytes(place);
  std::string what = fmt::format("{} free in {} for the log", human_bytes(size), place);
  if (size < kNeededMemory)
    return {Verdict::kBad, what, fmt::format("mount -o remount,size=64M {}", place)};
  if (place == "/dev/shm") return {Verdict::kGood, what, ""};
  return {Verdict::kSlow, what + ", on a disk", "mount -t tmpfs tmpfs /dev/shm"};
}

Finding check_disk() {
  std::error_code ignored;
  std::string here = fs::current_path(ignored);
  std::uint64_t size = free_bytes(here);
  std::string what = fmt::format("{} free in {} for traces", human_bytes(size), here);
  if (access(here.c_str(), W_OK) != 0)
    return {Verdict::kBad, fmt::format("{} is not ours to write to", here),
            "name another place with -o"};
  return {size < kNeededDisk ? Verdict::kSlow : Verdict::kGood, what,
          size < kNeededDisk ? "name another disk with -o" : ""};
}

Finding check_recording() {
  std::string folder = fs::temp_directory_path() / "svd-doctor.XXXXXX";
  if (mkdtemp(folder.data()) == nullptr)
    return {Verdict::kBad, "no temporary folder can be made", "set TMPDIR to one that is yours"};
  RecordRequest request;
  request.program = {"true"};
  request.file = folder + "/true.fb";
  request.min_free = 0;
  Found program = find_program("true");
  SignalWatch signals;
  auto outcome = run_recorded(request, program.path, {request.file, {}, -1}, signals);
  std::string problem;
  if (!outcome) {
    problem = outcome.error().describe();
  } else if (outcome->traces.empty() || outcome->traces.front().instructions == 0) {
    problem = outcome->remarks.empty() ? "no trace came" : outcome->remarks.front();
  } else if (auto trace = TraceReader::open(request.file); !trace) {
    problem = trace.error().describe();
  } else if (trace->ending().kind != EndKind::kExit) {
    problem = "the trace does not say how the program ended";
  }
  std::error_code ignored;
  fs::remove_all(folder, ignored);
  if (!problem.empty())
    return {Verdict::kBad, "a recording failed: " + problem, "mend what stands above first"};
  return {Verdict::kGood, fmt::format("recorded {} in {:.1f} s", program.path, outcome->seconds),
          ""};
}

}  // namespace

int run_doctor(const Arguments& arguments) {
  Command command("svd-record doctor", "what works on this machine, and what mends the rest");
  command.example("svd-record doctor", "");
  command.usage("[options]");
  command.exit_status(0, "programs can be recorded here");
  command.exit_status(kRecorderFailed, "they cannot; the output says what to do");
  command.exit_status(2, "wrong use");
  if (auto exit = command.parse(arguments)) return *exit;

  Style style(command.color(), STDOUT_FILENO);
  bool works = true;
  for (auto check : {check_kernel, check_processors, check_valgrind, check_tool, check_memory,
                     check_disk, check_recording}) {
    Finding finding = check();
    works &= finding.verdict != Verdict::kBad;
    std::string mark = finding.verdict == Verdict::kGood   ? "ok  "
                       : finding.verdict == Verdict::kSlow ? style.warning("slow")
                                                           : style.bad("BAD ");
    fmt::print("{}  {}\n", mark, printable(finding.what));
    if (!finding.remedy.empty()) fmt::print("      mend it: {}\n", finding.remedy);
    std::fflush(stdout);
  }
  return works ? 0 : kRecorderFailed;
}

}  // namespace svd::cli
