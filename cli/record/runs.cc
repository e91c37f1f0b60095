// SPDX-License-Identifier: Apache-2.0

#include "record/runs.h"

#include <fmt/format.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <memory>

#include "common/terminal.h"
#include "record/exit_codes.h"
#include "record/report.h"
#include "record/run.h"

namespace svd::cli {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

constexpr int kCaught = 0;
constexpr int kNoneCaught = 1;
constexpr int kLookMs = 100;
constexpr auto kPatience = std::chrono::seconds(1);  // what is shorter needs no progress

// A file without a name.
using Scratch = std::unique_ptr<std::FILE, int (*)(std::FILE*)>;

// As a shell has it.
int shell_status(int status) {
  return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

class Runs {
 public:
  Runs(const Command& command, const RecordRequest& request, const std::string& executable)
      : command_(command),
        request_(request),
        executable_(executable),
        chaos_(request.chaos.value_or(ChaosRequest{})),
        first_seed_(chaos_.seed.value_or(any_seed())),
        input_start_(lseek(STDIN_FILENO, 0, SEEK_CUR)) {}

  int all() {
    int end = -1;
    while (end < 0 && (!request_.runs || done_ < *request_.runs)) end = one();
    clear_progress();
    if (!command_.quiet() && done_ > 0) command_.complain(summary());
    if (request_.stats) report_stats(last_);
    if (last_.asked_to_end != 0) return end_like(last_.asked_to_end);
    if (end >= 0) return end;
    return failures_ > 0 ? kCaught : kNoneCaught;
  }

 private:
  // A run. The exit status when it is the last one.
  int one() {
    std::uint64_t seed = first_seed_ + done_;
    RunSettings settings{numbered(request_.file, done_ + 1), chaos_.with(seed), -1};
    Scratch output(nullptr, &std::fclose);
    if (!request_.check.empty()) {
      output.reset(std::tmpfile());
      if (!output) return give_up(fmt::format("a temporary file: {}", std::strerror(errno)));
      settings.output = fileno(output.get());
    }
    // Where the input is a file, every run has all of it.
    if (input_start_ >= 0) lseek(STDIN_FILENO, input_start_, SEEK_SET);
    auto outcome = run_recorded(request_, executable_, settings, signals_);
    if (!outcome) return give_up(outcome.error().describe());
    last_ = *std::move(outcome);
    if (last_.traces.empty()) {
      report(command_, last_);
      return kRecorderFailed;
    }
    ++done_;
    std::string why = failure(settings.output);
    if (check_status_ == kCannotRun || check_status_ == kNotFound)
      return give_up(fmt::format("the shell cannot run '{}'", request_.check));
    last_.asked_to_end = signals_.pass_to(0);
    if (last_.asked_to_end != 0) why.clear();
    if (why.empty() && last_.asked_to_end == 0) return passed();
    clear_progress();
    pass_on(output.get());
    report(command_, last_);
    if (why.empty()) return kRecorderFailed;  // interrupted; the signal says so
    ++failures_;
    command_.complain(
        fmt::format("run {} failed: {}; again: --chaos={}", done_, why, describe(*last_.chaos)));
    show_progress();
    return request_.until_failure ? kCaught : -1;
  }

  // What was wrong with the last run; "" if nothing.
  std::string failure(int output) {
    check_status_ = 0;
    if (last_.asked_to_end != 0) return {};
    if (last_.timed_out) return "it was not done at --timeout";
    if (WIFSIGNALED(last_.status)) return death(WTERMSIG(last_.status));
    if (request_.check.empty()) return {};
    check_status_ = shell_status(check(output));
    return check_status_ == 0 ? "" : fmt::format("its check has status {}", check_status_);
  }

  // Runs the check; its wait status.
  int check(int output) {
    lseek(output, 0, SEEK_SET);
    std::array<std::pair<const char*, std::string>, 4> variables{
        {{"SVD_RUN", std::to_string(done_)},
         {"SVD_SEED", std::to_string(last_.chaos->seed)},
         {"SVD_STATUS", std::to_string(shell_status(last_.status))},
         {"SVD_TRACE", last_.traces.front().file}}};
    pid_t child = fork();
    if (child == 0) {
      // Our other threads are gone by now, so more is safe here than async-signal-safe functions.
      for (const auto& [name, value] : variables) setenv(name, value.c_str(), 1);
      sigprocmask(SIG_SETMASK, &signals_.before(), nullptr);
      dup2(output, STDIN_FILENO);
      execl("/bin/sh", "sh", "-c", request_.check.c_str(), static_cast<char*>(nullptr));
      _exit(kCannotRun);
    }
    int status = 0;
    while (child > 0 && waitpid(child, &status, WNOHANG) == 0) {
      pollfd wanted{signals_.descriptor(), POLLIN, 0};
      poll(&wanted, 1, kLookMs);
      signals_.pass_to(child);
    }
    return status;
  }

  int passed() {
    for (const RecordedRun& run : last_.traces) {
      if (run.file.empty()) continue;
      std::error_code error;
      if (request_.keep_passing.empty())
        fs::remove(run.file, error);
      else
        error = keep(run.file);
      if (error) return give_up(fmt::format("{}: {}", run.file, error.message()));
    }
    show_progress();
    return -1;
  }

  std::error_code keep(const fs::path& file) const {
    std::error_code error;
    fs::create_directories(request_.keep_passing, error);
    if (error) return error;
    fs::path name = file.filename();
    if (!tells_runs_apart(request_.file))
      name = fmt::format("{}.{}{}", file.stem().string(), done_, file.extension().string());
    fs::path target = request_.keep_passing / name;
    fs::rename(file, target, error);
    if (error != std::errc::cross_device_link) return error;
    fs::copy_file(file, target, fs::copy_options::overwrite_existing, error);
    if (!error) fs::remove(file, error);
    return error;
  }

  // The output of a run that is of interest, which the check had, is shown after all.
  static void pass_on(std::FILE* output) {
    if (output == nullptr) return;
    lseek(fileno(output), 0, SEEK_SET);
    std::array<char, 1 << 16> buffer{};
    for (ssize_t n = 0; (n = read(fileno(output), buffer.data(), buffer.size())) > 0;)
      std::fwrite(buffer.data(), 1, static_cast<std::size_t>(n), stdout);
    std::fflush(stdout);
  }

  int give_up(const std::string& reason) {
    clear_progress();
    command_.complain(reason);
    return kRecorderFailed;
  }

  // The words of --chaos that give this schedule again, whatever --chaos was this time.
  static std::string describe(const Chaos& chaos) {
    std::string words = fmt::format("{},{},quantum={}", chaos.seed,
                                    chaos.by_priority ? "pct" : "random", chaos.quantum);
    return chaos.by_priority ? fmt::format("{},depth={}", words, chaos.depth) : words;
  }

  std::string summary() const {
    double seconds = std::chrono::duration<double>(Clock::now() - start_).count();
    return fmt::format("{}, {} failed, seeds {} to {}, {:.1f} runs a second", counted(done_, "run"),
                       failures_, first_seed_, first_seed_ + done_ - 1,
                       static_cast<double>(done_) / seconds);
  }

  void show_progress() {
    if (command_.quiet() || isatty(STDERR_FILENO) != 1 || Clock::now() - start_ < kPatience) return;
    fmt::print(stderr, "\r{}\x1b[K", summary());
    progress_ = true;
  }

  void clear_progress() {
    if (progress_) fmt::print(stderr, "\r\x1b[K");
    progress_ = false;
  }

  const Command& command_;
  const RecordRequest& request_;
  const std::string& executable_;
  ChaosRequest chaos_;
  std::uint64_t first_seed_;
  off_t input_start_;
  SignalWatch signals_;
  Clock::time_point start_ = Clock::now();
  RunOutcome last_;
  int check_status_ = 0;
  std::uint64_t done_ = 0;
  std::uint64_t failures_ = 0;
  bool progress_ = false;
};

}  // namespace

int run_many(const Command& command, const RecordRequest& request, const std::string& executable) {
  return Runs(command, request, executable).all();
}

}  // namespace svd::cli
