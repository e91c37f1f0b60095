// SPDX-License-Identifier: Apache-2.0

#include "svd/collector/collector.h"

#include <fmt/format.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <filesystem>
#include <fstream>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <utility>

#include "file_names.h"
#include "recording.h"
#include "session.h"

namespace svd {
namespace {

// How long a recording waits to be told how its process ended.
constexpr auto kStatusWait = std::chrono::seconds(5);

// Strings that end in zeros, as in /proc.
std::vector<std::string> read_strings(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  std::vector<std::string> strings;
  for (std::string text; std::getline(in, text, '\0');) strings.push_back(text);
  return strings;
}

}  // namespace

class Collector::Impl {
 public:
  Impl(Session session, CollectorOptions options)
      : session_(std::move(session)), options_(std::move(options)), names_(options_.file) {}

  void look() {
    for (const std::string& path : session_.rings()) {
      auto ring = Ring::open(path);
      if (ring) {
        adopt(std::move(*ring));
      } else {
        // Its writer would wait for us forever.
        session_.abandon();
        unlink(path.c_str());
        RecordedRun run;
        run.problem = ring.error().describe();
        failed_.push_back(run);
      }
    }
    forget_the_dead();
  }

  void process_ended(std::uint32_t pid, int status) {
    std::lock_guard lock(mutex_);
    statuses_[pid] = status;
    changed_.notify_all();
  }

  bool busy() {
    forget_the_dead();
    std::lock_guard lock(mutex_);
    return !expected_.empty() ||
           std::any_of(recordings_.begin(), recordings_.end(),
                       [](const auto& recording) { return recording->running(); });
  }

  std::vector<RecordedRun> finish() {
    std::vector<RecordedRun> runs;
    for (auto& recording : recordings_) runs.push_back(recording->result());
    runs.insert(runs.end(), failed_.begin(), failed_.end());
    return runs;
  }

  Session session_;

 private:
  void adopt(Ring ring) {
    if (recordings_.empty()) first_pid_ = ring.header().pid;
    const SvdWireHeader& header = ring.header();
    std::uint32_t pid = header.pid;
    Process process = describe(header);
    std::string file;
    std::uint32_t image = 0;
    {
      std::lock_guard lock(mutex_);
      image = images_[pid]++;
      expected_.erase(pid);
      file = names_.name(pid, image, process.executable);
      auto parent = traces_.find(image > 0 ? pid : process.parent_pid);
      if (parent != traces_.end()) process.parent_trace = parent->second;
      traces_[pid] = file;
    }
    RecordingHooks hooks;
    std::string program = process.executable;
    hooks.child_trace = [this, program](std::uint32_t child) {
      return names_.name(child, 0, program);
    };
    hooks.expect = [this, pid](std::uint32_t child) {
      std::lock_guard lock(mutex_);
      if (child == pid || images_[child] == 0) expected_.insert(child);
    };
    hooks.next_image_trace = [this, pid, image, program] {
      return names_.name(pid, image + 1, program);
    };
    hooks.wait_status = [this, pid] { return wait_status(pid); };
    recordings_.push_back(std::make_unique<Recording>(
        std::move(ring), std::move(process), file,
        RecordingLimits{options_.max_size, options_.min_free}, std::move(hooks)));
  }

  Process describe(const SvdWireHeader& header) const {
    std::string proc = fmt::format("/proc/{}/", header.pid);
    Process process;
    if (recordings_.empty()) {
      process.executable = options_.program;
      process.arguments = options_.arguments;
    } else {
      // The command line is Valgrind's: its own options come first.
      auto words = read_strings(proc + "cmdline");
      auto program = words.begin() + (words.empty() ? 0 : 1);
      while (program != words.end() && program->starts_with("-")) ++program;
      process.arguments.assign(program, words.end());
      if (program != words.end()) process.executable = *program;
    }
    if (options_.environment) process.environment = read_strings(proc + "environ");
    std::error_code ignored;
    process.working_directory = std::filesystem::read_symlink(proc + "cwd", ignored);
    process.engine = "valgrind";
    process.engine_version = std::string(
        header.engine_version, strnlen(header.engine_version, sizeof header.engine_version));
    process.engine_options = options_.engine_options;
    process.start_time_ns = header.start_ns;
    process.pid = header.pid;
    process.parent_pid = header.parent_pid;
    process.keep_newest = options_.keep_newest;
    process.has_values = (header.flags & SVD_WIRE_VALUES) != 0;
    return process;
  }

  std::optional<int> wait_status(std::uint32_t pid) {
    std::unique_lock lock(mutex_);
    // Nobody will tell us of a process that is not our child.
    if (pid != first_pid_) return std::nullopt;
    changed_.wait_for(lock, kStatusWait, [this, pid] { return statuses_.count(pid) != 0; });
    auto found = statuses_.find(pid);
    return found == statuses_.end() ? std::nullopt : std::optional<int>(found->second);
  }

  // Processes that were to make a ring, and have ended instead.
  void forget_the_dead() {
    std::lock_guard lock(mutex_);
    std::erase_if(expected_, [](std::uint32_t pid) {
      return kill(static_cast<pid_t>(pid), 0) != 0 && errno == ESRCH;
    });
  }

  CollectorOptions options_;
  FileNames names_;
  std::vector<std::unique_ptr<Recording>> recordings_;
  std::vector<RecordedRun> failed_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::map<std::uint32_t, int> statuses_;
  std::map<std::uint32_t, std::uint32_t> images_;  // seen, by process
  std::map<std::uint32_t, std::string> traces_;    // the newest one, by process
  std::set<std::uint32_t> expected_;
  std::uint32_t first_pid_ = 0;
};

Result<std::unique_ptr<Collector>> Collector::create(CollectorOptions options) {
  remove_stale_sessions();
  auto session = Session::create();
  if (!session) return session.error();
  return std::unique_ptr<Collector>(
      new Collector(std::make_unique<Impl>(std::move(*session), std::move(options))));
}

Collector::Collector(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Collector::~Collector() = default;
const std::string& Collector::directory() const { return impl_->session_.directory(); }
int Collector::descriptor() const { return impl_->session_.descriptor(); }
void Collector::look() { impl_->look(); }
void Collector::process_ended(std::uint32_t pid, int status) { impl_->process_ended(pid, status); }
bool Collector::busy() const { return impl_->busy(); }
std::vector<RecordedRun> Collector::finish() { return impl_->finish(); }

}  // namespace svd
