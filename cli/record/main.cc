// SPDX-License-Identifier: Apache-2.0
//
// svd-record: runs a program and records what it does.

#include <sys/resource.h>
#include <sys/wait.h>

#include <csignal>
#include <cstdio>

#include "record/doctor.h"
#include "record/exit_codes.h"
#include "record/installation.h"
#include "record/report.h"
#include "record/run.h"

namespace svd::cli {
namespace {

constexpr const char* kName = "svd-record";
constexpr const char* kSummary = "records one run of an unmodified x86-64 Linux program";

// Ends as the program did, so that a shell or script cannot tell the difference.
int end_like(int status) {
  if (WIFEXITED(status)) return WEXITSTATUS(status);
  int number = WTERMSIG(status);
  rlimit none{0, 0};
  setrlimit(RLIMIT_CORE, &none);  // a core of ours would help nobody
  std::signal(number, SIG_DFL);
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, number);
  sigprocmask(SIG_UNBLOCK, &set, nullptr);
  raise(number);
  return 128 + number;
}

int run(const Arguments& arguments) {
  if (!arguments.empty() && arguments.front() == "doctor")
    return run_doctor({arguments.begin() + 1, arguments.end()});
  Command command(kName, kSummary);
  RecordRequest request;
  if (auto exit = read_request(command, arguments, request)) return *exit;
  Found program = find_program(request.program.front());
  if (program.path.empty()) {
    command.complain(program.problem);
    return program.exit_code;
  }
  auto outcome = run_recorded(request, program.path);
  if (!outcome) {
    command.complain(outcome.error().describe());
    return kRecorderFailed;
  }
  report(command, request, *outcome);
  // No process of it ever reached our tool: it was Valgrind that ended.
  if (outcome->traces.empty() && outcome->remarks.empty()) return kRecorderFailed;
  std::fflush(nullptr);
  return end_like(outcome->status);
}

}  // namespace
}  // namespace svd::cli

int main(int argc, char** argv) { return svd::cli::run({argv + 1, argv + argc}); }
