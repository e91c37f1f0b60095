// SPDX-License-Identifier: Apache-2.0
//
// From an STD log to a trace: std_log.h says how.

#include <fmt/format.h>

#include <charconv>
#include <optional>
#include <vector>

#include "svd/trace/std_log.h"

namespace svd {
namespace {

// Room for 2^29 names each, far apart from each other, at 8 bytes a name.
constexpr std::uint64_t kVariables = std::uint64_t{1} << 32;
constexpr std::uint64_t kLocks = std::uint64_t{2} << 32;
constexpr std::uint64_t kSpacing = 8;
constexpr std::uint16_t kVariableSize = 4;
constexpr std::uint32_t kMaxNames = std::uint32_t{1} << 29;
constexpr std::size_t kOps = 8;
constexpr std::uint64_t kProgressStride = 1U << 16;
constexpr std::uint32_t kFirstNamedThread = std::uint32_t{1} << 31;

// A decimal number that is only counted up.
class Counter {
 public:
  std::string_view text() const { return {first_, digits_ + sizeof digits_}; }
  void increment() {
    char* digit = digits_ + sizeof digits_ - 1;
    while (digit >= first_ && *digit == '9') *digit-- = '0';
    if (digit < first_) first_ = digit, *digit = '0';
    ++*digit;
  }

 private:
  char digits_[20] = {};
  char* first_ = digits_ + sizeof digits_;
};

// Whether the locations are 1, 2, 3, …
bool is_numbered(std::string_view log) {
  Counter expected;
  while (!log.empty()) {
    expected.increment();
    std::string_view line = log.substr(0, log.find('\n'));
    log.remove_prefix(std::min(log.size(), line.size() + 1));
    std::string_view number = expected.text();
    if (!line.ends_with(number) || line.size() == number.size()) return false;
    if (line[line.size() - number.size() - 1] != '|') return false;
  }
  return true;
}

class Importer {
 public:
  Importer(std::string_view log, const std::string& name, bool numbered, TraceWriter& writer)
      : scanner_(log, name), numbered_(numbered), writer_(writer) {}

  Status run(const ProgressFunction& progress) {
    StdEvent event;
    while (scanner_.next(event)) {
      if (writer_.now().value % kProgressStride == 0) progress(writer_.now().value);
      if (event.operand >= kMaxNames) {
        return Error{
            ErrorKind::kText, {}, std::nullopt, std::nullopt, "the log has more than 2^29 names"};
      }
      ThreadId actor = started(event.thread, event.thread);
      if (running_ != actor) {
        running_ = actor;
        writer_.run(actor);
      }
      if (event.op <= StdOp::kWrite) {
        declare(declared_variables_, event.operand, kVariables, kVariableSize,
                scanner_.variables());
        std::uint64_t address = kVariables + kSpacing * event.operand;
        writer_.exec(block(event), &address, nullptr);
      } else {
        writer_.exec(block(event), nullptr, nullptr);
        synchronise(actor, event);
      }
    }
    if (scanner_.error()) return *scanner_.error();
    return writer_.finish();
  }

 private:
  // The thread with this number in the scanner.
  ThreadId thread(std::uint32_t number) {
    while (threads_.size() <= number)
      threads_.push_back(thread_id(scanner_.threads()[threads_.size()]));
    return threads_[number];
  }

  // The same; if it has not started, it does now.
  ThreadId started(std::uint32_t number, std::uint32_t parent) {
    if (number < started_.size() && started_[number]) return threads_[number];
    if (started_.size() <= number) started_.resize(number + 1);
    started_[number] = true;
    ThreadStart start;
    start.parent = thread(parent);
    start.name = scanner_.threads()[number];
    writer_.event(thread(number), start);
    return thread(number);
  }

  ThreadId thread_id(std::string_view name) {
    std::uint32_t number = 0;
    if (name.size() > 1 && name[0] == 'T' && (name[1] != '0' || name.size() == 2)) {
      auto [end, error] = std::from_chars(name.data() + 1, name.data() + name.size(), number);
      if (error == std::errc() && end == name.data() + name.size() && number < kFirstNamedThread)
        return ThreadId(number);
    }
    return ThreadId(kFirstNamedThread + named_threads_++);
  }

  // A statement for each location, or, where locations say nothing, for each operation; a block for
  // each of its operations.
  BlockId block(const StdEvent& event) {
    auto op = static_cast<std::size_t>(event.op);
    std::size_t location = numbered_ ? op : locations_.number(event.location);
    if (location >= statements_.size()) {
      statements_.resize(location + 1);
      blocks_.resize(kOps * statements_.size());
    }
    std::optional<BlockId>& block = blocks_[kOps * location + op];
    if (!block) block = make_block(event, statements_[location]);
    return *block;
  }

  BlockId make_block(const StdEvent& event, std::optional<StatementId>& statement) {
    if (!statement) {
      Statement made;
      made.label = numbered_ ? names(event.op)[static_cast<std::size_t>(event.op)] : event.location;
      statement = writer_.add(made);
    }
    Block block;
    block.statements.push_back(*statement);
    if (event.op <= StdOp::kWrite) {
      Slot slot;
      slot.size = kVariableSize;
      slot.write = event.op == StdOp::kWrite;
      block.slots.push_back(slot);
    }
    return writer_.add(block);
  }

  // Numbers are given in the order of first mention, so that at most one symbol is new.
  void declare(std::uint32_t& declared, std::uint32_t number, std::uint64_t base,
               std::uint64_t size, const std::vector<std::string_view>& names) {
    if (number < declared) return;
    declared = number + 1;
    writer_.add(
        Symbol{std::string(names[number]), SymbolKind::kData, base + kSpacing * number, size});
  }

  void synchronise(ThreadId actor, const StdEvent& event) {
    if (event.op <= StdOp::kRelease) {
      declare(declared_locks_, event.operand, kLocks, 0, scanner_.locks());
      Sync sync;
      sync.op = event.op == StdOp::kAcquire ? SyncOp::kMutexLock : SyncOp::kMutexUnlock;
      sync.object = Addr(kLocks + kSpacing * event.operand);
      writer_.event(actor, sync);
    } else if (event.op == StdOp::kFork) {
      ThreadCreate create;
      create.child = thread(event.operand);
      writer_.event(actor, create);
      started(event.operand, event.thread);
    } else if (event.op == StdOp::kJoin) {
      ThreadJoin join;
      join.child = started(event.operand, event.operand);
      writer_.event(actor, join);
    } else {
      Atomic atomic;
      atomic.edge = event.op == StdOp::kBegin ? Edge::kBegin : Edge::kEnd;
      atomic.name = scanner_.transactions()[event.operand];
      writer_.event(actor, atomic);
    }
  }

  StdScanner scanner_;
  bool numbered_;
  TraceWriter& writer_;
  std::optional<ThreadId> running_;
  std::vector<ThreadId> threads_;  // by the scanner's number
  std::vector<bool> started_;
  std::uint32_t named_threads_ = 0;
  NameTable locations_;
  std::vector<std::optional<StatementId>> statements_;  // by location
  std::vector<std::optional<BlockId>> blocks_;          // by location and operation
  std::uint32_t declared_variables_ = 0;
  std::uint32_t declared_locks_ = 0;
};

}  // namespace

Status import_std(std::string_view log, const std::string& name_for_errors,
                  const WriterFactory& make_writer, const ProgressFunction& progress) {
  Process process;
  process.engine = "std";
  process.has_values = false;
  bool numbered = is_numbered(log);
  if (numbered) process.engine_options = "numbered";
  auto writer = make_writer(process);
  if (!writer) return writer.error();
  return Importer(log, name_for_errors, numbered, **writer).run(progress);
}

}  // namespace svd
