// SPDX-License-Identifier: Apache-2.0

#include "findings/complete.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "findings/summary.h"

namespace svd {
namespace {

bool overlap(Addr a, std::uint64_t a_size, Addr b, std::uint64_t b_size) {
  return a < b + b_size && b < a + a_size;
}

// What is still to be looked up in the trace about one access.
struct Wanted {
  const RawAccess* raw;
  FindingAccess* access;
};

// Walks one chunk and fills in what is wanted of it.
class LookUp {
 public:
  LookUp(Moment first, Seq first_seq, std::span<const Wanted> wanted)
      : base_(first - first_seq.value), wanted_(wanted) {}

  void exec(const Exec& exec) {
    Moment first = base_ + exec.seq.value;
    for (; next() && next()->raw->moment < first + exec.shape->part.steps(); ++at_) {
      const Wanted& wanted = *next();
      wanted.access->seq = exec.seq + (wanted.raw->moment - first);
      exec.accesses([&](const MemoryAccess& memory) {
        if (memory.seq == wanted.access->seq && matches(memory, *wanted.raw))
          take(memory, *wanted.access);
      });
    }
  }

  void event(const Event& event) {
    Moment now = base_ + event.seq.value;
    for (; next() && next()->raw->moment == now; ++at_) {
      FindingAccess& access = *next()->access;
      access.seq = event.seq;
      const auto* kernel = std::get_if<KernelAccess>(&event.body);
      if (kernel != nullptr) access.kernel = true;
    }
    base_ += 1;
  }

 private:
  const Wanted* next() const { return at_ < wanted_.size() ? &wanted_[at_] : nullptr; }

  static bool matches(const MemoryAccess& memory, const RawAccess& raw) {
    return memory.slot->write == (raw.kind != TouchKind::kRead) &&
           overlap(memory.address, memory.size, raw.address, raw.size);
  }
  static void take(const MemoryAccess& memory, FindingAccess& access) {
    access.address = memory.address;
    access.size = memory.size;
    if (memory.has_value) access.value = memory.value;
  }

  Moment base_;
  std::span<const Wanted> wanted_;
  std::size_t at_ = 0;
};

class Completion {
 public:
  explicit Completion(const Source& source) : source_(source) {}

  std::vector<Finding> run(std::span<const RawFinding> found) {
    std::vector<Finding> findings(found.size());
    for (std::size_t i = 0; i < found.size(); ++i) begin(found[i], findings[i]);
    look_up();
    for (Finding& finding : findings) end(finding);
    return findings;
  }

 private:
  void begin(const RawFinding& raw, Finding& finding) {
    finding.detectors = {std::string(raw.detector)};
    finding.occurrences = raw.occurrences;
    finding.accesses.resize(raw.accesses.size());
    std::vector<const RawAccess*> in_order;
    for (const RawAccess& access : raw.accesses) in_order.push_back(&access);
    std::stable_sort(in_order.begin(), in_order.end(),
                     [](const auto* a, const auto* b) { return a->moment < b->moment; });
    for (std::size_t i = 0; i < in_order.size(); ++i) {
      begin(*in_order[i], finding.accesses[i]);
      wanted_.push_back({in_order[i], &finding.accesses[i]});
    }
  }

  void begin(const RawAccess& raw, FindingAccess& access) {
    const ThreadInfo& thread = source_.trace.threads()[raw.thread.value];
    access.role = raw.role;
    access.thread = thread.id;
    access.thread_name = thread.name;
    access.kind = raw.kind;
    access.atomic = raw.atomic;
    access.address = raw.address;
    access.size = raw.size;
    const Sites::Place& place = source_.sites[raw.site];
    access.place =
        place.statement ? source_.places.place(*place.statement) : source_.places.place(place.pc);
    for (const HeldLock& lock : source_.lock_sets[raw.locks])
      access.locks.push_back(source_.places.lock(lock.object) + (lock.shared ? " (shared)" : ""));
  }

  void look_up() {
    std::sort(wanted_.begin(), wanted_.end(),
              [](const Wanted& a, const Wanted& b) { return a.raw->moment < b.raw->moment; });
    Chunk chunk;
    for (std::size_t i = 0; i < wanted_.size();) {
      std::size_t index = source_.moments.chunk_of(wanted_[i].raw->moment);
      std::size_t end = i;
      while (end < wanted_.size() && source_.moments.chunk_of(wanted_[end].raw->moment) == index)
        ++end;
      if (source_.trace.decode(index, chunk)) {
        chunk.walk(LookUp(source_.moments.first(index), chunk.first_seq,
                          std::span(wanted_).subspan(i, end - i)));
      }
      i = end;
    }
  }

  void end(Finding& finding) {
    for (const FindingAccess& access : finding.accesses) {
      if (finding.variable.empty())
        finding.variable = source_.places.variable(access.address, access.size);
    }
    finding.summary = summarize(finding);
    finding.fingerprint = fingerprint(finding);
  }

  const Source& source_;
  std::vector<Wanted> wanted_;
};

}  // namespace

std::vector<Finding> complete(const Source& source, std::span<const RawFinding> found) {
  return Completion(source).run(found);
}

}  // namespace svd
