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
                         Prepare prepare)
    : trace_(trace), order_(order), columns_(columns), prepare_(std::move(prepare)) {
  if (trace.chunks().size() > 1 && several_processors())
    worker_ = std::jthread([this](const std::stop_token& stop) { run(stop); });
}

const ChunkStream::Decoded* ChunkStream::next() {
  std::size_t number = taken_;
  if (number == trace_.chunks().size()) return nullptr;
  // Without a worker only one is alive, and its memory is near from the time before.
  Decoded& next = ring_[worker_.joinable() ? number % ring_.size() : 0];
  if (worker_.joinable()) {
    std::unique_lock lock(mutex_);
    free_ = number;
    changed_.notify_one();
    changed_.wait(lock, [&] { return made_ > number || failure_ != nullptr; });
    if (failure_ != nullptr) std::rethrow_exception(failure_);
  } else {
    decode(number, next);
  }
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

void ChunkStream::run(const std::stop_token& stop) {
  for (std::size_t number = 0; number < trace_.chunks().size(); ++number) {
    {
      std::unique_lock lock(mutex_);
      if (!changed_.wait(lock, stop, [&] { return number < free_ + ring_.size(); })) return;
    }
    std::exception_ptr failure;
    try {
      decode(number, ring_[number % ring_.size()]);
    } catch (...) {
      failure = std::current_exception();
    }
    std::lock_guard lock(mutex_);
    made_ = number + 1;
    failure_ = failure;
    changed_.notify_one();
    if (failure != nullptr) return;
  }
}

}  // namespace svd
