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
#include <map>
#include <set>
#include <tuple>

#include "dpdg/program_model.h"

namespace svd {
namespace {

// What two slices must have in common: the instructions and how often, and the edges between
// threads. How far a thing is, and so which instances of an edge are counted and which is the
// nearest, also depends on how much ran in between.
auto answer(const Slice& slice) {
  using Edge = std::tuple<int, std::uint32_t, std::uint32_t, std::uint32_t>;
  std::set<Edge> edges;
  for (const RemoteRead& read : slice.remote_reads)
    edges.emplace(0, read.write.id.value, read.read.id.value, 0);
  for (const Triple& triple : slice.triples)
    edges.emplace(1, triple.before.id.value, triple.remote.id.value, triple.after.id.value);
  for (const RaceEdge& race : slice.races)
    edges.emplace(2 + static_cast<int>(race.kind), race.first.id.value, race.second.id.value, 0);
  std::map<std::uint32_t, std::pair<std::uint64_t, std::uint64_t>> items;
  for (const SliceItem& item : slice.items)
    items[item.id.value] = {item.instances, item.initial_reads};
  return std::pair(std::move(items), std::move(edges));
}

}  // namespace

Reduction::Reduction(const TraceReader& trace, Diagnostics& diagnostics) {
  trace.scan(TraceReader::Order::kForward, {.addresses = false, .values = false, .events = false},
             diagnostics, [this](const Chunk& chunk) {
               for (std::size_t i = 0; i < chunk.runs.size(); ++i) {
                 const Run& run = chunk.runs[i];
                 Seq end =
                     i + 1 < chunk.runs.size() ? chunk.runs[i + 1].first_seq : chunk.end_seq();
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

Result<Reduction> reduce(const SliceInput& input, const std::vector<Criterion>& criteria,
                         const Slice& slice, const SliceOptions& options, const WriteReduced& write,
                         Diagnostics& diagnostics) {
  Reduction reduction(input.trace, diagnostics);
  reduction.keep(slice);
  auto wanted = answer(slice);
  while (true) {
    auto reduced = write(reduction);
    if (!reduced) return reduced.error();
    std::vector<Criterion> there = criteria;
    for (Criterion& criterion : there) criterion.seq = reduction.place(criterion.seq);
    Diagnostics told;
    ProgramModel model(*reduced, told);
    Slice found =
        slice_backward({*reduced, model.code, model.control, input.lines}, there, options, told);
    std::set<ThreadId> wrong;
    slice.members.each([&](Seq seq) {
      if (!found.members.has(reduction.place(seq))) wrong.insert(reduction.thread_at(seq));
    });
    found.members.each([&](Seq place) {
      Seq seq = reduction.origin(place);
      if (!slice.members.has(seq)) wrong.insert(reduction.thread_at(seq));
    });
    if (wrong.empty() && answer(found) == wanted) return reduction;
    bool more = reduction.keep_whole(wrong);
    if (!more && !reduction.keep_all()) return reduction;
  }
}

}  // namespace svd
