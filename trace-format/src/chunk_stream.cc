// SPDX-License-Identifier: Apache-2.0

#include "svd/trace/chunk_stream.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "svd/trace/processors.h"

namespace svd {

namespace {

std::vector<std::size_t> all_chunks(const TraceReader& trace, TraceReader::Order order) {
  std::vector<std::size_t> indexes(trace.chunks().size());
  std::iota(indexes.begin(), indexes.end(), std::size_t{0});
  if (order == TraceReader::Order::kBackward) std::reverse(indexes.begin(), indexes.end());
  return indexes;
}

}  // namespace

ChunkStream::ChunkStream(const TraceReader& trace, TraceReader::Order order, const Columns& columns,
                         Work prepare, Work finish)
    : ChunkStream(trace, all_chunks(trace, order), columns, std::move(prepare), std::move(finish)) {
}

ChunkStream::ChunkStream(const TraceReader& trace, std::vector<std::size_t> indexes,
                         const Columns& columns, Work prepare, Work finish)
    : trace_(trace),
      indexes_(std::move(indexes)),
      columns_(columns),
      prepare_(std::move(prepare)),
      finish_(std::move(finish)) {
  if (indexes_.size() > 1 && several_processors())
    worker_ = std::jthread([this](const std::stop_token& stop) { run(stop); });
}

const ChunkStream::Decoded* ChunkStream::next() {
  std::size_t number = taken_;
  bool last = number == indexes_.size();
  // Without a worker only one is alive, and its memory is near from the time before.
  Decoded& next = ring_[worker_.joinable() ? number % ring_.size() : 0];
  if (worker_.joinable()) {
    std::unique_lock lock(mutex_);
    used_ = number;
    if (helps()) finished_ = number;
    changed_.notify_one();
    while (failure_ == nullptr && !(last ? finished_ == number : is_made(number))) {
      if (helps() && can_begin())
        make_next(lock);
      else
        changed_.wait(lock);
    }
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
  out.index = indexes_[number];
  out.place = static_cast<std::size_t>(&out - ring_.data());
  out.status = trace_.decode(out.index, out.chunk, columns_);
  if (prepare_ && out.status) prepare_(out);
}

void ChunkStream::finish(const Decoded& done) const {
  if (finish_ && done.status) finish_(done);
}

bool ChunkStream::can_begin() const {
  return begun_ < indexes_.size() && begun_ < finished_ + ring_.size();
}

bool ChunkStream::is_made(std::size_t number) const {
  return begun_ > number && made_[number % ring_.size()];
}

void ChunkStream::make_next(std::unique_lock<std::mutex>& lock) {
  std::size_t number = begun_++;
  std::size_t place = number % ring_.size();
  made_[place] = false;
  unlocked(lock, [&] { decode(number, ring_[place]); });
  made_[place] = true;
}

void ChunkStream::finish_next(std::unique_lock<std::mutex>& lock) {
  unlocked(lock, [this, place = finished_ % ring_.size()] { finish(ring_[place]); });
  ++finished_;
}

template <class F>
void ChunkStream::unlocked(std::unique_lock<std::mutex>& lock, F&& f) {
  lock.unlock();
  std::exception_ptr failure;
  try {
    f();
  } catch (...) {
    failure = std::current_exception();
  }
  lock.lock();
  if (failure != nullptr) failure_ = failure;
}

void ChunkStream::run(const std::stop_token& stop) {
  std::unique_lock lock(mutex_);
  while (finished_ < indexes_.size() && failure_ == nullptr) {
    if (!changed_.wait(lock, stop, [&] { return can_begin() || finished_ < used_; })) return;
    // Who takes them shall not wait.
    if (can_begin())
      make_next(lock);
    else
      finish_next(lock);
    changed_.notify_one();
  }
}

}  // namespace svd
