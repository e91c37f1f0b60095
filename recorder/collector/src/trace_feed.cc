// SPDX-License-Identifier: Apache-2.0

#include "trace_feed.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <span>
#include <string_view>
#include <variant>

namespace svd {
namespace {

// Batches in all: what one side can be ahead of the other.
constexpr std::size_t kBatches = 8;

// Copies of what views point to.
template <class Element>
void keep(std::pmr::memory_resource& bytes, const Element*& data, std::size_t size) {
  if (size == 0) return;
  void* copy = bytes.allocate(size, 1);
  std::memcpy(copy, data, size);
  data = static_cast<const Element*>(copy);
}

struct Keeper {
  std::pmr::memory_resource& bytes;

  void operator()(std::string_view, std::string_view& text) const {
    const char* data = text.data();
    keep(bytes, data, text.size());
    text = {data, text.size()};
  }
  void operator()(std::string_view, std::span<const std::uint8_t>& span) const {
    const std::uint8_t* data = span.data();
    keep(bytes, data, span.size());
    span = {data, span.size()};
  }
  template <class T>
  void operator()(std::string_view, T&) const {}
};

}  // namespace

void TraceFeed::Batch::clear() {
  used = 0;
  events.clear();
  modules.clear();
  stacks.clear();
  blocks.clear();
  bytes.release();
}

TraceFeed::TraceFeed(std::unique_ptr<TraceWriter> writer)
    : writer_(std::move(writer)), filling_(std::make_unique<Batch>()) {
  for (std::size_t i = 1; i < kBatches; ++i) empty_.push_back(std::make_unique<Batch>());
  thread_ = std::thread([this] { work(); });
}

TraceFeed::~TraceFeed() {
  if (thread_.joinable()) (void)finish();
}

void TraceFeed::make_room(std::size_t words) {
  if (filling_->used > 0) hand_over();
  if (filling_->words.size() < std::max(kBatchWords, words))
    filling_->words.resize(std::max(kBatchWords, words));
}

ModuleId TraceFeed::add(Module module) {
  put(kModule, 0);
  filling_->modules.push_back(std::move(module));
  return ModuleId(modules_++);
}

StackId TraceFeed::add(Stack stack) {
  put(kStack, 0);
  filling_->stacks.push_back(std::move(stack));
  return StackId(stacks_++);
}

BlockId TraceFeed::add(Block block) {
  put(kBlock, 0);
  filling_->blocks.push_back(std::move(block));
  return BlockId(blocks_++);
}

void TraceFeed::run(ThreadId thread) { *put(kRun, 1) = thread.value; }

void TraceFeed::event(ThreadId thread, const EventBody& body) {
  put(kEvent, 0);
  filling_->events.emplace_back(thread, body);
  std::visit(
      [this](auto& event) {
        using T = std::remove_reference_t<decltype(event)>;
        T::fields(event, Keeper{filling_->bytes});
      },
      filling_->events.back().second);
}

void TraceFeed::flush() {
  put(kFlush, 0);
  hand_over();
}

void TraceFeed::hand_over() {
  std::unique_lock lock(mutex_);
  waiting_.push_back(std::move(filling_));
  changed_.notify_all();
  changed_.wait(lock, [this] { return !empty_.empty(); });
  filling_ = std::move(empty_.back());
  empty_.pop_back();
}

Status TraceFeed::finish() {
  hand_over();
  {
    std::lock_guard lock(mutex_);
    ending_ = true;
    changed_.notify_all();
  }
  thread_.join();
  auto finished = writer_->finish();
  return status_ ? finished : status_;
}

void TraceFeed::work() {
  for (;;) {
    std::unique_ptr<Batch> batch;
    {
      std::unique_lock lock(mutex_);
      changed_.wait(lock, [this] { return ending_ || !waiting_.empty(); });
      if (waiting_.empty()) return;
      batch = std::move(waiting_.front());
      waiting_.erase(waiting_.begin());
    }
    say(*batch);
    bytes_ = writer_->totals().bytes;
    batch->clear();
    std::lock_guard lock(mutex_);
    empty_.push_back(std::move(batch));
    changed_.notify_all();
  }
}

void TraceFeed::say(const Batch& batch) {
  auto event = batch.events.begin();
  auto module = batch.modules.begin();
  auto stack = batch.stacks.begin();
  auto block = batch.blocks.begin();
  const std::uint64_t* at = batch.words.data();
  const std::uint64_t* end = at + batch.used;
  while (at != end) {
    std::uint64_t head = *at++;
    switch (static_cast<Kind>(head & ((1U << kKindBits) - 1))) {
      case kExec: {
        constexpr std::uint64_t kCountMask = (1U << kCountBits) - 1;
        std::size_t logged = head >> kKindBits & kCountMask;
        std::size_t values = head >> (kKindBits + kCountBits) & kCountMask;
        BlockId id(static_cast<std::uint32_t>(head >> (kKindBits + 2 * kCountBits)));
        auto part = std::bit_cast<Part>(*at++);
        writer_->exec(id, part, at, at + logged);
        at += logged + values;
        break;
      }
      case kRun:
        writer_->run(ThreadId(static_cast<std::uint32_t>(*at++)));
        break;
      case kEvent:
        writer_->event(event->first, event->second);
        ++event;
        break;
      case kModule:
        writer_->add(*module++);
        break;
      case kStack:
        writer_->add(*stack++);
        break;
      case kBlock:
        writer_->add(*block++);
        break;
      case kFlush:
        if (status_) status_ = writer_->flush();
        if (!status_) failed_ = true;
        break;
    }
  }
}

}  // namespace svd
