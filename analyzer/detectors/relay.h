// SPDX-License-Identifier: Apache-2.0
//
// Tells other detectors, each in a thread of its own, all that it is told itself, in the same
// order: so that the costly ones run beside the walk and each other. What executed and what
// happened they see, if they follow it, because that thread walks the same decoded chunk, a little
// behind; only what the walk makes of it is handed on, as short notes that say where in the chunk
// they belong, and that all of them read. The walk may be in the next chunk when they finish one.
//
// One thread tells it, and may give it up in the middle of a chunk; any one thread waits for what
// is finished. Until all is, a detector is used by its own thread only.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <deque>
#include <exception>
#include <limits>
#include <thread>
#include <variant>
#include <vector>

#include "detectors/detector.h"

namespace svd {

class Relay final : public Detector {
 public:
  // Either all of them follow execution, or none.
  explicit Relay(const std::vector<Detector*>& detectors);
  ~Relay() override;
  Relay(const Relay&) = delete;
  Relay& operator=(const Relay&) = delete;

  // What is told up to end() is about the chunk, which stays as it is until it is finished. All
  // that executed and happened in it has to be told to who follows execution. Waits until the chunk
  // before the last one is.
  void begin(const Chunk& chunk, Moment first);
  void end() { end(kAll); }
  // Once for each chunk that has ended, in their order: when all that was told of it has arrived;
  // after what went wrong, which is given, nothing is listened to any more.
  [[nodiscard]] std::exception_ptr finish();
  // In place of end() or after it, and the last of all: nobody looks at any chunk any more.
  void abandon();

  void acquire(ThreadIndex thread, ChannelId channel, EdgeKind kind, Moment now) override {
    put_word(OrderEdge{thread, channel, kind, now, true});
  }
  void release(ThreadIndex thread, ChannelId channel, EdgeKind kind, Moment now) override {
    put_word(OrderEdge{thread, channel, kind, now, false});
  }
  void access(const Touch& access) override {
    auto size = static_cast<std::uint16_t>(access.size);
    if (size == 0 || size != access.size) return put_word(access);
    // Each by itself: what was just put together from parts cannot be read as a whole for a while.
    Note& note = put();
    note.address = access.address;
    note.moment = static_cast<std::uint32_t>(access.moment - said_first_);
    note.site = access.site;
    note.locks = access.locks;
    note.thread = access.thread;
    note.size = size;
    note.kind = access.kind;
    note.atomic = access.atomic;
    note.shared = access.shared;
  }
  void fresh(Addr address, std::uint64_t size) override { put_word(Fresh{address, size}); }
  void atomic_block(ThreadIndex thread, bool begins, Moment now) override {
    put_word(AtomicBlock{thread, begins, now});
  }
  bool follows_execution() const override {
    return std::any_of(listeners_.begin(), listeners_.end(),
                       [](const Listener& one) { return one.detector.follows_execution(); });
  }
  void executed(const Exec&, ThreadIndex thread, Moment) override { step(thread); }
  void happened(const Event&, ThreadIndex thread) override { step(thread); }
  std::vector<RawFinding> findings() override { return {}; }

 private:
  struct Turn {  // what executes and happens from here on is this thread's
    ThreadIndex thread;
  };
  struct Fresh {
    Addr address;
    std::uint64_t size;
  };
  struct AtomicBlock {
    ThreadIndex thread;
    bool begins;
    Moment now;
  };
  using Word = std::variant<Turn, Touch, OrderEdge, Fresh, AtomicBlock>;

  // Mostly an access. Small, because each comes out of another processor's cache.
  struct Note {
    Addr address{};
    std::uint32_t at = 0;      // so many executions and events of the chunk come before it
    std::uint32_t moment = 0;  // since the chunk's first one
    SiteId site{};
    LockSetId locks{};
    ThreadIndex thread{};
    std::uint16_t size = 0;  // 0: it is the word at the same place of words_
    TouchKind kind{};
    bool atomic = false;
    bool shared = false;
  };
  static_assert(sizeof(Note) == 32);
  // What one of the two writes lies in lines of its own: said_ beside what the other asks for each
  // time took up to a third of the walk's time.
  static constexpr std::size_t kLine = 64;

  struct Said {
    std::uint32_t notes = 0;  // of all chunks, as everywhere here: these numbers may overflow
    std::uint32_t steps = 0;  // executions and events of the chunk
    bool operator==(const Said&) const = default;
  };
  // One of those that are told of. The last one has no chunk.
  struct alignas(kLine) Stretch {
    const Chunk* chunk = nullptr;
    Moment first{};
    std::uint32_t first_note = 0;
    std::atomic<Said> handed_over{};
  };
  static constexpr std::size_t kStretches = 2;
  // A detector, and how far its thread is.
  struct Listener {
    explicit Listener(Detector& one) : detector(one) {}
    Detector& detector;
    alignas(kLine) std::atomic<std::uint32_t> told = 0;  // notes
    std::atomic<std::uint32_t> followed = 0;             // stretches
    std::array<std::exception_ptr, kStretches> failures{};
    bool failed = false;  // known to the thread only
    std::thread thread;
  };

  // Steps of what will not go on.
  static constexpr std::uint32_t kAll = std::numeric_limits<std::uint32_t>::max();
  static constexpr std::uint32_t kAbandoned = kAll - 1;

  // A ring that is handed over a batch at a time: each costs a call to the kernel when the other
  // side waits. With batches of 1024 and an eighth of the ring the walk took 7.5 s of radix in
  // place of 6.4, on two processors that three threads want.
  static constexpr std::uint32_t kBatch = 4096;
  static constexpr std::uint32_t kRing = 32 * kBatch;

  Note& put() {
    if (said_.notes % kBatch == 0) begin_batch();
    Note& note = notes_[said_.notes++ % kRing];
    note.at = said_.steps;
    return note;
  }
  template <class T>
  void put_word(const T& word) {
    Note& note = put();
    note.size = 0;
    words_[static_cast<std::size_t>(&note - notes_.data())].emplace<T>(word);
  }
  void step(ThreadIndex thread) {
    if (thread != said_thread_) put_word(Turn{said_thread_ = thread});
    if (++said_.steps % kBatch == 0) hand_over();
  }
  Stretch& stretch(std::uint32_t number) { return stretches_[number % kStretches]; }
  void begin_batch();
  void hand_over();
  void end(std::uint32_t steps);

  class Walk;
  void run(Listener& listener);
  void stop();

  std::vector<Note> notes_ = std::vector<Note>(kRing);
  std::vector<Word> words_ = std::vector<Word>(kRing);
  std::array<Stretch, kStretches> stretches_{};
  alignas(kLine) Said said_;
  Stretch* saying_ = nullptr;  // the last one that has begun
  Moment said_first_{};
  ThreadIndex said_thread_{};
  alignas(kLine) std::atomic<std::uint32_t> begun_ = 0;  // stretches
  alignas(kLine) std::atomic<std::uint32_t> finished_ = 0;
  std::deque<Listener> listeners_;  // they stay where they are
};

}  // namespace svd
