// SPDX-License-Identifier: Apache-2.0
//
// Happens-before races and conflict serializability of 240 logs, exactly as another tool and a
// brute-force computation say.

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "support/detector_run.h"
#include "support/small_trace.h"
#include "svd/trace/std_log.h"

namespace svd::test {
namespace {

TEST(DetectorOracle, SameVerdicts) {
  std::ifstream file(SVD_STD_ORACLE "/verdicts.json");
  nlohmann::json verdicts = nlohmann::json::parse(file);
  std::size_t cases = 0;
  for (const auto& [name, verdict] : verdicts.items()) {
    TempFile trace;
    ASSERT_TRUE(
        import_std(read_file(std::string(SVD_STD_ORACLE "/cases/") + name), name, into(trace)));
    DetectorRun run(open_trace(trace));
    std::vector<std::uint64_t> raced;
    for (Seq seq : run.raced()) raced.push_back(seq.value + 1);
    EXPECT_EQ(nlohmann::json(raced), verdict.at("hb_race_at")) << name;
    EXPECT_EQ(nlohmann::json(run.serializable()), verdict.at("conflict_serializable")) << name;
    ++cases;
  }
  EXPECT_EQ(cases, 240U);
}

}  // namespace
}  // namespace svd::test
