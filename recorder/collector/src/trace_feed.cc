// SPDX-License-Identifier: Apache-2.0

#include "trace_feed.h"

#include <algorithm>
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

TraceFeed::Batch::Batch() : logged(kBatchWords), values(kBatchWords) { parts.reserve(kBatchExecs); }

void TraceFeed::Batch::clear() {
  parts.clear();
  logged_used = 0;
  values_used = 0;
  marks.clear();
  runs.clear();
  events.clear();
  modules.clear();
  stacks.clear();
  blocks.clear();
  new_parts.clear();
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

void TraceFeed::make_room(std::size_t logged, std::size_t values) {
  if (!filling_->parts.empty()) hand_over();
  if (filling_->logged.size() < logged) filling_->logged.resize(logged);
  if (filling_->values.size() < values) filling_->values.resize(values);
}

void TraceFeed::mark(Kind kind) {
  if (filling_->marks.size() == kBatchMarks) hand_over();
  filling_->marks.push_back({static_cast<std::uint32_t>(filling_->parts.size()),
                             static_cast<std::uint32_t>(filling_->logged_used),
                             static_cast<std::uint32_t>(filling_->values_used), kind});
}

ModuleId TraceFeed::add(Module module) {
  mark(Kind::kModule);
  filling_->modules.push_back(std::move(module));
  return ModuleId(modules_++);
}

StackId TraceFeed::add(Stack stack) {
  mark(Kind::kStack);
  filling_->stacks.push_back(std::move(stack));
  return StackId(stacks_++);
}

BlockId TraceFeed::add(Block block) {
  mark(Kind::kBlock);
  filling_->blocks.push_back(std::move(block));
  return BlockId(blocks_++);
}

PartId TraceFeed::add(BlockId block, const Part& part) {
  mark(Kind::kPart);
  filling_->new_parts.emplace_back(block, part);
  return PartId(parts_++);
}

void TraceFeed::run(ThreadId thread) {
  mark(Kind::kRun);
  filling_->runs.push_back(thread);
}

void TraceFeed::event(ThreadId thread, const EventBody& body) {
  mark(Kind::kEvent);
  filling_->events.emplace_back(thread, body);
  std::visit(
      [this](auto& event) {
        using T = std::remove_reference_t<decltype(event)>;
        T::fields(event, Keeper{filling_->bytes});
      },
      filling_->events.back().second);
}

void TraceFeed::flush() {
  mark(Kind::kFlush);
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
  auto run = batch.runs.begin();
  auto event = batch.events.begin();
  auto module = batch.modules.begin();
  auto stack = batch.stacks.begin();
  auto block = batch.blocks.begin();
  auto part = batch.new_parts.begin();
  Mark from{};
  auto executions_before = [&](const Mark& mark) {
    if (mark.execs > from.execs) {
      writer_->exec(std::span(batch.parts).subspan(from.execs, mark.execs - from.execs),
                    batch.logged.data() + from.logged, batch.values.data() + from.values);
    }
    from = mark;
  };
  for (const Mark& mark : batch.marks) {
    executions_before(mark);
    switch (mark.kind) {
      case Kind::kRun:
        writer_->run(*run++);
        break;
      case Kind::kEvent:
        writer_->event(event->first, event->second);
        ++event;
        break;
      case Kind::kModule:
        writer_->add(*module++);
        break;
      case Kind::kStack:
        writer_->add(*stack++);
        break;
      case Kind::kBlock:
        writer_->add(*block++);
        break;
      case Kind::kPart:
        writer_->part(part->first, part->second);
        ++part;
        break;
      case Kind::kFlush:
        if (status_) status_ = writer_->flush();
        if (!status_) failed_ = true;
        break;
    }
  }
  executions_before({static_cast<std::uint32_t>(batch.parts.size()), 0, 0, Kind::kFlush});
}

}  // namespace svd
