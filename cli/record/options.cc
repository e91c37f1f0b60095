// SPDX-License-Identifier: Apache-2.0
//
// Our options end at "--" or at the first word that is none, and what follows is the program's.
// CLI11 never sees that part: it would take misspelt options of ours for arguments of the program.

#include "record/options.h"

#include <fmt/format.h>
#include <signal.h>
#include <string.h>

#include <charconv>

#include "record/exit_codes.h"

namespace svd::cli {
namespace {

constexpr std::uint64_t kLeastLast = 1U << 20;

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

void describe_runs(CLI::App& app, RecordRequest& request) {
  auto set_chaos = [&request](const std::string& text) {
    request.chaos = ChaosRequest::parse(text);
    if (!request.chaos)
      throw CLI::ValidationError("--chaos",
                                 "takes a seed, or random, pct, weak, strong, quantum=N, depth=N, "
                                 "with commas between them, not '" +
                                     text + "'");
  };
  app.add_option_function<std::string>("--chaos", set_chaos,
                                       "a schedule drawn from this seed, or from any")
      ->type_name("SEED")
      ->expected(0, 1);
  auto set_runs = [&request](const std::string& text) {
    auto runs = parse_count(text, 1000);
    if (!runs || *runs == 0)
      throw CLI::ValidationError("--runs", "takes a number such as 100, not '" + text + "'");
    request.runs = runs;
  };
  app.add_option_function<std::string>(
         "--runs", set_runs,
         "so many runs under chaos, each with its own seed; failing ones are kept")
      ->type_name("N");
  app.add_flag("--until-failure", request.until_failure,
               "runs under chaos until one crashes, hangs or fails its check");
  app.add_option("--check", request.check,
                 "a shell command that is given a run's output, and fails if the run did")
      ->type_name("COMMAND");
  app.add_option("--keep-passing", request.keep_passing,
                 "keep the traces of passing runs, too, in this folder")
      ->type_name("DIR");
}

// What is wrong with the options taken together; "" if nothing.
std::string contradiction(const RecordRequest& request) {
  if (request.file == "-") return "the trace cannot go to stdout, where the program's output goes";
  if (!request.many() && !request.check.empty()) return "--check needs --runs or --until-failure";
  if (!request.many() && !request.keep_passing.empty())
    return "--keep-passing needs --runs or --until-failure";
  if (request.many() && !request.until_failure && !tells_runs_apart(request.file))
    return "more than one run can fail, so -o needs a %n, or add --until-failure";
  // Chunks get smaller with it, and at some point cost more than they hold.
  if (request.last != 0 && request.last < kLeastLast) return "--last takes at least 1M";
  return {};
}

// "+30s", "SIGUSR1", "Server::accept". Nothing when it can be none of them.
std::optional<RecordMoment> parse_moment(const std::string& text) {
  if (text.empty()) return std::nullopt;
  if (text.front() == '+') {
    auto seconds = parse_seconds(std::string_view(text).substr(1));
    if (!seconds) return std::nullopt;
    return RecordMoment{RecordMoment::Kind::kTime, text,
                        static_cast<std::uint64_t>(*seconds * 1000)};
  }
  if (text.starts_with("SIG")) {
    for (int number = 1; number < NSIG; ++number) {
      const char* name = sigabbrev_np(number);
      if (name != nullptr && text.substr(3) == name)
        return RecordMoment{RecordMoment::Kind::kSignal, text, static_cast<std::uint64_t>(number)};
    }
    return std::nullopt;
  }
  bool digit = text.front() >= '0' && text.front() <= '9';
  if (digit || text.find_first_of(" \t\n/") == 0) return std::nullopt;
  return RecordMoment{RecordMoment::Kind::kFunction, text, 0};
}

void add_moment(CLI::App& app, const std::string& name, RecordMoment& moment,
                const std::string& what) {
  auto set = [&moment, name](const std::string& text) {
    auto parsed = parse_moment(text);
    if (!parsed)
      throw CLI::ValidationError(
          name,
          "takes a function, a time such as +30s or a signal such as SIGUSR1, not '" + text + "'");
    moment = *parsed;
  };
  app.add_option_function<std::string>(name, set, what)->type_name("WHAT");
}

void describe_use(Command& command, RecordRequest& request) {
  command.example("svd-record ./server --port 8080", "record one run to server.<pid>.fb");
  command.example("svd-record -o crash.fb -- ./server -v", "to a file of this name");
  command.example("svd-record --until-failure -- ./test", "new schedules until one crashes it");
  command.example("svd-analyze crash.fb", "then: what happened in it");
  command.example("svd-record doctor", "what works on this machine, and what mends the rest");
  command.usage("[options] [--] PROGRAM [ARGUMENTS...]");
  CLI::App& app = command.app();
  app.add_option("-o,--output", request.file,
                 "the trace; %p becomes the process, %n the run [<program>.<pid>.fb]")
      ->type_name("FILE");
  app.add_flag_callback(
      "--no-values", [&request] { request.values = false; },
      "only where memory was accessed, not which values: smaller and faster");
  app.add_flag("--env", request.environment, "keep the environment in the trace; it holds secrets");
  app.add_flag("--follow", request.follow, "record forked children, too, each to its own trace");
  add_size(app, "--last", request.last, "keep only the newest part of the run, of this size");
  add_size(app, "--max-size", request.max_size, "stop recording when a trace is as large as this");
  add_size(app, "--min-free", request.min_free,
           "stop recording when the disk has less than this left [100M]");
  add_moment(app, "--start-at", request.start_at,
             "record nothing before this: a function, +30s from the start, SIGUSR1");
  add_moment(app, "--stop-at", request.stop_at, "record nothing after this");
  auto set_timeout = [&request](const std::string& text) {
    auto seconds = parse_seconds(text);
    if (!seconds)
      throw CLI::ValidationError("--timeout", "takes a time such as 30s or 5m, not '" + text + "'");
    request.timeout = *seconds;
  };
  app.add_option_function<std::string>("--timeout", set_timeout,
                                       "end the program after this time, by SIGTERM, then SIGKILL")
      ->type_name("TIME");
  describe_runs(app, request);
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
  command.exit_status(0, "with --runs or --until-failure: a failure was caught");
  command.exit_status(1, "with these: no run failed");
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
  return option != nullptr && option->get_items_expected_min() > 0 &&
         (!is_short || word.size() == 2);
}

}  // namespace

std::string numbered(const std::string& file, std::uint64_t run) {
  std::string name = file;
  std::string number = std::to_string(run);
  for (std::size_t at = 0; (at = name.find("%n", at)) != std::string::npos; at += number.size())
    name.replace(at, 2, number);
  return name;
}

bool tells_runs_apart(const std::string& file) {
  return file.empty() || file.find("%n") != std::string::npos ||
         file.find("%p") != std::string::npos;
}

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
  if (std::string problem = contradiction(request); !problem.empty())
    return command.wrong_use(problem);
  return std::nullopt;
}

}  // namespace svd::cli
