// SPDX-License-Identifier: Apache-2.0
//
// What is wrong in a textual trace is said with its line, what was expected, and the nearest name.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "support/random_trace.h"
#include "support/trace_builder.h"
#include "svd/trace/nearest.h"

namespace svd::test {
namespace {

using testing::HasSubstr;

struct Wrong {
  const char* text;
  std::uint64_t line;
  const char* sentence;  // part of it
};

class TextErrors : public testing::TestWithParam<Wrong> {};

TEST_P(TextErrors, AreSaid) {
  TempFile file;
  auto status = assemble(GetParam().text, "case", into(file));
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().kind, ErrorKind::kText);
  EXPECT_EQ(status.error().file, "case");
  EXPECT_EQ(status.error().offset, GetParam().line);
  EXPECT_THAT(status.error().what, HasSubstr(GetParam().sentence));
}

INSTANTIATE_TEST_SUITE_P(
    Errors, TextErrors,
    testing::Values(
        Wrong{"", 1, "expected 'svd-trace 1' in the first line"},
        Wrong{"#!/bin/sh\necho", 2, "expected 'svd-trace 1' instead of 'echo'"},
        Wrong{"svd-trace 2", 1, "only 1 is known"},
        Wrong{"svd-trace 1\nvar x 4\nprocess engine=text", 3, "before all others"},
        Wrong{"svd-trace 1\nprocess engin=text", 2, "did you mean 'engine'?"},
        Wrong{"svd-trace 1\nvarr x 4", 2, "did you mean 'var'?"},
        Wrong{"svd-trace 1\nvar x", 2, "expected the variable's size at the end of the line"},
        Wrong{"svd-trace 1\nvar x 4\nvar x 4", 3, "declared already"},
        Wrong{"svd-trace 1\nvar x 4 0x1000", 2, "expected @ADDRESS instead of '0x1000'"},
        Wrong{"svd-trace 1\nvar x 18446744073709551616", 2, "too large"},
        Wrong{"svd-trace 1\nstmt 1\n\nstmt 1", 4, "there is a statement 1 already"},
        Wrong{"svd-trace 1\nstmt lock", 2, "write $0 label=lock"},
        Wrong{"svd-trace 1\nstmt 1 at a.c", 2, "expected FILE:LINE"},
        Wrong{"svd-trace 1\nstmt 1 at \"a:b\"", 2, "expected"},
        Wrong{"svd-trace 1\nstmt 1 by 2", 2, "no statement is called '2'"},
        Wrong{"svd-trace 1\nstmt 1 \"open", 2, "closing"},
        Wrong{"svd-trace 1\nT1 3.05", 2, "no statement or event is called '3.05'"},
        Wrong{"svd-trace 1\nT1 unlok 0x5", 2, "did you mean 'unlock'?"},
        Wrong{"svd-trace 1\nT1 1\nstmt 1", 2, "move its stmt line up"},
        Wrong{"svd-trace 1\nvar outcnt 4\nstmt 1\nT1 1 r outcmt", 4, "did you mean 'outcnt'?"},
        Wrong{"svd-trace 1\nvar x 4\nstmt 1\nT1 1 r x=5", 4, "this trace has none"},
        Wrong{"svd-trace 1\nprocess engine=text\nvar x 4\nstmt 1\nT1 1 r x", 5, "expected x=VALUE"},
        Wrong{"svd-trace 1\nprocess engine=text\nvar x 1\nstmt 1\nT1 1 r x=256", 5,
              "does not fit 1 bytes"},
        Wrong{"svd-trace 1\nvar x 4\nstmt 1\nT1 1 r x[2..4]", 4,
              "bytes 2..4 are not inside x, which has 4"},
        Wrong{"svd-trace 1\nstmt 1\nT1 1 r 0x50", 3, "a place with a size, such as 0x50:4"},
        Wrong{"svd-trace 1\nstmt 1\nT1 1 q 0x50:4", 3, "expected r or w"},
        Wrong{"svd-trace 1\nstmt 1\nT1 1 r 0x50:4 (w4) r 0x60:4", 3, "must stand together"},
        Wrong{"svd-trace 1\nstmt 1\nT1 1 (r4)", 3, "expected |"},
        Wrong{"svd-trace 1\ninsn 0x10 90", 2, "only after a block line"},
        Wrong{"svd-trace 1\nblock 1\ninsn 0x10 9\n", 3, "two lower-case hexadecimal digits a byte"},
        Wrong{"svd-trace 1\nblock 1\nvar x 4\n", 3, "neither instructions nor statements"},
        Wrong{"svd-trace 1\nblock 1\ninsn 0x10 90 r4@$0\nT1 block 1", 4, "slot 0"},
        Wrong{"svd-trace 1\nblock 1\ninsn 0x10 90 r4\nT1 block 1", 4, "what is stored of slot 0"},
        Wrong{"svd-trace 1\nblock 1\ninsn 0x10 90 r4\nT1 block 1 -", 4, "not optional"},
        Wrong{"svd-trace 1\nblock 1\ninsn 0x10 90\nT1 block 1 [0..1]", 4,
              "the block has instructions 0..0"},
        Wrong{"svd-trace 1\nT1 lock 0x5 phase=begn", 2, "did you mean 'begin'?"},
        Wrong{"svd-trace 1\nT1 lock 0x5 object=0x6", 2, "object is given twice"},
        Wrong{"svd-trace 1\nT1 thread-exit now=true", 2, "expected the end of the line"},
        Wrong{"svd-trace 1\nT99999999999 note x", 2, "too large"},
        Wrong{"svd-trace 1\nT1 create 3", 2, "expected a thread such as T1"}));

// No text stops or confuses the parser: it is a trace or it is refused.
RC_GTEST_PROP(Text, SurvivesGarbage, ()) {
  auto seed = *rc::gen::resize(1000, rc::gen::arbitrary<std::uint64_t>());
  TempFile file;
  write_random_trace(into(file), seed, 10);
  std::string text = text_of(open_trace(file));
  for (int i = *rc::gen::inRange(1, 4); i > 0; --i) {
    auto at = *rc::gen::inRange<std::size_t>(0, text.size());
    auto count = *rc::gen::inRange<std::size_t>(0, 5);
    text.replace(at, count,
                 *rc::gen::element<std::string>("", " ", "\"", "\\", "=", "@", "$", "[", "..", "-",
                                                "0x", "\n", ")"));
  }
  TempFile garbage;
  auto status = assemble(text, "garbage", into(garbage));
  if (!status) RC_ASSERT(status.error().kind == ErrorKind::kText);
}

TEST(Nearest, FindsMisspellings) {
  const std::vector<std::string_view> words = {"lock", "unlock", "signal", "x"};
  EXPECT_EQ(nearest("unlok", words), "unlock");
  EXPECT_EQ(nearest("singal", words), "signal");
  EXPECT_EQ(nearest("lock", words), "lock");
  EXPECT_EQ(nearest("y", words), "");
  EXPECT_EQ(nearest("barrier", words), "");
  EXPECT_EQ(did_you_mean("lokc", words), " (did you mean 'lock'?)");
}

}  // namespace
}  // namespace svd::test
