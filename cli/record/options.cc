// SPDX-License-Identifier: Apache-2.0
//
// Our options end at "--" or at the first word that is none, and what follows is the program's.
// CLI11 never sees that part: it would take misspelt options of ours for arguments of the program.

#include "record/options.h"

#include <fmt/format.h>

#include <charconv>

#include "record/exit_codes.h"

namespace svd::cli {
namespace {

void add_size(CLI::App& app, const std::string& name, std::uint64_t& value,
              const std::string& what) {
  auto set = [&value, name](const std::string& text) {
    auto size = parse_count(text, 1024);
    if (!size)
      throw CLI::ValidationError(name, "takes a size such as 500M or 2G, not '" + text + "'");
    value = *size;
  };
  app.add_option_function<std::string>(name, set, what)->type_name("SIZE");
}

// "30", "1.5s", "2m".
std::optional<double> parse_seconds(std::string_view text) {
  double number = 0;
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  std::string_view unit = text.substr(static_cast<std::size_t>(end - text.data()));
  if (error != std::errc() || number <= 0) return std::nullopt;
  if (unit.empty() || unit == "s") return number;
  if (unit == "m") return 60 * number;
  return std::nullopt;
}

void describe_use(Command& command, RecordRequest& request) {
  command.example("svd-record ./server --port 8080", "record one run to server.<pid>.fb");
  command.example("svd-record -o crash.fb -- ./server -v", "to a file of this name");
  command.example("svd-analyze crash.fb", "then: what happened in it");
  command.example("svd-record doctor", "what works on this machine, and what mends the rest");
  command.usage("[options] [--] PROGRAM [ARGUMENTS...]");
  CLI::App& app = command.app();
  app.add_option("-o,--output", request.file,
                 "the trace; %p becomes the process [<program>.<pid>.fb]")
      ->type_name("FILE");
  app.add_flag_callback(
      "--no-values", [&request] { request.values = false; },
      "only where memory was accessed, not which values: smaller and faster");
  app.add_flag("--env", request.environment, "keep the environment in the trace; it holds secrets");
  app.add_flag("--follow", request.follow, "record forked children, too, each to its own trace");
  add_size(app, "--max-size", request.max_size, "stop recording when a trace is as large as this");
  add_size(app, "--min-free", request.min_free,
           "stop recording when the disk has less than this left [100M]");
  auto set_timeout = [&request](const std::string& text) {
    auto seconds = parse_seconds(text);
    if (!seconds)
      throw CLI::ValidationError("--timeout", "takes a time such as 30s or 5m, not '" + text + "'");
    request.timeout = *seconds;
  };
  app.add_option_function<std::string>("--timeout", set_timeout,
                                       "end the program after this time, by SIGTERM, then SIGKILL")
      ->type_name("TIME");
  auto set_engine = [](const std::string& name) {
    if (name == "rr")
      throw CLI::ValidationError("--engine",
                                 "takes auto or valgrind; recording by rr does not exist yet");
    if (name != "auto" && name != "valgrind")
      throw CLI::ValidationError("--engine", "takes auto or valgrind, not '" + name + "'");
  };
  app.add_option_function<std::string>("--engine", set_engine, "auto, or valgrind, which it means")
      ->type_name("NAME");
  app.add_flag("--stats", request.stats, "one JSON object about the recording, last on stderr");
  command.remark(
      "The program's input, output and exit status are its own. Signals sent to svd-record go to\n"
      "the program; if it dies of one, svd-record does, too.");
  command.exit_status(kRecorderFailed, "svd-record itself failed");
  command.exit_status(kCannotRun, "the program cannot be run");
  command.exit_status(kNotFound, "the program was not found");
  command.exit_status(2, "wrong use");
}

// Whether an option's value is the next word.
bool takes_next_word(CLI::App& app, const std::string& word) {
  if (word.find('=') != std::string::npos) return false;
  bool is_short = word.size() >= 2 && word[1] != '-';
  const CLI::Option* option = app.get_option_no_throw(is_short ? word.substr(0, 2) : word);
  return option != nullptr && option->get_items_expected_max() > 0 &&
         (!is_short || word.size() == 2);
}

}  // namespace

std::optional<int> read_request(Command& command, const Arguments& arguments,
                                RecordRequest& request) {
  describe_use(command, request);
  std::size_t ours = 0;
  while (ours < arguments.size() && arguments[ours].starts_with("-") && arguments[ours] != "--" &&
         arguments[ours] != "-")
    ours += takes_next_word(command.app(), arguments[ours]) ? 2 : 1;
  ours = std::min(ours, arguments.size());
  std::size_t theirs = ours;
  if (theirs < arguments.size() && arguments[theirs] == "--") ++theirs;
  auto at = [&arguments](std::size_t i) { return arguments.begin() + static_cast<long>(i); };
  request.program.assign(at(theirs), arguments.end());
  if (auto exit = command.parse({arguments.begin(), at(ours)})) return exit;
  if (request.program.empty())
    return command.wrong_use("a program to record is missing; see svd-record --help");
  if (request.file == "-")
    return command.wrong_use("the trace cannot go to stdout, where the program's output goes");
  return std::nullopt;
}

}  // namespace svd::cli
