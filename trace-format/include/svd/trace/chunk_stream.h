// SPDX-License-Identifier: Apache-2.0
//
// The chunks of a trace one after the other, decoded a little ahead of who takes them: by a thread
// of its own where this process may use a second processor. What else can be made of a chunk by
// itself is made there, too, and what is left to do with a chunk that was taken. What comes, and in
// which order, does not depend on that. Used by one thread; the reader must outlive it.
#pragma once

#include <array>
#include <condition_variable>
#include <cstddef>
#include <exception>
#include <functional>
#include <mutex>
#include <stop_token>
#include <thread>

#include "svd/trace/chunk.h"
#include "svd/trace/diagnostic.h"
#include "svd/trace/reader.h"
#include "svd/trace/result.h"

namespace svd {

// Whether this process may use a second processor.
bool several_processors();

class ChunkStream {
 public:
  // One in use, one ready, one that is being decoded or finished.
  static constexpr std::size_t kPlaces = 3;
  struct Decoded {
    std::size_t index = 0;  // into chunks()
    std::size_t place = 0;  // below kPlaces; no two that are alive at one time have the same
    Chunk chunk{};          // unusable without status
    Status status{Done{}};
  };

  // Called for each chunk that could be decoded, one at a time and in the order of the stream, by
  // the thread that decodes: to prepare it before it is taken, and to finish it when it is not in
  // use any more.
  using Work = std::function<void(const Decoded&)>;

  ChunkStream(const TraceReader& trace, TraceReader::Order order, const Columns& columns,
              Work prepare = nullptr, Work finish = nullptr);
  ~ChunkStream() = default;
  ChunkStream(const ChunkStream&) = delete;
  ChunkStream& operator=(const ChunkStream&) = delete;

  // Good until the next call; null after the last one, when all are finished.
  const Decoded* next();
  // The same of the chunks that could be decoded; of the others it is told that they are lost.
  const Decoded* next(Diagnostics& lost);

 private:
  void decode(std::size_t number, Decoded& out) const;
  void finish(const Decoded& done) const;
  void run(const std::stop_token& stop);
  bool can_decode() const;

  const TraceReader& trace_;
  TraceReader::Order order_;
  Columns columns_;
  Work prepare_, finish_;
  std::size_t taken_ = 0;  // by who asks; the last one is in use

  std::array<Decoded, kPlaces> ring_{};
  std::mutex mutex_;
  std::condition_variable_any changed_;
  std::size_t made_ = 0;
  std::size_t used_ = 0;      // as many are not in use any more,
  std::size_t finished_ = 0;  // and of these their places are free
  std::exception_ptr failure_;
  std::jthread worker_;  // last, so that it ends before what it uses
};

}  // namespace svd
