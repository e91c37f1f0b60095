// SPDX-License-Identifier: Apache-2.0
//
// Statements and block declarations; the executions are in text_exec.cc.

#include "text_code.h"

#include <algorithm>
#include <cstring>

#include "svd/trace/nearest.h"
#include "text_events.h"
#include "text_slots.h"

namespace svd::text {

bool StatementNames::can_name(const std::string& label) const {
  return is_bare_name(label) && label != "block" && !is_event_verb(label) && !ids_.contains(label);
}

const std::string& StatementNames::add(const std::string& label) {
  auto id = StatementId(static_cast<std::uint32_t>(names_.size()));
  names_.push_back(can_name(label) ? label : numbered(names_.size()));
  ids_.emplace(names_.back(), id);
  return names_.back();
}

const StatementId* StatementNames::find(std::string_view name) const {
  auto at = ids_.find(std::string(name));
  return at == ids_.end() ? nullptr : &at->second;
}

StatementId StatementNames::at(std::string_view name) const {
  if (const StatementId* id = find(name)) return *id;
  std::vector<std::string_view> candidates(names_.begin(), names_.end());
  fail("no statement is called '{}'{}", name, did_you_mean(name, candidates));
}

bool SharedBlocks::possible(const Block& block) {
  return block.statements.size() == 1 &&
         std::all_of(block.slots.begin(), block.slots.end(), [](const Slot& slot) {
           return slot.source == AddressSource::kLogged && !slot.optional;
         });
}

std::string SharedBlocks::key(const Block& block) {
  std::string key;
  auto put = [&](std::uint64_t n) { key.append(reinterpret_cast<const char*>(&n), sizeof n); };
  put(block.statements[0].value);
  for (const Slot& slot : block.slots) {
    put(slot.size | (slot.write ? 1U << 16 : 0U) | (slot.atomic ? 1U << 17 : 0U) |
        static_cast<unsigned>(slot.role) << 18);
  }
  return key;
}

const BlockId* SharedBlocks::find(const Block& block) const {
  auto at = ids_.find(key(block));
  return at == ids_.end() ? nullptr : &at->second;
}

void SharedBlocks::add(const Block& block, BlockId id) { ids_.emplace(key(block), id); }

Statement parse_statement(std::string_view name, Tokens& tokens, const Context& context) {
  Statement statement;
  constexpr std::string_view kLabel = "label=";
  if (!tokens.empty() && tokens.peek().starts_with(kLabel)) {
    statement.label = unquoted(tokens.take("a label").substr(kLabel.size()));
  } else if (!name.starts_with('$')) {
    statement.label = name;
  }
  if (!tokens.empty() && tokens.peek().starts_with('"'))
    statement.text = unquoted(tokens.take("a text"));
  if (tokens.skip("at")) {
    std::string_view place = tokens.take("FILE:LINE after at");
    std::size_t colon = place.rfind(':');
    if (colon == std::string_view::npos) fail("expected FILE:LINE instead of '{}'", place);
    if (colon > 0) statement.file = unquoted(place.substr(0, colon));
    statement.line = number<std::uint32_t>(place.substr(colon + 1), "a line number");
  }
  if (tokens.skip("in")) statement.function = unquoted(tokens.take("a function's name after in"));
  if (tokens.skip("by")) {
    do {
      statement.controlled_by.push_back(context.statements.at(tokens.take("a statement after by")));
    } while (!tokens.empty());
  }
  if (!tokens.empty()) {
    fail(
        "expected \"TEXT\", at FILE:LINE, in FUNCTION, by STATEMENT…, in this order, instead of "
        "'{}'",
        tokens.peek());
  }
  return statement;
}

void print_statement(std::string& out, StatementId id, const Statement& statement,
                     const Context& context) {
  const std::string& name = context.statements.name(id);
  out += "stmt " + name;
  if (name.starts_with('$') && !statement.label.empty()) out += " label=" + word(statement.label);
  if (!statement.text.empty()) out += ' ' + quoted(statement.text);
  if (!statement.file.empty() || statement.line != 0) {
    out += fmt::format(" at {}:{}", statement.file.empty() ? "" : word(statement.file),
                       statement.line);
  }
  if (!statement.function.empty()) out += " in " + word(statement.function);
  if (!statement.controlled_by.empty()) out += " by";
  for (StatementId predicate : statement.controlled_by)
    out += ' ' + context.statements.name(predicate);
  out += '\n';
}

void parse_block_line(std::string_view keyword, Tokens& tokens, const Context& context,
                      Block& block) {
  auto index = static_cast<std::uint16_t>(block.size());
  if (block.size() == kMaxBlockInstructions) {
    fail("a block has at most {} instructions", kMaxBlockInstructions);
  }
  if (keyword == "insn") {
    Pc pc(number<std::uint64_t>(tokens.take("the instruction's address"),
                                "the instruction's address"));
    auto bytes = bytes_of(tokens.take("the instruction's bytes"));
    if (bytes.size() > 255) fail("an instruction has at most 255 bytes");
    block.instructions.push_back({pc, static_cast<std::uint8_t>(bytes.size())});
    block.code.insert(block.code.end(), bytes.begin(), bytes.end());
  } else {
    block.statements.push_back(context.statements.at(tokens.take("a statement")));
  }
  while (!tokens.empty()) {
    block.slots.push_back(parse_slot(tokens.take("a slot"), index, context.symbols));
  }
}

void print_block(std::string& out, const Block& block, const Context& context) {
  std::size_t slot = 0;
  std::size_t code = 0;
  for (std::size_t i = 0; i < block.size(); ++i) {
    if (block.abstract()) {
      out += "step " + context.statements.name(block.statements[i]);
    } else {
      const Instruction& instruction = block.instructions[i];
      auto bytes = std::span(block.code).subspan(code, instruction.length);
      code += instruction.length;
      fmt::format_to(std::back_inserter(out), "insn {:#x} {}", instruction.pc.value,
                     hex_bytes(bytes));
    }
    for (; slot < block.slots.size() && block.slots[slot].instruction == i; ++slot) {
      out += ' ';
      print_slot(out, block.slots[slot], context.symbols);
    }
    out += '\n';
  }
}

}  // namespace svd::text
