// SPDX-License-Identifier: Apache-2.0
//
// What is no trace, or not all of one: a clear sentence and exit code 3, or the readable part and
// exit code 4. Never a hang.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <regex>
#include <set>

#include "e2e/analyze.h"
#include "support/small_trace.h"

namespace svd::test {
namespace {

using testing::HasSubstr;

TEST(BadInput, WhatIsNoTraceIsExitCode3) {
  std::string empty = temp_path("empty.fb");
  std::string garbage = temp_path("garbage.fb");
  std::string version = temp_path("version.fb");
  std::string fifo = temp_path("fifo.fb");
  write_file(empty, "");
  write_file(garbage, std::string(100'000, 'x'));
  std::string bytes = read_file(race_trace());
  bytes.resize(40);
  write_file(version, bytes);
  unlink(fifo.c_str());
  ASSERT_EQ(mkfifo(fifo.c_str(), 0600), 0);
  for (const std::string& path : {std::string("/"), std::string("/no/such/file"),
                                  std::string("/dev/null"), empty, garbage, version, fifo}) {
    for (const char* verb : {"info", "dump", "verify"}) {
      CommandResult result = analyze({verb, path});
      EXPECT_EQ(result.exit_code, 3) << path;
      EXPECT_EQ(result.out, "") << path;
      EXPECT_THAT(result.err, HasSubstr(path));
      EXPECT_EQ(count_lines(result.err), 1U) << result.err;
    }
  }
  unlink(fifo.c_str());
}

TEST(BadInput, WhatTheKernelCannotHaveAccessedIsToldAsALoss) {
  std::string text = temp_path("huge.txt"), path = temp_path("huge.fb");
  write_file(text,
             "svd-trace 1\nvar x 4\nstmt W \"x = …\"\nstmt S \"write(1, …)\"\nT1 W w x\nT1 S\n"
             "T1 syscall 1\nT1 kernel read 0x1000 1152921504606846976\n");
  ASSERT_EQ(analyze({"assemble", text, "-o", path}).exit_code, 0);
  for (const std::vector<std::string>& words :
       std::vector<std::vector<std::string>>{{"analyze", path},
                                             {"slice", path, "seq:1"},
                                             {"reduce", path, "seq:1", "-o", path + ".reduced"},
                                             {"graph", path},
                                             {"cus", path},
                                             {"verify", path}}) {
    CommandResult result = analyze(words);
    EXPECT_EQ(result.exit_code, 4) << words.front();
    EXPECT_THAT(result.out + result.err, HasSubstr("more memory than a program can have"));
  }
  for (const std::string& file : {text, path, path + ".reduced"}) std::filesystem::remove(file);
}

// Memory that a program can have, but no machine that looks at its trace: all there is may be
// taken, then there is a sentence. No verb hangs over it.
TEST(BadInput, WhatNoMachineHasMemoryForIsTold) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "a sanitizer reserves more than the limit";
#endif
  std::string text = temp_path("large.txt"), path = temp_path("large.fb");
  write_file(text,
             "svd-trace 1\nvar x 4\nstmt W \"x = …\"\nstmt S \"read(0, …)\"\nT1 W w x\nT2 W w x\n"
             "T1 S\nT1 syscall 0\nT1 kernel write 0x100000000 70368744177664\n"
             "T2 S\nT2 syscall 1\nT2 kernel read 0x100000000 70368744177664\nT1 W w x\n");
  ASSERT_EQ(analyze({"assemble", text, "-o", path}).exit_code, 0);
  auto with_little = [&](const std::string& words) {
    return run_command(
        {"/bin/sh", "-c", "ulimit -d 300000; exec " SVD_BIN_DIR "/svd-analyze " + words});
  };
  for (const char* words : {"analyze ", "analyze --detectors=all ", "graph ", "cus "}) {
    CommandResult result = with_little(words + path);
    EXPECT_EQ(result.exit_code, 3) << words;
    EXPECT_THAT(result.err, HasSubstr("not enough memory for this trace")) << words;
  }
  for (const std::string& words :
       {"slice " + path + " seq:4", "reduce " + path + " seq:4 -o " + path + ".reduced",
        "info " + path, "dump " + path, "verify " + path}) {
    CommandResult result = with_little(words);
    EXPECT_EQ(result.exit_code, 0) << words << result.err;
  }
  for (const std::string& file : {text, path, path + ".reduced"}) std::filesystem::remove(file);
}

TEST(BadInput, MemoryIsBoundedByWhatTheMachineHas) {
  CommandResult result = run_command({"/bin/sh", "-c",
                                      "d=$(mktemp -d) && mkfifo $d/in && { " SVD_BIN_DIR
                                      "/svd-analyze assemble - -o $d/out <$d/in & }\n"
                                      "exec 3>$d/in; limits=/proc/$!/limits\n"
                                      "for i in $(seq 100); do grep -q 'Max data size *unlimited' "
                                      "$limits || break; sleep 0.1; done\n"
                                      "grep 'Max data size' $limits; exec 3>&-; wait; rm -r $d"});
  EXPECT_EQ(count_lines(result.out), 1U) << result.err;
  EXPECT_THAT(result.out, testing::Not(testing::ContainsRegex("size *unlimited")));
}

TEST(BadInput, TextThatIsNoneIsExitCode3AndLeavesNoFile) {
  std::string fifo = temp_path("fifo.txt");
  std::string out = temp_path("none.fb");
  unlink(fifo.c_str());
  ASSERT_EQ(mkfifo(fifo.c_str(), 0600), 0);
  for (const std::string& path :
       {std::string("/"), std::string("/no/such/file"), fifo, example_trace()}) {
    EXPECT_EQ(analyze({"assemble", path, "-o", out}).exit_code, 3) << path;
    EXPECT_FALSE(std::filesystem::exists(out)) << path;
  }
  for (const std::string& path :
       {std::string("/"), std::string("/no/such/file"), example_trace()}) {
    EXPECT_EQ(analyze({"import", "--format=std", path, "-o", out}).exit_code, 3) << path;
    EXPECT_FALSE(std::filesystem::exists(out)) << path;
  }
  unlink(fifo.c_str());
  CommandOptions options;
  options.input = "svd-trace 1\nT1 explode\n";
  CommandResult result = analyze({"assemble", "-", "-o", out}, options);
  EXPECT_THAT(result.err, HasSubstr("-:2:"));
}

TEST(BadInput, ACutTraceIsShownAsFarAsItGoes) {
  CommandResult info = analyze({"info", cut_trace()});
  EXPECT_EQ(info.exit_code, 4);
  EXPECT_THAT(info.out, HasSubstr("missing-end"));
  EXPECT_THAT(info.out, HasSubstr("end unknown"));
  CommandResult dump = analyze({"dump", cut_trace()});
  EXPECT_EQ(dump.exit_code, 4);
  EXPECT_GT(count_lines(dump.out), 5'000U);
  EXPECT_THAT(dump.err, HasSubstr("missing-end"));
  CommandResult verify = analyze({"verify", cut_trace()});
  EXPECT_EQ(verify.exit_code, 4);
  EXPECT_THAT(verify.out, HasSubstr("damaged or incomplete"));
  // Losses are told even to those who asked for quiet.
  EXPECT_THAT(analyze({"verify", "-q", cut_trace()}).err, HasSubstr("missing-end"));
}

TEST(BadInput, ALostMiddleIsCountedAndTheRestShown) {
  std::string bytes = read_file(example_trace());
  std::string path = temp_path("flipped.fb");
  std::size_t at = bytes.size() * 93 / 100;  // code comes first; this is in a chunk of the run
  bytes[at] = static_cast<char>(bytes[at] ^ 1);
  write_file(path, bytes);
  std::set<std::string> lost;  // by as many passes as there are, counted once
  for (const std::vector<std::string>& words : {std::vector<std::string>{"verify", path},
                                                {"info", path},
                                                {"dump", path},
                                                {"graph", path},
                                                {"slice", path, "seq:0"},
                                                {"analyze", path}}) {
    CommandResult result = analyze(words);
    EXPECT_EQ(result.exit_code, 4) << words[0];
    EXPECT_THAT(result.out + result.err, HasSubstr("damaged-chunk")) << words[0];
    std::smatch count;
    std::string said = result.out + result.err;
    EXPECT_TRUE(std::regex_search(said, count, std::regex("lost-instructions[^0-9]*([0-9,]+)")))
        << words[0] << said;
    lost.insert(count[1]);
  }
  EXPECT_EQ(lost.size(), 1U) << testing::PrintToString(lost);
}

TEST(BadInput, OutputThatCannotBeWritten) {
  CommandOptions full;
  full.stdout_path = "/dev/full";
  for (const std::vector<std::string>& words : {std::vector<std::string>{"info", example_trace()},
                                                {"dump", example_trace()},
                                                {"dump", "--text", example_trace()}}) {
    CommandResult result = analyze(words, full);
    EXPECT_EQ(result.exit_code, 1);
    EXPECT_THAT(result.err, HasSubstr("No space left on device"));
    EXPECT_EQ(count_lines(result.err), 1U);
  }
  EXPECT_EQ(analyze({"dump", race_trace(), "-o", "/no/such/folder/x"}).exit_code, 1);
  EXPECT_EQ(analyze({"recover", race_trace(), "-o", "/dev/full"}).exit_code, 1);
  EXPECT_TRUE(std::filesystem::is_character_file("/dev/full"));
}

}  // namespace
}  // namespace svd::test
