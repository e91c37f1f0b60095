// SPDX-License-Identifier: Apache-2.0
//
// Writes trace.fb as a stream: memory stays bounded by one chunk, the file only grows unless it is
// to keep the newest part, and every chunk that was written can be read whatever happens
// afterwards. One writer, one thread. The format: docs/trace-format.md.
//
// The order of calls is the order of the run. Whatever an execution or event refers to (block,
// statement, stack, module) is added first. The hot path is exec(); it does not allocate once warm.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>

#include "svd/trace/block.h"
#include "svd/trace/event.h"
#include "svd/trace/process.h"
#include "svd/trace/result.h"
#include "svd/trace/types.h"

namespace svd {

// What holds where a trace begins of which the older part is dropped.
class TraceEdge {
 public:
  using Tell = std::function<void(ThreadId, const EventBody&)>;
  virtual ~TraceEdge() = default;
  // This event, the next one in the order of the run, is dropped.
  virtual void drop(ThreadId thread, const EventBody& body) = 0;
  // All that holds after the dropped events, as events.
  virtual void restate(const Tell& tell) const = 0;
};

struct WriterOptions {
  // A chunk ends after this many steps, or earlier where its columns could grow beyond what a chunk
  // may hold. Larger compresses better, smaller is reached faster. At most kMaxChunkSteps.
  std::uint32_t chunk_steps = 1U << 21;
  // Given: of the run only the newest Process::keep_newest bytes are kept.
  TraceEdge* edge = nullptr;
};

class TraceWriter {
 public:
  // Creates `path` (mode 0600, never through a symlink, locked while we write; a regular file there
  // is replaced). "-" is stdout.
  static Result<std::unique_ptr<TraceWriter>> create(const std::string& path,
                                                     const Process& process,
                                                     const WriterOptions& options = {});
  ~TraceWriter();  // without finish(): flushes what it can; the file then has no index and no end
  TraceWriter(const TraceWriter&) = delete;
  TraceWriter& operator=(const TraceWriter&) = delete;

  ModuleId add(const Module& module);
  StackId add(const Stack& stack);
  StatementId add(const Statement& statement);
  BlockId add(const Block& block);  // block_problem(block) must be empty
  void add(const Symbol& symbol);

  // From here on executions belong to `thread`.
  void run(ThreadId thread);

  // What is executed: some part of a block. Asked once, the number holds for the whole trace.
  PartId part(BlockId block, const Part& part);

  // Executions, one after the other. `logged`: of each in turn, for each slot of the part in order,
  // its address if is_logged(slot, part), then its length if it is a range. `values`: likewise, for
  // each slot with has_value(), its value (any, if absent). Null `values` only where the process
  // says has_values = false. Many at a time cost less than one by one.
  void exec(std::span<const PartId> parts, const std::uint64_t* logged,
            const std::uint64_t* values);
  void exec(BlockId block, const Part& part, const std::uint64_t* logged,
            const std::uint64_t* values);
  void exec(BlockId block, const std::uint64_t* logged,
            const std::uint64_t* values);  // the whole block

  // Between the executions before and after it. Strings and data of one event: at most
  // kMaxEventBytes together.
  void event(ThreadId thread, const EventBody& body);

  Seq now() const;  // the next instruction's

  // Makes everything so far readable by others. Errors stick: once writing failed, every later call
  // reports the same, nothing more is written, and the file holds all chunks before.
  Status flush();
  // Flushes, writes the index, closes. Call once.
  Status finish();

  struct Totals {
    std::uint64_t steps = 0;
    std::uint64_t execs = 0;
    std::uint64_t accesses = 0;
    std::uint64_t events = 0;
    std::uint64_t bytes = 0;    // in the file
    std::uint64_t dropped = 0;  // steps that are not among the others
  };
  Totals totals() const;

 private:
  class Impl;
  explicit TraceWriter(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace svd
