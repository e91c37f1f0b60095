// SPDX-License-Identifier: Apache-2.0
//
// From a trace to an STD log: std_log.h says how, and what is lost.

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <ostream>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "svd/trace/std_log.h"

namespace svd {
namespace {

constexpr std::uint64_t kGranule = 8;         // of memory without a name
constexpr std::uint64_t kMaxExpanded = 4096;  // events for one access

// Whether it can stand in a log: as an operand, and as a location.
bool is_std_name(std::string_view name) {
  return !name.empty() && name.find_first_of("|\n") == std::string_view::npos;
}

class Exporter {
 public:
  Exporter(const TraceReader& reader, std::ostream& out, Diagnostics& diagnostics)
      : reader_(reader),
        out_(out),
        diagnostics_(diagnostics),
        numbered_(reader.process().engine == "std" &&
                  reader.process().engine_options == "numbered") {
    std::unordered_set<std::string_view> variables;
    for (const Symbol& symbol : reader.symbols()) {
      if (symbol.kind != SymbolKind::kData || !is_std_name(symbol.name)) continue;
      if (symbol.size == 0) {
        locks_.emplace(symbol.address, symbol.name);
      } else if (variables.insert(symbol.name).second) {
        variables_.emplace(symbol.address, Variable{symbol.address + symbol.size, symbol.name});
      }
    }
    for (const ThreadInfo& thread : reader.threads()) {
      bool named = reader.process().engine == "std" && is_std_name(thread.name);
      threads_[thread.id].name = named ? thread.name : fmt::format("T{}", thread.id.value);
    }
  }

  Status run(const ProgressFunction& progress) {
    reader_.scan(TraceReader::Order::kForward, Columns{.addresses = true, .values = false},
                 diagnostics_, [&](const Chunk& chunk) {
                   chunk.walk(*this);
                   progress(chunk.end_seq() - reader_.first_seq());
                   return write();
                 });
    if (!write())
      return Error{ErrorKind::kIo,
                   {},
                   std::nullopt,
                   std::nullopt,
                   "cannot write the log: the disk may be full"};
    report();
    return Done{};
  }

  void exec(const Exec& exec) {
    thread_ = &thread(exec.thread);
    const Part& part = exec.shape->part;
    exec.accesses([&](const MemoryAccess& access) {
      locate(exec.block(), access.slot->instruction);
      this->access(access.address.value, access.size, access.slot->write);
    });
    locate(exec.block(), static_cast<std::uint16_t>(part.end - 1));
  }

  void event(const Event& event) {
    thread_ = &thread(event.thread);
    std::visit([&](const auto& body) { happened(body); }, event.body);
  }

 private:
  struct Thread {
    std::string name;
    std::string location = "0";  // of its last step
  };
  struct Variable {
    std::uint64_t end;
    std::string_view name;
  };

  Thread& thread(ThreadId id) {
    Thread& thread = threads_[id];
    if (thread.name.empty()) thread.name = fmt::format("T{}", id.value);
    return thread;
  }

  void locate(const Block& block, std::uint16_t index) {
    std::string& location = thread_->location;
    location.clear();
    if (!block.abstract()) {
      fmt::format_to(std::back_inserter(location), "{}", block.instructions[index].pc.value);
      return;
    }
    StatementId id = block.statements[index];
    const std::string& label = reader_.statements()[id.value].label;
    if (is_std_name(label)) {
      location = label;
    } else {
      fmt::format_to(std::back_inserter(location), "{}", id.value);
    }
  }

  void line(std::string_view op, std::string_view operand) {
    auto at = std::back_inserter(text_);
    ++lines_;
    fmt::format_to(at, "{}|{}({})|", thread_->name, op, operand);
    if (numbered_) {
      fmt::format_to(at, "{}\n", lines_);
    } else {
      fmt::format_to(at, "{}\n", thread_->location);
    }
  }

  void access(std::uint64_t address, std::uint64_t size, bool write) {
    std::string_view op = write ? "w" : "r";
    while (size > 0) {
      auto after = variables_.upper_bound(address);
      std::uint64_t here = size;  // bytes of this event, or of these
      if (after != variables_.begin() && address < std::prev(after)->second.end) {
        const auto& [start, variable] = *std::prev(after);
        here = std::min(size, variable.end - address);
        if (start != address || variable.end - address != size) ++partial_;
        line(op, variable.name);
      } else {
        if (after != variables_.end()) here = std::min(size, after->first - address);
        unnamed(op, address, here);
      }
      address += here;
      size -= here;
    }
  }

  void unnamed(std::string_view op, std::uint64_t address, std::uint64_t size) {
    std::uint64_t first = address / kGranule;
    std::uint64_t granules = (address + (size - 1)) / kGranule - first + 1;
    if (granules > 1) ++expanded_;
    if (granules > kMaxExpanded) ++cut_;
    for (std::uint64_t i = 0; i < std::min(granules, kMaxExpanded); ++i) {
      line(op, fmt::format("{:#x}", (first + i) * kGranule));
    }
  }

  void happened(const Sync& sync) {
    if (sync.phase == Phase::kBegin) return;
    switch (sync.op) {
      case SyncOp::kRwlockRdlock:
      case SyncOp::kRwlockTryrdlock:
      case SyncOp::kRwlockTimedrdlock:
        ++shared_locks_;
        [[fallthrough]];
      case SyncOp::kMutexLock:
      case SyncOp::kMutexTrylock:
      case SyncOp::kMutexTimedlock:
      case SyncOp::kRwlockWrlock:
      case SyncOp::kRwlockTrywrlock:
      case SyncOp::kRwlockTimedwrlock:
      case SyncOp::kSpinLock:
      case SyncOp::kSpinTrylock:
        if (sync.result == 0) line("acq", lock(sync.object));
        return;
      case SyncOp::kMutexUnlock:
      case SyncOp::kRwlockUnlock:
      case SyncOp::kSpinUnlock:
        line("rel", lock(sync.object));
        return;
      case SyncOp::kMutexInit:
      case SyncOp::kMutexDestroy:
        return;
      default:
        ++left_out_[std::string(to_string(sync.op))];
    }
  }
  void happened(const ThreadCreate& create) { line("fork", thread(create.child).name); }
  void happened(const ThreadJoin& join) {
    if (join.phase != Phase::kBegin && join.result == 0) line("join", thread(join.child).name);
  }
  void happened(const Atomic& atomic) {
    line(atomic.edge == Edge::kBegin ? "begin" : "end",
         is_std_name(atomic.name) ? atomic.name : "atomic");
  }
  void happened(const KernelAccess& kernel) {
    access(kernel.address.value, kernel.size, kernel.access == Access::kWrite);
  }
  void happened(const auto&) {}

  std::string lock(Addr address) const {
    if (auto variable = variables_.find(address.value); variable != variables_.end()) {
      return std::string(variable->second.name);
    }
    auto at = locks_.find(address.value);
    return at == locks_.end() ? fmt::format("{:#x}", address.value) : std::string(at->second);
  }

  bool write() {
    out_.write(text_.data(), static_cast<std::streamsize>(text_.size()));
    text_.clear();
    return out_.good();
  }

  void report() {
    auto say = [&](std::string_view name, Severity severity, std::uint64_t count,
                   const char* text) {
      if (count > 0) diagnostics_.add(name, severity, count, text);
    };
    say("widened-accesses", Severity::kNotice, partial_,
        "accesses to parts of variables became accesses to all of them");
    say("expanded-accesses", Severity::kNotice, expanded_,
        "accesses to more than 8 aligned bytes became several events each");
    say("cut-accesses", Severity::kLoss, cut_, "accesses to more than 32 KiB were cut there");
    say("shared-locks", Severity::kLoss, shared_locks_, "read locks became exclusive ones");
    for (const auto& [op, count] : left_out_) {
      diagnostics_.add("left-out-" + op, Severity::kLoss, count,
                       "the format has nothing for " + op);
    }
  }

  const TraceReader& reader_;
  std::ostream& out_;
  Diagnostics& diagnostics_;
  bool numbered_;
  std::map<std::uint64_t, Variable> variables_;
  std::unordered_map<std::uint64_t, std::string_view> locks_;
  std::unordered_map<ThreadId, Thread> threads_;
  Thread* thread_ = nullptr;
  std::string text_;
  std::uint64_t lines_ = 0;
  std::uint64_t partial_ = 0;
  std::uint64_t expanded_ = 0;
  std::uint64_t cut_ = 0;
  std::uint64_t shared_locks_ = 0;
  std::map<std::string, std::uint64_t> left_out_;
};

}  // namespace

Status export_std(const TraceReader& reader, std::ostream& out, Diagnostics& diagnostics,
                  const ProgressFunction& progress) {
  return Exporter(reader, out, diagnostics).run(progress);
}

}  // namespace svd
