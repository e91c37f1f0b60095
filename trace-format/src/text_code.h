// SPDX-License-Identifier: Apache-2.0
//
// Statements, blocks and executions in a textual trace.
//
// An execution of a statement says what it accesses, in operand order:
//
//     T3 3.05 r outcnt=5 rc len=3 w! buf[0..3]=8 r* heap[0..99]
//
// r or w, then a (the value forms an address) or c (it decides a branch), ! (atomic), * (a range:
// its length is part of this execution, and it has no value). Where a part of a statement's
// execution stands alone, the accesses of the others are slots in parentheses: `(r4) w y` ran the
// second half, `r x (w4)` the first; if the part has no access at all, `|` shows where it lies.
//
// Such a line executes the block that consists of this one statement with slots of this kind, all
// addresses logged. The first line of its kind makes the block, later ones share it, and no other
// line does. All other blocks are declared:
//
//     block 12                             block b7
//     insn 0x401000 4889e5                 step 3.05 r4 w4@outcnt
//     insn 0x401003 f00107 r4! w4!@$0      step 3.06
//
// with for each instruction its address and bytes, or for each step its statement, and the slots:
// direction, role, size (or *), ! atomic, ? optional; the address is logged, or @constant, or
// @$N+OFFSET from slot N. They are executed by
//
//     T1 block 12 0x7ffe1000=5 =6
//     T1 block 12 [0..0/0+1] 0x7ffe1000=5
//
// with one word, ADDRESS:LENGTH=VALUE, for each slot of which anything is stored. The brackets are
// for a part: instructions 0 to 0; after the slash, unless it is just their slots, the first slot
// and how many. A conditional access that did not happen is "-".
#pragma once

#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "svd/trace/block.h"
#include "svd/trace/chunk.h"
#include "text_lexer.h"
#include "text_symbols.h"

namespace svd::text {

// How statements are referred to: by label, or by $number where the label is no bare name, an
// event's verb, or not the only one.
class StatementNames {
 public:
  static std::string numbered(std::size_t index) { return fmt::format("${}", index); }
  // Declares the next statement; the name that it goes by.
  const std::string& add(const std::string& label);
  bool can_name(const std::string& label) const;

  std::size_t size() const { return names_.size(); }
  const std::string& name(StatementId id) const { return names_[id.value]; }
  const StatementId* find(std::string_view name) const;
  StatementId at(std::string_view name) const;  // fails with the nearest

 private:
  std::vector<std::string> names_;
  std::unordered_map<std::string, StatementId> ids_;
};

// The blocks that execution lines made by themselves.
class SharedBlocks {
 public:
  // Whether an execution line alone can stand for it.
  static bool possible(const Block& block);
  // Its id; null if it has not been made yet.
  const BlockId* find(const Block& block) const;
  void add(const Block& block, BlockId id);

 private:
  static std::string key(const Block& block);
  std::unordered_map<std::string, BlockId> ids_;
};

// Parses and prints with these tables and the one global switch.
struct Context {
  SymbolNames symbols;
  StatementNames statements;
  bool has_values = true;
};

// One execution as TraceWriter::exec wants it.
struct ExecLine {
  Part part;
  std::vector<std::uint64_t> logged;
  std::vector<std::uint64_t> values;
};

// "[label=…] ["text"] [at FILE:LINE] [in FUNCTION] [by STATEMENT…]", after its name.
Statement parse_statement(std::string_view name, Tokens& tokens, const Context& context);
void print_statement(std::string& out, StatementId id, const Statement& statement,
                     const Context& context);

// One `insn` or `step` line into `block`.
void parse_block_line(std::string_view keyword, Tokens& tokens, const Context& context,
                      Block& block);
void print_block(std::string& out, const Block& block, const Context& context);

// After `T3 3.05`: the block that it means, too.
void parse_statement_exec(StatementId statement, Tokens& tokens, const Context& context,
                          Block& block, ExecLine& line);
void print_statement_exec(std::string& out, const Exec& exec, const Context& context);

// After `T1 block 12`.
void parse_block_exec(const Block& block, Tokens& tokens, const Context& context, ExecLine& line);
void print_block_exec(std::string& out, const Exec& exec, const Context& context);

}  // namespace svd::text
