// SPDX-License-Identifier: Apache-2.0
//
// What holds at the beginning of a trace of which the older part was dropped: the threads that
// live, with their names, what they hold and wait for; synchronisation objects; mappings and
// modules; allocations. Told as the events that would have made it so.
//
// Used by the thread that writes the trace.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "svd/trace/writer.h"

namespace svd {

class LiveState : public TraceEdge {
 public:
  void drop(ThreadId thread, const EventBody& body) override;
  void restate(const Tell& tell) const override;

 private:
  struct Thread {
    std::optional<ThreadStart> start;  // none: made, but has not run
    bool exited = false;               // and left locked what it held
    std::string name;
    std::vector<Sync> held;   // as they were taken, oldest first
    std::vector<Sync> waits;  // calls that have begun: a once-routine may lock
    std::optional<ThreadJoin> joins;
    std::optional<SyscallEnter> syscall;
  };
  struct Piece {
    ThreadId thread;
    Mapping map;  // kMap or kBreak
  };

  void on(ThreadId thread, const ThreadStart& start);
  void on(ThreadId thread, const ThreadName& name);
  void on(ThreadId thread, const ThreadExit& exit);
  void on(ThreadId thread, const ThreadCreate& create);
  void on(ThreadId thread, const ThreadJoin& join);
  void on(ThreadId thread, const Sync& sync);
  void on(ThreadId thread, const Allocation& allocation);
  void on(ThreadId thread, const Release& release);
  void on(ThreadId thread, const Mapping& map);
  void on(ThreadId thread, const SyscallEnter& call);
  void on(ThreadId thread, const SyscallExit& exit);
  void on(ThreadId thread, const ModuleLoad& load);
  void on(ThreadId thread, const ModuleUnload& unload);
  void on(ThreadId thread, const Note& note);
  template <class Other>
  void on(ThreadId, const Other&) {}  // leaves nothing behind

  void release(Thread& thread, Addr object);
  void take(std::uint64_t address, std::uint64_t size, std::vector<Piece>& out);
  void put(const Piece& piece);
  static void restate_calls(ThreadId id, const Thread& thread, const Tell& tell);

  std::map<ThreadId, Thread> threads_;
  std::map<ThreadId, std::pair<ThreadId, ThreadCreate>> made_;  // by child: that has not run
  std::map<std::uint64_t, std::pair<ThreadId, Sync>> objects_;  // as initialised
  std::unordered_map<std::uint64_t, std::pair<ThreadId, Allocation>> allocations_;
  std::map<std::uint64_t, Piece> mapped_;  // by address, disjoint
  std::vector<std::pair<ThreadId, ModuleId>> modules_;
  std::vector<std::string> notes_;
};

}  // namespace svd
