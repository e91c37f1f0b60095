// SPDX-License-Identifier: Apache-2.0

#include "summary.h"

namespace svd {

ThreadInfo& RunSummary::thread(ThreadId id) {
  auto [entry, fresh] = threads_.try_emplace(id);
  if (fresh) entry->second.id = entry->second.parent = id;
  return entry->second;
}

void RunSummary::on_run(ThreadId id, Seq first, std::uint64_t steps) {
  thread(id);
  if (steps == 0) return;
  outside_ = false;
  add_runs(ThreadInfo{id, id, {}, steps, first, first + (steps - 1)});
}

void RunSummary::add_runs(const ThreadInfo& stretch) {
  ThreadInfo& info = thread(stretch.id);
  if (stretch.steps == 0) return;
  if (info.steps == 0) info.first_seq = stretch.first_seq;
  info.steps += stretch.steps;
  info.last_seq = stretch.last_seq;
}

void RunSummary::forget_runs() {
  for (auto& [id, info] : threads_) info.steps = 0, info.first_seq = info.last_seq = Seq();
}

void RunSummary::on_event(ThreadId id, const EventBody& body) {
  ThreadInfo& info = thread(id);
  if (const auto* start = std::get_if<ThreadStart>(&body)) {
    info.parent = start->parent;
    // Its maker may have named it before it ran.
    if (!start->name.empty()) info.name = start->name;
  } else if (const auto* name = std::get_if<ThreadName>(&body)) {
    info.name = name->name;
  } else if (const auto* signal = std::get_if<Signal>(&body); signal != nullptr && signal->fatal) {
    fatal_signal_ = true;
    ending_ = Ending{EndKind::kSignal, signal->number, id, info.last_seq, signal->pc};
  } else if (const auto* end = std::get_if<ProcessEnd>(&body)) {
    // The fatal signal says more than the end that it led to.
    if (!fatal_signal_ || end->kind != EndKind::kSignal)
      ending_ = Ending{end->kind, end->value, id, info.last_seq, Pc()};
    if (outside_) ending_.thread.reset();
  } else if (const auto* gap = std::get_if<Gap>(&body)) {
    if (gap->cause != GapCause::kLeftOut)
      outside_ = gap->cause == GapCause::kBeforeWindow || gap->cause == GapCause::kAfterWindow;
  }
}

std::vector<ThreadInfo> RunSummary::threads() const {
  std::vector<ThreadInfo> list;
  list.reserve(threads_.size());
  for (const auto& [id, info] : threads_) list.push_back(info);
  return list;
}

}  // namespace svd
