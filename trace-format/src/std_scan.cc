// SPDX-License-Identifier: Apache-2.0
//
// The scanner of STD logs: one look at each byte, one table lookup for each name.

#include <emmintrin.h>
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

// A line that is looked at in words begins so far before the end of the log.
constexpr std::ptrdiff_t kReach = 64;

// Where a byte stands among the first 32 of a line: a bit for each place.
class Window {
 public:
  explicit Window(const char* at) : low_(half(at)), high_(half(at + 16)) {}
  std::uint32_t places_of(char c) const {
    __m128i wanted = _mm_set1_epi8(c);
    auto places = [&](__m128i bytes) {
      return static_cast<std::uint32_t>(_mm_movemask_epi8(_mm_cmpeq_epi8(bytes, wanted)));
    };
    return places(low_) | places(high_) << 16;
  }
  static constexpr std::ptrdiff_t kBytes = 32;

 private:
  static __m128i half(const char* at) {
    return _mm_loadu_si128(reinterpret_cast<const __m128i*>(at));
  }
  __m128i low_, high_;
};

std::uint64_t word_at(const char* at) {
  std::uint64_t word = 0;
  std::memcpy(&word, at, sizeof word);
  return word;
}

// Null where the line is too long, or not ended.
const char* end_of_line(const char* line, unsigned location, const Window& window,
                        const char* log_end) {
  std::uint64_t ends = std::uint64_t{window.places_of('\n')} >> location;
  if (ends != 0) return line + location + std::countr_zero(ends);
  const char* rest = line + Window::kBytes;
  std::ptrdiff_t most = std::min(log_end - line, kMaxLine) - Window::kBytes;
  return static_cast<const char*>(std::memchr(rest, '\n', static_cast<std::size_t>(most)));
}

// How many of its bytes stand before the first one that is `c`; 8 if none is.
unsigned bytes_before(std::uint64_t word, char c) {
  constexpr std::uint64_t kOnes = 0x0101010101010101;
  std::uint64_t zero = word ^ kOnes * static_cast<unsigned char>(c);
  std::uint64_t found = (zero - kOnes) & ~zero & kOnes << 7;
  return static_cast<unsigned>(std::countr_zero(found)) / 8;
}

// Of a name with so many bytes, followed by at least as many as make 8.
[[gnu::always_inline]] inline std::uint32_t known_name(const NameTable& table, const char* at,
                                                       unsigned size) {
  if (size - 1 >= NameTable::kShort) return NameTable::kUnknown;
  return table.find_short(NameTable::short_key(word_at(at), size));
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
  return hash | 0xff;
}

}  // namespace

std::span<const std::string_view> names(StdOp) {
  static constexpr std::string_view kTable[] = {"r",    "w",    "acq",   "rel",
                                                "fork", "join", "begin", "end"};
  return kTable;
}

std::uint32_t NameTable::number(std::string_view name) {
  if (4 * names_.size() >= cells_.size()) grow();
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

// A name that is known has been looked at: it holds nothing that it must not. All that a line holds
// is found by one look at its beginning, so that the next line does not wait for names.
bool StdScanner::known(StdEvent& event) {
  if (end_ - at_ < kReach || error_) return false;
  const char* line = at_;
  Window window(line);
  std::uint32_t bars = window.places_of('|');
  std::uint32_t second = bars & (bars - 1);
  if (second == 0) return false;
  auto op = static_cast<unsigned>(std::countr_zero(bars)) + 1;
  auto location = static_cast<unsigned>(std::countr_zero(second)) + 1;
  const char* line_end = end_of_line(line, location, window, end_);
  if (line_end == nullptr || line_end == line + location) return false;

  unsigned operand = op + 2;
  // Without a branch that asks which of the two it is: that cannot be predicted.
  bool write = line[op] == 'w';
  if (line[op + 1] == '(' && (write | (line[op] == 'r'))) {
    event.op = static_cast<StdOp>(write);
  } else {
    unsigned size = bytes_before(word_at(line + op), '(');
    std::uint32_t number = known_name(ops_, line + op, size);
    if (number == NameTable::kUnknown) return false;
    event.op = static_cast<StdOp>(number);
    operand = op + size + 1;
  }
  event.thread = known_name(threads_, line, op - 1);
  event.operand = known_name(operands(event.op), line + operand, location - 2 - operand);
  if (event.thread == NameTable::kUnknown || event.operand == NameTable::kUnknown ||
      line[location - 2] != ')')
    return false;
  event.location = {line + location, line_end};
  at_ = line_end + 1;
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
