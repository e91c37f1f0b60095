// SPDX-License-Identifier: Apache-2.0
//
// Whether each load reads what was last stored to its bytes, by a shadow of the program's memory:
// for each byte its value, if it is known, or why it is not. A load of bytes that are not known
// teaches them.
//
// Known from: stores with a value, kernel writes with data, earlier loads. Not known: what nobody
// touched yet, stores that are too wide to have a value, kernel writes without data, memory that
// was mapped afresh, and memory that others share.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "svd/trace/chunk.h"

namespace svd::test {

class ValueChecker {
 public:
  explicit ValueChecker(std::size_t most_pages) : most_pages_(most_pages) {}

  void exec(const Exec& exec);
  void event(const Event& event);
  void finish() { settle(); }

  std::uint64_t loads() const { return loads_; }
  std::uint64_t equal() const { return equal_; }
  std::uint64_t wrong() const { return wrong_; }
  std::map<std::string, std::uint64_t> unknown() const;
  // What was found wrong since the last call, in words.
  std::vector<std::string> take_findings() { return std::exchange(findings_, {}); }

 private:
  // kKnown and above: the value is known, by a store, or by a load.
  enum class State : std::uint8_t {
    kUntouched,
    kWide,
    kKernel,
    kMapped,
    kShared,
    kForgotten,
    kKnown,
    kSeen
  };
  static constexpr std::size_t kStates = 6;  // in which a byte is not known
  static constexpr std::size_t kPageSize = 4096;
  struct Page {
    std::array<std::uint8_t, kPageSize> value{};
    std::array<State, kPageSize> state{};
  };
  struct Call {  // under way
    std::uint32_t number = 0;
    std::array<std::uint64_t, 6> arguments{};
  };

  Page& page(std::uint64_t address);
  void access(const MemoryAccess& access);
  void load(const MemoryAccess& access);
  void settle();
  void store(std::uint64_t address, std::uint64_t size, const std::uint8_t* bytes);
  void fill(std::uint64_t address, std::uint64_t size, State state);
  void mapping(std::uint64_t address, std::uint64_t size);
  void call_done(ThreadId thread, const SyscallExit& exit);
  bool shared(std::uint64_t address) const;

  std::size_t most_pages_;
  State fresh_ = State::kUntouched;  // state of bytes in new pages
  std::unordered_map<std::uint64_t, std::unique_ptr<Page>> pages_;
  std::uint64_t last_number_ = ~std::uint64_t{0};
  Page* last_page_ = nullptr;
  std::map<std::uint64_t, std::uint64_t> shared_;  // start to end of memory that others can write
  std::unordered_map<ThreadId, Call> calls_;

  // Of the last instruction: not done if it turns out to have faulted.
  std::vector<MemoryAccess> pending_;
  ThreadId pending_thread_{};
  Pc pending_pc_{};

  std::uint64_t loads_ = 0;
  std::uint64_t equal_ = 0;
  std::uint64_t wrong_ = 0;
  std::array<std::uint64_t, kStates> unknown_{};
  std::vector<std::string> findings_;
};

}  // namespace svd::test
