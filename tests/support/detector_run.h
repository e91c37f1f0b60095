// SPDX-License-Identifier: Apache-2.0
//
// Detectors on a small trace, with answers for single instructions. Header only, so that test
// programs which do not need it do not link the analyzer.
#pragma once

#include <set>
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
  std::vector<Variable> variables() override { return {}; }
  std::string variable(Addr, std::uint64_t) override { return {}; }
  std::string operand(Pc) override { return {}; }
};

class DetectorRun {
 public:
  explicit DetectorRun(TraceReader trace) : trace_(std::move(trace)) {
    Scan scan(trace_, rules_, names_, lock_sets_);
    RaceDetector races("race-hb", RaceDetector::Mode::kHappensBefore, scan.threads(), lock_sets_);
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
    std::set<Seq> raced;
    for (const RawFinding& finding : races.findings())
      for (const Meeting& meeting : finding.instances) raced.insert(seqs_[meeting.later.value]);
    raced_.assign(raced.begin(), raced.end());
    serializable_ = atomic.graph().cycles().empty();
  }

  // Instructions that race with an earlier one, in order.
  const std::vector<Seq>& raced() const { return raced_; }
  bool serializable() const { return serializable_; }

 private:
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
  Rules rules_;
  NoNames names_;
  LockSets lock_sets_;
  std::vector<Seq> seqs_;  // by moment
  std::vector<Seq> raced_;
  bool serializable_ = true;
};

}  // namespace svd::test
