// SPDX-License-Identifier: Apache-2.0
//
// What a reverse walk does at events: what the kernel read and wrote for a system call, what it
// moved through files, pipes and sockets, memory that became new, threads that were made.
//
// What came out of a channel is wanted of the memory that it was delivered to, and of the channel
// (dpdg/channels.h).
//
// Unsound: what the kernel wrote counts as a definition by the system call, with no order edges;
// nor have bytes of channels any.
#include <optional>
#include <utility>
#include <variant>
#include <vector>

#include "dpdg/channels.h"
#include "dpdg/system_calls.h"
#include "slicer/backward_walk.h"

namespace svd {

void BackwardWalk::event(const Event& event) {
  ThreadState& state = thread(event.thread);
  state.own += left_out(event);
  if (auto fresh = fresh_memory(event)) begin_lifetime(event, *fresh);
  if (const auto* kernel = std::get_if<KernelAccess>(&event.body)) {
    if (kernel->access == Access::kRead) {
      state.kernel.reads.emplace_back(kernel->address, kernel->size);
      return;
    }
    kernel_wrote(*kernel, event, state);
  } else if (const auto* moved = std::get_if<Transfer>(&event.body)) {
    transfer(*moved, event, state);
  } else if (const auto* call = std::get_if<SyscallEnter>(&event.body)) {
    state.kernel.arguments = argument_registers(call->number);
  } else if (const auto* create = std::get_if<ThreadCreate>(&event.body)) {
    // The child began with its parent's registers.
    thread(create->child);
    ThreadState& parent = thread(event.thread);
    ThreadState& child = thread(create->child);
    for (std::size_t cell = 0; cell < code_.cell_count(); ++cell)
      if (Want want = child.registers.take(static_cast<Cell>(cell)); want.any())
        parent.registers.want(static_cast<Cell>(cell), want);
    child.registers.look_for_far();
  }
}

void BackwardWalk::kernel_wrote(const KernelAccess& kernel, const Event& event,
                                ThreadState& state) {
  Hit hit = take_of_kernel(kernel.address, kernel.size, event, state);
  if (hit.any()) state.kernel.wanted.merge(hit.as(Via::kSystemCall, hit.cost()));
}

void BackwardWalk::transfer(const Transfer& transfer, const Event& event, ThreadState& state) {
  unplaced_ += transfer.channel == 0;
  std::optional<Addr> there = channel_bytes(transfer);
  if (!there || transfer.address.value == 0) return;
  if (transfer.access == Access::kRead) {
    Hit hit = take_of_kernel(*there, transfer.size, event, state);
    if (hit.any()) channels_.try_emplace(transfer.channel, transfer.name);
    state.kernel.wanted.merge(hit);
    return;
  }
  // Taken by the kernel's write, which comes next.
  memory_.visit(transfer.address, transfer.size, [&](Addr at, unsigned length, const auto& word) {
    if (word.want.any()) extend(taken_, at, length, {word.want, word.more});
  });
  for (const auto& [at, bytes, what] : taken_) {
    std::vector<MemoryWant> wants;
    memory_wants_.each(what.want, what.more,
                       [&](const MemoryWant& wanted) { wants.push_back(wanted); });
    for (const MemoryWant& wanted : wants)
      want_memory(*there + (at - transfer.address), bytes, wanted);
  }
  taken_.clear();
}

// Takes what is wanted of these bytes on behalf of the instruction that called the kernel.
Hit BackwardWalk::take_of_kernel(Addr address, std::uint64_t size, const Event& event,
                                 ThreadState& state) {
  memory_.update_present(address, size, [this](Addr at, unsigned length, MemoryWord& word) {
    if (word.want.any()) take_word(at, length, word);
  });
  Mark me(event.seq, state.number);
  for (const auto& [at, bytes, what] : taken_)
    memory_wants_.each(what.want, what.more, [&, at = at, bytes = bytes](const MemoryWant& wanted) {
      if (!wanted.want.mark().same_thread(me))
        state.kernel.remote.push_back({at, bytes, wanted, true});
    });
  return take_memory({me, {}}, nullptr, state, {});
}

Hit BackwardWalk::take_kernel(const KernelWork& kernel, Hit hit) {
  remote_wants_.insert(remote_wants_.end(), kernel.remote.begin(), kernel.remote.end());
  hit.merge(kernel.wanted);
  return hit;
}

// What was there before is another object's; a realloc keeps its contents.
void BackwardWalk::begin_lifetime(const Event& event, Range range) {
  const auto* made = std::get_if<Allocation>(&event.body);
  if (made != nullptr && made->function == AllocFn::kRealloc) return;
  memory_.update_present(range.address, range.size,
                         [this](Addr at, unsigned length, MemoryWord& word) {
                           if (word.want.any()) take_word(at, length, word);
                         });
  for (const auto& [at, bytes, what] : taken_) {
    if (!is_channel(at)) count_initial_read(what.want);
    memory_wants_.found(what.more, bytes);
  }
  taken_.clear();
}

void BackwardWalk::count_initial_read(const MemoryWant& want) {
  ++items_[counted_[want.want.id().value].item - 1].initial_reads;
}

// What a system call was given: its arguments, and what the kernel read for it.
void BackwardWalk::want_arguments(const Now& now, Want want) {
  ThreadState& state = now.state;
  for (Reg reg : state.kernel.arguments)
    for (Cell cell : code_.cells_of(reg)) state.registers.want(cell, want);
  std::uint64_t access = kMaxBlockSlots;
  for (auto [address, size] : state.kernel.reads)
    want_memory(address, size, {want, now.own(), access++});
}

}  // namespace svd
