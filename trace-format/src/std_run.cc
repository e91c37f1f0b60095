// SPDX-License-Identifier: Apache-2.0
//
// Executions and addresses are what the log says; events are made anew whenever a chunk is decoded,
// because as objects they would take more memory than the log.

#include "std_run.h"

#include <algorithm>
#include <limits>

#include "std_names.h"

namespace svd {

void StdRun::decode(std::size_t index, const Catalog& catalog, const Columns& wanted,
                    Chunk& out) const {
  const Piece& piece = pieces_[index];
  const ChunkInfo& info = catalog.chunks[index];
  out.first_seq = info.first_seq;
  out.steps = info.steps;
  out.has_addresses = wanted.addresses || wanted.values;
  out.has_values = false;
  out.shapes.clear();
  for (BlockId id : piece.shapes) {
    const Block& block = catalog.tables.blocks[id.value];
    out.shapes.push_back(
        {id, &block, Part::whole(block), static_cast<std::uint32_t>(block.slots.size()), 0});
  }
  out.runs.clear();
  out.execs.resize(piece.steps.size());
  out.addresses.resize(out.has_addresses ? info.accesses : 0);
  out.lengths.clear();
  out.values.clear();
  out.events.clear();
  std::uint32_t exec = 0;
  std::uint32_t access = 0;
  for (const Turn& turn : piece.turns) {
    Event event{info.first_seq + exec, exec, threads_[turn.thread].id, {}};
    out.runs.push_back({event.thread, event.seq, exec, turn.steps, access, 0});
    if (wanted.events.any() && threads_[turn.thread].start == event.seq) {
      event.body = ThreadStart{.parent = event.thread, .name = thread_names_[turn.thread]};
      out.events.push_back(event);
    }
    for (std::uint32_t end = exec + turn.steps; exec < end;) {
      const Step& step = piece.steps[exec];
      const Shape& shape = out.shapes[step.shape];
      out.execs[exec++] = step.shape;
      if (shape.accesses != 0) {
        if (out.has_addresses) out.addresses[access] = std_variable(step.operand);
        ++access;
      } else if (wanted.events.any()) {
        event.seq = info.first_seq + exec;
        event.exec = exec;
        happened(ops_[shape.id.value], step.operand, event, out.events);
      }
    }
  }
  std::erase_if(out.events, [&](const Event& e) { return !wanted.events.holds(e.body.index()); });
}

// `event` stands after its step. A thread that is mentioned there for the first time starts.
void StdRun::happened(StdOp op, std::uint32_t operand, Event& event,
                      std::vector<Event>& events) const {
  auto add = [&](const EventBody& body) {
    event.body = body;
    events.push_back(event);
  };
  auto start = [&] {
    const Thread& thread = threads_[operand];
    if (thread.start != event.seq - 1 || thread.id == event.thread) return;
    ThreadId parent = op == StdOp::kFork ? event.thread : thread.id;
    Event started{event.seq, event.exec, thread.id, {}};
    started.body = ThreadStart{.parent = parent, .name = thread_names_[operand]};
    events.push_back(started);
  };
  switch (op) {
    case StdOp::kAcquire:
    case StdOp::kRelease:
      add(Sync{.op = op == StdOp::kAcquire ? SyncOp::kMutexLock : SyncOp::kMutexUnlock,
               .object = Addr(std_lock(operand))});
      break;
    case StdOp::kFork:
      add(ThreadCreate{.child = threads_[operand].id});
      start();
      break;
    case StdOp::kJoin:
      start();
      add(ThreadJoin{.child = threads_[operand].id});
      break;
    default:
      add(Atomic{.edge = op == StdOp::kBegin ? Edge::kBegin : Edge::kEnd,
                 .name = transactions_[operand]});
  }
}

}  // namespace svd
