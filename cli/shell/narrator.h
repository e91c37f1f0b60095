// SPDX-License-Identifier: Apache-2.0
//
// Spells moments of a run: which thread, in which function, at which line, what its source says,
// which values it read and wrote.
#pragma once

#include <optional>
#include <string>

#include "shell/session.h"
#include "slicer/queries/memory_events.h"

namespace svd::cli {

class Narrator {
 public:
  explicit Narrator(Session& session) : session_(session) {}

  // "get cache_server.c:110".
  std::string place(InstrId id);
  // "T4 worker".
  std::string thread(ThreadId id) const;
  // "550379  T4 worker  get cache_server.c:110".
  std::string moment(const Instance& instance);
  // The text of the line; "" where it is not known.
  std::string source(InstrId id);
  // Lines: the moment, its source, its accesses.
  void tell(const Found& found);
  // The moment and its source, after some words.
  void tell_short(const std::string& words, Seq seq);

  // "entries[57].value", "buf->outcnt", "[0x7ffe10,8]". `by`: who accesses it, where that helps.
  std::string memory(Range bytes, std::optional<InstrId> by);
  // "wrote entries[57].value = 0".
  std::string access(const MemoryAccess& access, InstrId by);

 private:
  Session& session_;
};

// "7", "-1", "0x5a0010".
std::string value_text(std::uint64_t value, std::uint64_t size);

}  // namespace svd::cli
