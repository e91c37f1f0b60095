// SPDX-License-Identifier: Apache-2.0
//
// Chunks of a trace one after the other, decoded a little ahead of who takes them: by a thread of
// its own where this process may use a second processor, and by who takes them in place of waiting.
// What else can be made of a chunk by itself is made by that thread, too, and what is left to do
// with a chunk that was taken. What comes, and in which order, does not depend on that, but for
// what comes before a failure. Used by one thread; the reader must outlive it.
#pragma once

#include <array>
#include <condition_variable>
#include <cstddef>
#include <exception>
#include <functional>
#include <mutex>
#include <stop_token>
#include <thread>
#include <vector>

#include "svd/trace/chunk.h"
#include "svd/trace/diagnostic.h"
#include "svd/trace/reader.h"
#include "svd/trace/result.h"

namespace svd {

class ChunkStream {
 public:
  // One in use, and others that are ready, being decoded or finished.
  static constexpr std::size_t kPlaces = 3;
  struct Decoded {
    std::size_t index = 0;  // into chunks()
    std::size_t place = 0;  // below kPlaces; no two that are alive at one time have the same
    Chunk chunk{};          // unusable without status
    Status status{Done{}};
  };

  // Called for each chunk that could be decoded, one at a time and in the order of the stream, by
  // the thread that decodes: to prepare it before it is taken, and to finish it when it is not in
  // use any more. With any work, all chunks are decoded there.
  using Work = std::function<void(const Decoded&)>;

  ChunkStream(const TraceReader& trace, TraceReader::Order order, const Columns& columns,
              Work prepare = nullptr, Work finish = nullptr);
  // Of these chunks.
  ChunkStream(const TraceReader& trace, std::vector<std::size_t> indexes, const Columns& columns,
              Work prepare = nullptr, Work finish = nullptr);
  ~ChunkStream() = default;
  ChunkStream(const ChunkStream&) = delete;
  ChunkStream& operator=(const ChunkStream&) = delete;

  // Good until the next call; null after the last one, when all are finished.
  const Decoded* next();
  // The same of the chunks that could be decoded; of the others it is told that they are lost.
  const Decoded* next(Diagnostics& lost);

 private:
  bool helps() const { return !prepare_ && !finish_; }
  void decode(std::size_t number, Decoded& out) const;
  void finish(const Decoded& done) const;
  void run(const std::stop_token& stop);
  // The rest with the mutex held.
  bool can_begin() const;
  bool is_made(std::size_t number) const;
  void make_next(std::unique_lock<std::mutex>& lock);
  void finish_next(std::unique_lock<std::mutex>& lock);
  template <class F>
  void unlocked(std::unique_lock<std::mutex>& lock, F&& f);

  const TraceReader& trace_;
  std::vector<std::size_t> indexes_;
  Columns columns_;
  Work prepare_, finish_;
  std::size_t taken_ = 0;  // by who asks; the last one is in use

  std::array<Decoded, kPlaces> ring_{};
  std::mutex mutex_;
  std::condition_variable_any changed_;
  std::size_t begun_ = 0;             // to be decoded,
  std::array<bool, kPlaces> made_{};  // and done with that
  std::size_t used_ = 0;              // as many are not in use any more,
  std::size_t finished_ = 0;          // and of these their places are free
  std::exception_ptr failure_;
  std::jthread worker_;  // last, so that it ends before what it uses
};

}  // namespace svd
