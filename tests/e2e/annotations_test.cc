// SPDX-License-Identifier: Apache-2.0
//
// svd-analyze --annotations on recorded programs that synchronise by plain memory: what is said to
// be atomic does not race and orders what it publishes, and nothing else is hidden.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "e2e/record.h"
#include "support/small_trace.h"

namespace svd::test {
namespace {

using nlohmann::json;
using testing::AllOf;
using testing::Each;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::SizeIs;

class Annotated {
 public:
  explicit Annotated(const std::string& command) : recording_(program(command), {"--chaos=3"}) {
    EXPECT_EQ(recording_.result().exit_code, 0) << recording_.result().err;
  }

  CommandResult analyze(const std::string& rules, std::vector<std::string> options) const {
    std::string file = temp_path("annotations");
    write_file(file, rules);
    std::vector<std::string> words{SVD_BIN_DIR "/svd-analyze", "--annotations", file};
    words.insert(words.end(), options.begin(), options.end());
    words.push_back(recording_.path());
    return run_command(words);
  }
  json report(const std::string& rules, const std::string& detectors = "race-hb") const {
    return json::parse(analyze(rules, {"--format=json", "--detectors=" + detectors}).out);
  }
  // Of what races.
  std::vector<std::string> variables(const std::string& rules) const {
    std::vector<std::string> names;
    json findings = report(rules)["findings"];
    for (const json& finding : findings) names.push_back(finding["variable"].get<std::string>());
    return names;
  }

 private:
  Recording recording_;
};

TEST(Annotations, OfAStaticVariableOrWhatAPointerLeadsTo) {
  for (const auto& [where, rule] : {std::pair("static", "box.ready"),
                                    {"static", "*ready"},
                                    {"heap", "mail->ready"},
                                    {"heap", "*->ready"}}) {
    Annotated run("hand_over " + std::string(where));
    EXPECT_THAT(run.variables(""), SizeIs(2)) << where;
    EXPECT_THAT(run.variables("atomic variable " + std::string(rule)), IsEmpty()) << rule;
    EXPECT_THAT(run.variables("atomic code hand_over deliver"), IsEmpty());
    EXPECT_THAT(run.variables("atomic variable parcel"), SizeIs(2));
  }
}

// The flag is as it was said to be; what is written after it is not published by it.
TEST(Annotations, HideNothingElse) {
  for (const char* where : {"static", "heap"}) {
    Annotated run("hand_over " + std::string(where) + " late");
    std::vector<std::string> raced =
        run.variables("atomic variable box.ready\natomic variable mail->ready\n");
    EXPECT_THAT(raced, AllOf(SizeIs(1), Each(HasSubstr("parcel")))) << where;
  }
}

TEST(Annotations, HoldForAllDetectors) {
  Annotated run("hand_over static");
  std::string rule = "atomic variable box.ready";
  EXPECT_THAT(run.report("", "default")["findings"], Not(IsEmpty()));
  EXPECT_THAT(run.report(rule, "default")["findings"], IsEmpty());
  for (const char* detector : {"race-frontier", "race-hybrid", "race-harmless"})
    EXPECT_THAT(run.report(rule, detector)["findings"], IsEmpty()) << detector;
}

TEST(Annotations, AreCounted) {
  Annotated run("hand_over static");
  std::string rules = "# ours\natomic variable box.ready\natomic variable bax  # wrong\n";
  EXPECT_EQ(run.report(rules)["annotations"],
            json::parse(R"([{"rule": "atomic variable box.ready", "uses": 1},
                            {"rule": "atomic variable bax", "uses": 0}])"));
  EXPECT_THAT(run.analyze(rules, {}).out,
              AllOf(HasSubstr("annotated 1: atomic variable box.ready\n"),
                    HasSubstr("info: unused-annotations: nothing in this run is meant by atomic "
                              "variable bax (did you mean 'box'?)")));
}

}  // namespace
}  // namespace svd::test
