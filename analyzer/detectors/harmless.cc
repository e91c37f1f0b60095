// SPDX-License-Identifier: Apache-2.0
//
// Definition. A race of a read with a write is harmless in a run when the other order would have
// made no difference: whatever was read at that place in the code decided branches only (nothing
// was stored, addressed or computed further from it), each of these branches always went the same
// way, and what the read would have seen had the two come the other way round is one of the values
// for which that is known, because the same place read it at some time of the run.
//
//     thread 1: lock(m)   locks = 2   unlock(m)
//     thread 2:                                  if (locks == 0) write_state()
//
// read 2, would have read 1 before the write, and where 1 was read the branch went the same way.
//
// Algorithm. One walk with values, in which each read at such a place begins a unit of its own
// (cu/value_flow.h) that no other one joins.
//
// Cost: that walk, when there is a race of a read with a write; 32 bytes for each instance.
//
// Known unsoundness: values are the only difference between the two orders that is looked at, not
// what else would have happened later; what goes to a system call in a register alone is not seen.

#include "detectors/harmless.h"

#include <algorithm>
#include <optional>
#include <unordered_map>
#include <unordered_set>

#include "cu/value_flow.h"
#include "detectors/byte_set.h"
#include "detectors/scan.h"

namespace svd {
namespace {

const RawAccess* only(const RawFinding& race, TouchKind kind) {
  auto is = [kind](const RawAccess& access) { return access.kind == kind && access.site; };
  return std::count_if(race.accesses.begin(), race.accesses.end(), is) == 1
             ? &*std::find_if(race.accesses.begin(), race.accesses.end(), is)
             : nullptr;
}

// Of a read with a write, all of whose instances are known.
bool may_be_harmless(const RawFinding& race) {
  return race.accesses.size() == 2 && only(race, TouchKind::kRead) != nullptr &&
         only(race, TouchKind::kWrite) != nullptr && race.instances.size() == race.occurrences;
}

class OutcomeScan final : public Detector, private SharedMemory {
 public:
  OutcomeScan(const Sites& sites, std::size_t threads)
      : sites_(sites),
        units_(threads),
        undecided_(threads),
        looked_at_(sites.size()),
        places_(sites.size()) {}

  void add(const RawFinding& race) {
    looked_at_[only(race, TouchKind::kRead)->site->value] = true;
    for (const Meeting& instance : race.instances) {
      addresses_.add(instance.address, 1);
      writes_[instance.earlier];
      writes_[instance.later];
    }
  }

  void prepare(const Preparation& run) override {
    const ControlFlow& flow = run.flow.get();
    const CodeTable& code = run.code.get();
    values_.emplace(code, ControlTracker(code, flow), undecided_.size(), false, units_);
  }
  bool wants_accesses() const override { return false; }
  void access(const Touch&) override {}
  void fresh(Addr, std::uint64_t) override {}
  bool follows_execution() const override { return true; }
  void happened(const Event& event, ThreadIndex thread) override {
    values_->event(event, thread.value);
  }

  void executed(const Exec& exec, ThreadIndex thread, Moment first) override {
    exec_ = &exec;
    thread_ = thread.value;
    if (!exec.block().abstract()) {
      Pc pc = exec.block().instructions[exec.shape->part.first].pc;
      for (const Undecided& branch : undecided_[thread_]) decide(branch, pc);
    }
    undecided_[thread_].clear();
    any_looked_at_ = false;
    exec.accesses([&](const MemoryAccess& memory) { look(memory, first); });
    values_->exec(exec, thread_, any_looked_at_, *this);
  }

  std::vector<RawFinding> findings() override { return {}; }

  bool harmless(const RawFinding& race) const {
    const Place& place = places_[only(race, TouchKind::kRead)->site->value];
    return !place.matters &&
           std::all_of(race.instances.begin(), race.instances.end(), [&](const Meeting& i) {
             const Written& earlier = writes_.at(i.earlier);
             std::optional<std::uint64_t> other =
                 earlier.now ? earlier.before : writes_.at(i.later).now;
             return other && place.values.count(*other) != 0;
           });
  }

 private:
  struct Place {
    bool matters = false;  // what is read there is used, or decides in several ways
    std::unordered_set<std::uint64_t> values;
    std::unordered_map<Pc, Pc> ways;  // of each branch
  };
  struct Written {
    std::optional<std::uint64_t> before, now;
  };
  struct Undecided {
    std::uint32_t place;
    Pc branch;
  };

  // The word as a whole: what reads or writes a part of it is not compared.
  void look(const MemoryAccess& memory, Moment first) {
    if (std::uint32_t at = site(memory.seq).value; looked_at_[at] && !memory.slot->write) {
      Place& place = places_[at];
      any_looked_at_ = true;
      place.values.insert(memory.value);
      place.matters |= !memory.has_value;
    }
    if (!addresses_.any(memory.address, 1)) return;
    std::optional<std::uint64_t>& value = values_at_[memory.address];
    std::optional<std::uint64_t> now;
    if (memory.has_value) now = memory.value;
    auto wanted = writes_.find(first + (memory.seq - exec_->seq));
    if (wanted != writes_.end() && memory.slot->write) wanted->second = {value, now};
    value = now;
  }

  SiteId site(Seq seq) const {
    const Shape& shape = *exec_->shape;
    return sites_.of(shape.id, shape.part.first + (seq - exec_->seq));
  }
  bool shared(Seq seq, bool write, Addr, std::uint64_t) override {
    place_ = site(seq).value;
    return write || looked_at_[place_];
  }
  UnitMember read(TagSet set) override {
    use(set);
    UnitMember unit = units_.begin(thread_);
    place_of_.resize(unit + 1U);
    place_of_[unit] = place_;
    return unit;
  }
  void address(Seq, TagSet set) override { use(set); }
  void write(TagSet value, TagSet address) override {
    use(value);
    use(address);
  }
  void use(TagSet set) {
    values_->sets().each(set, [&](UnitMember unit) { places_[place_of_[unit]].matters = true; });
  }

  void branch(Seq seq, TagSet condition) override {
    const Part& part = exec_->shape->part;
    const Block& block = exec_->block();
    if (block.abstract()) return use(condition);
    std::size_t index = part.first + (seq - exec_->seq);
    values_->sets().each(condition, [&](UnitMember unit) {
      Undecided branch{place_of_[unit], block.instructions[index].pc};
      if (index + 1 < part.end) {
        decide(branch, block.instructions[index + 1].pc);
      } else {
        undecided_[thread_].push_back(branch);
      }
    });
  }
  void decide(const Undecided& branch, Pc to) {
    Place& place = places_[branch.place];
    place.matters |= place.ways.emplace(branch.branch, to).first->second != to;
  }

  const Sites& sites_;
  Units units_;
  std::vector<std::uint32_t> place_of_;            // by unit
  std::vector<std::vector<Undecided>> undecided_;  // of each thread: where its last branch went
  std::vector<bool> looked_at_;                    // by site
  std::vector<Place> places_;                      // by site
  ByteSet addresses_;                              // of races
  std::unordered_map<Addr, std::optional<std::uint64_t>> values_at_;  // of these: what is there
  std::unordered_map<Moment, Written> writes_;  // those of instances; `now` is none of reads
  std::optional<ValueFlow> values_;

  // The execution at hand.
  const Exec* exec_ = nullptr;
  std::size_t thread_ = 0;
  bool any_looked_at_ = false;
  std::uint32_t place_ = 0;
};

}  // namespace

std::vector<bool> harmless(const Preparation& run, std::span<const RawFinding> races) {
  std::vector<bool> result(races.size());
  if (std::none_of(races.begin(), races.end(), may_be_harmless)) return result;
  LockSets lock_sets;
  Scan scan(run, lock_sets);
  OutcomeScan outcomes(scan.sites(), scan.threads());
  for (const RawFinding& race : races)
    if (may_be_harmless(race)) outcomes.add(race);
  scan.add(outcomes);
  scan.walk({});
  for (std::size_t i = 0; i < races.size(); ++i)
    result[i] = may_be_harmless(races[i]) && outcomes.harmless(races[i]);
  return result;
}

}  // namespace svd
