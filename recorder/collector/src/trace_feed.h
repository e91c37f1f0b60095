// SPDX-License-Identifier: Apache-2.0
//
// A TraceWriter on a thread of its own. Coding a trace costs more than reading the ring, so the two
// share the work: what the reader has to say is put into batches, and the writer's thread says it
// to the TraceWriter, in the same order. What is written does not depend on it. Executions lie in
// arrays of their own, so that the writer takes all that stand between two other things at once.
//
// All members are for the one thread that feeds. Memory is bounded: it waits when the writer is
// behind. Ids are known before the writer has heard of the things, because they count from 0.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <memory>
#include <memory_resource>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include "svd/trace/writer.h"

namespace svd {

class TraceFeed {
 public:
  explicit TraceFeed(std::unique_ptr<TraceWriter> writer);
  ~TraceFeed();
  TraceFeed(const TraceFeed&) = delete;
  TraceFeed& operator=(const TraceFeed&) = delete;

  // As in TraceWriter; strings and data of events are copied.
  ModuleId add(Module module);
  StackId add(Stack stack);
  BlockId add(Block block);
  PartId add(BlockId block, const Part& part);  // each part once
  void run(ThreadId thread);
  void event(ThreadId thread, const EventBody& body);

  // An execution whose words the caller fills in at once, as TraceWriter::exec takes them.
  struct Words {
    std::uint64_t* logged;
    std::uint64_t* values;
  };
  Words exec(PartId part, std::size_t logged, std::size_t values) {
    if (!has_room(logged, values)) [[unlikely]]
      make_room(logged, values);
    Batch& batch = *filling_;
    Words words{batch.logged.data() + batch.logged_used, batch.values.data() + batch.values_used};
    batch.parts.push_back(part);
    batch.logged_used += logged;
    batch.values_used += values;
    return words;
  }

  // Everything so far will be readable by others soon.
  void flush();
  // What writing has come to, a batch or two ago.
  std::uint64_t bytes() const { return bytes_; }
  bool failed() const { return failed_; }
  // Waits until all is written. Call once; nothing may follow but totals().
  Status finish();
  TraceWriter::Totals totals() const { return writer_->totals(); }

 private:
  enum class Kind : std::uint8_t { kRun, kEvent, kModule, kStack, kBlock, kPart, kFlush };
  // What is said between executions; the rest of it is the next element of its kind's array.
  struct Mark {
    std::uint32_t execs;  // that stand before it in the batch, and their words
    std::uint32_t logged;
    std::uint32_t values;
    Kind kind;
  };
  // Executions and words of a batch: about as much as stays in the cache between the two threads.
  static constexpr std::size_t kBatchExecs = 1U << 13;
  static constexpr std::size_t kBatchWords = 1U << 15;
  static constexpr std::size_t kBatchMarks = 1U << 13;

  struct Batch {
    Batch();
    std::vector<PartId> parts;
    std::vector<std::uint64_t> logged;
    std::vector<std::uint64_t> values;
    std::size_t logged_used = 0;
    std::size_t values_used = 0;
    std::vector<Mark> marks;
    std::vector<ThreadId> runs;
    std::vector<std::pair<ThreadId, EventBody>> events;
    std::vector<Module> modules;
    std::vector<Stack> stacks;
    std::vector<Block> blocks;
    std::vector<std::pair<BlockId, Part>> new_parts;
    std::pmr::monotonic_buffer_resource bytes;  // of events
    void clear();
  };

  bool has_room(std::size_t logged, std::size_t values) const {
    const Batch& batch = *filling_;
    return batch.parts.size() < kBatchExecs && batch.logged_used + logged <= batch.logged.size() &&
           batch.values_used + values <= batch.values.size();
  }
  void mark(Kind kind);
  void make_room(std::size_t logged, std::size_t values);
  void hand_over();
  void work();
  void say(const Batch& batch);

  std::unique_ptr<TraceWriter> writer_;
  std::unique_ptr<Batch> filling_;
  std::uint32_t modules_ = 0;
  std::uint32_t stacks_ = 0;
  std::uint32_t blocks_ = 0;
  std::uint32_t parts_ = 0;

  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<std::unique_ptr<Batch>> waiting_;  // for the writer, oldest first
  std::vector<std::unique_ptr<Batch>> empty_;
  bool ending_ = false;
  Status status_{Done{}};  // of the writer's thread, until it is joined
  std::atomic<std::uint64_t> bytes_{0};
  std::atomic<bool> failed_{false};
  std::thread thread_;
};

}  // namespace svd
