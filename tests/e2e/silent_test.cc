// SPDX-License-Identifier: Apache-2.0
//
// Correct programs in which nothing races, for which svd-analyze must not find a race: each as it
// mostly is, and linked statically, where the C and C++ libraries are part of the program and the
// ends of some of its waits are not told.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "e2e/record.h"

namespace svd::test {
namespace {

class Silent : public testing::TestWithParam<std::string> {};

TEST_P(Silent, NoRaceIsFound) {
  for (const char* kind : {"", "-static"}) {
    Recording recording(program(GetParam() + kind), {"--chaos=3"});
    ASSERT_EQ(recording.result().exit_code, 0) << recording.result().err;
    CommandResult report =
        run_command({SVD_BIN_DIR "/svd-analyze", "--detectors=race-hb", recording.path()});
    EXPECT_EQ(report.exit_code, 0) << report.err;
    EXPECT_THAT(report.out, testing::HasSubstr("no finding (race-hb)"));
  }
}

INSTANTIATE_TEST_SUITE_P(Programs, Silent,
                         testing::Values("atomics", "bank", "conditions", "containers",
                                         "exceptions", "heap", "mutexes", "rwlocks", "semaphores",
                                         "work_queue"));

// What has no debug information is not taken for the program's own, but the program's is.
TEST(StaticProgram, ItsOwnRaceIsFound) {
  Recording recording(program("lost_update-static split"), {"--chaos=3"});
  CommandResult report =
      run_command({SVD_BIN_DIR "/svd-analyze", "--detectors=race-hb", recording.path()});
  EXPECT_THAT(report.out, testing::HasSubstr("lost_update.c"));
  EXPECT_THAT(report.out, testing::HasSubstr("1 finding (race-hb)"));
}

}  // namespace
}  // namespace svd::test
