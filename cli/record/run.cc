// SPDX-License-Identifier: Apache-2.0

#include "record/run.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
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

std::vector<std::string> command_line(const RecordRequest& request, const std::string& valgrind,
                                      const std::string& session) {
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
  words.insert(words.end(), request.program.begin(), request.program.end());
  return words;
}

// Never returns. Between fork and exec: only what is safe there.
[[noreturn]] void become(char* const* words, char* const* environment, const sigset_t& mask) {
  sigprocmask(SIG_SETMASK, &mask, nullptr);
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
  Supervisor(Collector& collector, pid_t child, int signals, double timeout)
      : collector_(collector), child_(child), signals_(signals) {
    if (timeout > 0)
      deadline_ = Clock::now() + std::chrono::duration_cast<Clock::duration>(
                                     std::chrono::duration<double>(timeout));
  }

  // Until the program, and whatever else is recorded, has ended. The program's wait status.
  int watch() {
    while (!ended_ || collector_.busy()) {
      std::array<pollfd, 2> wanted{pollfd{signals_, POLLIN, 0},
                                   pollfd{collector_.descriptor(), POLLIN, 0}};
      poll(wanted.data(), wanted.size(), kLookMs);
      pass_signals();
      reap();
      collector_.look();
      keep_deadline();
    }
    return status_;
  }

 private:
  void pass_signals() {
    signalfd_siginfo info{};
    while (read(signals_, &info, sizeof info) == sizeof info) {
      // What the kernel sends (a key at the terminal, a hang-up) reaches the whole process group.
      bool sent_to_us = info.ssi_code <= 0;
      auto number = static_cast<int>(info.ssi_signo);
      if (number != SIGCHLD && sent_to_us && !ended_) kill(child_, number);
    }
  }

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
  int signals_;
  std::optional<Clock::time_point> deadline_;
  bool told_to_end_ = false;
  bool ended_ = false;
  int status_ = 0;
};

}  // namespace

Result<RunOutcome> run_recorded(const RecordRequest& request, const std::string& executable) {
  std::string valgrind = find_valgrind();
  if (valgrind.empty())
    return Error{ErrorKind::kIo, {}, {}, {}, "valgrind is not installed; apt install valgrind"};
  if (std::string problem = tool_problem(); !problem.empty())
    return Error{ErrorKind::kIo, {}, {}, {}, problem + "; see svd-record doctor"};

  if (std::string problem = output_problem(request.file); !problem.empty())
    return Error{ErrorKind::kIo, {}, {}, {}, problem};

  // Before there are threads, so that all of ours have it.
  sigset_t wanted;
  sigset_t before;
  sigemptyset(&wanted);
  for (int number : kForwarded) sigaddset(&wanted, number);
  sigaddset(&wanted, SIGCHLD);
  sigprocmask(SIG_BLOCK, &wanted, &before);
  int signals = signalfd(-1, &wanted, SFD_NONBLOCK | SFD_CLOEXEC);
  if (signals < 0) return failed("cannot wait for signals");

  CollectorOptions options;
  options.file = request.file;
  options.program = executable;
  options.arguments = request.program;
  options.environment = request.environment;
  options.max_size = request.max_size;
  options.min_free = request.min_free;
  auto collector = Collector::create(options);
  if (!collector) return collector.error();

  auto words = command_line(request, valgrind, (*collector)->directory());
  auto variables = environment_for_tool();
  auto word_list = pointers(words);
  auto variable_list = pointers(variables);
  auto start = Clock::now();
  pid_t child = fork();
  if (child < 0) return failed("cannot make a process");
  if (child == 0) become(word_list.data(), variable_list.data(), before);

  RunOutcome outcome;
  outcome.status = Supervisor(**collector, child, signals, request.timeout).watch();
  outcome.traces = (*collector)->finish();
  outcome.seconds = std::chrono::duration<double>(Clock::now() - start).count();
  outcome.remarks = read_remarks((*collector)->directory());
  close(signals);
  return outcome;
}

}  // namespace svd::cli
