// SPDX-License-Identifier: Apache-2.0
//
// svd-record: runs a program and records what it does.

#include <cstdio>

#include "record/doctor.h"
#include "record/exit_codes.h"
#include "record/installation.h"
#include "record/report.h"
#include "record/run.h"
#include "record/runs.h"

namespace svd::cli {
namespace {

constexpr const char* kName = "svd-record";
constexpr const char* kSummary = "records one run of an unmodified x86-64 Linux program";

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
  if (request.many()) return run_many(command, request, program.path);
  RunSettings settings{numbered(request.file, 1), {}, -1};
  if (request.chaos) settings.chaos = request.chaos->with(request.chaos->seed.value_or(any_seed()));
  SignalWatch signals;
  auto outcome = run_recorded(request, program.path, settings, signals);
  if (!outcome) {
    command.complain(outcome.error().describe());
    return kRecorderFailed;
  }
  report(command, *outcome);
  if (request.stats) report_stats(*outcome);
  // No process of it ever reached our tool: it was Valgrind that ended.
  if (outcome->traces.empty() && outcome->remarks.empty()) return kRecorderFailed;
  std::fflush(nullptr);
  return end_like(outcome->status);
}

}  // namespace
}  // namespace svd::cli

int main(int argc, char** argv) { return svd::cli::run({argv + 1, argv + argc}); }
