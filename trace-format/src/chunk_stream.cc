// SPDX-License-Identifier: Apache-2.0

#include "svd/trace/chunk_stream.h"

#include <sched.h>

#include <utility>

namespace svd {

bool several_processors() {
  cpu_set_t set;
  return sched_getaffinity(0, sizeof set, &set) == 0 && CPU_COUNT(&set) > 1;
}

ChunkStream::ChunkStream(const TraceReader& trace, TraceReader::Order order, const Columns& columns,
                         Work prepare, Work finish)
    : trace_(trace),
      order_(order),
      columns_(columns),
      prepare_(std::move(prepare)),
      finish_(std::move(finish)) {
  if (trace.chunks().size() > 1 && several_processors())
    worker_ = std::jthread([this](const std::stop_token& stop) { run(stop); });
}

const ChunkStream::Decoded* ChunkStream::next() {
  std::size_t number = taken_;
  bool last = number == trace_.chunks().size();
  // Without a worker only one is alive, and its memory is near from the time before.
  Decoded& next = ring_[worker_.joinable() ? number % ring_.size() : 0];
  if (worker_.joinable()) {
    std::unique_lock lock(mutex_);
    used_ = number;
    changed_.notify_one();
    changed_.wait(
        lock, [&] { return failure_ != nullptr || (last ? finished_ == number : made_ > number); });
    if (failure_ != nullptr) std::rethrow_exception(failure_);
  } else {
    if (used_ != number) finish(next);
    used_ = number;
    if (!last) decode(number, next);
  }
  if (last) return nullptr;
  ++taken_;
  return &next;
}

const ChunkStream::Decoded* ChunkStream::next(Diagnostics& lost) {
  const Decoded* decoded = next();
  for (; decoded != nullptr && !decoded->status; decoded = next())
    add_lost_chunk(lost, trace_.chunks()[decoded->index], decoded->status.error());
  return decoded;
}

void ChunkStream::decode(std::size_t number, Decoded& out) const {
  bool forward = order_ == TraceReader::Order::kForward;
  out.index = forward ? number : trace_.chunks().size() - 1 - number;
  out.place = static_cast<std::size_t>(&out - ring_.data());
  out.status = trace_.decode(out.index, out.chunk, columns_);
  if (prepare_ && out.status) prepare_(out);
}

void ChunkStream::finish(const Decoded& done) const {
  if (finish_ && done.status) finish_(done);
}

bool ChunkStream::can_decode() const {
  return made_ < trace_.chunks().size() && made_ < finished_ + ring_.size();
}

void ChunkStream::run(const std::stop_token& stop) {
  std::unique_lock lock(mutex_);
  while (finished_ < trace_.chunks().size()) {
    if (!changed_.wait(lock, stop, [&] { return can_decode() || finished_ < used_; })) return;
    // Who takes them shall not wait.
    std::size_t& done = can_decode() ? made_ : finished_;
    Decoded& chunk = ring_[done % ring_.size()];
    lock.unlock();
    std::exception_ptr failure;
    try {
      if (&done == &made_)
        decode(done, chunk);
      else
        finish(chunk);
    } catch (...) {
      failure = std::current_exception();
    }
    lock.lock();
    ++done;
    failure_ = failure;
    changed_.notify_one();
    if (failure != nullptr) return;
  }
}

}  // namespace svd
