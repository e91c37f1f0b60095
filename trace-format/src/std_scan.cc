// SPDX-License-Identifier: Apache-2.0
//
// The scanner of STD logs: one look at each byte, one table lookup for each name.

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>

#include "svd/trace/nearest.h"
#include "svd/trace/std_log.h"

namespace svd {
namespace {

// 2^64 over the golden ratio: spreads what differs in few bits.
constexpr std::uint64_t kGolden = 0x9e3779b97f4a7c15;

std::uint64_t mixed(std::uint64_t key) {
  key *= kGolden;
  return key ^ key >> 32;
}

// Up to 8 bytes as a number.
std::uint64_t packed(std::string_view bytes) {
  std::uint64_t word = 0;
  for (std::size_t i = bytes.size(); i-- > 0;)
    word = word << 8 | static_cast<unsigned char>(bytes[i]);
  return word;
}

std::uint64_t hash_of(std::string_view name) {
  std::uint64_t hash = name.size();
  for (std::size_t i = 0; i < name.size(); i += 8) hash = mixed(hash ^ packed(name.substr(i, 8)));
  return hash;
}

std::optional<StdOp> op_of(std::string_view name) {
  auto table = names(StdOp{});
  auto at = std::find(table.begin(), table.end(), name);
  if (at == table.end()) return std::nullopt;
  return static_cast<StdOp>(at - table.begin());
}

}  // namespace

std::span<const std::string_view> names(StdOp) {
  static constexpr std::string_view kTable[] = {"r",    "w",    "acq",   "rel",
                                                "fork", "join", "begin", "end"};
  return kTable;
}

std::uint32_t NameTable::number(std::string_view name) {
  if (2 * names_.size() >= cells_.size()) grow();
  bool is_short = name.size() <= 8;
  std::uint64_t key = is_short ? packed(name) : hash_of(name);
  auto size = is_short ? static_cast<std::uint8_t>(name.size()) : kLong;
  Cell& cell = cell_for(key, size, name);
  if (cell.size == kFree) {
    cell = Cell{key, static_cast<std::uint32_t>(names_.size()), size};
    names_.push_back(name);
  }
  return cell.number;
}

// The cell that has the name, or the free one that it belongs into.
NameTable::Cell& NameTable::cell_for(std::uint64_t key, std::uint8_t size, std::string_view name) {
  std::size_t mask = cells_.size() - 1;
  for (std::size_t i = mixed(key + size) & mask;; i = (i + 1) & mask) {
    Cell& cell = cells_[i];
    if (cell.size == kFree) return cell;
    if (cell.key == key && cell.size == size && (size != kLong || names_[cell.number] == name))
      return cell;
  }
}

void NameTable::grow() {
  std::vector<Cell> old(std::max<std::size_t>(64, 2 * cells_.size()));
  old.swap(cells_);
  for (const Cell& cell : old) {
    if (cell.size != kFree) cell_for(cell.key, cell.size, names_[cell.number]) = cell;
  }
}

StdScanner::StdScanner(std::string_view log, std::string name_for_errors)
    : at_(log.data()),
      end_(log.data() + log.size()),
      start_(log.data()),
      name_(std::move(name_for_errors)) {}

bool StdScanner::fail(std::string what) {
  auto line = 1 + std::count(start_, at_, '\n');
  error_ = Error{ErrorKind::kText, name_, std::nullopt, static_cast<std::uint64_t>(line),
                 std::move(what)};
  return false;
}

// No name is this long, and none longer fits a trace.
constexpr std::ptrdiff_t kMaxLine = 64 << 10;

bool StdScanner::next(StdEvent& event) {
  while (at_ != end_ && *at_ == '\n') ++at_;
  if (at_ == end_ || error_) return false;
  constexpr const char* kForm = "expected THREAD|OP(OPERAND)|LOCATION, such as T0|r(V1)|345";

  const char* line_end =
      static_cast<const char*>(std::memchr(at_, '\n', static_cast<std::size_t>(end_ - at_)));
  if (line_end == nullptr) line_end = end_;
  if (line_end - at_ > kMaxLine) return fail("the line is longer than 64 KiB");
  auto find = [&](const char* from, char c) { return std::find(from, line_end, c); };
  const char* bar = find(at_, '|');
  const char* open = find(bar, '(');
  const char* close = find(open, '|');
  // Nothing is empty: THREAD, OPERAND with its parenthesis, LOCATION.
  if (bar == at_ || close - open < 3 || close[-1] != ')' || line_end - close < 2)
    return fail(kForm);
  const char* op = bar + 1;
  const char* location = close + 1;
  std::string_view thread(at_, bar);
  std::string_view operand(open + 1, close - 1);

  auto known = open - op == 1 ? (*op == 'r'   ? std::optional(StdOp::kRead)
                                 : *op == 'w' ? std::optional(StdOp::kWrite)
                                              : std::nullopt)
                              : op_of({op, open});
  if (!known) {
    std::string_view name(op, open);
    return fail(fmt::format("no operation is called '{}'{}: it is one of {}", name,
                            did_you_mean(name, names(StdOp{})), fmt::join(names(StdOp{}), ", ")));
  }
  const std::array<NameTable*, 8> operands = {&variables_,    &variables_,   &locks_,
                                              &locks_,        &threads_,     &threads_,
                                              &transactions_, &transactions_};
  event.thread = threads_.number(thread);
  event.op = *known;
  event.operand = operands[static_cast<std::size_t>(*known)]->number(operand);
  event.location = std::string_view(location, line_end);
  at_ = line_end;
  return true;
}

}  // namespace svd
