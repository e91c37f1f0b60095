// SPDX-License-Identifier: Apache-2.0
//
// Sessions of recorders that start and end beside each other: none takes another's for stale.

#include "session.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <vector>

#include "svd/collector/collector.h"
#include "svd/wire/ring.h"

namespace svd::test {
namespace {

constexpr int kRecorders = 4;
constexpr int kSessions = 300;

// How many of its sessions were gone while it had them; at most what an exit status can tell.
int lost_sessions() {
  int lost = 0;
  for (int i = 0; i < kSessions; ++i) {
    remove_stale_sessions();
    auto session = Session::create();
    if (!session || !std::filesystem::exists(session->directory() + "/" SVD_WIRE_SESSION_FILE))
      ++lost;
  }
  return std::min(lost, 100);
}

TEST(Session, IsNotStaleToOthersFromItsFirstMoment) {
  std::vector<pid_t> children;
  for (int i = 0; i < kRecorders; ++i) {
    pid_t child = fork();
    ASSERT_GE(child, 0);
    if (child == 0) _exit(lost_sessions());
    children.push_back(child);
  }
  for (pid_t child : children) {
    int status = 0;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    EXPECT_EQ(status, 0);
  }
}

}  // namespace
}  // namespace svd::test
