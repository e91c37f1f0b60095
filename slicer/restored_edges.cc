// SPDX-License-Identifier: Apache-2.0
//
//     T1  x = 1;       D4
//     T2  x = 2;       D5    adjacent edges: D4 -> D5, D5 -> D6
//     T3  x = 3;       D6    in a slice: D4 -> D6 is restored
//
// One walk learns which bytes the slice's instances access; a second one keeps of each of these
// bytes the latest access by every instruction and thread, in this lifetime.
#include "slicer/restored_edges.h"

#include <algorithm>
#include <set>
#include <unordered_map>

#include "dpdg/byte_shadow.h"
#include "dpdg/lifetimes.h"
#include "slicer/folds.h"

namespace svd {
namespace {

// Calls access(slot, instance, whether it is in the slice, MemoryAccess) and fresh(Range).
template <class Derived>
class SliceAccesses {
 public:
  SliceAccesses(const SliceInput& input, const Slice& slice, const std::vector<Criterion>& criteria,
                const SliceOptions& options)
      : input_(input), slice_(slice), thin_(!options.addresses) {
    for (const Criterion& criterion : criteria)
      if (!criterion.values) begins_.insert(criterion.seq);
  }

  void walk(Diagnostics& diagnostics) {
    input_.trace.scan(TraceReader::Order::kForward, {.values = false}, diagnostics,
                      [this](const Chunk& chunk) {
                        chunk.walk(*this);
                        return true;
                      });
  }

  void exec(const Exec& exec) {
    const CodeBlock& block = input_.code.block(exec.shape->id);
    if (exec.addresses == nullptr || exec.shape->part.end > block.steps.size()) return;
    exec.accesses([&](const MemoryAccess& access) {
      const Step& step = block.steps[access.slot->instruction];
      bool member = slice_.members.has(access.seq) && begins_.count(access.seq) == 0;
      bool follows = step.flow != Flow::kReturn && (!thin_ || access.slot->role != Role::kAddress);
      if (access.size == 0 || (!access.slot->write && !(member && follows))) return;
      if (access.slot->write && input_.control.faulted(access.seq)) return;
      derived().access({access.seq, step.id, exec.thread}, member, access);
    });
  }
  void event(const Event& event) {
    auto range = fresh_memory(event);
    const auto* made = std::get_if<Allocation>(&event.body);
    if (range && (made == nullptr || made->function != AllocFn::kRealloc)) derived().fresh(*range);
  }

 private:
  Derived& derived() { return static_cast<Derived&>(*this); }
  const SliceInput& input_;
  const Slice& slice_;
  bool thin_;
  std::set<Seq> begins_;  // where a slice of something else than the instruction begins
};

using ByteSet = ByteShadow<std::uint8_t>;

class Learn : public SliceAccesses<Learn> {
 public:
  using SliceAccesses::SliceAccesses;
  void access(const Instance&, bool member, const MemoryAccess& access) {
    if (member) bytes.set(access.address, access.size, 1);
  }
  void fresh(Range) {}
  ByteSet bytes;
};

class Restore : public SliceAccesses<Restore> {
 public:
  Restore(const SliceInput& input, const Slice& slice, const std::vector<Criterion>& criteria,
          const SliceOptions& options, const ThreadOrder& order, const Sequencers* sequencers,
          const ByteSet& bytes)
      : SliceAccesses(input, slice, criteria, options),
        left_out_(input.control.left_out()),
        order_(order),
        sequencers_(sequencers),
        bytes_(bytes) {
    for (const SliceItem& item : slice.items) distances_[item.id.value] = item.distance;
  }

  void access(const Instance& me, bool member, const MemoryAccess& access) {
    bool write = access.slot->write;
    bytes_.visit(access.address, access.size, [&](Addr at, unsigned length, std::uint8_t) {
      for (Addr byte = at; byte < at + length; byte += 1) {
        std::vector<Earlier>& earlier = earlier_[byte.value];
        if (write)
          for (const Earlier& before : earlier)
            if (!before.write || member) add(before, me, byte);
        keep(earlier, {me, write});
      }
    });
    for (const RaceEdge& edge : edges_)
      races_.add(edge.first.id.value, me.id.value | static_cast<std::uint64_t>(edge.kind) << 32,
                 edge);
    edges_.clear();
  }

  void fresh(Range range) {
    bytes_.visit(range.address, range.size, [&](Addr at, unsigned length, std::uint8_t) {
      for (Addr byte = at; byte < at + length; byte += 1) earlier_.erase(byte.value);
    });
  }

  std::vector<RaceEdge> take() { return races_.take(); }

 private:
  struct Earlier {
    Instance by{};
    bool write = false;  // else a read of the slice
  };

  static void keep(std::vector<Earlier>& earlier, const Earlier& now) {
    auto same = std::find_if(earlier.begin(), earlier.end(), [&now](const Earlier& e) {
      return e.by.id == now.by.id && e.by.thread == now.by.thread && e.write == now.write;
    });
    if (same == earlier.end())
      earlier.push_back(now);
    else
      same->by = now.by;
  }

  void add(const Earlier& before, const Instance& me, Addr byte) {
    if (before.by.thread == me.thread) return;
    if (sequencers_ != nullptr &&
        sequencers_->ordered(before.by.thread, before.by.seq, me.thread, me.seq))
      return;
    auto kind = before.write ? RaceEdge::Kind::kWriteAfterWrite : RaceEdge::Kind::kWriteAfterRead;
    for (RaceEdge& edge : edges_)
      if (edge.first == before.by && edge.kind == kind && edge.address + edge.size == byte)
        return void(++edge.size);
    float distance = distances_.at((before.write ? me : before.by).id.value);
    bool ordered = order_.before(before.by.thread, before.by.seq, me.thread, me.seq);
    float key = race_key(left_out_.apart(before.by.seq, me.seq), distance);
    edges_.push_back({kind, before.by, me, byte, 1, distance, key, 1, ordered});
  }

  const LeftOut& left_out_;
  const ThreadOrder& order_;
  const Sequencers* sequencers_;
  const ByteSet& bytes_;
  std::unordered_map<std::uint32_t, float> distances_;  // by InstrId
  std::unordered_map<std::uint64_t, std::vector<Earlier>> earlier_;
  std::vector<RaceEdge> edges_;  // of this access
  Fold<RaceEdge> races_;
};

}  // namespace

std::vector<RaceEdge> restored_edges(const SliceInput& input, const Slice& slice,
                                     const std::vector<Criterion>& criteria,
                                     const SliceOptions& options, const ThreadOrder& order,
                                     const Sequencers* sequencers, Diagnostics& diagnostics) {
  if (!options.data) return {};
  Learn learn(input, slice, criteria, options);
  learn.walk(diagnostics);
  Diagnostics told;
  Restore restore(input, slice, criteria, options, order, sequencers, learn.bytes);
  restore.walk(told);
  return restore.take();
}

}  // namespace svd
