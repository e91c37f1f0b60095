// SPDX-License-Identifier: Apache-2.0
//
// From the records of one ring (svd/wire/ring.h) to the calls of a TraceWriter, in order.
//
// An execution is given to the writer once the record behind it is known, because a fault cuts it
// short; a signal likewise, because what follows says whether it is fatal. So take() can stop
// before the end of what is there, and is called again when there is more.
//
// Used by one thread. The hot path, an execution without mailbox stores, allocates nothing.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "calls.h"
#include "code_block.h"
#include "modules.h"
#include "ring.h"
#include "threads.h"
#include "trace_feed.h"

namespace svd {

class Translator {
 public:
  // `child_trace`: the trace file of a forked child that is recorded, too.
  Translator(TraceFeed& feed, bool values, std::string name,
             std::function<std::string(std::uint32_t)> child_trace);

  // Reads records from `position` on, some `batch` bytes at most; returns where it stopped.
  std::uint64_t take(const Window& window, std::uint64_t position, std::uint64_t batch);

  // Remarks and losses, at the present place.
  void note(std::string_view text);
  void gap(std::string_view reason);
  void end(EndKind kind, std::int32_t value);

  bool ended() const { return ended_; }                        // the tool has told how
  bool damaged() const { return damaged_; }                    // what follows cannot be read
  const std::string& exec_path() const { return exec_path_; }  // under way; "" none
  const std::string& awaited() const { return awaited_; }      // --start-at that has not come
  std::uint32_t thread_count() const { return threads_.count(); }
  ThreadId fatal_thread() const { return fatal_thread_; }
  EndKind end_kind() const { return end_kind_; }
  std::int32_t end_value() const { return end_value_; }
  // Forked children that record themselves.
  std::vector<std::uint32_t>& recorded_children() { return recorded_children_; }

 private:
  // How an execution was cut.
  struct Cut {
    std::uint64_t pc = 0;
    std::optional<SvdWireSignal> signal;
  };

  bool record(const std::uint8_t* bytes, const std::uint8_t* next);
  void execute(CodeBlock& code, const CodeExit& exit, const std::uint8_t* record);
  void execute_slowly(CodeBlock& code, const CodeExit& exit, const std::uint8_t* record,
                      const Cut* cut);
  void pause(CodeBlock& code, const CodeExit& exit, const std::uint8_t* record, std::size_t slot);
  void run_part(CodeBlock& code, Part part, const std::uint8_t* record, std::size_t slots,
                std::size_t known_slots);
  void emit(CodeBlock& code, const Part& part, const std::uint8_t* record, std::size_t known_slots);
  std::size_t cut_slots(const CodeBlock& code, const CodeExit& exit, const std::uint8_t* record,
                        std::uint16_t instruction,
                        const std::optional<SvdWireSignal>& signal) const;
  void define(const std::uint8_t* record);
  PartId part_id(CodeBlock& code, const Part& part);
  void thread_start(const SvdWireThreadStart& start);
  void thread_create(const SvdWireThreadCreate& create);
  void thread_exit(std::uint32_t number);
  void system_call(const SvdWireSyscall& call);
  void system_call_exit(const SvdWireSyscallExit& exit);
  void futex_call(ThreadState& thread, bool begins, std::int64_t result);
  void signal(const SvdWireSignal& signal, const std::uint8_t* next);
  void map(const SvdWireMap& map, const std::string& path);
  void window(const SvdWireWindow& window, std::string_view what);
  void other(const std::uint8_t* bytes);

  TraceFeed& feed_;
  bool values_;
  std::string name_;  // of the program; what the first thread is called
  std::function<std::string(std::uint32_t)> child_trace_;
  Threads threads_;
  Calls calls_;
  Modules modules_;
  std::vector<std::unique_ptr<CodeBlock>> blocks_;  // by the wire's number
  std::vector<std::uint64_t> logged_;               // of a part of an execution
  std::vector<std::uint64_t> value_words_;
  ThreadState* current_ = nullptr;
  std::string exec_path_;
  std::string awaited_;
  std::vector<std::uint32_t> recorded_children_;
  ThreadId fatal_thread_{};
  EndKind end_kind_ = EndKind::kUnknown;
  std::int32_t end_value_ = 0;
  bool ended_ = false;
  bool damaged_ = false;
};

}  // namespace svd
