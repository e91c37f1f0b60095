// SPDX-License-Identifier: Apache-2.0
#include "support/terminal_session.h"

#include <poll.h>
#include <pty.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

#include <array>
#include <thread>

#include "svd/trace/result.h"

namespace svd::test {

TerminalSession::TerminalSession(
    const std::vector<std::string>& words,
    const std::vector<std::pair<std::string, std::string>>& environment) {
  winsize size{.ws_row = 40, .ws_col = 200, .ws_xpixel = 0, .ws_ypixel = 0};
  child_ = forkpty(&terminal_, nullptr, nullptr, &size);
  SVD_CHECK(child_ >= 0);
  if (child_ != 0) return;
  for (const auto& [name, value] : environment) setenv(name.c_str(), value.c_str(), 1);
  std::vector<char*> argv;
  argv.reserve(words.size() + 1);
  for (const std::string& word : words) argv.push_back(const_cast<char*>(word.c_str()));
  argv.push_back(nullptr);
  execv(argv[0], argv.data());
  _exit(127);
}

TerminalSession::~TerminalSession() {
  if (child_ > 0) {
    kill(child_, SIGKILL);
    waitpid(child_, nullptr, 0);
  }
  close(terminal_);
}

void TerminalSession::type(const std::string& keys) {
  SVD_CHECK(write(terminal_, keys.data(), keys.size()) == static_cast<ssize_t>(keys.size()));
}

std::string TerminalSession::until(const std::string& text) {
  auto deadline = std::chrono::steady_clock::now() + kPatience;
  std::size_t at = 0;
  while ((at = shown_.find(text)) == std::string::npos)
    if (!read_more(deadline)) return std::exchange(shown_, "");
  std::string seen = shown_.substr(0, at + text.size());
  shown_.erase(0, at + text.size());
  return seen;
}

std::string TerminalSession::until_prompt(const std::string& prompt) {
  std::string seen = until(prompt);
  auto deadline = std::chrono::steady_clock::now() + kPatience;
  termios mode{};
  while (tcgetattr(terminal_, &mode) == 0 && (mode.c_lflag & ICANON) != 0 &&
         std::chrono::steady_clock::now() < deadline)
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  return seen;
}

int TerminalSession::finish() {
  auto deadline = std::chrono::steady_clock::now() + kPatience;
  while (read_more(deadline)) {
  }
  if (std::chrono::steady_clock::now() > deadline) return -1;
  int status = 0;
  waitpid(std::exchange(child_, -1), &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

// False at the end, or when it takes too long.
bool TerminalSession::read_more(std::chrono::steady_clock::time_point deadline) {
  pollfd end{terminal_, POLLIN, 0};
  auto left = std::chrono::duration_cast<std::chrono::milliseconds>(
      deadline - std::chrono::steady_clock::now());
  if (left.count() <= 0 || poll(&end, 1, static_cast<int>(left.count())) <= 0) return false;
  std::array<char, 4096> buffer;
  ssize_t count = read(terminal_, buffer.data(), buffer.size());
  if (count <= 0) return false;  // closed: a terminal says so by an error
  shown_.append(buffer.data(), static_cast<std::size_t>(count));
  return true;
}

}  // namespace svd::test
