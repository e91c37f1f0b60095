// SPDX-License-Identifier: Apache-2.0
//
// Disassembles the code of a CodeMap along its flow, through calls and jump tables, and finds out
// which pieces of it make a function.
#pragma once

#include <cstdint>
#include <set>
#include <unordered_map>
#include <vector>

#include "cfg/code_map.h"
#include "cfg/jump_table.h"
#include "cfg/pieces.h"

namespace svd {

// What the run adds to the static code.
struct Observations {
  std::unordered_map<Address, std::vector<Address>> jumps{};  // targets of indirect jumps
  std::vector<Address> entries{};   // of functions: called through pointers, or by the system
  std::vector<Address> executed{};  // where blocks begin
};

class Discovery {
 public:
  // Marks the instructions of `map`. Both arguments must outlive this.
  Discovery(CodeMap& map, const Observations& observations);

  const CodeMap& map() const { return map_; }
  const std::vector<CodePiece>& pieces() const { return pieces_; }              // ascending
  const CodePiece* piece(Address at) const { return find_piece(pieces_, at); }  // null: in none
  std::uint32_t function_count() const { return function_count_; }
  // Where an indirect jump can go; empty: nothing is known.
  const std::vector<Address>& targets(Address indirect_jump) const;

 private:
  void enter(Address at, unsigned marks);
  void enter_call(Address target);
  void enter_handlers(const ModuleFile& file);
  void walk(Address at);
  void follow(const CodeStep& step, Address at);
  void drain();
  void walk_pending();
  void resolve(Address indirect_jump, bool also_unsized);
  void add_sized(const JumpTable& table, const CodePiece& piece,
                 std::vector<Address>& targets) const;
  void add_unsized(const JumpTable& table, std::vector<Address>& targets);
  void begin_new_pieces();
  void sweep(const CodePiece& piece);
  void enter_executed();

  CodeMap& map_;
  const Observations& observations_;
  std::vector<CodePiece> pieces_;
  const CodePiece* piece_ = nullptr;  // in which is being walked, and its region
  CodeRegion* region_ = nullptr;
  std::vector<Address> pending_;         // to be walked
  std::vector<Address> new_pieces_;      // have to begin here
  std::vector<Address> indirect_jumps_;  // not yet looked at
  std::vector<Address> unsized_jumps_;   // whose tables are looked at when all else is known
  std::set<Address> tables_;
  std::unordered_map<Address, std::vector<Address>> targets_;
  std::uint32_t function_count_ = 0;
};

}  // namespace svd
