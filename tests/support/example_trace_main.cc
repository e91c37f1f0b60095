// SPDX-License-Identifier: Apache-2.0
//
// svd-example-trace: writes the example trace, for demonstrations and benchmarks.

#include "common/exit_codes.h"
#include "common/options.h"
#include "support/example_trace.h"

int main(int argc, char** argv) {
  namespace cli = svd::cli;
  cli::Command command("svd-example-trace", "writes a made-up trace of a server that crashes");
  command.example("svd-example-trace demo.fb", "a million instructions of four threads");
  command.example("svd-example-trace --instructions=200M --seed=7 large.fb",
                  "more of them, and another run");
  command.usage("[options] OUT");
  std::string out;
  svd::example::Options options;
  std::uint64_t threads = options.threads;
  command.app().add_option("OUT", out, "the trace to write")->required();
  cli::add_count(command.app(), "--instructions", options.instructions, "how many, at least");
  cli::add_count(command.app(), "--threads", threads, "2 to 200, the main thread included");
  cli::add_count(command.app(), "--seed", options.seed, "chooses program and schedule");
  command.exit_status(cli::kSuccess, "written");
  command.exit_status(cli::kFailed, "OUT could not be written");
  command.exit_status(cli::kUsage, "wrong use");
  if (auto exit = command.parse(cli::Arguments(argv + 1, argv + argc))) return *exit;
  if (threads < 2 || threads > 200) return command.wrong_use("--threads takes 2 to 200");
  options.threads = static_cast<std::uint32_t>(threads);
  if (auto written = svd::example::write_file(options, out); !written) {
    command.complain(written.error().describe());
    return cli::kFailed;
  }
  return cli::kSuccess;
}
