// SPDX-License-Identifier: Apache-2.0
//
// Lays out the example program: appends blocks at rising addresses, instruction by instruction,
// each with the accesses that it makes and the plan by which they are made. Targets of jumps are
// block indices, and become displacements in finish().
#pragma once

#include <cstdint>
#include <initializer_list>
#include <string_view>
#include <vector>

#include "support/example_trace_program.h"

namespace svd::example {

using Bytes = std::initializer_list<std::uint8_t>;

class Assembler {
 public:
  explicit Assembler(std::uint64_t seed) : random(seed) {}

  Random random;
  Program program;

  std::uint32_t next() const { return static_cast<std::uint32_t>(program.code.size()); }

  // Begins a block; returns its index.
  std::uint32_t open(Action action = Action::kNone);
  // Ends the program.
  Program finish();

  void op(Bytes bytes);
  // An instruction that ends in a displacement from its end to `target`, followed by `immediate`.
  void op_relative(Bytes opcode, std::uint64_t target, Bytes immediate = {});

  // What ends a block. A side exit may be taken in its middle.
  void flow(Flow kind, Bytes opcode, std::uint32_t target, std::uint32_t chance = 0);
  void side_exit(std::uint32_t target);
  void call(std::uint32_t function);
  void pop_frame_and_return();
  // What begins a function: push rbp and 64 bytes of frame.
  void push_frame();

  // The access of the last instruction.
  Slot& access(Place place, std::uint16_t size, bool write, std::uint32_t where, Plan plan = {});
  void stack_access(std::int32_t offset, bool write, Plan plan = {});
  void session_access(std::uint32_t offset, bool write);

  // Names the code from block `first` to here.
  void function_symbol(std::string_view name, std::uint32_t first);

 private:
  struct Fixup {
    std::uint32_t code;
    std::size_t offset;
    std::uint64_t end;
    std::uint32_t target;
  };

  Code& code() { return program.code.back(); }
  void jump(Bytes opcode, std::uint32_t target);
  // The first access of its kind in the block is the root that later ones are derived from.
  void derive(Slot& slot, std::int32_t& root, std::uint32_t where);

  std::uint64_t pc_ = Layout::kCode;
  std::int32_t stack_ = 0;  // against the block's entry
  std::int32_t stack_root_ = -1;
  std::int32_t session_root_ = -1;
  std::vector<Fixup> fixups_;
};

}  // namespace svd::example
