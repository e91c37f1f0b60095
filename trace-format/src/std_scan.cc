// SPDX-License-Identifier: Apache-2.0
//
// The scanner of STD logs: one look at each byte, one table lookup for each name.

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstring>

#include "svd/trace/nearest.h"
#include "svd/trace/std_log.h"

namespace svd {
namespace {

// No name is this long, and none longer fits a trace.
constexpr std::ptrdiff_t kMaxLine = 64 << 10;

// A line that is looked at in words of 8 bytes ends so far before the log does.
constexpr std::ptrdiff_t kReach = 64;

std::uint64_t word_at(const char* at) {
  std::uint64_t word = 0;
  std::memcpy(&word, at, sizeof word);
  return word;
}

// How many of its bytes stand before the first one that is `c`; 8 if none is.
unsigned bytes_before(std::uint64_t word, char c) {
  constexpr std::uint64_t kOnes = 0x0101010101010101;
  std::uint64_t zero = word ^ kOnes * static_cast<unsigned char>(c);
  std::uint64_t found = (zero - kOnes) & ~zero & kOnes << 7;
  return static_cast<unsigned>(std::countr_zero(found)) / 8;
}

// Up to 8 bytes as a number.
std::uint64_t packed(std::string_view bytes) {
  std::uint64_t word = 0;
  for (std::size_t i = bytes.size(); i-- > 0;)
    word = word << 8 | static_cast<unsigned char>(bytes[i]);
  return word;
}

// Of a name that is not short.
std::uint64_t long_key(std::string_view name) {
  std::uint64_t hash = name.size();
  for (std::size_t i = 0; i < name.size(); i += 8) {
    hash = (hash ^ packed(name.substr(i, 8))) * 0x9e3779b97f4a7c15;
    hash ^= hash >> 32;
  }
  return hash | std::uint64_t{0xff} << 56;
}

}  // namespace

std::span<const std::string_view> names(StdOp) {
  static constexpr std::string_view kTable[] = {"r",    "w",    "acq",   "rel",
                                                "fork", "join", "begin", "end"};
  return kTable;
}

std::uint32_t NameTable::number(std::string_view name) {
  if (2 * names_.size() >= cells_.size()) grow();
  std::uint64_t key = name.size() <= kShort ? short_key(packed(name), name.size()) : long_key(name);
  Cell& cell = cell_for(key, name);
  if (cell.key == kFree) {
    cell = Cell{key, static_cast<std::uint32_t>(names_.size())};
    names_.push_back(name);
  }
  return cell.number;
}

// The cell that has the name, or the free one that it belongs into.
NameTable::Cell& NameTable::cell_for(std::uint64_t key, std::string_view name) {
  for (std::size_t i = place(key);; i = (i + 1) & (cells_.size() - 1)) {
    Cell& cell = cells_[i];
    if (cell.key == kFree) return cell;
    if (cell.key == key && (name.size() <= kShort || names_[cell.number] == name)) return cell;
  }
}

void NameTable::grow() {
  std::vector<Cell> old(2 * cells_.size());
  old.swap(cells_);
  --shift_;
  for (const Cell& cell : old)
    if (cell.key != kFree) cell_for(cell.key, names_[cell.number]) = cell;
}

StdScanner::StdScanner(std::string_view log, std::string name_for_errors)
    : at_(log.data()),
      end_(log.data() + log.size()),
      start_(log.data()),
      name_(std::move(name_for_errors)) {
  for (std::string_view op : names(StdOp{})) ops_.number(op);
}

bool StdScanner::fail(std::string what) {
  auto line = 1 + std::count(start_, at_, '\n');
  error_ = Error{ErrorKind::kText, name_, std::nullopt, static_cast<std::uint64_t>(line),
                 std::move(what)};
  return false;
}

NameTable& StdScanner::operands(StdOp op) {
  switch (op) {
    case StdOp::kRead:
    case StdOp::kWrite:
      return variables_;
    case StdOp::kAcquire:
    case StdOp::kRelease:
      return locks_;
    case StdOp::kFork:
    case StdOp::kJoin:
      return threads_;
    default:
      return transactions_;
  }
}

// A name that is known has been looked at: it holds nothing that it must not.
bool StdScanner::known(StdEvent& event) {
  auto known_name = [](const NameTable& table, std::uint64_t word, unsigned size) {
    if (size == 0 || size > NameTable::kShort) return NameTable::kUnknown;
    std::uint64_t bytes = word & ~(~std::uint64_t{0} << 8 * size);
    return table.find_short(NameTable::short_key(bytes, size));
  };
  const char* at = at_;
  if (end_ - at < kReach || error_) return false;
  std::uint64_t word = word_at(at);
  unsigned size = bytes_before(word, '|');
  event.thread = known_name(threads_, word, size);
  at += size + 1;
  if (at[1] == '(' && (at[0] == 'r' || at[0] == 'w')) {
    event.op = at[0] == 'r' ? StdOp::kRead : StdOp::kWrite;
    at += 2;
  } else {
    word = word_at(at);
    size = bytes_before(word, '(');
    std::uint32_t op = known_name(ops_, word, size);
    if (op == NameTable::kUnknown) return false;
    event.op = static_cast<StdOp>(op);
    at += size + 1;
  }
  word = word_at(at);
  size = bytes_before(word, ')');
  event.operand = known_name(operands(event.op), word, size);
  at += size + 1;
  if (event.thread == NameTable::kUnknown || event.operand == NameTable::kUnknown || *at++ != '|')
    return false;
  const char* location = at;
  while (true) {
    if (end_ - at < 8) return false;
    size = bytes_before(word_at(at), '\n');
    at += size;
    if (size < 8) break;
  }
  if (at == location || at - at_ > kMaxLine) return false;
  event.location = {location, at};
  at_ = at + 1;
  return true;
}

bool StdScanner::any(StdEvent& event) {
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

  auto table = names(StdOp{});
  auto known = std::find(table.begin(), table.end(), std::string_view(op, open));
  if (known == table.end()) {
    std::string_view name(op, open);
    return fail(fmt::format("no operation is called '{}'{}: it is one of {}", name,
                            did_you_mean(name, table), fmt::join(table, ", ")));
  }
  event.thread = threads_.number(thread);
  event.op = static_cast<StdOp>(known - table.begin());
  event.operand = operands(event.op).number(operand);
  event.location = std::string_view(location, line_end);
  at_ = line_end == end_ ? end_ : line_end + 1;
  return true;
}

bool is_std(std::string_view text) {
  StdEvent first;
  return StdScanner(text, "").next(first);
}

}  // namespace svd
