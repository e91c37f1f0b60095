// SPDX-License-Identifier: Apache-2.0
//
// Which executions count: those of the user's code, and of system libraries as far as they work on
// the user's memory. A call from user code into a system library is left out as a whole when a
// rule names the function that was called; so memcpy counts when the program calls it, and does not
// when fwrite does. The same holds where one system library calls another. Code without a name that
// the program calls in a system library counts (those are the variants of string functions for this
// processor); code without a name to which the program returns does not (the start of threads).
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "detectors/code_names.h"
#include "detectors/suppressions.h"
#include "detectors/touch.h"
#include "svd/trace/chunk.h"
#include "svd/trace/reader.h"

namespace svd {

class AccessFilter {
 public:
  // All must outlive it.
  AccessFilter(const TraceReader& trace, const Suppressions& rules, CodeNames& names,
               std::size_t threads)
      : trace_(trace),
        rules_(rules),
        names_(names),
        code_(trace.blocks().size()),
        threads_(threads) {}

  // To be asked of every execution of a thread, in order.
  bool keeps(ThreadIndex thread, const Exec& exec) {
    const Code& code = code_of(exec.shape->id);
    Thread& state = threads_[thread.value];
    if (code.kind == Kind::kUser) {
      state.depth = 0;
      state.user_counts = code.counts;
      state.user_returned = code.returns;
      return state.keeps = code.counts;
    }
    if (code.kind == Kind::kTransparent) return state.keeps = false;
    return state.keeps = in_system(state, code) && code.counts;
  }
  // The answer to the thread's last question.
  bool keeps(ThreadIndex thread) const { return threads_[thread.value].keeps; }

 private:
  enum class Kind : std::uint8_t {
    kUnknown,
    kUser,
    kSystem,
    kTransparent,  // left out as a module, and passed on the way to others: the loader, wrappers
  };
  struct Code {  // of a block
    Kind kind = Kind::kUnknown;
    bool counts = false;   // no rule leaves it out
    bool named = false;    // its function has a name
    bool returns = false;  // it ends with a return
    std::uint16_t module = 0;
  };
  // A system library that was entered, from user code or from another one.
  struct Entry {
    std::uint16_t module = 0;
    bool counts = false;
  };
  struct Thread {
    int depth = 0;  // entries in use
    Entry entries[2];
    bool user_counts = true;
    bool user_returned = true;
    bool keeps = false;
  };

  const Code& code_of(BlockId id) {
    Code& code = code_[id.value];
    if (code.kind == Kind::kUnknown) classify(id, code);
    return code;
  }
  void classify(BlockId id, Code& code);
  static bool in_system(Thread& state, const Code& code);

  const TraceReader& trace_;
  const Suppressions& rules_;
  CodeNames& names_;
  std::vector<Code> code_;
  std::map<std::string, std::uint16_t> modules_;
  std::vector<Thread> threads_;
};

}  // namespace svd
