// SPDX-License-Identifier: Apache-2.0
//
// The one walk of the trace: turns executions and events into what detectors see, and feeds all of
// them at once. Memory and time grow with what the detectors keep, not with the trace.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "detectors/access_filter.h"
#include "detectors/atomic_words.h"
#include "detectors/descriptors.h"
#include "detectors/detector.h"
#include "detectors/lock_sets.h"
#include "detectors/moments.h"
#include "detectors/relay.h"
#include "detectors/sites.h"
#include "detectors/sync_model.h"
#include "detectors/two_phase_sharing.h"
#include "detectors/waits.h"
#include "dpdg/lifetimes.h"
#include "svd/trace/reader.h"

namespace svd {

class Scan : private OrderListener {
 public:
  // All must outlive it.
  Scan(const TraceReader& trace, const Rules& rules, CodeNames& names, LockSets& lock_sets);
  // Another walk over the same run.
  Scan(const Preparation& run, LockSets& lock_sets);

  std::size_t threads() const { return sync_.threads(); }
  // What a pass of its own over the same run needs.
  Preparation preparation() {
    return {
        trace_, rules_, names_, diagnostics_, flow_, code_, accessors_ ? &*accessors_ : nullptr};
  }
  // Takes what the program synchronises by itself as synchronisation: what its loops wait for, and
  // plain stores to atomic words. How many places there are that read what loops wait for.
  std::size_t find_waits();
  // Before the first chunk. Where this process may use a second processor each that follows
  // execution runs in a thread of its own, or each where none does; not where nobody wants
  // accesses, because there is nothing to be done beside it.
  void add(Detector& detector);

  // In the order of the trace; chunks that cannot be read are left out. All detectors have seen it
  // when it returns.
  void chunk(std::size_t index, const Chunk& chunk);
  // All of them.
  void walk(const Columns& columns);

  const Sites& sites() const { return sites_; }
  const Moments& moments() const { return moments_; }
  // What detectors could not look at when they prepared.
  const Diagnostics& diagnostics() const { return diagnostics_; }
  std::uint64_t accesses() const { return accesses_; }  // that detectors were given

 private:
  friend class WithMoments<Scan>;

  void divide();
  SharingScan::Found find_sharing();
  void learn(SharingScan::Found& found);
  // Of a chunk: tells of it, and waits for those who are behind.
  void tell(std::size_t index, const Chunk& chunk);
  void finish();
  template <class F>
  void or_abandon(F&& f);
  void run(ThreadId thread);
  [[gnu::always_inline]] void exec(const Exec& exec, Moment first);
  [[gnu::always_inline]] void accesses(const Exec& exec, Moment first);
  void event(const Event& event, Moment now);
  void memory(const Event& event, Moment now);
  void give(const Touch& access);
  void flag(const Touch& access);
  bool stores_constant(const Exec& exec, std::size_t instruction);
  void acquire(ThreadIndex thread, ChannelId channel, EdgeKind kind, Moment now) override;
  void release(ThreadIndex thread, ChannelId channel, EdgeKind kind, Moment now) override;

  const TraceReader& trace_;
  const Rules& rules_;
  CodeNames& names_;
  Diagnostics diagnostics_;
  LazyControlFlow own_flow_;  // unless another walk has made it
  LazyCodeTable own_code_;
  LazyControlFlow& flow_;
  LazyCodeTable& code_;
  Waits waits_;
  AtomicWords atomic_words_;
  std::optional<SharedBytes> shared_;   // when somebody needs it
  std::optional<Accessors> accessors_;  // … until the walk begins
  Moments moments_;
  Sites sites_;
  SyncModel sync_;
  Descriptors descriptors_;
  AccessFilter filter_;
  Lifetimes lifetimes_;
  std::vector<Detector*> detectors_;  // that are told here, a relay to others among them
  std::vector<Detector*> followers_;  // those of them that follow execution
  std::optional<Relay> relay_;
  bool divided_ = false;
  std::vector<SiteId> user_site_;  // of each thread: its last instruction in code of the user
  std::vector<std::uint32_t> system_call_;  // of each thread: the last one
  std::uint64_t accesses_ = 0;
  bool any_wants_accesses_ = false;
  std::optional<ThreadId> running_id_;  // the thread at hand, and its index
  ThreadIndex running_{};
};

}  // namespace svd
