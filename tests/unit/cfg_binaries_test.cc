// SPDX-License-Identifier: Apache-2.0
//
// Whole system binaries: the post-dominators of every function are those that Boost finds, and what
// the decoder of analyzer/cfg says of every instruction is what Decoder says.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <vector>

#include "cfg_binary.h"
#include "cfg_lengauer_tarjan.h"
#include "decode/decoder.h"

namespace svd::test {
namespace {

// Libraries, and the first two servers that are installed.
std::vector<std::string> binaries() {
  std::vector<std::string> found;
  for (const char* library : {"libc.so.6", "libm.so.6", "libstdc++.so.6"})
    found.push_back(std::string("/usr/lib/x86_64-linux-gnu/") + library);
  for (const char* server : {"/usr/sbin/mariadbd", "/usr/sbin/nginx", "/usr/sbin/apache2",
                             "/usr/bin/redis-server", "/usr/bin/memcached"}) {
    if (found.size() < 5 && std::filesystem::exists(server)) found.emplace_back(server);
  }
  return found;
}

class Binary : public ::testing::TestWithParam<std::string> {
 protected:
  CodeOfFile code_{GetParam()};
};

TEST_P(Binary, PostDominatorsAreBoosts) {
  std::size_t blocks = 0;
  for (std::uint32_t f = 0; f < code_.functions(); ++f) {
    FlowGraph flow = code_.graphs().with_exits(f);
    blocks += flow.blocks.size();
    ASSERT_EQ(post_dominators(flow.graph), boost_post_dominators(flow.graph))
        << fmt::format("function at {:#x}", flow.blocks.front().begin);
  }
  EXPECT_GT(code_.functions(), 100U);
  EXPECT_GT(blocks, 1000U);
}

TEST_P(Binary, EveryBlockIsInOneFunctionAndEndsWhereItsFlowDoes) {
  for (std::uint32_t f = 0; f < code_.functions(); ++f) {
    FlowGraph flow = code_.graphs().of(f);
    for (std::uint32_t v = 0; v < flow.blocks.size(); ++v) {
      const BasicBlock& block = flow.blocks[v];
      ASSERT_EQ(code_.discovery().piece(block.begin)->function, f);
      ASSERT_LE(block.begin, block.last);
      ASSERT_GE(flow.graph.of(v).size(), block.branch ? 2U : 1U);
    }
  }
}

// Those that Decoder knows.
TEST_P(Binary, LengthsAndFlowAreDecoders) {
  Decoder decoder;
  std::size_t compared = 0;
  std::size_t unknown = 0;
  for (const CodeRegion& region : code_.map().regions()) {
    for (Address at = region.code.begin; at < region.code.end(); ++at) {
      if ((region.mark(at) & kLengthMask) == 0) continue;
      InstrEffects effects =
          decoder.decode(region.code.bytes.subspan(at - region.code.begin), Pc(at));
      if (!effects.known) {
        ++unknown;
        continue;
      }
      CodeStep step = region.step(at);
      ++compared;
      ASSERT_EQ(step.length, effects.length) << fmt::format("at {:#x}", at);
      ASSERT_EQ(step.flow, effects.flow) << fmt::format("at {:#x}", at);
      ASSERT_EQ(step.target, effects.target.value) << fmt::format("at {:#x}", at);
    }
  }
  EXPECT_GT(compared, 1000U);
  EXPECT_LT(unknown, compared / 100);
}

INSTANTIATE_TEST_SUITE_P(Installed, Binary, ::testing::ValuesIn(binaries()),
                         [](const auto& binary) {
                           std::string name = std::filesystem::path(binary.param).stem().stem();
                           std::erase_if(name, [](char c) {
                             return std::isalnum(static_cast<unsigned char>(c)) == 0;
                           });
                           return name;
                         });

}  // namespace
}  // namespace svd::test
