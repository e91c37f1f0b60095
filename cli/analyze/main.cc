// SPDX-License-Identifier: Apache-2.0
//
// svd-analyze: finds the verb among the words and hands it the others.

#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstring>
#include <exception>
#include <iterator>
#include <string>
#include <vector>

#include "analyze/memory_bound.h"
#include "analyze/verbs.h"
#include "common/exit_codes.h"
#include "common/options.h"
#include "svd/trace/nearest.h"

namespace svd::cli {
namespace {

// TRACE --slice[=CRITERION] is slice TRACE [CRITERION].
int analyze_or_slice(const Arguments& words) {
  Arguments arguments = words;
  auto slice = std::find_if(arguments.begin(), arguments.end(), [](const std::string& argument) {
    return argument == "--slice" || argument.starts_with("--slice=");
  });
  if (slice == arguments.end()) return run_analyze(arguments);
  std::string criterion = slice->substr(std::min(slice->size(), std::strlen("--slice=")));
  arguments.erase(slice);
  return criterion.empty() ? run_slice(arguments) : run_slice_from(arguments, criterion);
}

constexpr std::array kVerbs{
    Verb{"analyze", "what went wrong in a run, best first", analyze_or_slice},
    Verb{"slice", "from the failure, or any place, back to its causes", run_slice},
    Verb{"shell", "questions about a run at a prompt: who wrote it, why, what next", run_shell},
    Verb{"reduce", "a trace of just what matters to a failure", run_reduce},
    Verb{"graph", "the dependences of a run, counted or drawn", run_graph},
    Verb{"cus", "the computational units of a run, counted or listed", run_cus},
    Verb{"info", "what a trace holds, how the run ended, what is missing", run_info},
    Verb{"dump", "the trace, or a part of it, instruction by instruction", run_dump},
    Verb{"verify", "whether every byte is what was written", run_verify},
    Verb{"recover", "a clean trace from a damaged one", run_recover},
    Verb{"assemble", "a trace from a hand-written text", run_assemble},
    Verb{"import", "a trace from the log of another tool", run_import},
    Verb{"export", "a trace as a log for another tool", run_export},
};

constexpr const char* kName = "svd-analyze";
constexpr const char* kSummary =
    "reads a recorded run of a multithreaded program, and says what went wrong in it";

void describe_use(Command& command) {
  command.example("svd-analyze server.fb", "what went wrong: the same as svd-analyze analyze");
  command.example("svd-analyze slice server.fb", "why did it crash?");
  command.example("svd-analyze dump --address=outcnt server.fb", "who touched this variable");
  command.example("svd-analyze verify server.fb", "is the file sound?");
  command.usage("[VERB] [options] TRACE");
  std::string verbs = "Verbs:\n";
  for (const Verb& verb : kVerbs) verbs += fmt::format("  {:<26}  {}\n", verb.name, verb.summary);
  command.remark(
      verbs + "\nsvd-analyze VERB --help says more about one. Without a verb a trace is analyzed.");
  command.exit_status(kSuccess, "done");
  command.exit_status(kFailed, "the output could not be written");
  command.exit_status(kUsage, "wrong use");
  command.exit_status(kUnreadable, "not a readable trace");
  command.exit_status(kDamaged,
                      "done, but the trace is damaged or incomplete, and the output says how");
}

// The first word that is neither an option nor the value of one.
Arguments::const_iterator find_word(const Arguments& arguments) {
  for (auto word = arguments.begin(); word != arguments.end(); ++word) {
    if (!word->starts_with("-") || *word == "-") return word;
    if (word + 1 != arguments.end() && analyze_takes_value(*word).value_or(false)) ++word;
  }
  return arguments.end();
}

int run(Arguments arguments) {
  Command command(kName, kSummary);
  describe_use(command);
  auto word = find_word(arguments);
  if (word == arguments.end()) {
    if (arguments.empty()) return command.wrong_use("a trace is missing; see svd-analyze --help");
    bool general = std::any_of(arguments.begin(), arguments.end(), [](const std::string& argument) {
      return argument == "-h" || argument == "--help" || argument == "--version";
    });
    if (!general) return analyze_or_slice(arguments);
    return command.parse(arguments).value_or(kSuccess);
  }
  auto verb = std::find_if(kVerbs.begin(), kVerbs.end(),
                           [&word](const Verb& v) { return v.name == *word; });
  if (verb != kVerbs.end()) {
    arguments.erase(word);
    return verb->run(arguments);
  }
  // What stands behind a misspelt option may be meant as its value.
  if (word != arguments.begin() && !analyze_takes_value(*std::prev(word)))
    return analyze_or_slice(arguments);
  struct stat status {};
  if (word->find_first_of("./") == std::string::npos && stat(word->c_str(), &status) != 0) {
    std::vector<std::string_view> names;
    names.reserve(kVerbs.size());
    for (const Verb& v : kVerbs) names.push_back(v.name);
    return command.wrong_use(
        fmt::format("'{}' is neither a verb nor a file{}; see svd-analyze --help", *word,
                    did_you_mean(*word, names)));
  }
  return analyze_or_slice(arguments);
}

}  // namespace
}  // namespace svd::cli

int main(int argc, char** argv) {
  svd::cli::bound_memory();
  try {
    return svd::cli::run({argv + 1, argv + argc});
  } catch (const std::exception& e) {
    std::fprintf(
        stderr, "svd-analyze: %s\n",
        svd::cli::lacks_memory(e) ? "there is not enough memory for this trace" : e.what());
  }
  return svd::cli::kUnreadable;
}
