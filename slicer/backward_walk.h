// SPDX-License-Identifier: Apache-2.0
//
// The state of a reverse walk that makes a slice; see backward.cc. Private to the room.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "dpdg/channels.h"
#include "dpdg/lifetimes.h"
#include "slicer/backward.h"
#include "slicer/folds.h"
#include "slicer/joins.h"
#include "slicer/memory_wants.h"
#include "slicer/order_walk.h"
#include "slicer/register_wants.h"
#include "slicer/walk_accesses.h"
#include "slicer/walk_code.h"
#include "svd/trace/chunk_stream.h"

namespace svd {

// Instances of one line that lie closer are taken for one execution of it.
inline constexpr std::uint64_t kLineSpan = 256;

class BackwardWalk {
 public:
  BackwardWalk(const SliceInput& input, const std::vector<Criterion>& criteria,
               const SliceOptions& options, const Sequencers* sequencers);

  void run(Diagnostics& diagnostics, const ProgressFunction& progress);
  void exec(const Exec& exec);
  void event(const Event& event);

  Slice take();  // in no order
  const ThreadOrder& order() const { return order_walk_.order(); }

 private:
  struct RemoteWant {
    Addr address{};
    std::uint64_t size = 0;
    MemoryWant wanted;
    bool kernel = false;  // wrote it, to memory or to a channel
  };
  // What the kernel did since the instruction of the thread that is met next: that one asked for
  // it.
  struct KernelWork {
    Hit wanted{};                      // what it wrote
    std::vector<RemoteWant> remote{};  // the same that other threads want
    std::span<const Reg> arguments{};
    std::vector<std::pair<Addr, std::uint64_t>> reads{};

    bool any() const { return wanted.any() || !arguments.empty() || !reads.empty(); }
  };

  struct ThreadState {
    ThreadId id{};
    std::uint32_t number = 0;
    std::uint64_t bit = 0;  // of the first 64 threads
    RegisterWants registers;
    std::uint64_t own = 0;  // instructions met so far
    KernelWork kernel{};
  };

  // The instance at hand.
  struct Now {
    const Exec& exec;
    ThreadState& state;
    bool careful = false;     // see takes_care
    std::uint64_t own_after;  // instructions that its thread met after the execution, plus its end
    const WalkStep* step = nullptr;
    std::uint16_t index = 0;
    Place me{};
    Seq parent = kNoParent;

    // Instructions that its thread met, with this one.
    std::uint64_t own() const { return own_after - index; }
  };

  // An access of it, and its word where there is one.
  struct Touch {
    const Slot* slot = nullptr;
    Addr address{};
    std::uint64_t size = 0;
    MemoryWord* word = nullptr;
  };

  struct Taken {  // what wanted it
    MemoryWant want;
    WantList more = 0;
    friend bool operator==(const Taken&, const Taken&) = default;
  };

  // What is known of an instruction besides its code.
  struct Counted {
    std::uint64_t instances = 0;
    Distance distance = kNowhere;
    std::uint32_t item = 0;     // into items_, plus 1
    std::uint64_t threads = 0;  // those of the first 64 that the item knows
  };

  ThreadState& thread(ThreadId id) {
    if (id == recent_id_ && recent_ < threads_.size()) return threads_[recent_];
    return find_thread(id);
  }
  ThreadState& find_thread(ThreadId id);
  Instance instance(const Place& place) const {
    if (place.mark.none()) return {};
    return {place.mark.seq(), place.id, threads_[place.mark.thread()].id};
  }

  void set(Now& now, std::uint16_t index, const WalkStep& step) const {
    now.step = &step;
    now.index = index;
    Seq seq = now.exec.seq + static_cast<std::uint64_t>(index - now.exec.shape->part.first);
    now.me = {Mark(seq, now.state.number), step.id};
  }

  void begin_chunk(const ChunkStream::Decoded& decoded);
  bool may_matter(const Exec& exec, const ThreadState& state) const;
  std::uint16_t pass_over(const Exec& exec);
  bool takes_care(const Exec& exec, const ThreadState& state) const;
  [[gnu::always_inline]] void step(const Now& now, std::uint32_t decision);
  [[gnu::noinline]] void finish_carefully(const Now& now);
  void look(const Now& now);
  [[gnu::noinline]] void meet_criteria(const Now& now);
  // As the code table has it.
  const Step& source(const Now& now) const {
    return input_.code.block(now.exec.shape->id).steps[now.index];
  }

  [[gnu::noinline]] void give_to_others(const Now& now);
  [[gnu::always_inline]] [[nodiscard]] Hit take_registers(const Now& now, Hit hit) const;
  [[gnu::noinline]] Hit take_restored(const Now& now, Hit hit);
  [[gnu::noinline]] Hit take_far(const Now& now, Hit hit) const;
  [[gnu::always_inline]] [[nodiscard]] Hit write_memory(const Now& now, const Touch& touch,
                                                        Hit hit);
  [[gnu::noinline]] Hit write_parts(const Now& now, const Touch& touch, Hit hit);
  // For who follows.
  void tell(const Now& now, Joined::Kind kind, std::uint32_t distance) {
    auto number = static_cast<std::uint32_t>(now.me.mark.seq() - chunk_first_);
    joined_->instances.emplace_back(number, kind, distance);
  }
  void take_word(Addr at, std::uint64_t length, MemoryWord& word);
  [[gnu::noinline]] [[nodiscard]] Hit take_memory(Place me, const WalkStep* step,
                                                  ThreadState& state, Hit hit);
  // By value: what is pointed to is slow.
  [[nodiscard]] Hit take_want(Want want, Place me, Hit hit) const {
    bool remote = want.via() == Via::kValue && !want.mark().same_thread(me.mark);
    hit.merge(remote || same_line(me, want) ? want.as(want.via(), want.distance()) : want);
    return hit;
  }
  [[nodiscard]] Hit take_decision(Want want, const Now& now) const;

  [[gnu::always_inline]] void join_slice(const Now& now, Hit hit);
  [[gnu::noinline]] void apply_criterion(const Now& now, const Criterion& criterion);
  [[gnu::always_inline]] void add_item(Place me, std::uint64_t bit, Hit hit);
  [[gnu::noinline]] void add_thread(Counted& counted, std::uint32_t thread);
  [[gnu::noinline]] void set_nearest(Counted& counted, Place me, Hit hit);

  void want_reads(const Now& now, Distance distance);
  void want_memory(Addr address, std::uint64_t size, const MemoryWant& want);
  [[gnu::noinline]] void want_arguments(const Now& now, Want want);
  void kernel_wrote(const KernelAccess& kernel, const Event& event, ThreadState& state);
  void transfer(const Transfer& transfer, const Event& event, ThreadState& state);
  [[nodiscard]] Hit take_of_kernel(Addr address, std::uint64_t size, const Event& event,
                                   ThreadState& state);
  [[nodiscard]] Hit take_kernel(const KernelWork& kernel, Hit hit);

  // What decided about adjacent instances is mostly the same: it is told once.
  void want_decision(Seq parent, Place me, Distance distance) {
    if (parent == kNoParent) return;
    if (parent != pending_parent_) {
      flush_decision();
      pending_parent_ = parent;
    }
    pending_.merge(Want(me, distance, Via::kControl));
  }
  void flush_decision();
  void decide(Seq seq, Want want);

  void begin_lifetime(const Event& event, Range range);
  void count_initial_read(const MemoryWant& want);

  static std::uint64_t slot_number(const Exec& exec, const Slot& slot) {
    return static_cast<std::uint64_t>(&slot - exec.shape->block->slots.data());
  }

  bool same_line(Place a, Want b) const {
    if (input_.lines.empty()) return false;
    std::uint32_t line = input_.lines[a.id.value];
    return line != 0 && line == input_.lines[b.id().value] && a.mark.same_thread(b.mark()) &&
           input_.control.left_out().apart(a.mark.seq(), b.mark().seq()) < kLineSpan;
  }

  const SliceInput& input_;
  SliceOptions options_;
  std::vector<Criterion> criteria_;  // those not yet met, by seq
  FaultsBack faults_;

  WalkCode code_;
  std::vector<Counted> counted_;  // by InstrId
  std::vector<SliceItem> items_;
  InstanceSet members_;  // empty unless they are asked for

  std::vector<ThreadState> threads_;
  std::unordered_map<std::uint32_t, std::uint32_t> thread_numbers_;
  ThreadId recent_id_{};
  std::uint32_t recent_ = 0;

  ByteShadow<MemoryWord> memory_;
  WordsAhead<MemoryWord> ahead_;
  MemoryWants memory_wants_;

  // Instances that decided: of earlier chunks, and of this one by step.
  std::vector<std::unordered_map<std::uint64_t, Want>> deciding_;
  std::span<std::uint32_t> decides_;  // into decisions_; 0: nothing
  std::vector<Want> decisions_;
  Seq pending_parent_ = kNoParent;
  Want pending_;
  Seq far_parent_ = kNoParent;    // the last one of an earlier chunk,
  Want* far_decision_ = nullptr;  // and what wants it
  std::array<ChunkControl, ChunkStream::kPlaces> controls_;
  std::array<std::vector<std::uint32_t>, ChunkStream::kPlaces> decides_of_;
  std::array<Joins, ChunkStream::kPlaces> joins_;
  const ChunkControl* control_ = nullptr;  // of this chunk
  Joins* joined_ = nullptr;                // the same; for order_walk_
  std::size_t exec_index_ = 0;
  Seq chunk_first_{};

  // Of the step at hand.
  std::vector<Touch> touches_;  // room for the most that a step has
  std::span<const Touch> touched_;
  std::vector<Stretch<Taken>> taken_;
  std::vector<RemoteWant> remote_wants_;  // that the step satisfies

  std::map<std::uint32_t, std::string> channels_;  // by which the slice's values came
  std::uint64_t unplaced_ = 0;                     // transfers of which it is not known where

  Fold<RemoteRead> remote_reads_;
  OrderWalk order_walk_;
  bool limited_;
};

// Each kind of thing by what it is ordered by.
void put_in_order(Slice& slice);

}  // namespace svd
