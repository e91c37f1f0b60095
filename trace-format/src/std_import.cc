// SPDX-License-Identifier: Apache-2.0
//
// From an STD log to a run in memory, and from there to a trace: std_log.h says how.

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstring>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

#include "std_names.h"
#include "std_run.h"
#include "svd/trace/copy.h"
#include "svd/trace/std_log.h"

namespace svd {
namespace {

constexpr std::size_t kOps = 8;
constexpr std::uint32_t kFirstNamedThread = std::uint32_t{1} << 31;
// Of a chunk, so that it stays in the processor's cache between who decodes and who looks at it.
constexpr std::uint32_t kPieceSteps = 1U << 15;
constexpr std::uint32_t kNone = std::numeric_limits<std::uint32_t>::max();
constexpr Seq kNever{std::numeric_limits<std::uint64_t>::max()};

// A decimal number that is only counted up, from 0, and compared with what is written.
class Counter {
 public:
  void increment() {
    last_ += std::uint64_t{1} << 56;
    if (last_ >> 56 > '9') carry();
  }
  // `location` stands in a log: at least 8 bytes of a line end where it does.
  bool is(std::string_view location) const {
    if (location.size() != size_) return false;
    std::uint64_t there = 0;
    std::memcpy(&there, location.data() + size_ - 8, 8);
    if (size_ > 8) return there == last_ && location.substr(0, size_ - 8) == rest_;
    return (there ^ last_) >> 8 * (8 - size_) == 0;
  }

 private:
  // Digits beyond the first are '0' before they are written, so that 9 + 1 is 10.
  void carry() {
    unsigned bit = 56;
    for (std::size_t digits = 1;; ++digits, bit -= 8) {
      last_ -= std::uint64_t{10} << bit;
      if (bit == 0) break;
      last_ += std::uint64_t{1} << (bit - 8);
      size_ = std::max(size_, digits + 1);
      if ((last_ >> (bit - 8) & 0xff) <= '9') return;
    }
    rest_ = std::to_string(++above_);
    size_ = 8 + rest_.size();
  }

  std::uint64_t last_ = 0x3030303030303030;  // the last 8 digits as they would stand in memory
  std::uint64_t above_ = 0;                  // the number without them
  std::string rest_;                         // the same, as it is written
  std::size_t size_ = 1;                     // in digits
};

// The bit of the events of an operation in ChunkInfo::event_kinds.
std::uint64_t kind_of(StdOp op) {
  auto bit = [](const EventBody& body) { return std::uint64_t{1} << body.index(); };
  switch (op) {
    case StdOp::kRead:
    case StdOp::kWrite:
      return 0;
    case StdOp::kAcquire:
    case StdOp::kRelease:
      return bit(Sync());
    case StdOp::kFork:
      return bit(ThreadCreate());
    case StdOp::kJoin:
      return bit(ThreadJoin());
    default:
      return bit(Atomic());
  }
}

}  // namespace

class StdLoader {
 public:
  StdLoader(std::string_view log, const std::string& name, bool numbered, Catalog& catalog)
      : scanner_(log, name), log_(log.data()), numbered_(numbered), catalog_(catalog) {
    Process& process = catalog.tables.process;
    process.engine = "std";
    process.has_values = false;
    if (numbered) process.engine_options = "numbered";
    catalog.tables.has_process = true;
    catalog.finished = true;
  }

  // Nothing where the log should be numbered, and is not.
  Result<std::optional<StdRun>> run() {
    StdEvent event;
    Counter expected;
    for (; scanner_.next(event); at_ = scanner_.position()) {
      if (numbered_) {
        expected.increment();
        if (!expected.is(event.location)) return std::optional<StdRun>();
      }
      if (event.operand >= kMaxStdNames) {
        return Error{
            ErrorKind::kText, {}, std::nullopt, std::nullopt, "the log has more than 2^29 names"};
      }
      add(event);
    }
    if (scanner_.error()) return *scanner_.error();
    end_piece();
    for (const ThreadInfo& thread : threads_) catalog_.threads.push_back(thread);
    std::sort(catalog_.threads.begin(), catalog_.threads.end(),
              [](const ThreadInfo& a, const ThreadInfo& b) { return a.id < b.id; });
    run_.thread_names_ = scanner_.threads();
    run_.transactions_ = scanner_.transactions();
    return std::optional(std::move(run_));
  }

 private:
  // A block, and what it is in the newest piece that executes it.
  struct Code {
    std::uint32_t block = kNone;
    std::uint32_t piece = kNone;
    std::uint32_t shape = 0;
  };

  [[gnu::always_inline]] void add(const StdEvent& event) {
    if (piece_ == nullptr || piece_->steps.size() == kPieceSteps) begin_piece();
    if (event.thread != running_ || piece_->turns.empty()) {
      piece_->turns.push_back({event.thread, 0});
      running_ = event.thread;
      start(event.thread, event.thread);
      in_piece(event.thread);
    }
    Code& code = code_of(event);
    if (code.piece != run_.pieces_.size()) {
      code.piece = static_cast<std::uint32_t>(run_.pieces_.size());
      code.shape = static_cast<std::uint32_t>(piece_->shapes.size());
      piece_->shapes.emplace_back(code.block);
    }
    piece_->steps.push_back({code.shape, event.operand});
    ++piece_->turns.back().steps;
    if (event.op <= StdOp::kWrite) {
      ++accesses_;
      declare(variables_, event.operand, std_variable(event.operand), kStdVariableSize,
              scanner_.variables());
    } else {
      synchronise(event);
    }
    now_ += 1;
  }

  void synchronise(const StdEvent& event) {
    ChunkInfo& info = catalog_.chunks.back();
    ++info.events;
    info.event_kinds |= kind_of(event.op);
    if (event.op <= StdOp::kRelease) {
      declare(locks_, event.operand, std_lock(event.operand), 0, scanner_.locks());
    } else if (event.op == StdOp::kFork || event.op == StdOp::kJoin) {
      start(event.operand, event.op == StdOp::kFork ? event.thread : event.operand);
    }
  }

  void begin_piece() {
    end_piece();
    piece_ = &run_.pieces_.emplace_back();
    piece_->steps.reserve(kPieceSteps);
    ChunkInfo info;
    info.ordinal = catalog_.chunks.size();
    info.offset = static_cast<std::uint64_t>(at_ - log_);
    info.first_seq = now_;
    catalog_.chunks.push_back(std::move(info));
  }

  void end_piece() {
    if (piece_ == nullptr) return;
    ChunkInfo& info = catalog_.chunks.back();
    info.bytes = static_cast<std::uint64_t>(at_ - log_) - info.offset;
    info.steps = info.execs = piece_->steps.size();
    info.accesses = std::exchange(accesses_, 0);
    Seq at = info.first_seq;
    for (const StdRun::Turn& turn : piece_->turns) {
      ThreadInfo& thread = threads_[turn.thread];
      if (thread.steps == 0) thread.first_seq = at;
      thread.steps += turn.steps;
      at += turn.steps;
      thread.last_seq = at - 1;
    }
    for (std::uint32_t number : in_piece_) info.threads.push_back(thread(number));
    std::sort(info.threads.begin(), info.threads.end());
    in_piece_.clear();
  }

  // It runs, or something happens to it, in the piece.
  void in_piece(std::uint32_t number) {
    std::uint32_t& newest = newest_piece_[number];
    if (std::exchange(newest, run_.pieces_.size()) != run_.pieces_.size())
      in_piece_.push_back(number);
  }

  // The thread with this number in the scanner.
  ThreadId thread(std::uint32_t number) {
    while (run_.threads_.size() <= number) {
      std::string_view name = scanner_.threads()[run_.threads_.size()];
      run_.threads_.push_back({thread_id(name), kNever});
      ThreadId id = run_.threads_.back().id;
      threads_.push_back({id, id, std::string(name), 0, {}, {}});
      newest_piece_.push_back(0);
    }
    return run_.threads_[number].id;
  }

  // It does so once.
  void start(std::uint32_t number, std::uint32_t parent) {
    thread(number);
    if (run_.threads_[number].start != kNever) return;
    run_.threads_[number].start = now_;
    threads_[number].parent = thread(parent);
    ChunkInfo& info = catalog_.chunks.back();
    ++info.events;
    info.event_kinds |= std::uint64_t{1} << EventBody(ThreadStart()).index();
    in_piece(number);
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
  Code& code_of(const StdEvent& event) {
    auto op = static_cast<std::size_t>(event.op);
    std::size_t location = numbered_ ? op : locations_.number(event.location);
    if (location >= statements_.size()) {
      statements_.resize(location + 1);
      codes_.resize(kOps * statements_.size());
    }
    Code& code = codes_[kOps * location + op];
    if (code.block == kNone) code.block = make_block(event, statements_[location]).value;
    return code;
  }

  BlockId make_block(const StdEvent& event, std::optional<StatementId>& statement) {
    Tables& tables = catalog_.tables;
    if (!statement) {
      statement = StatementId(static_cast<std::uint32_t>(tables.statements.size()));
      tables.statements.emplace_back().label =
          numbered_ ? names(event.op)[static_cast<std::size_t>(event.op)] : event.location;
    }
    Block block;
    block.statements.push_back(*statement);
    if (event.op <= StdOp::kWrite) {
      Slot slot;
      slot.size = kStdVariableSize;
      slot.write = event.op == StdOp::kWrite;
      block.slots.push_back(slot);
    }
    tables.blocks.push_back(std::move(block));
    run_.ops_.push_back(event.op);
    return BlockId(static_cast<std::uint32_t>(tables.blocks.size() - 1));
  }

  // Numbers are given in the order of first mention, so that at most one symbol is new.
  void declare(std::uint32_t& declared, std::uint32_t number, std::uint64_t address,
               std::uint64_t size, const std::vector<std::string_view>& names) {
    if (number < declared) return;
    declared = number + 1;
    catalog_.tables.symbols.push_back(
        {std::string(names[number]), SymbolKind::kData, address, size});
  }

  StdScanner scanner_;
  const char* log_;
  const char* at_ = log_;  // the event at hand, or empty lines before it
  bool numbered_;
  Catalog& catalog_;
  StdRun run_;
  StdRun::Piece* piece_ = nullptr;  // the newest; run_.pieces_ counts it
  Seq now_{};
  std::uint64_t accesses_ = 0;  // of the piece
  std::uint32_t running_ = 0;
  std::vector<ThreadInfo> threads_;          // by the scanner's number
  std::vector<std::uint32_t> newest_piece_;  // that the thread is in, counted from 1
  std::vector<std::uint32_t> in_piece_;      // the threads that are in the newest
  std::uint32_t named_threads_ = 0;
  NameTable locations_;
  std::vector<std::optional<StatementId>> statements_;  // by location
  std::vector<Code> codes_;                             // by location and operation
  std::uint32_t variables_ = 0;                         // declared
  std::uint32_t locks_ = 0;
};

Result<StdRun> StdRun::read(std::string_view log, const std::string& name_for_errors,
                            Catalog& catalog) {
  for (bool numbered : {true, false}) {
    catalog = Catalog();
    auto run = StdLoader(log, name_for_errors, numbered, catalog).run();
    if (!run) return run.error();
    if (*run) return std::move(**run);
  }
  SVD_CHECK(false);
}

Status import_std(std::string_view log, const std::string& name_for_errors,
                  const WriterFactory& make_writer, const ProgressFunction& progress) {
  auto reader = TraceReader::of_std(log, name_for_errors);
  if (!reader) return reader.error();
  auto writer = make_writer(reader->process());
  if (!writer) return writer.error();
  if (auto copied = copy_trace(*reader, **writer, progress); !copied) return copied.error();
  return (*writer)->finish();
}

}  // namespace svd
