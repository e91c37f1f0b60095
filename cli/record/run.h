// SPDX-License-Identifier: Apache-2.0
//
// Runs the program under the recorder and watches over both. The program keeps our input, output,
// process group and terminal; signals that others send to us are sent on to it.
#pragma once

#include <signal.h>

#include <optional>
#include <string>
#include <vector>

#include "record/chaos.h"
#include "record/options.h"
#include "svd/collector/collector.h"

namespace svd::cli {

// The signals that we pass on, or that concern us, wait in a descriptor while this lives. Made
// before there are threads, so that all of ours leave them alone.
class SignalWatch {
 public:
  SignalWatch();
  ~SignalWatch();
  SignalWatch(const SignalWatch&) = delete;
  SignalWatch& operator=(const SignalWatch&) = delete;

  int descriptor() const { return descriptor_; }  // -1: none could be made
  const sigset_t& before() const { return before_; }
  // Passes on to `child` what was sent to us, unless that is 0. The last signal that asked us to
  // end; 0 if none did.
  int pass_to(pid_t child);

 private:
  sigset_t before_{};
  int descriptor_ = -1;
  int asked_to_end_ = 0;
};

// What sets one run apart from others of the same request.
struct RunSettings {
  std::string file;
  std::optional<Chaos> chaos;
  int output = -1;  // for the program's stdout and stderr; -1: ours
};

struct RunOutcome {
  int status = 0;          // as of waitpid
  bool timed_out = false;  // and was ended for that
  int asked_to_end = 0;    // by this signal, which came to us
  std::optional<Chaos> chaos;
  double seconds = 0;
  std::vector<RecordedRun> traces;
  std::vector<std::string> remarks;  // of Valgrind and our tool
};

// `executable`: where the program was found.
Result<RunOutcome> run_recorded(const RecordRequest& request, const std::string& executable,
                                const RunSettings& settings, SignalWatch& signals);

// Ends as a program with this wait status did, so that a shell or script cannot tell the
// difference.
int end_like(int status);

}  // namespace svd::cli
