// SPDX-License-Identifier: Apache-2.0
//
// Definitions. A race is harmless in a run when the other order would have made no difference:
//
// 1. A read with a write, where whatever was read at that place of the code decided branches only
//    (nothing was stored, addressed or computed further from it), each of these branches always
//    went the same way, and what the read would have seen had the two come the other way round is
//    one of the values for which that is known, because the same place read it at some time of the
//    run.
//
//        thread 1: lock(m)   locks = 2   unlock(m)
//        thread 2:                                  if (locks == 0) write_state()
//
//    read 2, would have read 1 before the write, and where 1 was read the branch went the same way.
//    If both values are others' (some other thread wrote them), it is enough that all this holds
//    where the place read what others wrote: a lock's owner field may be asked "is it me?" by
//    anybody at any time.
//    A read that saw a later write than the one that it races with would have seen it all the same.
// 2. Two writes that wrote the same value.
// 3. Any accesses to memory that in the whole run nobody looked at: what was read of it went back
// to
//    the same place only, as a counter's value does that is never asked for.
//
// A violation whose first access is a read that is harmless by 1 beside the other thread's write is
// harmless: it is as if the read had come after that write.
//
// A race is a look when it is of a read with a write, both of a word that the processor reads and
// writes as a whole (at most 8 bytes within an aligned word), by instructions, and what was read
// was used for no address. Atomic accesses of relaxed order, and volatile ones, are compiled to the
// same, so that in a correct program there can be any number of looks: clocks, lengths, flags. So
// is a race of a plain store with a locked instruction, of such a word and when what is stored is
// not made of what the word held: an atomic store, as the last step of a lock.
//
// Algorithm. One walk with values, in which each read at a place that races, and of memory that
// does, begins a unit of its own (cu/value_flow.h) that no other one joins.
//
// Cost: that walk, when there is a race that may be one of these; two times 88 bytes for each
// instance, and 2 for each byte that was written.
//
// Known unsoundness: values are the only difference between the two orders that is looked at, not
// what else would have happened later; what goes to a system call in a register alone is not seen.
// A flag that is looked at may be what should have ordered other memory.

#include "detectors/harmless.h"

#include <algorithm>
#include <array>
#include <optional>
#include <unordered_map>
#include <unordered_set>

#include "cu/value_flow.h"
#include "detectors/byte_set.h"
#include "detectors/scan.h"
#include "detectors/shadow.h"

namespace svd {
namespace {

constexpr std::uint64_t kWidest = 8;  // of words

// What of a finding could have come the other way round.
struct Pair {
  const RawAccess* first;
  const RawAccess* second;

  // The one of that kind, if the other one is not.
  const RawAccess* only(TouchKind kind) const {
    if ((first->kind == kind) == (second->kind == kind)) return nullptr;
    return first->kind == kind ? first : second;
  }
  bool read_and_write() const {
    return only(TouchKind::kRead) != nullptr && only(TouchKind::kWrite) != nullptr;
  }
};

// Of a race both accesses, of a violation the first two: nothing where the question makes no sense.
std::optional<Pair> pair_of(const RawFinding& found) {
  if (found.accesses.size() < 2 || found.instances.empty()) return std::nullopt;
  Pair pair{&found.accesses[0], &found.accesses[1]};
  auto judged = [](const RawAccess* access) {
    return access->site && access->kind != TouchKind::kFree;
  };
  bool race = found.accesses.size() == 2;
  bool reads_first = pair.read_and_write() && pair.first->kind == TouchKind::kRead;
  if (!judged(pair.first) || !judged(pair.second) || !(race || reads_first)) return std::nullopt;
  return pair;
}

class OutcomeScan final : public Detector, private SharedMemory {
 public:
  OutcomeScan(const Sites& sites, std::size_t threads)
      : sites_(sites),
        units_(threads),
        undecided_(threads),
        looked_at_(sites.size()),
        places_(sites.size()) {}

  void add(const RawFinding& found, const Pair& pair) {
    if (const RawAccess* read = pair.only(TouchKind::kRead)) looked_at_[read->site->value] = true;
    for (const Meeting& instance : found.instances) {
      addresses_.add(instance.address, 1);
      accesses_.push_back({.moment = instance.earlier});
      accesses_.push_back({.moment = instance.later});
    }
  }

  void prepare(const Preparation& run) override {
    auto before = [](const Known& a, const Known& b) { return a.moment < b.moment; };
    auto same = [](const Known& a, const Known& b) { return a.moment == b.moment; };
    std::sort(accesses_.begin(), accesses_.end(), before);
    accesses_.erase(std::unique(accesses_.begin(), accesses_.end(), same), accesses_.end());
    const ControlFlow& flow = run.flow.get();
    const CodeTable& code = run.code.get();
    values_.emplace(code, ControlTracker(code, flow), undecided_.size(), false, units_);
  }
  bool wants_accesses() const override { return false; }
  void access(const Touch&) override {}
  void fresh(Addr address, std::uint64_t size) override { writers_.clear(address, size); }
  bool follows_execution() const override { return true; }
  void happened(const Event& event, ThreadIndex thread) override {
    values_->event(event, thread.value);
    const auto* kernel = std::get_if<KernelAccess>(&event.body);
    if (kernel == nullptr) return;
    bool racy = addresses_.any(kernel->address, kernel->size);
    if (kernel->access == Access::kWrite) {
      writers_.clear(kernel->address, kernel->size);
      if (racy) {
        std::erase_if(values_at_, [&](const auto& held) {
          return held.first < kernel->address + kernel->size &&
                 kernel->address < held.first + held.second.size;
        });
      }
    } else if (racy) {
      used_.add(kernel->address, kernel->size);
    }
  }

  void executed(const Exec& exec, ThreadIndex thread, Moment first) override {
    exec_ = &exec;
    first_ = first;
    thread_ = thread.value;
    if (!exec.block().abstract()) {
      Pc pc = exec.block().instructions[exec.shape->part.first].pc;
      for (const Undecided& branch : undecided_[thread_]) decide(branch, pc);
    }
    undecided_[thread_].clear();
    any_looked_at_ = false;
    while (wanted_ < accesses_.size() && accesses_[wanted_].moment < first) ++wanted_;
    exec.accesses([&](const MemoryAccess& memory) { look(memory, first); });
    values_->exec(exec, thread_, any_looked_at_, *this);
  }

  std::vector<RawFinding> findings() override { return {}; }

  Harm harm(const RawFinding& found, const Pair& pair) const {
    const RawAccess* read = pair.only(TouchKind::kRead);
    auto every = [&found](auto&& holds) {
      return std::all_of(found.instances.begin(), found.instances.end(), holds);
    };
    bool none = found.instances.size() == found.occurrences &&
                (every([&](const Meeting& i) { return !used_.any(i.address, 1); }) ||
                 every([&](const Meeting& i) {
                   return read != nullptr ? same_way(*read, i) : same_value(i);
                 }));
    if (none) return Harm::kNone;
    if (found.accesses.size() > 2) return Harm::kSome;
    bool looks = read != nullptr ? is_look(*read) : pair.first->atomic != pair.second->atomic;
    looks = looks && every([&](const Meeting& i) {
              const Known& earlier = known(i.earlier);
              const Known& later = known(i.later);
              const Known& plain = earlier.atomic ? later : earlier;
              return earlier.at_once() && later.at_once() &&
                     (read != nullptr || !(plain.updates || plain.from_itself));
            });
    return looks ? Harm::kLook : Harm::kSome;
  }

 private:
  // What was seen of the values that were read at a place.
  struct Seen {
    bool matters = false;  // they are used, or decide in several ways
    std::unordered_set<std::uint64_t> values{};
    std::unordered_map<Pc, Pc> ways{};  // of each branch

    // By which values, and which ways, nobody asks then.
    bool known_to_matter() const { return matters && !values.empty(); }
  };
  struct Place {
    std::array<Seen, 2> seen{};  // what others had written, and what the thread itself had
    bool points = false;         // it is used for an address

    bool known() const { return !seen[0].values.empty() || !seen[1].values.empty(); }
    // Where the other thread's write makes no difference to whose the value is, and where it does.
    bool same_way(std::uint64_t value, bool own) const {
      return !seen[own].matters && seen[own].values.count(value) != 0;
    }
    bool same_way(std::uint64_t value) const {
      const Seen& others = seen[0];
      const Seen& own = seen[1];
      if (others.matters || own.matters) return false;
      if (others.values.count(value) + own.values.count(value) == 0) return false;
      return std::all_of(own.ways.begin(), own.ways.end(), [&](const auto& way) {
        auto other = others.ways.find(way.first);
        return other == others.ways.end() || other->second == way.second;
      });
    }
  };
  // An access of an instance.
  struct Known {
    Moment moment{};
    Addr address{};
    std::uint64_t size = 0;
    bool write = false;
    bool atomic = false;                           // by a locked instruction
    bool updates = false;                          // the instruction has made another one
    bool from_itself = false;                      // what is written is made of what was there
    bool compiled = false;                         // by an instruction
    std::uint16_t thread = 0;                      // plus 1
    std::uint16_t writer = 0;                      // of what was there before, the same
    std::optional<std::uint64_t> before{}, now{};  // what was there; `now` is none of reads
    std::optional<Moment> from{};                  // when that was written, if it was seen

    bool at_once() const { return compiled && address.value % kWidest + size <= kWidest; }
  };
  struct Held {
    std::optional<std::uint64_t> value{};
    std::uint64_t size = 0;
    std::optional<Moment> written{};  // none: before anybody looked
  };
  struct Undecided {
    std::uint32_t place;
    bool own;
    Pc branch;
  };
  struct Origin {  // of a unit
    std::uint32_t place;
    bool own;
    Addr address;
    std::uint64_t size;
  };

  bool is_look(const RawAccess& read) const {
    const Place& place = places_[read.site->value];
    return place.known() && !place.points;
  }

  bool same_way(const RawAccess& read, const Meeting& instance) const {
    const Known& earlier = known(instance.earlier);
    const Known& later = known(instance.later);
    if (earlier.address != later.address || earlier.size != later.size) return false;
    if (earlier.updates || later.updates) return false;
    // The write had been overwritten when the read came, and would have come later still.
    if (earlier.write && later.from && *later.from != instance.earlier) return true;
    const Known& reader = earlier.write ? later : earlier;
    std::optional<std::uint64_t> other = earlier.write ? earlier.before : later.now;
    if (!other) return false;
    const Place& place = places_[read.site->value];
    bool was_own = reader.writer == reader.thread;
    bool would_be_own = earlier.write && earlier.writer == reader.thread;
    return place.same_way(*other) || (was_own == would_be_own && place.same_way(*other, was_own));
  }

  bool same_value(const Meeting& instance) const {
    const Known& earlier = known(instance.earlier);
    const Known& later = known(instance.later);
    return earlier.now && earlier.now == later.now && earlier.address == later.address &&
           earlier.size == later.size;
  }

  // The word as a whole: values of what reads or writes a part of it are not compared.
  void look(const MemoryAccess& memory, Moment first) {
    bool write = memory.slot->write;
    std::uint32_t at = site(memory.seq).value;
    bool racy = addresses_.any(memory.address, memory.size);
    if (!write && looked_at_[at]) {
      Seen& seen = places_[at].seen[own(memory.address)];
      if (memory.has_value && !seen.known_to_matter()) seen.values.insert(memory.value);
      seen.matters |= !memory.has_value;
    }
    any_looked_at_ |= !write && (racy || looked_at_[at]);
    if (racy) remember(memory, first + (memory.seq - exec_->seq));
    if (!write) return;
    writers_.touch(memory.address, memory.size, [this](std::uint16_t& writer, Addr, std::uint64_t) {
      writer = static_cast<std::uint16_t>(thread_ + 1);
    });
  }

  const Known& known(Moment moment) const {
    return *std::lower_bound(accesses_.begin(), accesses_.end(), moment,
                             [](const Known& known, Moment m) { return known.moment < m; });
  }
  // An access of the execution at hand, if it is one of an instance.
  Known* wanted_at(Moment moment) {
    for (std::size_t i = wanted_; i < accesses_.size() && accesses_[i].moment <= moment; ++i)
      if (accesses_[i].moment == moment) return &accesses_[i];
    return nullptr;
  }

  void remember(const MemoryAccess& memory, Moment moment) {
    // What somebody does with the reads of an abstract trace is not known.
    bool abstract = exec_->block().abstract();
    if (!memory.has_value || (abstract && !memory.slot->write))
      used_.add(memory.address, memory.size);
    const Held held = held_at(memory);
    std::optional<std::uint64_t> now;
    if (memory.has_value) now = memory.value;
    if (Known* wanted = wanted_at(moment)) {
      auto thread = static_cast<std::uint16_t>(thread_ + 1);
      bool second = wanted->size != 0;
      *wanted = {.moment = moment,
                 .address = memory.address,
                 .size = memory.size,
                 .write = memory.slot->write,
                 .atomic = memory.slot->atomic,
                 .updates = second,
                 .compiled = !abstract,
                 .thread = thread,
                 .writer = writer(memory.address),
                 .before = held.value,
                 .now = memory.slot->write ? now : std::nullopt,
                 .from = held.written};
    }
    if (memory.slot->write) forget_parts(memory);
    std::optional<Moment> written = memory.slot->write ? std::optional(moment) : held.written;
    values_at_[memory.address] = {now, memory.size, written};
  }

  // What is there before the access.
  Held held_at(const MemoryAccess& memory) const {
    auto held = values_at_.find(memory.address);
    bool known = held != values_at_.end() && held->second.size == memory.size;
    return known ? held->second : Held{};
  }
  void forget_parts(const MemoryAccess& written) {
    for (Addr at = written.address - (kWidest - 1); at < written.address + written.size; at += 1) {
      auto held = values_at_.find(at);
      if (held != values_at_.end() && at + held->second.size > written.address)
        values_at_.erase(held);
    }
  }

  // Who has written it last, plus 1.
  std::uint16_t writer(Addr address) {
    std::uint16_t found = 0;
    writers_.visit(address, 1, [&](std::uint16_t& writer, Addr, std::uint64_t) { found = writer; });
    return found;
  }
  bool own(Addr address) { return writer(address) == thread_ + 1; }

  SiteId site(Seq seq) const {
    const Shape& shape = *exec_->shape;
    return sites_.of(shape.id, shape.part.first + (seq - exec_->seq));
  }
  bool shared(Seq seq, bool write, Addr address, std::uint64_t size) override {
    access_ = {site(seq).value, false, address, size};
    moment_ = first_ + (seq - exec_->seq);
    if (write) return true;
    access_.own = own(address);
    return looked_at_[access_.place] || addresses_.any(address, size);
  }
  UnitMember read(TagSet set) override {
    use(set);
    UnitMember unit = units_.begin(thread_);
    origins_.resize(unit + 1U);
    origins_[unit] = access_;
    return unit;
  }
  void address(Seq, TagSet set) override { point(set); }
  void write(TagSet value, TagSet address) override {
    each(value, [this](const Origin& origin) {
      seen(origin).matters = true;
      if (origin.address != access_.address || origin.size != access_.size) return look_at(origin);
      if (Known* wanted = wanted_at(moment_)) wanted->from_itself = true;
    });
    point(address);
  }
  void use(TagSet set) {
    each(set, [this](const Origin& origin) {
      seen(origin).matters = true;
      look_at(origin);
    });
  }
  void point(TagSet set) {
    use(set);
    each(set, [this](const Origin& origin) { places_[origin.place].points = true; });
  }
  void each(TagSet set, auto&& f) {
    values_->sets().each(set, [&](UnitMember unit) { f(origins_[unit]); });
  }
  Seen& seen(const auto& of) { return places_[of.place].seen[of.own]; }
  // Somebody does what follows from the value.
  void look_at(const Origin& origin) { used_.add(origin.address, origin.size); }

  void branch(Seq seq, TagSet condition) override {
    const Part& part = exec_->shape->part;
    const Block& block = exec_->block();
    if (block.abstract()) return use(condition);
    std::size_t index = part.first + (seq - exec_->seq);
    each(condition, [&](const Origin& origin) {
      look_at(origin);
      Undecided branch{origin.place, origin.own, block.instructions[index].pc};
      if (index + 1 < part.end) {
        decide(branch, block.instructions[index + 1].pc);
      } else {
        undecided_[thread_].push_back(branch);
      }
    });
  }
  void decide(const Undecided& branch, Pc to) {
    Seen& here = seen(branch);
    if (here.matters) return;
    here.matters = here.ways.emplace(branch.branch, to).first->second != to;
  }

  const Sites& sites_;
  Units units_;
  std::vector<Origin> origins_;                    // by unit
  std::vector<std::vector<Undecided>> undecided_;  // of each thread: where its last branch went
  std::vector<bool> looked_at_;                    // by site
  std::vector<Place> places_;                      // by site
  ByteSet addresses_;                              // of races
  ByteSet used_;                                   // those of them that somebody looked at
  std::unordered_map<Addr, Held> values_at_;       // of these: what is there
  std::vector<Known> accesses_;                    // of instances, by moment
  Shadow<std::uint16_t> writers_;                  // plus 1
  std::optional<ValueFlow> values_;

  // The execution at hand.
  const Exec* exec_ = nullptr;
  std::size_t thread_ = 0;
  bool any_looked_at_ = false;
  Moment first_{};
  std::size_t wanted_ = 0;  // the first of accesses_ that is not before it
  // The access at hand.
  Origin access_{};
  Moment moment_{};
};

}  // namespace

std::vector<Harm> harm(const Preparation& run, std::span<const RawFinding* const> found) {
  std::vector<Harm> result(found.size(), Harm::kSome);
  std::vector<std::optional<Pair>> pairs;
  for (const RawFinding* finding : found) pairs.push_back(pair_of(*finding));
  if (std::none_of(pairs.begin(), pairs.end(), [](const auto& pair) { return pair.has_value(); }))
    return result;
  LockSets lock_sets;
  Scan scan(run, lock_sets);
  OutcomeScan outcomes(scan.sites(), scan.threads());
  for (std::size_t i = 0; i < found.size(); ++i)
    if (pairs[i]) outcomes.add(*found[i], *pairs[i]);
  scan.add(outcomes);
  scan.walk({});
  for (std::size_t i = 0; i < found.size(); ++i)
    if (pairs[i]) result[i] = outcomes.harm(*found[i], *pairs[i]);
  return result;
}

}  // namespace svd
