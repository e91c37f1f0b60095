// SPDX-License-Identifier: Apache-2.0
#include "slicer/queries/causes.h"

#include <algorithm>

#include "dpdg/system_calls.h"
#include "slicer/queries/register_writers.h"

namespace svd {
namespace {

class Finder {
 public:
  Finder(RunView& run, const Found& found)
      : run_(run), me_(found.facts.instance), found_(found), step_(*found.facts.step) {}

  Causes find() {
    for (CellUse use : run_.code().uses(step_)) want(use.cell, use.role);
    for (const MemoryAccess& access : found_.facts.accesses) {
      Range bytes{access.address, access.size};
      if (access.slot->write) {
        if (!run_.control().faulted(me_.seq)) write_before(writers(run_, bytes, me_.seq));
      } else if (carries()) {
        read(access.slot->role, false, writers(run_, bytes, me_.seq));
        writes_after(bytes, me_.seq);
      }
    }
    for (const EventPlace& place : kernel_events(run_, found_)) kernel(place);
    find_registers();
    find_decision();
    return std::move(causes_);
  }

 private:
  // What returns read and restores bring back is no data.
  bool carries() const { return step_.flow != Flow::kReturn && !step_.restores; }

  void want(Cell cell, UseRole role) {
    if (step_.restores && run_.code().reg_of(cell) == step_.saved) return;
    wanted_.push_back({cell, role});
  }

  void kernel(const EventPlace& place) {
    auto chunk = run_.chunk(place.chunk);
    const Event& event = chunk->events[place.event];
    if (const auto* call = std::get_if<SyscallEnter>(&event.body)) {
      for (Reg reg : argument_registers(call->number))
        for (Cell cell : run_.code().cells_of(reg)) want(cell, UseRole::kValue);
    } else if (const auto* access = std::get_if<KernelAccess>(&event.body)) {
      Range bytes{access->address, access->size};
      if (bytes.size == 0) return;
      auto before = writers(run_, bytes, place);
      if (access->access == Access::kWrite) return write_before(before);
      read(Role::kValue, true, before);
      writes_after(bytes, event.seq - 1);
    }
  }

  void read(Role role, bool kernel, const std::vector<Writer>& by) {
    for (const Writer& writer : by) {
      MemoryCause cause{
          .bytes = writer.bytes, .role = role, .kernel = kernel, .write = writer.event};
      if (writer.event) cause.writer = instruction_of(run_, *writer.event);
      causes_.memory.push_back(cause);
    }
  }

  void write_before(const std::vector<Writer>& by) {
    for (const Writer& writer : by) race(RaceCause::Kind::kWriteBefore, writer);
  }

  void writes_after(Range bytes, Seq after) {
    for (const Writer& writer : next_writers(run_, bytes, after))
      race(RaceCause::Kind::kWriteAfter, writer);
  }

  void race(RaceCause::Kind kind, const Writer& writer) {
    if (!writer.event || writer.event->thread == me_.thread) return;
    auto other = instruction_of(run_, *writer.event);
    if (!other) return;
    causes_.races.push_back({kind, writer.bytes, *writer.event, *other});
  }

  // Cells of one register with one writer are told as one.
  void find_registers() {
    std::vector<Cell> cells;
    for (const CellUse& use : wanted_) cells.push_back(use.cell);
    auto by = register_writers(run_, me_.thread, me_.seq, cells);
    for (std::size_t i = 0; i < wanted_.size(); ++i) {
      RegisterCause cause{run_.code().reg_of(wanted_[i].cell), wanted_[i].role, by[i]};
      bool told = std::any_of(causes_.registers.begin(), causes_.registers.end(),
                              [&cause](const RegisterCause& other) {
                                return other.reg == cause.reg && other.role == cause.role &&
                                       other.writer == cause.writer;
                              });
      if (!told) causes_.registers.push_back(cause);
    }
  }

  void find_decision() {
    ChunkControl control;
    run_.control().parents(found_.chunk_index, *found_.chunk, control);
    std::uint64_t step = found_.exec.shape->part.first + (me_.seq - found_.exec.seq);
    auto segments = control.of(found_.exec_index);
    Seq parent = segments.front().parent;
    for (const ChunkControl::Segment& segment : segments.subspan(1))
      if (segment.first <= step) parent = segment.parent;
    if (parent != kNoParent) causes_.decision = parent;
  }

  RunView& run_;
  const Instance& me_;
  const Found& found_;
  const Step& step_;
  std::vector<CellUse> wanted_;
  Causes causes_;
};

}  // namespace

Causes causes_of(RunView& run, const Found& found) { return Finder(run, found).find(); }

std::vector<EventPlace> kernel_events(RunView& run, const Found& found) {
  struct Walk {
    const Instance& me;
    std::size_t chunk_index;
    const Chunk& chunk;
    std::vector<EventPlace>& places;
    bool& done;
    void event(const Event& event) {
      if (done || event.thread != me.thread || event.seq <= me.seq) return;
      places.push_back({chunk_index, static_cast<std::size_t>(&event - chunk.events.data())});
    }
    void exec(const Exec& exec) { done = done || (exec.thread == me.thread && exec.seq > me.seq); }
  };
  std::vector<EventPlace> places;
  const Instance& me = found.facts.instance;
  if (me.seq + 1 != found.exec.end()) return places;  // events stand between executions
  auto chunks = run.trace().chunks();
  bool done = false;
  for (std::size_t i = found.chunk_index; i < chunks.size() && !done; ++i) {
    const std::vector<ThreadId>& threads = chunks[i].threads;
    if (!std::binary_search(threads.begin(), threads.end(), me.thread)) continue;
    auto chunk = run.chunk(i);
    if (chunk == nullptr) continue;
    chunk->walk_from(me.seq, Walk{me, i, *chunk, places, done});
  }
  return places;
}

}  // namespace svd
