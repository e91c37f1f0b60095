// SPDX-License-Identifier: Apache-2.0
//
// A writer that is killed, or whose disk is full: what it had flushed is in the file, and the
// reader says that the end is missing.

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <random>
#include <thread>

#include "support/content.h"
#include "support/small_trace.h"
#include "svd/trace/reader.h"
#include "svd/trace/writer.h"

namespace svd::test {
namespace {

// An endless run: each execution is two steps, one load each.
class Endless {
 public:
  explicit Endless(const std::string& path) : writer_(open(path)) {
    Block block;
    block.instructions = {{Pc(0x1000), 4}, {Pc(0x1004), 4}};
    block.code.assign(8, 0x90);
    block.slots = {Slot{.size = 8}, Slot{.instruction = 1, .size = 8, .write = true}};
    block_ = writer_->add(block);
    writer_->run(ThreadId(1));
  }

  void step() {
    const std::uint64_t logged[] = {random_(), random_()};
    const std::uint64_t values[] = {random_(), random_()};
    writer_->exec(block_, logged, values);
  }
  TraceWriter& writer() { return *writer_; }

 private:
  static std::unique_ptr<TraceWriter> open(const std::string& path) {
    auto writer = TraceWriter::create(path, Process{}, WriterOptions{.chunk_steps = 10'000});
    SVD_CHECK(writer);
    return std::move(*writer);
  }

  std::unique_ptr<TraceWriter> writer_;
  BlockId block_;
  std::mt19937_64 random_{7};
};

TEST(Killed, WhatWasFlushedIsThere) {
  auto* flushed = static_cast<std::atomic<std::uint64_t>*>(
      mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0));
  std::mt19937 random(42);
  std::string path = temp_path("killed.fb");
  std::uint64_t most = 0;
  for (int round = 0; round < 200; ++round) {
    flushed->store(0);
    pid_t child = fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
      Endless run(path);
      for (std::uint64_t i = 1;; ++i) {
        run.step();
        if (i % 1000 == 0 && run.writer().flush()) flushed->store(run.writer().now().value);
      }
    }
    while (flushed->load() == 0) std::this_thread::yield();
    std::this_thread::sleep_for(std::chrono::microseconds(random() % 10'000));
    kill(child, SIGKILL);
    waitpid(child, nullptr, 0);
    std::uint64_t promised = flushed->load();
    auto reader = TraceReader::open(path);
    ASSERT_TRUE(reader) << reader.error().describe();
    Content content = read_content(*reader);
    ASSERT_GE(reader->steps(), promised) << "round " << round;
    ASSERT_FALSE(reader->complete());
    ASSERT_EQ(content.diagnostics.list().back().name, "missing-end");
    most = std::max(most, promised);
  }
  EXPECT_GT(most, 10'000U) << "the writer never got far: the test proves little";
  munmap(flushed, 4096);
  std::filesystem::remove(path);
}

TEST(StillWritten, TheReadablePartIsShownAndSaidToGrow) {
  std::string path = temp_path("growing.fb");
  Endless run(path);
  for (int i = 0; i < 1000; ++i) run.step();
  ASSERT_TRUE(run.writer().flush());
  auto reader = TraceReader::open(path);
  ASSERT_TRUE(reader) << reader.error().describe();
  EXPECT_EQ(reader->steps(), 2000U);
  EXPECT_FALSE(reader->complete());
  EXPECT_EQ(reader->diagnostics().list().front().name, "still-written");
  std::filesystem::remove(path);
}

TEST(FullDisk, IsOneErrorThatSticks) {
  Endless run("/dev/full");
  for (int i = 0; i < 100; ++i) run.step();
  Status first = run.writer().flush();
  ASSERT_FALSE(first);
  EXPECT_NE(first.error().what.find("No space left"), std::string::npos) << first.error().what;
  Status last = run.writer().finish();
  ASSERT_FALSE(last);
  EXPECT_EQ(last.error().describe(), first.error().describe());
}

TEST(FullDisk, KeepsWhatWasWrittenBefore) {
  std::string path = temp_path("full.fb");
  pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    std::signal(SIGXFSZ, SIG_IGN);
    rlimit limit{300'000, 300'000};
    setrlimit(RLIMIT_FSIZE, &limit);
    Endless run(path);
    for (int i = 0; i < 100'000; ++i) run.step();
    _exit(run.writer().finish() ? 1 : 0);
  }
  int status = 0;
  waitpid(child, &status, 0);
  EXPECT_EQ(status, 0) << "the writer did not notice";
  auto reader = TraceReader::open(path);
  ASSERT_TRUE(reader) << reader.error().describe();
  EXPECT_GT(reader->steps(), 5'000U);
  Content content = read_content(*reader);
  ASSERT_EQ(content.diagnostics.list().size(), 1U);
  EXPECT_EQ(content.diagnostics.list().front().name, "missing-end");
  std::filesystem::remove(path);
}

TEST(Output, IsPrivateAndNotThroughLinks) {
  std::string path = temp_path("private.fb");
  { Endless run(path); }
  struct stat status {};
  ASSERT_EQ(stat(path.c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777U, 0600U);
  std::string link = temp_path("link.fb");
  std::filesystem::create_symlink(path, link);
  EXPECT_FALSE(TraceWriter::create(link, Process{}));
  EXPECT_FALSE(TraceWriter::create("/", Process{}));
  EXPECT_FALSE(TraceWriter::create("/nonexistent/x.fb", Process{}));
  Endless first(path);
  auto second = TraceWriter::create(path, Process{});
  ASSERT_FALSE(second);
  EXPECT_NE(second.error().what.find("another process"), std::string::npos);
  std::filesystem::remove(link);
  std::filesystem::remove(path);
}

}  // namespace
}  // namespace svd::test
