// SPDX-License-Identifier: Apache-2.0
//
// Reads trace.fb: opens by its index without touching the run itself (a file without one is walked
// once), decodes any chunk at random, and maps only the chunk at hand, so memory stays bounded. An
// STD log (std_log.h) is read as well: all at once, into eight bytes an event.
// What is damaged is left out, counted, and said in diagnostics(); open() fails only where nothing
// can be read. Const methods may be called from several threads at once, each with its own Chunk.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "svd/trace/block.h"
#include "svd/trace/chunk.h"
#include "svd/trace/diagnostic.h"
#include "svd/trace/event.h"
#include "svd/trace/process.h"
#include "svd/trace/result.h"
#include "svd/trace/types.h"

namespace svd {

// What the index says about one stretch of the run.
struct ChunkInfo {
  std::uint64_t ordinal = 0;  // among all chunks of the file
  std::uint64_t offset = 0;
  std::uint64_t bytes = 0;
  Seq first_seq{};
  std::uint64_t steps = 0;
  std::uint64_t execs = 0;
  std::uint64_t accesses = 0;
  std::uint64_t events = 0;
  std::uint64_t event_kinds = 0;    // of EventKinds
  std::vector<ThreadId> threads{};  // that execute or have events in it, ascending

  Seq end_seq() const { return first_seq + steps; }
};

struct ThreadInfo {
  ThreadId id{};
  ThreadId parent{};
  std::string name{};  // the last one it had
  std::uint64_t steps = 0;
  Seq first_seq{};  // meaningful when steps > 0
  Seq last_seq{};
  static constexpr void fields(auto& s, auto&& f) {
    f("id", s.id), f("parent", s.parent), f("name", s.name), f("steps", s.steps),
        f("first-seq", s.first_seq), f("last-seq", s.last_seq);
  }
};

// How the run ended, as far as the trace says.
struct Ending {
  EndKind kind = EndKind::kUnknown;
  std::int32_t value = 0;  // exit status or signal number
  std::optional<ThreadId> thread;
  Seq seq{};  // the last instruction of that thread: the default slicing criterion
  Pc pc{};
};

// Bytes of one column, added up over all chunks.
struct ColumnSize {
  std::string name{};
  std::uint64_t raw = 0;     // after prediction, before LZ4
  std::uint64_t packed = 0;  // in the file
};

// Says that a chunk could not be decoded, and counts what is lost with it: once, however many
// passes meet it.
void add_lost_chunk(Diagnostics& diagnostics, const ChunkInfo& chunk, const Error& error);

class TraceReader {
 public:
  // A trace, or a log: what the file holds tells which.
  static Result<TraceReader> open(const std::string& path);
  // A log that is in memory, and outlives the reader.
  static Result<TraceReader> of_std(std::string_view log, const std::string& name_for_errors);
  TraceReader(TraceReader&&) noexcept;
  TraceReader& operator=(TraceReader&&) noexcept;
  ~TraceReader();

  const std::string& path() const;
  std::uint64_t file_bytes() const;
  const Process& process() const;
  std::span<const Module> modules() const;
  std::span<const Symbol> symbols() const;
  std::span<const Stack> stacks() const;
  std::span<const Statement> statements() const;
  std::span<const Block> blocks() const;  // one that was lost is empty

  std::span<const ChunkInfo> chunks() const;    // data chunks, by seq
  std::span<const ThreadInfo> threads() const;  // by id
  const Ending& ending() const;
  bool finished() const;        // its writer came to the end
  bool complete() const;        // nothing is missing: finished by its writer, no loss found so far
  std::uint64_t steps() const;  // readable instructions
  // Of the run's first instruction that is here. Not 0 where only the newest part was kept:
  // instructions keep the numbers that they had in the run.
  Seq first_seq() const;

  // What open() found out. Losses found later by decoding are the caller's to add.
  const Diagnostics& diagnostics() const;

  // The first chunk that holds anything at or after `seq`, be it an event; chunks().size() past the
  // end.
  std::size_t chunk_at(Seq seq) const;
  // The same, but that only instructions count: the one that holds `seq`, unless that is lost.
  std::size_t chunk_of(Seq seq) const { return chunk_at(seq + 1); }

  // Decodes chunks()[index]. On an error `out` is unusable and can be reused.
  Status decode(std::size_t index, Chunk& out, const Columns& columns = {}) const;

  // Pages (4 KiB, or coarser in chunks that touch very many) that the chunk accesses. False:
  // certainly none of these bytes. Logs know no pages.
  Result<bool> may_touch(std::size_t index, Addr address, std::uint64_t size) const;

  // Decodes the chunks one after the other (chunk_stream.h), skips damaged ones with a diagnostic,
  // until `f` returns false.
  enum class Order { kForward, kBackward };
  void scan(Order order, const Columns& columns, Diagnostics& diagnostics,
            const std::function<bool(const Chunk&)>& f) const;

  // Sizes by column over all readable chunks; a log has none. Touches every chunk's head.
  std::vector<ColumnSize> column_sizes() const;

 private:
  struct Impl;
  explicit TraceReader(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace svd
