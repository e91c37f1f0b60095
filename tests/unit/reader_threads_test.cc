// SPDX-License-Identifier: Apache-2.0
//
// One reader, several threads: const methods may run at once, each thread with its own Chunk, and
// all see the same.

#include <gtest/gtest.h>

#include <filesystem>
#include <thread>
#include <vector>

#include "support/content.h"
#include "support/small_trace.h"
#include "svd/trace/reader.h"

namespace svd::test {
namespace {

TEST(ReaderThreads, SeeTheSame) {
  std::string path = temp_path("threads.fb");
  write_small_trace(path);
  auto reader = TraceReader::open(path);
  ASSERT_TRUE(reader);
  Content expected = read_content(*reader);
  std::vector<Content> seen(4);
  {
    std::vector<std::jthread> threads;
    threads.reserve(seen.size());
    for (Content& content : seen) {
      threads.emplace_back([&content, &reader] {
        for (int round = 0; round < 20; ++round) content = read_content(*reader);
      });
    }
  }
  for (const Content& content : seen) EXPECT_TRUE(content == expected);
  std::filesystem::remove(path);
}

}  // namespace
}  // namespace svd::test
