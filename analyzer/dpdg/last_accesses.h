// SPDX-License-Identifier: Apache-2.0
//
// Of every byte of memory its last write, and who has read it since: all that the arcs through
// memory and the conflicts between threads are derived from. A word of 16 bytes holds both for 8
// bytes of memory, because most accesses ask for both.
//
// Of the readers since the last write each thread's last is kept: in the word itself while there is
// one, which is nearly always, else in a list.
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "dpdg/arc.h"
#include "dpdg/byte_shadow.h"
#include "dpdg/mark.h"

namespace svd {

class LastAccesses {
 public:
  // Calls f(ArcKind, Mark, Addr, length) for what the access follows from: once for each stretch
  // and mark.
  template <class F>
  void read(Mark me, Addr address, std::uint64_t size, F&& f) {
    each_stretch(address, size, f, [&](Addr at, std::uint64_t length, Access& access, auto&& sink) {
      read_stretch(me, at, length, access, sink);
    });
  }

  template <class F>
  void write(Mark me, Addr address, std::uint64_t size, F&& f) {
    each_stretch(address, size, f, [&](Addr at, std::uint64_t length, Access& access, auto&& sink) {
      write_stretch(me, at, length, access, sink);
    });
  }

  // Another object begins there.
  void forget(Addr address, std::uint64_t size) {
    accesses_.update_present(address, size, [this](Addr, unsigned length, Access& access) {
      release(access.read, length);
      access = {};
    });
  }

  std::uint64_t memory_bytes() const {
    return accesses_.memory_bytes() + readers_.size() * sizeof(Reader);
  }

 private:
  struct Access {
    Mark write;
    Mark read;  // of a list: kList as the thread, and in place of the seq its first reader
    friend bool operator==(const Access&, const Access&) = default;
  };
  static constexpr std::uint32_t kList = Mark::kMostThreads;

  struct Reader {
    Mark mark;
    std::uint32_t next = 0;
    std::uint32_t bytes = 0;  // of the first one: how many bytes of one cell have this list
  };

  struct Found {
    ArcKind kind{};
    Mark mark;
    Addr address{};
    std::uint64_t size = 0;
  };

  // A sink that joins stretches.
  struct Merge {
    std::vector<Found>& found;
    void operator()(ArcKind kind, Mark mark, Addr at, std::uint64_t length) {
      for (Found& one : found)
        if (one.mark == mark && one.kind == kind && one.address + one.size == at) {
          one.size += length;
          return;
        }
      found.push_back({kind, mark, at, length});
    }
  };

  // Calls visit(address, length, Access&, sink) for each stretch of bytes with the same accesses.
  template <class F, class Visit>
  void each_stretch(Addr address, std::uint64_t size, F&& f, Visit&& visit) {
    if (Access* access = accesses_.single(address, size)) return visit(address, size, *access, f);
    found_.clear();
    accesses_.update(address, size, [&](Addr at, unsigned length, Access& access) {
      visit(at, length, access, Merge{found_});
    });
    for (const Found& one : found_) f(one.kind, one.mark, one.address, one.size);
  }

  template <class F>
  void read_stretch(Mark me, Addr at, std::uint64_t length, Access& access, F&& f) {
    if (!access.write.none())
      f(access.write.same_thread(me) ? ArcKind::kMemory : ArcKind::kRemote, access.write, at,
        length);
    if (access.read.none() || access.read.same_thread(me))
      access.read = me;
    else
      add_reader(access.read, me, length);
  }

  template <class F>
  void write_stretch(Mark me, Addr at, std::uint64_t length, Access& access, F&& f) {
    if (!access.write.none() && !access.write.same_thread(me))
      f(ArcKind::kWriteAfterWrite, access.write, at, length);
    if (!access.read.none() && !access.read.same_thread(me))
      each_reader(access.read, [&](Mark reader) {
        if (!reader.same_thread(me)) f(ArcKind::kWriteAfterRead, reader, at, length);
      });
    release(access.read, length);
    access = {me, {}};
  }

  static bool is_list(Mark read) { return read.same_thread(Mark({}, kList)); }
  static std::uint32_t first_of(Mark list) { return static_cast<std::uint32_t>(list.seq().value); }

  template <class F>
  void each_reader(Mark read, F&& f) const {
    if (!is_list(read)) return f(read);
    for (std::uint32_t r = first_of(read); r != 0; r = readers_[r].next) f(readers_[r].mark);
  }

  // Someone else has read these bytes since they were written.
  [[gnu::noinline]] void add_reader(Mark& read, Mark me, std::uint64_t length) {
    if (is_list(read) && readers_[first_of(read)].bytes == length) {
      for (std::uint32_t r = first_of(read); r != 0; r = readers_[r].next)
        if (readers_[r].mark.same_thread(me)) {
          readers_[r].mark = me;
          return;
        }
      std::uint32_t second = take_reader(me, readers_[first_of(read)].next);
      readers_[first_of(read)].next = second;
      return;
    }
    // The list is that of other bytes too, or the first one.
    std::uint32_t list = 0;
    each_reader(read, [&](Mark reader) {
      if (!reader.same_thread(me)) list = take_reader(reader, list);
    });
    release(read, length);
    list = take_reader(me, list);
    readers_[list].bytes = static_cast<std::uint32_t>(length);
    read = Mark(Seq(list), kList);
  }

  // `length` bytes have these readers no more.
  void release(Mark read, std::uint64_t length) {
    if (!is_list(read)) return;
    std::uint32_t first = first_of(read);
    readers_[first].bytes -= static_cast<std::uint32_t>(length);
    if (readers_[first].bytes != 0) return;
    std::uint32_t last = first;
    while (readers_[last].next != 0) last = readers_[last].next;
    readers_[last].next = free_reader_;
    free_reader_ = first;
  }

  std::uint32_t take_reader(Mark mark, std::uint32_t next) {
    std::uint32_t reader = free_reader_;
    if (reader != 0) {
      free_reader_ = readers_[reader].next;
    } else {
      reader = static_cast<std::uint32_t>(readers_.size());
      readers_.emplace_back();
    }
    readers_[reader] = {mark, next, 0};
    return reader;
  }

  ByteShadow<Access> accesses_;
  std::vector<Reader> readers_ = std::vector<Reader>(1);  // 0: none
  std::uint32_t free_reader_ = 0;
  std::vector<Found> found_;  // of the access at hand
};

}  // namespace svd
