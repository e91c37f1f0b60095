// SPDX-License-Identifier: Apache-2.0
//
// fork and exec with pipes, or with a pseudo-terminal in their place.

#include "support/run_command.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>

#include "svd/trace/result.h"

namespace svd::test {
namespace {

struct Channel {
  int ours = -1;
  int theirs = -1;
};

Channel make_pipe(bool we_read) {
  std::array<int, 2> ends;
  SVD_CHECK(pipe2(ends.data(), O_CLOEXEC) == 0);
  return we_read ? Channel{ends[0], ends[1]} : Channel{ends[1], ends[0]};
}

Channel make_terminal() {
  int ours = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
  SVD_CHECK(ours >= 0 && grantpt(ours) == 0 && unlockpt(ours) == 0);
  return {ours, open(ptsname(ours), O_RDWR | O_NOCTTY | O_CLOEXEC)};
}

[[noreturn]] void become(const std::vector<std::string>& words, const CommandOptions& options,
                         int in, int out, int err) {
  dup2(in, STDIN_FILENO);
  dup2(out, STDOUT_FILENO);
  dup2(err, STDERR_FILENO);
  for (const auto& [name, value] : options.environment) setenv(name.c_str(), value.c_str(), 1);
  std::vector<char*> argv;
  argv.reserve(words.size() + 1);
  for (const std::string& word : words) argv.push_back(const_cast<char*>(word.c_str()));
  argv.push_back(nullptr);
  execv(argv[0], argv.data());
  _exit(127);
}

// Reads until both ends are closed; false when that takes too long.
bool collect(int out, int err, std::chrono::seconds patience, CommandResult& result) {
  auto deadline = std::chrono::steady_clock::now() + patience;
  std::array<pollfd, 2> ends{pollfd{out, POLLIN, 0}, pollfd{err, POLLIN, 0}};
  std::array<std::string*, 2> texts{&result.out, &result.err};
  while (ends[0].fd >= 0 || ends[1].fd >= 0) {
    if (std::chrono::steady_clock::now() > deadline) return false;
    poll(ends.data(), ends.size(), 1000);
    for (std::size_t i = 0; i < ends.size(); ++i) {
      if (ends[i].fd < 0 || ends[i].revents == 0) continue;
      std::array<char, 4096> buffer;
      ssize_t count = read(ends[i].fd, buffer.data(), buffer.size());
      if (count > 0) {
        texts[i]->append(buffer.data(), static_cast<std::size_t>(count));
      } else {
        ends[i].fd = -1;  // closed; a terminal says so by an error
      }
    }
  }
  return true;
}

}  // namespace

CommandResult run_command(const std::vector<std::string>& words, const CommandOptions& options) {
  Channel in = make_pipe(false);
  Channel out = options.terminal ? make_terminal() : make_pipe(true);
  Channel err = options.terminal ? Channel{-1, out.theirs} : make_pipe(true);
  int file =
      options.stdout_path.empty() ? -1 : open(options.stdout_path.c_str(), O_WRONLY | O_CLOEXEC);
  pid_t child = fork();
  SVD_CHECK(child >= 0);
  if (child == 0) become(words, options, in.theirs, file >= 0 ? file : out.theirs, err.theirs);
  close(in.theirs);
  close(out.theirs);
  if (!options.terminal) close(err.theirs);
  if (file >= 0) close(file);
  // Inputs of tests fit a pipe's buffer.
  ssize_t given = write(in.ours, options.input.data(), options.input.size());
  SVD_CHECK(given == static_cast<ssize_t>(options.input.size()));
  close(in.ours);

  CommandResult result;
  bool ended = collect(out.ours, err.ours, options.patience, result);
  if (!ended) kill(child, SIGKILL);
  int status = 0;
  waitpid(child, &status, 0);
  close(out.ours);
  if (err.ours >= 0) close(err.ours);
  if (ended && WIFEXITED(status)) result.exit_code = WEXITSTATUS(status);
  if (WIFSIGNALED(status)) result.signal = WTERMSIG(status);
  return result;
}

}  // namespace svd::test
