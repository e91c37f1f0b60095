// SPDX-License-Identifier: Apache-2.0
#include "recorded.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <ctime>
#include <filesystem>

#include "support/run_command.h"

namespace svd::bench {

TraceReader open_trace(const std::string& path) {
  auto trace = TraceReader::open(path);
  if (trace) return std::move(*trace);
  fmt::print(stderr, "{}\n", trace.error().describe());
  std::exit(1);
}

namespace {

constexpr int kTurns = 3;

double now(clockid_t clock) {
  timespec time{};
  clock_gettime(clock, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

Cost measure_once(const Work& work) {
  std::array<int, 2> ends{};
  Cost cost;
  rusage usage{};
  int status = 1;
  if (pipe(ends.data()) == 0) {
    pid_t child = fork();
    if (child == 0) {
      double wall = now(CLOCK_MONOTONIC);
      cost.answer = work();
      cost.wall = now(CLOCK_MONOTONIC) - wall;
      cost.processor = now(CLOCK_PROCESS_CPUTIME_ID);
      double main = now(CLOCK_THREAD_CPUTIME_ID);
      cost.busiest = std::max(main, cost.processor - main);
      _exit(write(ends[1], &cost, sizeof cost) == sizeof cost ? 0 : 1);
    }
    close(ends[1]);
    if (read(ends[0], &cost, sizeof cost) == sizeof cost) wait4(child, &status, 0, &usage);
    close(ends[0]);
  }
  if (status != 0) {
    fmt::print(stderr, "a measurement failed\n");
    std::exit(1);
  }
  cost.megabytes = static_cast<double>(usage.ru_maxrss) / 1024;
  return cost;
}

}  // namespace

Cost measure(const Work& work) {
  Cost best = measure_once(work);
  for (int turn = 1; turn < kTurns; ++turn) {
    Cost cost = measure_once(work);
    best.wall = std::min(best.wall, cost.wall);
    best.processor = std::min(best.processor, cost.processor);
    best.busiest = std::min(best.busiest, cost.busiest);
    best.megabytes = std::min(best.megabytes, cost.megabytes);
  }
  return best;
}

Cost measure(const std::vector<std::string>& command) {
  std::vector<char*> words;
  words.reserve(command.size() + 1);
  for (const std::string& word : command) words.push_back(const_cast<char*>(word.c_str()));
  words.push_back(nullptr);
  double start = now(CLOCK_MONOTONIC);
  pid_t child = fork();
  if (child == 0) {
    int nothing = open("/dev/null", O_WRONLY | O_CLOEXEC);
    dup2(nothing, STDOUT_FILENO);
    dup2(nothing, STDERR_FILENO);
    execvp(words[0], words.data());
    _exit(127);
  }
  rusage usage{};
  int status = 1;
  if (child > 0) wait4(child, &status, 0, &usage);
  if (status != 0) {
    fmt::print(stderr, "{} failed\n", fmt::join(command, " "));
    std::exit(1);
  }
  auto seconds = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + 1e-6 * static_cast<double>(time.tv_usec);
  };
  Cost cost;
  cost.wall = now(CLOCK_MONOTONIC) - start;
  cost.processor = seconds(usage.ru_utime) + seconds(usage.ru_stime);
  cost.megabytes = static_cast<double>(usage.ru_maxrss) / 1024;
  return cost;
}

std::vector<std::string> command_of(const Program& program) {
  return {std::string(SVD_PROGRAM_DIR "/") + program.name, program.size};
}

std::string recorded(const Program& program) {
  std::filesystem::create_directories(SVD_TRACE_DIR);
  std::string path = fmt::format("{}/{}-{}.fb", SVD_TRACE_DIR, program.name, program.size);
  if (std::filesystem::exists(path)) return path;
  std::string fresh = path + ".new";
  test::CommandOptions options;
  options.patience = std::chrono::hours(1);
  std::vector<std::string> command{SVD_BIN_DIR "/svd-record", "-o", fresh, "--"};
  for (const std::string& word : command_of(program)) command.push_back(word);
  auto result = test::run_command(command, options);
  if (result.exit_code != 0) {
    fmt::print(stderr, "{}: {}\n", program.name, result.err);
    std::exit(1);
  }
  std::filesystem::rename(fresh, path);
  return path;
}

}  // namespace svd::bench
