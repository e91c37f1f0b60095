// SPDX-License-Identifier: Apache-2.0
//
// The static side of the example trace: a made-up server's code, as blocks of real x86-64
// instructions together with the plan by which the generator (example_trace.cc) runs them. Nothing
// here depends on how it runs.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "svd/trace/block.h"
#include "svd/trace/process.h"

namespace svd::example {

// Where a slot's address comes from.
enum class Place : std::uint8_t {
  kStack,    // `where`: signed distance from the stack pointer at the block's entry
  kGlobal,   // `where`: the address
  kArray,    // an array of the thread, walked with `stride`; `where`: which walk
  kChain,    // the thread's node of its linked list, plus `where`; reading at 0 goes on to the next
             // node
  kSession,  // `where`: offset in the session object that the thread serves
  kLog,      // log_ptr + outcnt
  kSource,   // a copy's source and target; `where`: bytes
  kTarget,
};

// What a store stores.
enum class Store : std::uint8_t { kLastPlus, kConstant, kFrame };

struct Plan {
  Place place = Place::kStack;
  Store store = Store::kLastPlus;
  std::uint32_t where = 0;
  std::uint32_t stride = 0;
  std::uint64_t constant = 0;  // kConstant: the value; kLastPlus: added to what was loaded last
};

// What happens at the entry of a block besides instructions.
enum class Action : std::uint8_t {
  kNone,
  kLock,
  kUnlock,
  kReceive,
  kSend,
  kOpenSession,
  kCloseSession
};

// Where execution goes after a block.
enum class Flow : std::uint8_t {
  kNext,    // the next block
  kJump,    // `target`
  kBranch,  // `target` in `chance` of 256 cases, else the next
  kLoop,    // `target`, `chance` times in a row, then the next
  kCall,    // the block `target`; returns to the next
  kReturn,
};

struct Code {
  Block block;
  std::vector<Plan> plans;  // one for each slot
  Action action = Action::kNone;
  Flow flow = Flow::kNext;
  std::uint32_t target = 0;
  std::uint32_t chance = 0;
  std::int32_t stack_change = 0;
  std::uint16_t side_exit =
      0;  // > 0: after this many instructions the block may be left for `side_target`
  std::uint32_t side_target = 0;
};

// Addresses that both sides and the symbols agree on.
struct Layout {
  static constexpr std::uint64_t kCode = 0x401000;
  static constexpr std::uint64_t kGlobals = 0x4c0000;
  static constexpr std::uint64_t kGlobalsSize = 0x4000;
  static constexpr std::uint64_t kLogPtr = kGlobals + 0x10;
  static constexpr std::uint64_t kOutcnt = kGlobals + 0x18;
  static constexpr std::uint64_t kRequestsServed = kGlobals + 0x20;
  static constexpr std::uint64_t kLogMutex = kGlobals + 0x40;
  static constexpr std::uint64_t kLogBuffer = kGlobals + 0x1000;
  static constexpr std::uint64_t kLogBufferSize = 0x1000;
  static constexpr std::uint64_t kCounters = kGlobals + 0x2000;
  static constexpr std::uint32_t kCounterCount = 64;
};

struct Program {
  std::vector<Code> code;
  std::vector<Symbol> symbols;
  std::uint32_t walks = 0;  // array walks, numbered from 0
  // Entry points, as indices into `code`.
  std::uint32_t worker = 0;
  std::uint32_t main = 0;
  std::uint32_t main_test = 0;     // the branch of main that goes on while the server runs
  std::uint32_t append_check = 0;  // append_log's check of log_ptr …
  std::uint32_t append_use = 0;    // … and its use
  std::uint16_t fault = 0;         // the instruction of append_use that faults
};

Program make_program(std::uint64_t seed);

// A small fast generator of random numbers.
class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed * 2654435769U + 0x9e3779b97f4a7c15U) {}
  std::uint32_t operator()() {
    state_ ^= state_ << 13, state_ ^= state_ >> 7, state_ ^= state_ << 17;
    return static_cast<std::uint32_t>(state_ >> 16);
  }
  std::uint32_t below(std::uint32_t n) {
    return static_cast<std::uint32_t>(std::uint64_t{(*this)()} * n >> 32);
  }
  bool chance(std::uint32_t of_256) { return ((*this)() & 255U) < of_256; }

 private:
  std::uint64_t state_;
};

}  // namespace svd::example
