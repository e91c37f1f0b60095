// SPDX-License-Identifier: Apache-2.0
//
// Executions of statements and blocks in a textual trace: text_code.h has the grammar.

#include "text_code.h"
#include "text_slots.h"

namespace svd::text {
namespace {

// Values that look like pointers or masks are easier to compare in hexadecimal.
constexpr std::uint64_t kLastDecimalValue = 0xffff;

void print_value(std::string& out, std::uint64_t value) {
  out += value > kLastDecimalValue ? fmt::format("={:#x}", value) : fmt::format("={}", value);
}

std::uint64_t parse_value_of(std::string_view token, const Slot& slot) {
  unsigned bits = 8U * slot.size;
  if (token.starts_with('-')) {
    auto value = number<std::int64_t>(token, "a value");
    if (bits < 64 && value < -(std::int64_t{1} << (bits - 1)))
      fail("{} does not fit {} bytes", token, slot.size);
    return bits < 64 ? static_cast<std::uint64_t>(value) & ((std::uint64_t{1} << bits) - 1)
                     : static_cast<std::uint64_t>(value);
  }
  auto value = number<std::uint64_t>(token, "a value");
  if (bits < 64 && value >> bits != 0) fail("{} does not fit {} bytes", token, slot.size);
  return value;
}

bool stores_value(const Slot& slot, const Context& context) {
  return context.has_values && slot.has_value();
}

// Splits PLACE=VALUE and takes the value, which must be there just if the slot has one.
std::string_view take_value(std::string_view operand, const Slot& slot, const Context& context,
                            ExecLine& line) {
  std::size_t equals = operand.find('=');
  std::string_view place = operand.substr(0, equals);
  if (stores_value(slot, context)) {
    if (equals == std::string_view::npos) {
      fail("expected {}=VALUE: the process line says that this trace has values", place);
    }
    line.values.push_back(parse_value_of(operand.substr(equals + 1), slot));
  } else if (equals != std::string_view::npos) {
    fail("expected no value after {}: {}", place,
         context.has_values ? "values are of accesses of 1 to 8 bytes"
                            : "this trace has none (process has-values=true)");
  }
  return place;
}

// The accesses of a statement's execution, of which those in parentheses lie outside the part.
class PartBounds {
 public:
  void mark_empty(std::size_t slot) {
    if (begun_) fail("expected | only where no access is outside parentheses");
    begun_ = true;
    first_ = end_ = slot;
  }
  void inside(std::size_t slot) {
    if (!begun_) first_ = end_ = slot;
    if (end_ != slot) fail("the accesses outside parentheses must stand together");
    begun_ = true;
    end_ = slot + 1;
  }
  Part part(std::size_t slots) const {
    if (!begun_ && slots > 0) fail("expected | where the part without accesses lies");
    return Part{0, 1, static_cast<std::uint16_t>(first_), static_cast<std::uint16_t>(end_)};
  }

 private:
  bool begun_ = false;
  std::size_t first_ = 0;
  std::size_t end_ = 0;
};

std::uint16_t slot_size(const Place& place, std::string_view token) {
  if (!place.size || *place.size == 0) fail("expected a place with a size, such as {}:4", token);
  if (*place.size > kMaxSlotBytes)
    fail("{} is more than {} bytes: write r* or w*", token, kMaxSlotBytes);
  return static_cast<std::uint16_t>(*place.size);
}

// "[first..last]" or "[first..last/slot+count]"
Part parse_part(std::string_view token, const Block& block) {
  constexpr std::string_view kForm = "[FIRST..LAST] or [FIRST..LAST/SLOT+COUNT]";
  std::string_view text = token.substr(1);
  if (!text.ends_with(']')) fail("expected {} instead of '{}'", kForm, token);
  text.remove_suffix(1);
  std::size_t slash = text.find('/');
  std::string_view steps = text.substr(0, slash);
  std::size_t dots = steps.find("..");
  if (dots == std::string_view::npos) fail("expected {} instead of '{}'", kForm, token);
  auto first = number<std::uint16_t>(steps.substr(0, dots), "the first instruction");
  auto last = number<std::uint16_t>(steps.substr(dots + 2), "the last instruction");
  if (first > last || last >= block.size())
    fail("the block has instructions 0..{}, not {}", block.size() - 1, steps);
  Part part = Part::of(block, first, static_cast<std::uint16_t>(last + 1));
  if (slash == std::string_view::npos) return part;
  std::string_view slots = text.substr(slash + 1);
  std::size_t plus = slots.find('+');
  if (plus == std::string_view::npos) fail("expected {} instead of '{}'", kForm, token);
  auto first_slot = number<std::uint16_t>(slots.substr(0, plus), "the first slot");
  auto count = number<std::uint16_t>(slots.substr(plus + 1), "the number of slots");
  if (first_slot < part.first_slot || first_slot + count > part.end_slot) {
    fail("instructions {} have {} slots from {} on, not {}", steps, part.end_slot - part.first_slot,
         part.first_slot, slots);
  }
  return Part{first, part.end, first_slot, static_cast<std::uint16_t>(first_slot + count)};
}

// A slot's address and length, as far as they are stored.
void parse_place(std::string_view text, const Slot& slot, bool logged, const Context& context,
                 ExecLine& line) {
  if (!logged) {
    if (!slot.is_range() && !text.empty())
      fail("expected no address: it follows from the block; instead of '{}'", text);
    if (!slot.is_range()) return;
    if (!text.starts_with(':')) fail("expected :LENGTH instead of '{}'", text);
    line.logged.push_back(number<std::uint64_t>(text.substr(1), "a length"));
    return;
  }
  Place place = context.symbols.place(text);
  if (place.address == kAbsent) fail("no access has the address {}", text);
  line.logged.push_back(place.address.value);
  if (slot.is_range()) {
    if (!place.size) fail("expected {}:LENGTH", text);
    line.logged.push_back(*place.size);
  } else if (place.size && *place.size != slot.size) {
    fail("{} has {} bytes, but the slot has {}", text, *place.size, slot.size);
  }
}

}  // namespace

void parse_statement_exec(StatementId statement, Tokens& tokens, const Context& context,
                          Block& block, ExecLine& line) {
  block = Block{};
  block.statements.push_back(statement);
  line.logged.clear();
  line.values.clear();
  PartBounds bounds;
  while (!tokens.empty()) {
    if (block.slots.size() == kMaxBlockSlots)
      fail("a statement has at most {} accesses", kMaxBlockSlots);
    if (tokens.skip("|")) {
      bounds.mark_empty(block.slots.size());
      continue;
    }
    std::string_view access = tokens.take("r or w");
    if (access.starts_with('(')) {
      if (!access.ends_with(')'))
        fail("expected a slot in parentheses, such as (r4), not '{}'", access);
      block.slots.push_back(parse_slot(access.substr(1, access.size() - 2), 0, context.symbols));
      continue;
    }
    Slot slot = parse_access(access);
    std::string_view operand = tokens.take("a place after r or w");
    std::string_view token = operand.substr(0, operand.find('='));
    Place place = context.symbols.place(token);
    slot.size = slot.is_range() ? 0 : slot_size(place, token);
    bounds.inside(block.slots.size());
    parse_place(take_value(operand, slot, context, line), slot, true, context, line);
    block.slots.push_back(slot);
  }
  if (!SharedBlocks::possible(block)) fail("expected slots in parentheses without ? and @");
  line.part = bounds.part(block.slots.size());
}

void print_statement_exec(std::string& out, const Exec& exec, const Context& context) {
  const Block& block = exec.block();
  const Part& part = exec.shape->part;
  const std::uint64_t* length = exec.lengths;
  out += context.statements.name(block.statements[0]);
  for (std::size_t i = 0; i <= block.slots.size(); ++i) {
    if (part.first_slot == part.end_slot && i == part.first_slot && !block.slots.empty())
      out += " |";
    if (i == block.slots.size()) return;
    const Slot& slot = block.slots[i];
    if (i < part.first_slot || i >= part.end_slot) {
      out += " (";
      print_slot(out, slot, context.symbols);
      out += ')';
      continue;
    }
    Addr address(exec.addresses[i - part.first_slot]);
    out += ' ';
    print_access(out, slot);
    out += ' ';
    out += context.symbols.place_text(address, slot.is_range() ? *length++ : slot.size, false);
    if (stores_value(slot, context)) print_value(out, exec.values[i - part.first_slot]);
  }
}

void parse_block_exec(const Block& block, Tokens& tokens, const Context& context, ExecLine& line) {
  bool partial = !tokens.empty() && tokens.peek().starts_with('[');
  line.part = partial ? parse_part(tokens.take("a part"), block) : Part::whole(block);
  line.logged.clear();
  line.values.clear();
  for (std::size_t i = line.part.first_slot; i < line.part.end_slot; ++i) {
    const Slot& slot = block.slots[i];
    bool logged = is_logged(slot, line.part);
    if (!logged && !slot.is_range() && !stores_value(slot, context)) continue;
    std::string_view operand = tokens.take(fmt::format("what is stored of slot {}", i));
    if (operand == "-") {
      if (!slot.optional) fail("slot {} is not optional: expected its address instead of -", i);
      line.logged.push_back(kAbsent.value);
      if (slot.is_range()) line.logged.push_back(0);
      if (stores_value(slot, context)) line.values.push_back(0);
    } else {
      parse_place(take_value(operand, slot, context, line), slot, logged, context, line);
    }
  }
  tokens.finish();
}

void print_block_exec(std::string& out, const Exec& exec, const Context& context) {
  const Block& block = exec.block();
  const Part& part = exec.shape->part;
  const std::uint64_t* length = exec.lengths;
  auto at = std::back_inserter(out);
  if (part != Part::whole(block)) {
    fmt::format_to(at, " [{}..{}", part.first, part.end - 1);
    if (part != Part::of(block, part.first, part.end)) {
      fmt::format_to(at, "/{}+{}", part.first_slot, part.end_slot - part.first_slot);
    }
    out += ']';
  }
  for (std::size_t i = part.first_slot; i < part.end_slot; ++i) {
    const Slot& slot = block.slots[i];
    Addr address(exec.addresses[i - part.first_slot]);
    std::uint64_t size = slot.is_range() ? *length++ : slot.size;
    bool logged = is_logged(slot, part);
    if (!logged && !slot.is_range() && !stores_value(slot, context)) continue;
    out += ' ';
    if (address == kAbsent) {
      out += '-';
      continue;
    }
    if (logged) {
      out += context.symbols.place_text(address, size, !slot.is_range());
    } else if (slot.is_range()) {
      fmt::format_to(at, ":{}", size);
    }
    if (stores_value(slot, context)) print_value(out, exec.values[i - part.first_slot]);
  }
}

}  // namespace svd::text
