// SPDX-License-Identifier: Apache-2.0
//
// Which executions count: those of the user's code, and of system libraries as far as they work on
// the user's memory. A call from user code into a system library is left out as a whole when a
// rule names the function that was called; so memcpy counts when the program calls it, and does not
// when fwrite does. The same holds where one system library calls another. Code without a name that
// the program calls in a system library counts (those are the variants of string functions for this
// processor); code without a name to which the program returns does not (the start of threads).
//
// And which of their accesses are atomic because a rule says so.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "detectors/code_names.h"
#include "detectors/rules.h"
#include "detectors/touch.h"
#include "svd/trace/chunk.h"
#include "svd/trace/reader.h"

namespace svd {

// How the accesses of an execution count.
enum class Counts : std::uint8_t {
  kNot,
  kUser,        // they are the user's
  kSystem,      // a system library makes them for the user
  kSystemWide,  // … and reads wide words beyond what it was given: only narrow reads count
};

class AccessFilter {
 public:
  // All must outlive it.
  AccessFilter(const TraceReader& trace, const Rules& rules, CodeNames& names, std::size_t threads);

  // To be asked of every execution of a thread, in order.
  Counts counts(ThreadIndex thread, const Exec& exec) {
    const Code& code = code_of(exec.shape->id);
    Thread& state = threads_[thread.value];
    if (code.kind == Kind::kUser) {
      state.depth = 0;
      state.user_counts = code.counts;
      state.user_returned = code.returns;
      state.last = code.counts ? Counts::kUser : Counts::kNot;
    } else if (code.kind == Kind::kTransparent || !in_system(state, code) || !code.counts) {
      state.last = Counts::kNot;
    } else {
      state.last = code.overreads ? Counts::kSystemWide : Counts::kSystem;
    }
    return state.last;
  }
  // The answer to the thread's last question.
  Counts counts(ThreadIndex thread) const { return threads_[thread.value].last; }

  // Whether a rule says that the access of the block's instruction is atomic.
  bool is_atomic(BlockId id, std::size_t instruction, Addr address, std::uint64_t size) {
    return code_[id.value].atomics && has_rule(id, instruction, address, size);
  }
  // Whether the block only passes a call on to another module.
  bool is_stub(BlockId id) const { return code_[id.value].stub; }

 private:
  enum class Kind : std::uint8_t {
    kUnknown,
    kUser,
    kSystem,
    kTransparent,  // left out as a module, and passed on the way to others: the loader, wrappers
  };
  struct Code {  // of a block
    Kind kind = Kind::kUnknown;
    bool counts = false;     // no rule leaves it out
    bool overreads = false;  // a rule says so
    bool named = false;      // its function has a name
    bool returns = false;    // it ends with a return
    bool atomics = false;    // it may have accesses that a rule calls atomic
    bool stub = false;       // it is part of a procedure linkage table
    std::uint16_t module = 0;
  };
  // A variable of static storage that rules call atomic: all of it, or parts of it perhaps.
  struct Annotated {
    Addr end{};
    bool whole = false;
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
    Counts last = Counts::kNot;
  };

  const Code& code_of(BlockId id) {
    Code& code = code_[id.value];
    if (code.kind == Kind::kUnknown) classify(id, code);
    return code;
  }
  void classify(BlockId id, Code& code);
  void find_atomics(BlockId id, const CodeName& name, Code& code);
  bool has_rule(BlockId id, std::size_t instruction, Addr address, std::uint64_t size);
  static bool in_system(Thread& state, const Code& code);

  const TraceReader& trace_;
  const Rules& rules_;
  CodeNames& names_;
  std::vector<Code> code_;
  std::unordered_map<BlockId, std::vector<bool>> atomics_;  // by instruction
  std::map<std::pair<std::string, std::string>, bool> atomic_functions_;
  std::map<Addr, Annotated> variables_;  // by where they begin
  std::map<std::pair<Addr, std::uint64_t>, bool> parts_;
  std::map<std::string, std::uint16_t> modules_;
  std::vector<Thread> threads_;
};

}  // namespace svd
