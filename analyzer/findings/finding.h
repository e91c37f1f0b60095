// SPDX-License-Identifier: Apache-2.0
//
// What is told about one thing that went wrong, whichever detectors found it: complete in itself,
// so that every output format is made of Findings alone. complete.h makes them of what detectors
// found, ranking.h puts them in order.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "detectors/touch.h"
#include "svd/trace/types.h"

namespace svd {

// Where code stands. Of an abstract statement pc is 0 and label and text are there.
struct CodePlace {
  Pc pc{};
  std::string module{};      // file name of the module
  std::uint64_t offset = 0;  // of the instruction in the module
  std::string file{};        // "" and line 0 where there is no debug information
  std::uint32_t line = 0;
  std::string function{};
  std::string label{};
  std::string text{};  // of the source line or statement
};

// A function that was active.
struct StackFrame {
  CodePlace place{};  // where it had come to
  bool own = false;   // the program's own source, not a library's or a header's of the system
  std::size_t left_out = 0;  // calls between it and the next one that are not told
};

// The innermost one of the program's own.
inline auto first_own(const std::vector<StackFrame>& stack) {
  return std::find_if(stack.begin(), stack.end(), [](const StackFrame& f) { return f.own; });
}

struct FindingAccess {
  std::string role{};
  ThreadId thread{};
  std::string thread_name{};
  Seq seq{};  // of the instruction; of what the kernel or free() did, the next one
  // In the innermost function of the program's own: what did it, or called who did it.
  CodePlace place{};
  Pc site{};  // the instruction that detectors put it down to; 0: an abstract statement
  std::vector<StackFrame> stack{};  // innermost first; empty where there are none, or not known
  TouchKind kind = TouchKind::kRead;
  bool atomic = false;
  bool kernel = false;
  Addr address{};
  std::uint64_t size = 0;
  std::optional<std::uint64_t> value{};  // read or written, where it is known
  std::vector<std::string> locks{};      // that the thread held
};

struct Finding {
  std::uint64_t id = 0;       // from 1, in the order of the report
  std::string fingerprint{};  // the same in each run of the same build, and mostly in other builds
  std::vector<std::string> detectors{};
  std::uint64_t rank = 0;  // from 1, the best first
  std::optional<bool> on_slice{};
  // Of what is on the slice: smaller is nearer to the failure, as the slice's story measures it.
  std::optional<float> nearness{};
  // Of a violation: whether the units can be put one after the other all the same; none: not asked.
  std::optional<bool> serializable{};
  std::uint64_t occurrences = 0;
  // How much speaks for it, and how many instructions lie between what belongs together: of
  // detectors that weigh what they find.
  std::uint64_t score = 0;
  std::uint64_t distance = 0;
  std::string variable{};  // "queue.head", "buf->outcnt"; "" where nothing names it
  std::string
      memory{};  // of allocated memory: which block, "24 bytes of insert (cache.c:92), at 4"
  std::string summary{};                  // one sentence without its full stop
  std::vector<FindingAccess> accesses{};  // in the order in which they happened
  std::vector<Finding> related{};  // others about the same memory, which are told as one with this
};

}  // namespace svd
