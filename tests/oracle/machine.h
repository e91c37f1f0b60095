// SPDX-License-Identifier: Apache-2.0
//
// Runs one instruction on this very processor, with registers and memory as prepared, and says what
// they are afterwards. A fault ends the instruction, not the process.
//
// One Machine at a time, used by one thread; while it exists it owns the handlers of SIGSEGV,
// SIGBUS, SIGILL, SIGFPE and SIGTRAP.
#pragma once

#include <array>
#include <cstdint>
#include <span>

namespace svd::test {

struct alignas(32) CpuState {
  std::array<std::uint64_t, 16> general{};
  std::uint64_t flags = 0;
  std::uint64_t mxcsr = 0;
  std::array<std::array<std::uint8_t, 32>, 16> vectors{};
};

// What memory operands are laid into: one window for explicit operands, one for the stack, one for
// the destinations of string instructions.
inline constexpr std::size_t kWindows = 3, kWindowBytes = 512, kWindowMiddle = 256;
enum class Window : std::uint8_t { kData, kStack, kDestination };
using Memory = std::array<std::uint8_t, kWindows * kWindowBytes>;

class Machine {
 public:
  Machine();
  ~Machine();
  Machine(const Machine&) = delete;
  Machine& operator=(const Machine&) = delete;

  // The processor has what the harness itself needs.
  static bool possible();

  // Where the middle of a window is, and where the instruction stands. Both are below 2 GiB; the
  // middle is divisible by the numbers that scaled addresses need.
  std::uint64_t middle(Window window) const;
  std::uint64_t code_address() const;

  // The windows lie so many bytes lower from now on.
  void move_windows_down(std::uint64_t bytes) { down_ = bytes; }

  void set_code(std::span<const std::uint8_t> code);
  void set_gs_base(std::uint64_t base);

  // Runs the code once. `state` and `memory` become what they are afterwards. Returns the signal of
  // a fault, else 0; after a fault they mean nothing.
  int run(CpuState& state, Memory& memory);

 private:
  std::uint8_t* window(std::size_t index) const;

  std::uint64_t down_ = 0;
  std::uint8_t* arena_ = nullptr;
  std::uint8_t* signal_stack_ = nullptr;
};

}  // namespace svd::test
