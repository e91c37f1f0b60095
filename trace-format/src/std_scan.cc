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

// Names are mostly two to four letters: eight bytes at a time, mixed by multiplication. The
// constant is 2^64 over the golden ratio.
std::uint64_t hash_of(std::string_view name) {
  constexpr std::uint64_t kGolden = 0x9e3779b97f4a7c15;
  std::uint64_t hash = name.size();
  for (std::size_t i = 0; i < name.size(); i += 8) {
    std::uint64_t word = 0;
    if (i + 8 <= name.size()) {
      std::memcpy(&word, name.data() + i, 8);
    } else {
      for (std::size_t j = name.size(); j-- > i;)
        word = word << 8 | static_cast<unsigned char>(name[j]);
    }
    hash = (hash ^ word) * kGolden;
    hash ^= hash >> 32;
  }
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
  std::uint64_t hash = hash_of(name);
  std::size_t mask = cells_.size() - 1;
  for (std::size_t i = hash & mask;; i = (i + 1) & mask) {
    Cell& cell = cells_[i];
    if (!cell.used) {
      cell = Cell{hash, static_cast<std::uint32_t>(names_.size()), true};
      names_.push_back(name);
      return cell.number;
    }
    if (cell.hash == hash && names_[cell.number] == name) return cell.number;
  }
}

void NameTable::grow() {
  std::vector<Cell> old(std::max<std::size_t>(64, 2 * cells_.size()));
  old.swap(cells_);
  std::size_t mask = cells_.size() - 1;
  for (const Cell& cell : old) {
    if (!cell.used) continue;
    std::size_t i = cell.hash & mask;
    while (cells_[i].used) i = (i + 1) & mask;
    cells_[i] = cell;
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

bool StdScanner::next(StdEvent& event) {
  while (at_ != end_ && *at_ == '\n') ++at_;
  if (at_ == end_ || error_) return false;
  constexpr const char* kForm = "expected THREAD|OP(OPERAND)|LOCATION, such as T0|r(V1)|345";

  // Up to the next `stop` within the line; null if there is none.
  auto until = [&](const char* from, char stop) -> const char* {
    while (from != end_ && *from != stop && *from != '\n') ++from;
    return from != end_ && *from == stop ? from : nullptr;
  };
  const char* bar = until(at_, '|');
  if (bar == nullptr || bar == at_) return fail(kForm);
  std::string_view thread(at_, bar);
  const char* op = bar + 1;
  const char* open = until(op, '(');
  if (open == nullptr) return fail(kForm);
  const char* close = until(open + 1, '|');
  if (close == nullptr || close[-1] != ')' || close - open < 3) return fail(kForm);
  std::string_view operand(open + 1, close - 1);
  const char* location = close + 1;
  const char* line_end = location;
  while (line_end != end_ && *line_end != '\n') ++line_end;
  if (line_end == location) return fail(kForm);

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
