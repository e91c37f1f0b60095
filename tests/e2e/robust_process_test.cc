// SPDX-License-Identifier: Apache-2.0
//
// Programs that become several processes or another program, and what --follow makes of it; the
// file itself: its mode, symlinks, what stands in its way.

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <thread>

#include "e2e/record.h"
#include "support/small_trace.h"

namespace svd::test {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

// Waits until `done()`, at most half a minute.
template <class F>
bool eventually(F&& done) {
  for (int i = 0; i < 300; ++i) {
    if (done()) return true;
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
  }
  return false;
}

bool all_sound(const std::vector<std::string>& files) {
  return std::all_of(files.begin(), files.end(),
                     [](const std::string& file) { return unsound(file).empty(); });
}

TEST(Fork, ChildrenRunOnWithoutBeingFollowed) {
  Recording recording(program("fork_many 100"));
  EXPECT_EQ(recording.result().out, "children 100 statuses 1\n") << recording.result().err;
  EXPECT_EQ(recording.files(), std::vector<std::string>{recording.path()});
}

TEST(Fork, EachFollowedChildHasItsOwnTrace) {
  constexpr std::size_t kChildren = 10;
  Recording recording(program("fork_many 10"), {"--follow"});
  EXPECT_EQ(recording.result().out, "children 10 statuses 1\n") << recording.result().err;
  std::vector<std::string> files = recording.files();
  EXPECT_GE(files.size(), kChildren + 1);
  for (const std::string& file : files) EXPECT_EQ(unsound(file), "");
  std::size_t children = 0;
  for (const std::string& file : files) {
    auto trace = TraceReader::open(file);
    ASSERT_TRUE(trace) << trace.error().describe();
    if (trace->process().parent_pid == recording.trace().process().pid) ++children;
  }
  EXPECT_GE(children, kChildren);
}

TEST(Exec, TheNewProgramRunsOn) {
  CommandResult native = run_command(program("exec"));
  Recording recording(program("exec"));
  EXPECT_EQ(recording.result().out, native.out);
  EXPECT_EQ(ending(recording.result()), ending(native)) << recording.result().err;
  EXPECT_EQ(unsound(recording.path()), "");
  EXPECT_EQ(recording.trace().ending().kind, EndKind::kExec);
}

TEST(Exec, EachFollowedImageHasItsOwnTrace) {
  Recording recording(program("exec"), {"--follow"});
  EXPECT_EQ(recording.result().exit_code, 7) << recording.result().err;
  std::vector<std::string> files = recording.files();
  EXPECT_EQ(files.size(), 3U);
  EXPECT_TRUE(all_sound(files));
  EXPECT_EQ(recording.trace().ending().kind, EndKind::kExec);
}

TEST(Daemon, OutlivesItsStarter) {
  for (const std::vector<std::string>& options : {std::vector<std::string>{}, {"--follow"}}) {
    std::string file = temp_path("daemon");
    std::vector<std::string> words = program("daemon");
    words.push_back(file);
    Recording recording(words, options);
    EXPECT_EQ(recording.result().out, "going\n");
    EXPECT_EQ(ending(recording.result()), "exit 0") << recording.result().err;
    EXPECT_TRUE(eventually([&] { return fs::exists(file); }));
    EXPECT_EQ(read_file(file), "the daemon was here\n");
    std::size_t expected = options.empty() ? 1 : 3;
    EXPECT_TRUE(eventually([&] {
      std::vector<std::string> files = recording.files();
      return files.size() >= expected && all_sound(files);
    }));
    fs::remove(file);
  }
}

TEST(File, IsForItsOwnerOnlyAndNoSymlinkIsFollowed) {
  Recording recording(program("nothing"));
  struct stat status {};
  ASSERT_EQ(stat(recording.path().c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 07777U, 0600U);

  std::string victim = temp_path("victim");
  std::string link = temp_path("link.fb");
  write_file(victim, "precious");
  fs::create_symlink(victim, link);
  std::vector<std::string> words{SVD_BIN_DIR "/svd-record", "-o", link, "--"};
  words.push_back(program("nothing")[0]);
  run_command(words);
  EXPECT_EQ(read_file(victim), "precious");
  fs::remove(link);
  fs::remove(victim);
}

TEST(Failure, HasItsOwnExitStatus) {
  auto status = [](std::vector<std::string> words) {
    words.insert(words.begin(), SVD_BIN_DIR "/svd-record");
    return run_command(words).exit_code;
  };
  std::string out = temp_path("none.fb");
  EXPECT_EQ(status({"-o", out, "--", "/nonexistent/program"}), 127);
  EXPECT_EQ(status({"-o", out, "--", "/etc/passwd"}), 126);
  EXPECT_EQ(status({"-o", "/nonexistent/folder/x.fb", "--", program("nothing")[0]}), 125);
  EXPECT_EQ(status({"--no-such-option", "--", program("nothing")[0]}), 2);
  EXPECT_EQ(status({}), 2);
}

// The limit on the size of files stands in for a full disk: the program itself writes none.
TEST(FullDisk, TheProgramGoesOnAndTheTraceSaysThatItsEndIsMissing) {
  std::string path = temp_path("full.fb");
  std::string command = "trap '' XFSZ; ulimit -f 12000; exec " SVD_BIN_DIR "/svd-record -o " +
                        path + " -- " SVD_PROGRAM_DIR "/containers 150";
  CommandResult native = run_command(program("containers 150"));
  CommandResult result = run_command({"/bin/sh", "-c", command});
  EXPECT_EQ(result.out, native.out);
  EXPECT_EQ(ending(result), ending(native)) << result.err;
  EXPECT_THAT(result.err, HasSubstr("File too large"));
  CommandResult verified = run_command({SVD_BIN_DIR "/svd-analyze", "verify", path});
  EXPECT_EQ(verified.exit_code, 4) << verified.out << verified.err;
  auto trace = TraceReader::open(path);
  ASSERT_TRUE(trace) << trace.error().describe();
  EXPECT_FALSE(trace->complete());
  EXPECT_GT(trace->steps(), 0U);
  fs::remove(path);
}

}  // namespace
}  // namespace svd::test
