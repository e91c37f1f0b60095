// SPDX-License-Identifier: Apache-2.0
//
// Tells other detectors, in a thread of its own, all that it is told itself, in the same order: so
// that the costly ones run beside the walk. It is told of a stretch of the run, and waits at the
// stretch's end (finish), because what it hands on points into the decoded chunk.
//
// One thread tells it and adds detectors, which in between are used by its own thread only.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <exception>
#include <thread>
#include <variant>
#include <vector>

#include "detectors/detector.h"

namespace svd {

class Relay final : public Detector {
 public:
  Relay() : thread_([this] { run(); }) {}
  ~Relay() override;
  Relay(const Relay&) = delete;
  Relay& operator=(const Relay&) = delete;

  // Before the run.
  void add(Detector& detector) { detectors_.push_back(&detector); }
  // All that was told has arrived.
  void finish();

  void acquire(ThreadIndex thread, ChannelId channel, EdgeKind kind, Moment now) override {
    put(Edge{thread, channel, kind, now, true});
  }
  void release(ThreadIndex thread, ChannelId channel, EdgeKind kind, Moment now) override {
    put(Edge{thread, channel, kind, now, false});
  }
  void access(const Touch& access) override { put(access); }
  void fresh(Addr address, std::uint64_t size) override { put(Fresh{address, size}); }
  void atomic_block(ThreadIndex thread, bool begins, Moment now) override {
    put(AtomicBlock{thread, begins, now});
  }
  bool follows_execution() const override { return true; }
  void executed(const Exec& exec, ThreadIndex thread, Moment first) override {
    put(Executed{exec, thread, first});
  }
  void happened(const Event& event, ThreadIndex thread) override { put(Happened{&event, thread}); }
  std::vector<RawFinding> findings() override { return {}; }

 private:
  struct Edge {
    ThreadIndex thread;
    ChannelId channel;
    EdgeKind kind;
    Moment now;
    bool acquired;
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
  struct Executed {
    Exec exec;
    ThreadIndex thread;
    Moment first;
  };
  struct Happened {
    const Event* event;
    ThreadIndex thread;
  };
  struct End {};
  using Word = std::variant<End, Touch, Executed, Edge, Fresh, AtomicBlock, Happened>;

  // A ring that stays in the processor's cache, and is handed over a batch at a time: each costs a
  // call to the kernel when the other side waits.
  static constexpr std::uint64_t kBatch = 1024;
  static constexpr std::uint64_t kRing = 8 * kBatch;

  template <class T>
  void put(const T& word) {
    if (said_ % kBatch == 0) begin_batch();
    ring_[said_++ % kRing].emplace<T>(word);
  }
  void begin_batch();
  void hand_over();
  void run();
  void tell(const Word& word);

  // What one of the two writes lies in lines of its own: said_ beside ring_, which the other asks
  // for each word, took up to a third of the walk's time.
  static constexpr std::size_t kLine = 64;
  std::vector<Detector*> detectors_;
  std::vector<Word> ring_ = std::vector<Word>(kRing);
  std::exception_ptr failure_;
  alignas(kLine) std::uint64_t said_ = 0;
  alignas(kLine) std::atomic<std::uint64_t> handed_over_ = 0;
  alignas(kLine) std::atomic<std::uint64_t> told_ = 0;
  std::thread thread_;  // last: it uses all the others
};

}  // namespace svd
