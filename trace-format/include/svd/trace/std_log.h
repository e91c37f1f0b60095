// SPDX-License-Identifier: Apache-2.0
//
// Logs in the STD format of the RAPID analyser: one event a line, THREAD|OP(OPERAND)|LOCATION, such
// as "T0|r(V1)|345". Other tools check our detectors on them, and read our traces.
//
// import_std and export_std are inverse on such logs (but for empty lines, and a missing last line
// feed). How an event is kept:
//
// - It is one execution of an abstract statement, so that its Seq is its number from 0. The
//   statement's label is the location.
//
// - A read or write accesses 4 bytes at the address of the variable's symbol. There are no values.
//
// - acq, rel, fork, join, begin and end access nothing. The trace's event (lock, create, atomic, …)
//   follows the execution, and a thread's start its first mention.
//
// - Thread "T7" is thread 7. Threads with other names are numbered from 2^31 on, and keep their
//   name in their start.
//
// - A log that numbers its events from 1 in place of locations says nothing about code: its
//   statements are the operations (Process::engine_options is "numbered").
#pragma once

#include <cstdint>
#include <iosfwd>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "svd/trace/diagnostic.h"
#include "svd/trace/reader.h"
#include "svd/trace/result.h"
#include "svd/trace/text.h"

namespace svd {

enum class StdOp : std::uint8_t { kRead, kWrite, kAcquire, kRelease, kFork, kJoin, kBegin, kEnd };
std::span<const std::string_view> names(StdOp);

// Numbers for names in the order of their first mention. Names are not empty; they are views, and
// what they point into must outlive the table.
class NameTable {
 public:
  static constexpr std::uint32_t kUnknown = ~std::uint32_t{0};

  std::uint32_t number(std::string_view name);
  // Of a short name (short_key), kUnknown if it has none.
  std::uint32_t find_short(std::uint64_t key) const {
    for (std::size_t i = place(key);; i = (i + 1) & (cells_.size() - 1)) {
      if (cells_[i].key == key) return cells_[i].number;
      if (cells_[i].key == kFree) return kUnknown;
    }
  }
  const std::vector<std::string_view>& names() const { return names_; }

  // Names of 1 to 7 bytes are compared as numbers: these, the last one on top, and their count
  // lowest. `bytes` has the first one lowest, and anything after the last one.
  static constexpr std::size_t kShort = 7;
  static std::uint64_t short_key(std::uint64_t bytes, std::size_t size) {
    return bytes << 8 * (8 - size) | size;
  }

 private:
  // Longer ones are compared by their hash first, whose lowest byte is no count.
  struct Cell {
    std::uint64_t key = kFree;
    std::uint32_t number = 0;
  };
  static constexpr std::uint64_t kFree = 0;
  static constexpr unsigned kFirstBits = 6;

  std::size_t place(std::uint64_t key) const {
    return key * 0x9e3779b97f4a7c15 >> shift_;  // Fibonacci hashing
  }
  Cell& cell_for(std::uint64_t key, std::string_view name);
  void grow();

  // Open addressing, at most a quarter full: what is looked for is mostly in its place.
  std::vector<Cell> cells_ = std::vector<Cell>(std::size_t{1} << kFirstBits);
  unsigned shift_ = 64 - kFirstBits;
  std::vector<std::string_view> names_;
};

struct StdEvent {
  std::uint32_t thread = 0;
  StdOp op = StdOp::kRead;
  std::uint32_t operand = 0;  // a variable, lock, thread or transaction, as `op` says
  std::string_view location;
};

// The events of a log that is in memory, one after the other, without allocations once all names
// are known.
class StdScanner {
 public:
  StdScanner(std::string_view log, std::string name_for_errors);

  // The next event; false at the end and on an error.
  bool next(StdEvent& event) { return known(event) || any(event); }
  // Where the next one begins, or empty lines before it.
  const char* position() const { return at_; }
  const std::optional<Error>& error() const { return error_; }

  // What the numbers in events stand for.
  const std::vector<std::string_view>& threads() const { return threads_.names(); }
  const std::vector<std::string_view>& variables() const { return variables_.names(); }
  const std::vector<std::string_view>& locks() const { return locks_.names(); }
  const std::vector<std::string_view>& transactions() const { return transactions_.names(); }

 private:
  // An event of a plain line with names that are known; false where there is none, or it may be
  // another.
  bool known(StdEvent& event);
  bool any(StdEvent& event);
  NameTable& operands(StdOp op);
  bool fail(std::string what);

  const char* at_;
  const char* end_;
  const char* start_;
  std::string name_;
  std::optional<Error> error_;
  NameTable ops_;  // numbers are StdOp
  NameTable threads_;
  NameTable variables_;
  NameTable locks_;
  NameTable transactions_;
};

// Whether it looks like a log: its first line is one's.
bool is_std(std::string_view text);

// Writes the log as a trace and finishes it. As with assemble(), an error may leave an unfinished
// file. `progress` hears of events that are written.
Status import_std(std::string_view log, const std::string& name_for_errors,
                  const WriterFactory& make_writer, const ProgressFunction& progress = no_progress);

// Any trace as a log. What does not come from a log is put as well as the format allows, and what
// is lost is said:
//
// - Each access is an event. Its operand is the variable (data symbol) that contains it, or else
//   each aligned 8 bytes that it touches, "0x1000". Its location is the statement's label or
//   number, or the instruction's address, in decimal.
//
// - What the kernel reads and writes are accesses of the calling thread, at its last location.
//
// - Successful locking and unlocking of mutexes, spin locks and rwlocks (as if all were exclusive)
//   is acq and rel.
//
// - Other synchronisation has no counterpart and is left out.
//
// `progress` hears of instructions.
Status export_std(const TraceReader& reader, std::ostream& out, Diagnostics& diagnostics,
                  const ProgressFunction& progress = no_progress);

}  // namespace svd
