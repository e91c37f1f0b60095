// SPDX-License-Identifier: Apache-2.0
//
// A trace and its text are one thing in two forms.

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <sstream>

#include "support/random_trace.h"
#include "support/trace_builder.h"
#include "support/trace_difference.h"

namespace svd::test {
namespace {

RC_GTEST_PROP(Text, EveryTraceSurvives, ()) {
  auto seed = *rc::gen::resize(1000, rc::gen::arbitrary<std::uint64_t>());
  auto length = *rc::gen::inRange<std::size_t>(0, 60);
  WriterOptions options;
  options.chunk_steps = *rc::gen::element<std::uint32_t>(1, 7, 1000);
  TempFile original_file;
  TempFile copy_file;
  write_random_trace(into(original_file, options), seed, length);
  TraceReader original = open_trace(original_file);
  std::string text = text_of(original);
  auto copied = assemble(text, "copy", into(copy_file));
  if (!copied) RC_FAIL(copied.error().describe() + "\n" + text);
  TraceReader copy = open_trace(copy_file);
  RC_ASSERT(trace_difference(original, copy) == "");
  RC_ASSERT(text_of(copy) == text);
}

// What a person writes, and what is printed for it.
struct Written {
  const char* text;
  const char* canonical;
};

class TextForms : public testing::TestWithParam<Written> {};

TEST_P(TextForms, Canonical) {
  TempFile file;
  std::string header = "svd-trace 1\n";
  TraceReader trace = assembled(header + GetParam().text, file);
  std::string printed = text_of(trace);
  std::string process = "process engine=text has-values=false\n";
  if (std::string_view(GetParam().text).starts_with("process")) process.clear();
  EXPECT_EQ(printed, header + process + GetParam().canonical);
  TempFile again;
  EXPECT_EQ(text_of(assembled(printed, again)), printed);
}

INSTANTIATE_TEST_SUITE_P(
    Forms, TextForms,
    testing::Values(
        Written{"# nothing but a comment\n", ""},
        Written{"var x 4\nvar y 4 # next\nlock L\nvar z 8 @0x50\n",
                "var x 4\nvar y 4\nlock L\nvar z 8 @0x50\n"},
        Written{"var x 4 @0x100000\n", "var x 4\n"},
        Written{"symbol name=main kind=function address=4096 size=0x10\n",
                "symbol name=main kind=function address=4096 size=16\n"},
        Written{"stmt 1.1 \"if (x)\" at a.c:3 in main by 1.1\n",
                "stmt 1.1 \"if (x)\" at a.c:3 in main by 1.1\n"},
        Written{"stmt $0 label=lock\nT1 $0\n", "stmt $0 label=lock\nT1 $0\n"},
        Written{"stmt $0 label=ok\nT1 $0\n", "stmt ok\nT1 ok\n"},
        Written{"process engine=text\nvar x 4\nstmt 1\nT1 1 r x=-1 w! x[0..1]=0x10 ra "
                "0x5000:8=0x10000\n",
                "process engine=text\nvar x 4\nstmt 1\nT1 1 r x=0xffffffff w! x[0..1]=16 ra "
                "0x5000:8=0x10000\n"},
        Written{
            "var x 100\nstmt 1\nT1 1 r* x rc x[4..7]\nT1 1 (r*) rc x[0..3]\nT1 1 r* 0x5:0 (rc4)\n",
            "var x 100\nstmt 1\nT1 1 r* x rc x[4..7]\nT1 1 (r*) rc x[0..3]\nT1 1 r* 0x5:0 (rc4)\n"},
        Written{"lock L\nT1 create T2\nT1 lock L phase=whole\nT1 unlock L result=-1\nT1 join "
                "T2\nT1 signal 11 fatal=true\n",
                "lock L\nT1 create T2\nT1 lock L\nT1 unlock L result=-1\nT1 join T2\nT1 signal 11 "
                "fatal=true\n"},
        Written{"T1 note \"two words\"\nT1 kernel write 0x10 3 data=0001ff\nT1 end exit 1\n",
                "T1 note \"two words\"\nT1 kernel write 0x10 3 data=0001ff\nT1 end exit 1\n"},
        Written{"T1 transfer read 3 7 0x10 2 name=/tmp/log\nT1 transfer write 3 0 0 9\n",
                "T1 transfer read 3 7 0x10 2 name=/tmp/log\nT1 transfer write 3 0 0x0 9\n"},
        Written{"block here\ninsn 0x1000 90\ninsn 0x1001 8b07 r4 w4@$0+8\nT1 block here 0x50\nT1 "
                "block here [0..0]\n",
                "block 0\ninsn 0x1000 90\ninsn 0x1001 8b07 r4 w4@$0+8\nT1 block 0 0x50\nT1 block 0 "
                "[0..0]\n"},
        Written{"block b\ninsn 0x1000 90 r4 w4@$0-1 r*?\nT1 block b [0..0/1+2] 0x7 -\nT1 block b "
                "0x8 0x9:3\n",
                "block 0\ninsn 0x1000 90 r4 w4@$0-1 r*?\nT1 block 0 [0..0/1+2] 0x7 -\nT1 block 0 "
                "0x8 0x9:3\n"}));

TEST(Text, SelectionIsATraceOfItsOwn) {
  TempFile file;
  TraceReader trace = assembled(
      "svd-trace 1\nvar x 4\nstmt 1\nstmt 2\nblock b\ninsn 0x10 90\nblock c\ninsn 0x20 90\n"
      "T1 1 w x\nT1 block b\nT2 2 r x\nT2 block c\nT1 lock 0x50\n",
      file);
  std::ostringstream out;
  Diagnostics diagnostics;
  TextSelection selection;
  selection.first = Seq(1);
  selection.exec = [](const Exec& exec) { return exec.thread == ThreadId(2); };
  selection.event = [](const Event&) { return false; };
  ASSERT_TRUE(print_text(trace, selection, out, diagnostics));
  std::string tables =
      "svd-trace 1\nprocess engine=text has-values=false\nvar x 4\nstmt 1\nstmt 2\n";
  EXPECT_EQ(out.str(), tables + "T2 2 r x\nblock 1\ninsn 0x20 90\nT2 block 1\n");
  TempFile selected;
  EXPECT_EQ(assembled(out.str(), selected).steps(), 2U);
}

TEST(TraceBuilder, ARaceInTenLines) {
  TraceBuilder t;
  Var x = t.var("x");
  Var m = t.lock("m");
  t.thread(1).exec("1.1", {r(x, 0)});
  t.thread(2).lock(m).exec("2.1", {w(x, 5)}).unlock(m);
  t.thread(1).exec("1.2", {w(x, 1)});
  EXPECT_EQ(text_of(t.finish()),
            "svd-trace 1\nprocess engine=text\nvar x 4\nlock m\nstmt 1.1\nstmt 2.1\nstmt 1.2\n"
            "T1 1.1 r x=0\nT2 lock m\nT2 2.1 w x=5\nT2 unlock m\nT1 1.2 w x=1\n");
}

}  // namespace
}  // namespace svd::test
