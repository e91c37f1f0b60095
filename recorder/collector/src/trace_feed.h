// SPDX-License-Identifier: Apache-2.0
//
// A TraceWriter on a thread of its own. Coding a trace costs more than reading the ring, so the two
// share the work: what the reader has to say is put into batches, and the writer's thread says it
// to the TraceWriter, in the same order. What is written does not depend on it.
//
// All members are for the one thread that feeds. Memory is bounded: it waits when the writer is
// behind. Ids are known before the writer has heard of the things, because they count from 0.
#pragma once

#include <atomic>
#include <bit>
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
  void run(ThreadId thread);
  void event(ThreadId thread, const EventBody& body);

  // An execution whose words the caller fills in at once: first `logged`, then `values` of them, as
  // TraceWriter::exec takes them.
  std::uint64_t* exec(BlockId block, const Part& part, std::size_t logged, std::size_t values) {
    std::uint64_t head = kExec | logged << kKindBits | values << (kKindBits + kCountBits) |
                         std::uint64_t{block.value} << (kKindBits + 2 * kCountBits);
    std::uint64_t* at = put(head, 1 + logged + values);
    *at = std::bit_cast<std::uint64_t>(part);
    return at + 1;
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
  struct Batch {
    std::vector<std::uint64_t> words;
    std::size_t used = 0;  // of them
    std::vector<std::pair<ThreadId, EventBody>> events;
    std::vector<Module> modules;
    std::vector<Stack> stacks;
    std::vector<Block> blocks;
    std::pmr::monotonic_buffer_resource bytes;  // of events
    void clear();
  };

  // A word says what follows; executions have the most to say.
  enum Kind : std::uint64_t { kExec, kRun, kEvent, kModule, kStack, kBlock, kFlush };
  static constexpr unsigned kKindBits = 4;
  static constexpr unsigned kCountBits = 16;  // of logged words, and of values
  // Half a megabyte stays in the cache between the two threads.
  static constexpr std::size_t kBatchWords = 1U << 16;

  // Room for a head and `more` words behind it; returns where these begin.
  std::uint64_t* put(std::uint64_t head, std::size_t more) {
    if (filling_->used + 1 + more > filling_->words.size()) [[unlikely]]
      make_room(1 + more);
    std::uint64_t* at = filling_->words.data() + filling_->used;
    *at = head;
    filling_->used += 1 + more;
    return at + 1;
  }
  void make_room(std::size_t words);
  void hand_over();
  void work();
  void say(const Batch& batch);

  std::unique_ptr<TraceWriter> writer_;
  std::unique_ptr<Batch> filling_;
  std::uint32_t modules_ = 0;
  std::uint32_t stacks_ = 0;
  std::uint32_t blocks_ = 0;

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
