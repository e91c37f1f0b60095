// SPDX-License-Identifier: Apache-2.0
//
//     T1  x = 1;       kept: in the slice
//     T2  y = 2;       left out, with all that T2 does until T1 goes on
//     T1  print(x);    kept: the criterion
//     T2  x = 3;       kept: the write that could have come before
//
// What a member of the slice reads was written by a member, so the last writer of each byte and
// register stays the last one, as does the write before each write and the one after each read.
#include "slicer/reduction.h"

#include <algorithm>
#include <set>
#include <tuple>
#include <utility>

namespace svd {
namespace {

// What is said of a reduced trace, with the instances where they were in the whole one.
class Origins {
 public:
  explicit Origins(const Reduction& reduction) : reduction_(reduction) {}

  Slice operator()(const Slice& found) const {
    Slice slice{.instances = found.instances,
                .items = found.items,
                .remote_reads = found.remote_reads,
                .triples = found.triples,
                .races = found.races,
                .channels = found.channels};
    for (SliceItem& item : slice.items) set(item.nearest), set(item.needed_by);
    for (RemoteRead& read : slice.remote_reads) set(read.write), set(read.read);
    for (Triple& triple : slice.triples) set(triple.before), set(triple.remote), set(triple.after);
    for (RaceEdge& race : slice.races) set(race.first), set(race.second);
    return slice;
  }
  std::vector<StoryEntry> operator()(std::vector<StoryEntry> entries) const {
    for (StoryEntry& entry : entries)
      for (StoryAccess& access : entry.accesses) set(access.instance);
    return entries;
  }

 private:
  void set(Instance& instance) const {
    if (instance.thread.value != 0) instance.seq = reduction_.origin(instance.seq);
  }
  const Reduction& reduction_;
};

bool same(const Slice& a, const Slice& b) {
  auto parts = [](const Slice& s) {
    return std::tie(s.instances, s.items, s.remote_reads, s.triples, s.races, s.channels);
  };
  return parts(a) == parts(b);
}

bool same(const StoryEntry& a, const StoryEntry& b) {
  auto same_pc = [](const StoryAccess& x, const StoryAccess& y) {
    return x.place.pc == y.place.pc;
  };
  return a == b && std::equal(a.accesses.begin(), a.accesses.end(), b.accesses.begin(), same_pc);
}

// Whether two explanations of the criterion say the same; if not, the threads that what they
// disagree on is about, as far as that is known.
bool agree(const Reduction& reduction, const Explanation& whole, const Explanation& found,
           std::set<ThreadId>& wrong) {
  whole.slice.members.each([&](Seq seq) {
    if (!found.slice.members.has(reduction.place(seq))) wrong.insert(reduction.thread_at(seq));
  });
  found.slice.members.each([&](Seq place) {
    Seq seq = reduction.origin(place);
    if (!whole.slice.members.has(seq)) wrong.insert(reduction.thread_at(seq));
  });
  if (!wrong.empty()) return false;
  Origins origins(reduction);
  const std::vector<StoryEntry>& told = whole.story.entries;
  const std::vector<StoryEntry> again = origins(found.story.entries);
  bool alike = told.size() == again.size();
  for (std::size_t i = 0; i < std::min(told.size(), again.size()); ++i) {
    if (same(told[i], again[i])) continue;
    alike = false;
    for (const StoryEntry* entry : {&told[i], &again[i]})
      for (const StoryAccess& access : entry->accesses) wrong.insert(access.instance.thread);
  }
  return alike && same(whole.slice, origins(found.slice)) &&
         whole.story.hidden_library == found.story.hidden_library;
}

}  // namespace

Reduction::Reduction(const TraceReader& trace, Diagnostics& diagnostics) {
  trace.scan(
      TraceReader::Order::kForward, {.addresses = false, .values = false, .events = kNoEvents},
      diagnostics, [this](const Chunk& chunk) {
        for (std::size_t i = 0; i < chunk.runs.size(); ++i) {
          const Run& run = chunk.runs[i];
          Seq end = i + 1 < chunk.runs.size() ? chunk.runs[i + 1].first_seq : chunk.end_seq();
          if (run.first_seq == end) continue;
          if (!intervals_.empty() && intervals_.back().thread == run.thread &&
              intervals_.back().end == run.first_seq)
            intervals_.back().end = end;
          else
            intervals_.push_back({run.thread, run.first_seq, end});
        }
        return true;
      });
}

std::size_t Reduction::index(Seq seq) const {
  auto after = std::upper_bound(intervals_.begin(), intervals_.end(), seq,
                                [](Seq at, const Interval& i) { return at < i.first; });
  return static_cast<std::size_t>(after - intervals_.begin()) - 1;
}

Seq Reduction::place(Seq seq) const {
  const Interval& interval = intervals_[index(seq)];
  return interval.place + (seq - interval.first);
}

Seq Reduction::origin(Seq place) const {
  // What is left out has the place of what comes after it.
  auto after = std::upper_bound(intervals_.begin(), intervals_.end(), place,
                                [](Seq at, const Interval& i) { return at < i.place; });
  do --after;
  while (!after->kept);
  return after->first + (place - after->place);
}

ReductionCounts Reduction::count(bool kept) const {
  ReductionCounts counts;
  std::set<ThreadId> threads;
  for (const Interval& interval : intervals_) {
    if (kept && !interval.kept) continue;
    threads.insert(interval.thread);
    ++counts.intervals;
    counts.instructions += interval.end - interval.first;
  }
  counts.threads = threads.size();
  return counts;
}

bool Reduction::keep_at(std::size_t index) { return !std::exchange(intervals_[index].kept, true); }

void Reduction::find_places() {
  Seq next{};
  for (Interval& interval : intervals_) {
    interval.place = next;
    if (interval.kept) next += interval.end - interval.first;
  }
}

void Reduction::keep(const Slice& slice) {
  auto keep = [this](Seq seq) { keep_at(index(seq)); };
  slice.members.each(keep);
  slice.beside.each(keep);
  find_places();
}

void Reduction::keep(Seq seq) {
  keep_at(index(seq));
  find_places();
}

bool Reduction::keep_whole(const std::set<ThreadId>& threads) {
  std::set<ThreadId> wanted;
  bool changed = false;
  for (std::size_t i = intervals_.size(); i-- > 0;) {
    ThreadId thread = intervals_[i].thread;
    if (threads.count(thread) == 0) continue;
    if (intervals_[i].kept) wanted.insert(thread);
    if (wanted.count(thread) != 0) changed = keep_at(i) || changed;
  }
  find_places();
  return changed;
}

bool Reduction::keep_all() {
  bool changed = false;
  for (std::size_t i = 0; i < intervals_.size(); ++i) changed = keep_at(i) || changed;
  find_places();
  return changed;
}

CopyFilter Reduction::filter() const {
  return {[this](const Exec& exec) { return keeps(exec.seq); }, "left out by svd-analyze reduce"};
}

Result<Reduction> reduce(Explainer& explainer, std::string_view criterion, const Explanation& whole,
                         const SliceOptions& options, const WriteReduced& write,
                         Diagnostics& diagnostics) {
  const TraceReader& trace = explainer.input().trace;
  Reduction reduction(trace, diagnostics);
  reduction.keep(whole.slice);
  // Who asks the reduced trace how the run ended is answered by its last instruction.
  if (names_end(criterion)) reduction.keep(trace.ending().seq);
  while (true) {
    auto reduced = write(reduction);
    if (!reduced) return reduced.error();
    Diagnostics told;
    Explainer again(*reduced, told);
    Failure there = whole.failure;
    there.at.seq = reduction.place(there.at.seq);
    for (Criterion& one : there.criteria) one.seq = reduction.place(one.seq);
    std::set<ThreadId> wrong;
    auto end = names_end(criterion) ? again.find(criterion) : Result<Failure>(there);
    bool same_end = end && *end == there;
    if (!same_end) wrong.insert(there.at.thread);
    if (same_end && agree(reduction, whole, again.explain(there, options), wrong)) return reduction;
    bool more = reduction.keep_whole(wrong);
    if (!more && !reduction.keep_all()) return reduction;
  }
}

}  // namespace svd
