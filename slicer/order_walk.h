// SPDX-License-Identifier: Apache-2.0
//
// The order edges and triples of a slice (backward.cc): a reverse walk of its own over all accesses
// that follows the one which finds the slice, a chunk behind it, and is told what joined. So each
// of the two holds half of what is known of memory, and they run at one time. Used by one thread at
// a time.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <span>
#include <unordered_map>
#include <vector>

#include "dpdg/byte_shadow.h"
#include "dpdg/lifetimes.h"
#include "dpdg/sequencers.h"
#include "dpdg/thread_order.h"
#include "slicer/backward.h"
#include "slicer/folds.h"
#include "slicer/joins.h"
#include "slicer/open_triples.h"
#include "slicer/walk_accesses.h"
#include "slicer/walk_code.h"

namespace svd {

class OrderWalk {
 public:
  // All must outlive it. With sequencers, only edges that these leave unordered.
  OrderWalk(const SliceInput& input, const SliceOptions& options, const WalkCode& code,
            const Sequencers* sequencers);

  // Of the chunk that comes next.
  void follow(const Chunk& chunk, const Joins& joins);
  void exec(const Exec& exec);
  void event(const Event& event);

  // What it has found, in no order.
  void take(Slice& slice);
  // Between threads.
  const ThreadOrder& order() const { return order_; }

 private:
  // Of each byte, and 8 of them together.
  struct Word {
    Mark write;  // the first one after here
    InstrId write_id{};
    Distance write_distance = kNowhere;  // in the slice, if it is
    Triples triples = 0;
    friend bool operator==(const Word&, const Word&) = default;
  };
  struct ThreadState {
    ThreadId id{};
    std::uint32_t number = 0;
    std::uint64_t own = 0;  // instructions met so far
  };
  // The instance at hand.
  struct Now {
    const Exec& exec;
    ThreadState& state;
    std::uint64_t own_after;  // instructions that its thread met after the execution, plus its end
    const WalkStep* step = nullptr;
    std::uint16_t index = 0;
    Place me{};

    // Instructions that its thread met, with this one.
    std::uint64_t own() const { return own_after - index; }
  };
  // An access of it, and its word where there is one.
  struct Touch {
    const Slot* slot = nullptr;
    Addr address{};
    std::uint64_t size = 0;
    Word* word = nullptr;
  };
  struct Race {
    Place other;
    Distance distance = 0;
    friend bool operator==(const Race&, const Race&) = default;
  };

  ThreadState& thread(ThreadId id) {
    if (id == recent_id_ && recent_ < threads_.size()) return threads_[recent_];
    return find_thread(id);
  }
  ThreadState& find_thread(ThreadId id);
  Instance instance(const Place& place) const {
    return {place.mark.seq(), place.id, threads_[place.mark.thread()].id};
  }
  void set(Now& now, std::uint16_t index, const WalkStep& step) const {
    now.step = &step;
    now.index = index;
    Seq seq = now.exec.seq + static_cast<std::uint64_t>(index - now.exec.shape->part.first);
    now.me = {Mark(seq, now.state.number), step.id};
  }

  std::uint32_t number_of(const Now& now) const {
    return static_cast<std::uint32_t>(now.me.mark.seq() - chunk_first_);
  }
  [[gnu::always_inline]] bool access(const Now& now, const Slot& slot, std::uint64_t at);
  [[gnu::noinline]] void step(const Now& now);
  bool is_next(std::uint32_t number, Joined::Kind kind) const {
    return !joined_.empty() && joined_.front().step() == number && joined_.front().kind() == kind;
  }
  bool more_of(std::uint32_t number) const {
    return joined_.size() > 1 && joined_[1].step() == number;
  }
  std::uint32_t next_distance();
  // Whether the slice follows what it reads.
  bool follows(const Slot& slot) const { return slot.role != Role::kAddress || options_.addresses; }

  void look(const Now& now, bool faulted);
  void write(const Now& now, const Touch& touch);
  void tell_reads(const Now& now, Distance distance);
  void mark_writes(Distance distance);
  [[gnu::noinline]] void tell_races(RaceEdge::Kind kind, Place me);
  void add_race(RaceEdge::Kind kind, const Instance& first, const Instance& second, Addr address,
                std::uint64_t size, float distance);
  // Whether the write at the other end of an order edge is to be told.
  bool is_edge(const Word& word, Place me) const {
    return options_.which || !word.write.same_thread(me.mark);
  }
  // For those who ask which instances they are.
  void note_beside(Seq seq) {
    if (options_.which) beside_.add(seq);
  }

  // False: no access of the step is the one before that a triple looks for.
  bool may_close(const Now& now) const;
  [[gnu::noinline]] void close_triples(const Now& now);
  void close_triple(const Now& now, bool write, const OpenTriple& open, Range range);
  void open_triples(Place me, std::uint32_t count);
  void open_triple(Place me, const ReadByOther& read);
  // Whether an access by the thread is the one before that a triple of the list looks for.
  bool has_triple(Triples list, std::uint32_t thread) const {
    for (; list != 0; list = open_triples_.next(list))
      if (open_triples_[list].after_mark.thread() == thread) return true;
    return false;
  }
  [[nodiscard]] Triples keep_triples(Triples list, unsigned most,
                                     std::optional<std::uint32_t> without);
  void set_triples(Word& word, Addr at, unsigned length, Triples list);

  const SliceInput& input_;
  const SliceOptions options_;
  const WalkCode& code_;
  const Sequencers* sequencers_;
  ThreadOrder order_;   // of order edges
  ThreadOrder handed_;  // the same, with semaphores; of triples
  FaultsBack faults_;

  std::deque<ThreadState> threads_;  // they stay where they are
  std::unordered_map<std::uint32_t, std::uint32_t> thread_numbers_;
  ThreadId recent_id_{};
  std::uint32_t recent_ = 0;

  ByteShadow<Word> memory_;
  WordsAhead<Word> ahead_;
  Shared<OpenTriple> open_triples_;
  TriplePages triple_pages_;
  Seq chunk_first_{};
  std::span<const Joined> joined_;  // those that come, of the chunk
  std::span<const ReadByOther> reads_;

  // Of the step at hand.
  std::vector<Touch> touches_;  // room for the most that a step has
  std::span<const Touch> touched_;
  std::vector<Stretch<Race>> raced_;
  std::vector<Stretch<Triples>> closed_;

  Fold<Triple> triples_;
  Fold<RaceEdge> races_;
  InstanceSet beside_;  // empty unless it is asked for
};

}  // namespace svd
