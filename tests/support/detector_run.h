// SPDX-License-Identifier: Apache-2.0
//
// Detectors on a small trace, with answers for single instructions. Header only, so that test
// programs which do not need it do not link the analyzer.
#pragma once

#include <utility>
#include <vector>

#include "detectors/declared_atomic.h"
#include "detectors/races.h"
#include "detectors/scan.h"
#include "support/trace_builder.h"

namespace svd::test {

// All code is the program's own.
class NoNames : public CodeNames {
 public:
  CodeName code(Pc) override { return {}; }
  std::vector<std::string_view> functions(Pc) override { return {}; }
};

class DetectorRun {
 public:
  explicit DetectorRun(TraceReader trace) : trace_(std::move(trace)) {
    Scan scan(trace_, rules_, names_, lock_sets_);
    RaceSpy races(scan.threads(), lock_sets_);
    DeclaredAtomic atomic("declared-atomic", scan.threads());
    scan.add(races);
    scan.add(atomic);
    Chunk chunk;
    for (std::size_t i = 0; i < trace_.chunks().size(); ++i) {
      SVD_CHECK(trace_.decode(i, chunk));
      Moment base = scan.moments().first(i) - chunk.first_seq.value;
      chunk.walk(SeqFinder{*this, base});
      scan.chunk(i, chunk);
    }
    for (Moment moment : races.moments) {
      Seq seq = seqs_[moment.value];
      if (raced_.empty() || raced_.back() != seq) raced_.push_back(seq);
    }
    serializable_ = atomic.graph().cycles().empty();
  }

  // Instructions that race with an earlier one, in order.
  const std::vector<Seq>& raced() const { return raced_; }
  bool serializable() const { return serializable_; }

 private:
  struct RaceSpy : Detector {
    RaceSpy(std::size_t threads, LockSets& lock_sets)
        : races("race-hb", RaceDetector::Mode::kHappensBefore, threads, lock_sets) {}
    void acquire(ThreadIndex t, ChannelId c, EdgeKind k, Moment now) override {
      races.acquire(t, c, k, now);
    }
    void release(ThreadIndex t, ChannelId c, EdgeKind k, Moment now) override {
      races.release(t, c, k, now);
    }
    void access(const Touch& touch) override {
      races.access(touch);
      if (races.raced()) moments.push_back(touch.moment);
    }
    void fresh(Addr address, std::uint64_t size) override { races.fresh(address, size); }
    std::vector<RawFinding> findings() override { return races.findings(); }
    RaceDetector races;
    std::vector<Moment> moments;
  };

  struct SeqFinder {
    DetectorRun& run;
    Moment base;
    void exec(const Exec& exec) {
      run.seqs_.resize(base.value + exec.end().value);
      for (Seq seq = exec.seq; seq < exec.end(); seq += 1) run.seqs_[base.value + seq.value] = seq;
    }
    void event(const Event&) { base += 1; }
  };

  TraceReader trace_;
  Suppressions rules_;
  NoNames names_;
  LockSets lock_sets_;
  std::vector<Seq> seqs_;  // by moment
  std::vector<Seq> raced_;
  bool serializable_ = true;
};

}  // namespace svd::test
