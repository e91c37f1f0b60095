// SPDX-License-Identifier: Apache-2.0

#include "record/run.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "record/exit_codes.h"
#include "record/installation.h"

namespace svd::cli {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::array kForwarded{SIGHUP, SIGINT, SIGQUIT, SIGUSR1, SIGUSR2, SIGTERM};
// How often we look whether a process that was to be recorded is still there.
constexpr int kLookMs = 100;
// What a program that was told to end by SIGTERM has left.
constexpr auto kGrace = std::chrono::seconds(5);
// Valgrind's own limit is 500, and a server that makes more would be ended by it.
constexpr const char* kMaxThreads = "--max-threads=4096";

Error failed(const char* what) {
  return Error{ErrorKind::kIo, {}, {}, {}, fmt::format("{}: {}", what, std::strerror(errno))};
}

// As the tool takes it: kind, number, and what the user wrote.
std::string moment_word(const char* option, const RecordMoment& moment) {
  constexpr std::string_view kKinds = "-fts";
  return fmt::format("{}={}{},{}", option, kKinds[static_cast<std::size_t>(moment.kind)],
                     moment.number, moment.what);
}

std::vector<std::string> command_line(const RecordRequest& request, const RunSettings& settings,
                                      const std::string& valgrind, const std::string& session) {
  std::vector<std::string> words{valgrind,
                                 "--tool=svd",
                                 "-q",
                                 "--vgdb=no",
                                 "--trace-children=yes",
                                 "--fair-sched=try",
                                 kMaxThreads,
                                 "--log-file=" + session + "/log.%p",
                                 "--session=" + session,
                                 fmt::format("--values={}", request.values ? "yes" : "no"),
                                 fmt::format("--follow={}", request.follow ? "yes" : "no")};
  if (request.start_at.kind != RecordMoment::Kind::kNone)
    words.push_back(moment_word("--start-at", request.start_at));
  if (request.stop_at.kind != RecordMoment::Kind::kNone)
    words.push_back(moment_word("--stop-at", request.stop_at));
  if (settings.chaos) {
    for (std::string& option : settings.chaos->tool_options()) words.push_back(std::move(option));
  }
  words.insert(words.end(), request.program.begin(), request.program.end());
  return words;
}

// Never returns. Between fork and exec: only what is safe there.
[[noreturn]] void become(char* const* words, char* const* environment, const sigset_t& mask,
                         int output) {
  sigprocmask(SIG_SETMASK, &mask, nullptr);
  if (output >= 0) {
    dup2(output, STDOUT_FILENO);
    dup2(output, STDERR_FILENO);
  }
  execve(words[0], words, environment);
  _exit(kRecorderFailed);
}

std::vector<std::string> environment_for_tool() {
  std::vector<std::string> variables;
  for (char** at = environ; *at != nullptr; ++at) {
    if (!std::string_view(*at).starts_with("VALGRIND_LIB=")) variables.emplace_back(*at);
  }
  variables.push_back("VALGRIND_LIB=" + tool_directory());
  return variables;
}

std::vector<char*> pointers(std::vector<std::string>& words) {
  std::vector<char*> list;
  list.reserve(words.size() + 1);
  for (std::string& word : words) list.push_back(word.data());
  list.push_back(nullptr);
  return list;
}

// What Valgrind and our tool had to say, without their "==123== ".
std::vector<std::string> read_remarks(const std::string& session) {
  std::vector<std::string> remarks;
  std::error_code ignored;
  for (const auto& entry : std::filesystem::directory_iterator(session, ignored)) {
    if (!entry.path().filename().string().starts_with("log.")) continue;
    std::ifstream in(entry.path());
    for (std::string line; std::getline(in, line);) {
      std::size_t start = line.find_first_of(" ");
      if (start != std::string::npos && (line.starts_with("==") || line.starts_with("--")))
        line = line.substr(start + 1);
      if (!line.empty()) remarks.push_back(line);
    }
  }
  return remarks;
}

class Supervisor {
 public:
  Supervisor(Collector& collector, pid_t child, SignalWatch& signals, double timeout)
      : collector_(collector), child_(child), signals_(signals) {
    if (timeout > 0)
      deadline_ = Clock::now() + std::chrono::duration_cast<Clock::duration>(
                                     std::chrono::duration<double>(timeout));
  }

  // Until the program, and whatever else is recorded, has ended.
  void watch(RunOutcome& outcome) {
    while (!ended_ || collector_.busy()) {
      std::array<pollfd, 2> wanted{pollfd{signals_.descriptor(), POLLIN, 0},
                                   pollfd{collector_.descriptor(), POLLIN, 0}};
      poll(wanted.data(), wanted.size(), kLookMs);
      outcome.asked_to_end = signals_.pass_to(ended_ ? 0 : child_);
      reap();
      collector_.look();
      keep_deadline();
    }
    outcome.status = status_;
    outcome.timed_out = told_to_end_;
  }

 private:
  void reap() {
    if (ended_ || waitpid(child_, &status_, WNOHANG) != child_) return;
    ended_ = true;
    collector_.process_ended(static_cast<std::uint32_t>(child_), status_);
  }

  void keep_deadline() {
    if (!deadline_ || ended_ || Clock::now() < *deadline_) return;
    kill(child_, told_to_end_ ? SIGKILL : SIGTERM);
    told_to_end_ = true;
    deadline_ = Clock::now() + kGrace;
  }

  Collector& collector_;
  pid_t child_;
  SignalWatch& signals_;
  std::optional<Clock::time_point> deadline_;
  bool told_to_end_ = false;
  bool ended_ = false;
  int status_ = 0;
};

}  // namespace

SignalWatch::SignalWatch() {
  sigset_t wanted;
  sigemptyset(&wanted);
  for (int number : kForwarded) sigaddset(&wanted, number);
  sigaddset(&wanted, SIGCHLD);
  sigprocmask(SIG_BLOCK, &wanted, &before_);
  descriptor_ = signalfd(-1, &wanted, SFD_NONBLOCK | SFD_CLOEXEC);
}

SignalWatch::~SignalWatch() {
  if (descriptor_ >= 0) close(descriptor_);
  sigprocmask(SIG_SETMASK, &before_, nullptr);
}

int SignalWatch::pass_to(pid_t child) {
  signalfd_siginfo info{};
  while (read(descriptor_, &info, sizeof info) == sizeof info) {
    // What the kernel sends (a key at the terminal, a hang-up) reaches the whole process group.
    bool sent_to_us = info.ssi_code <= 0;
    auto number = static_cast<int>(info.ssi_signo);
    if (number == SIGCHLD) continue;
    if (number != SIGUSR1 && number != SIGUSR2) asked_to_end_ = number;
    if (sent_to_us && child != 0) kill(child, number);
  }
  return asked_to_end_;
}

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

Result<RunOutcome> run_recorded(const RecordRequest& request, const std::string& executable,
                                const RunSettings& settings, SignalWatch& signals) {
  std::string valgrind = find_valgrind();
  if (valgrind.empty())
    return Error{ErrorKind::kIo, {}, {}, {}, "valgrind is not installed; apt install valgrind"};
  if (std::string problem = tool_problem(); !problem.empty())
    return Error{ErrorKind::kIo, {}, {}, {}, problem + "; see svd-record doctor"};

  if (std::string problem = output_problem(settings.file); !problem.empty())
    return Error{ErrorKind::kIo, {}, {}, {}, problem};
  if (signals.descriptor() < 0) return failed("cannot wait for signals");

  CollectorOptions options;
  options.file = settings.file;
  options.program = executable;
  options.arguments = request.program;
  options.environment = request.environment;
  if (settings.chaos) options.engine_options = settings.chaos->describe();
  options.keep_newest = request.last;
  options.max_size = request.max_size;
  options.min_free = request.min_free;
  auto collector = Collector::create(options);
  if (!collector) return collector.error();

  auto words = command_line(request, settings, valgrind, (*collector)->directory());
  auto variables = environment_for_tool();
  auto word_list = pointers(words);
  auto variable_list = pointers(variables);
  auto start = Clock::now();
  pid_t child = fork();
  if (child < 0) return failed("cannot make a process");
  if (child == 0) become(word_list.data(), variable_list.data(), signals.before(), settings.output);

  RunOutcome outcome;
  outcome.chaos = settings.chaos;
  Supervisor(**collector, child, signals, request.timeout).watch(outcome);
  outcome.traces = (*collector)->finish();
  outcome.seconds = std::chrono::duration<double>(Clock::now() - start).count();
  outcome.remarks = read_remarks((*collector)->directory());
  return outcome;
}

}  // namespace svd::cli
