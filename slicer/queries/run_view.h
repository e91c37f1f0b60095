// SPDX-License-Identifier: Apache-2.0
//
// A recorded run that questions are asked about: its trace and its code, an index of what happened
// where, and the chunks that were looked at last. For one thread; what it is made of must outlive
// it.
#pragma once

#include <array>
#include <functional>
#include <memory>
#include <optional>

#include "dpdg/instance_reader.h"
#include "dpdg/program_model.h"
#include "slicer/queries/run_index.h"

namespace svd {

// An instruction of the run, found in its chunk.
struct Found {
  std::shared_ptr<const Chunk> chunk{};  // what the rest points into
  std::size_t chunk_index = 0;
  std::uint32_t exec_index = 0;
  Exec exec{};
  InstanceFacts facts{};
};

class RunView {
 public:
  RunView(const TraceReader& trace, const ProgramModel& model, Diagnostics& diagnostics,
          const ProgressFunction& progress = no_progress)
      : trace_(trace),
        model_(model),
        diagnostics_(diagnostics),
        index_(RunIndex::of(trace, model.code, model.control, diagnostics, progress)) {}

  // Called before a chunk is decoded: may throw, which ends the question.
  void before_decoding(std::function<void()> f) { before_decoding_ = std::move(f); }

  const TraceReader& trace() const { return trace_; }
  const CodeTable& code() const { return model_.code; }
  const ControlIndex& control() const { return model_.control; }
  const RunIndex& index() const { return index_; }
  Seq end() const;  // after the last instruction

  // Null where it cannot be decoded, which is told.
  std::shared_ptr<const Chunk> chunk(std::size_t index);
  // The last chunk that holds anything before or at `seq`, be it an event; 0 when none does.
  std::size_t last_chunk_at(Seq seq) const;

  // Nothing where there is no such instruction, or it was lost.
  std::optional<Found> find(Seq seq);
  // The last instruction of a thread before `seq`.
  std::optional<Seq> last_before(ThreadId thread, Seq seq);

 private:
  // Answers go back and forth between few chunks; one takes some 30 MB.
  static constexpr std::size_t kKept = 6;
  struct Kept {
    std::size_t index = 0;
    std::uint64_t used = 0;
    std::shared_ptr<const Chunk> chunk;
  };

  const TraceReader& trace_;
  const ProgramModel& model_;
  Diagnostics& diagnostics_;
  RunIndex index_;
  std::function<void()> before_decoding_ = [] {};
  std::array<Kept, kKept> kept_{};
  std::uint64_t clock_ = 0;
};

}  // namespace svd
