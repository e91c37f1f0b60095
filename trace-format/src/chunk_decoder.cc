// SPDX-License-Identifier: Apache-2.0

#include "chunk_decoder.h"

#include <algorithm>
#include <array>

#include "svd/trace/limits.h"

namespace svd {

namespace {

// Successors whose misses are taken from the stream at a time.
constexpr std::uint32_t kStretch = 512;

}  // namespace

template <bool kAccesses>
std::string ChunkDecoder::decode_executions(const ChunkCounts& counts, Chunk& out) {
  successors_.reset();
  histories_.clear();
  std::array<std::uint64_t, kStretch> missed;
  std::array<std::uint64_t, kStretch> residuals;
  const Shape* shapes = out.shapes.data();
  const std::uint64_t shape_count = out.shapes.size();
  std::uint32_t* execs = out.execs.data();
  std::uint64_t* values = out.has_values ? out.values.data() : nullptr;

  auto run = out.runs.begin();
  std::uint32_t run_end = 0;  // of its executions
  std::uint32_t history = 0;
  std::uint32_t* kept = &history;
  std::uint64_t seen = 0;
  std::uint64_t steps = 0, accesses = 0, ranges = 0;  // before the turn
  std::uint32_t exec = 0;
  while (exec < counts.execs) {
    AccessDecoder::Extent turn;
    while (exec < counts.execs && turn.accesses < AccessDecoder::kTurn) {
      if (exec == run_end) {
        *kept = history;
        kept = &histories_[run->thread.value];
        history = *kept;
        run->first_seq = counts.first_seq + (steps + turn.steps);
        run->first_access = static_cast<std::uint32_t>(accesses + turn.accesses);
        run->first_range = static_cast<std::uint32_t>(ranges + turn.ranges);
        run_end += run->exec_count;
        ++run;
      }
      if (exec % kStretch == 0) {
        successor_stream_.next(std::min(kStretch, counts.execs - exec), missed.data(),
                               residuals.data());
      }
      std::uint32_t end = std::min(run_end, (exec / kStretch + 1) * kStretch);
      for (; exec < end && turn.accesses < AccessDecoder::kTurn; ++exec) {
        std::uint16_t& entry = successors_.entry(history);
        std::uint64_t mask = missed[exec % kStretch];
        std::uint64_t told = (seen - residuals[exec % kStretch]) & mask;
        std::uint64_t shape = (entry & ~mask) | told;
        if (shape >= seen) [[unlikely]] {
          if (shape != seen || seen == shape_count)
            return "its executions name shapes that do not exist";
          ++seen;
        }
        execs[exec] = static_cast<std::uint32_t>(shape);
        entry = static_cast<std::uint16_t>(shape);
        history = SuccessorPredictor::extend(history, static_cast<std::uint32_t>(shape));
        if constexpr (kAccesses) {
          accesses_.add(static_cast<std::uint32_t>(shape), turn);
        } else {
          turn.steps += shapes[shape].part.steps();
          turn.accesses += shapes[shape].accesses;
          turn.ranges += shapes[shape].ranges;
        }
      }
    }
    if (turn.accesses > counts.accesses - accesses || turn.ranges > counts.ranges - ranges)
      return "its executions do not add up";
    if constexpr (kAccesses) {
      // Of a copy, so that the turn itself stays in registers.
      const AccessDecoder::Extent whole = turn;
      accesses_.decode(whole, out.addresses.data() + accesses, out.lengths.data() + ranges,
                       values == nullptr ? nullptr : values + accesses);
    }
    steps += turn.steps;
    accesses += turn.accesses;
    ranges += turn.ranges;
  }
  if (!successor_stream_.clean()) return "its executions name shapes that do not exist";
  if (steps != counts.steps || accesses != counts.accesses || ranges != counts.ranges)
    return "its executions do not add up";
  if (kAccesses && !accesses_.addresses_clean()) return "its addresses do not add up";
  if (values != nullptr && !accesses_.values_clean()) return "its values do not add up";
  return {};
}

std::string ChunkDecoder::decode(const ChunkCounts& counts,
                                 const ColumnSet<std::span<const std::uint8_t>>& columns,
                                 std::span<const Block> blocks, const Columns& wanted, Chunk& out) {
  if (counts.steps > kMaxChunkSteps + kMaxBlockInstructions ||
      counts.accesses > kMaxChunkSteps + kMaxBlockSlots || counts.execs > counts.steps ||
      counts.ranges > counts.accesses) {
    return "it claims more than a chunk can hold";
  }
  out.first_seq = counts.first_seq;
  out.steps = counts.steps;
  out.events.clear();
  out.has_addresses = wanted.addresses || wanted.values;
  out.has_values = wanted.values && columns.loads.data() != nullptr;
  if (!get_runs(columns.runs, counts.execs, out.runs)) return "its thread runs do not add up";
  if (auto problem = get_shapes(columns.shapes, blocks, counts, out.shapes); !problem.empty())
    return problem;
  out.execs.resize(counts.execs);
  out.addresses.resize(out.has_addresses ? counts.accesses : 0);
  out.lengths.resize(out.has_addresses ? counts.ranges : 0);
  out.values.resize(out.has_values ? counts.accesses : 0);
  successor_stream_ = MissDecoder(columns.successors);
  std::string problem;
  if (out.has_addresses) {
    accesses_.start(out.shapes, columns, out.has_values);
    problem = decode_executions<true>(counts, out);
  } else {
    problem = decode_executions<false>(counts, out);
  }
  if (!problem.empty()) return problem;
  auto impossible = [](std::uint64_t length) { return length > kAddressSpace; };
  if (std::any_of(out.lengths.begin(), out.lengths.end(), impossible))
    return "it has an access to more memory than a program can have";
  if (counts.events > 0 && counts.event_kinds == 0) return "it says that its events are of no kind";
  if ((counts.event_kinds & wanted.events.bits) == 0) return {};
  return get_events(columns.events, counts, wanted.events, out);
}

}  // namespace svd
