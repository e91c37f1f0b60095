// SPDX-License-Identifier: Apache-2.0
//
// The handler may use async-signal-safe functions only, so the sentence is made before.

#include "analyze/truncation_guard.h"

#include <fmt/format.h>
#include <signal.h>
#include <unistd.h>

#include "common/exit_codes.h"
#include "common/terminal.h"

namespace svd::cli {
namespace {

std::string& sentence() {
  static std::string text;
  return text;
}

void on_bus_error(int, siginfo_t* info, void*) {
  // Any other bus error is a bug of ours: the access is repeated, and the default action ends us.
  if (info->si_code != BUS_ADRERR) return;
  [[maybe_unused]] auto written = write(STDERR_FILENO, sentence().data(), sentence().size());
  _exit(kUnreadable);
}

}  // namespace

void guard_against_truncation(const std::string& path) {
  sentence() =
      fmt::format("svd-analyze: {}: the file was truncated while it was read\n", printable(path));
  struct sigaction action {};
  action.sa_sigaction = on_bus_error;
  action.sa_flags = static_cast<int>(SA_SIGINFO | SA_RESETHAND);
  sigaction(SIGBUS, &action, nullptr);
}

}  // namespace svd::cli
