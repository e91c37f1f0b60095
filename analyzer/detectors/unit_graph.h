// SPDX-License-Identifier: Apache-2.0
//
// Which computational unit has to come before which other one. unit_graph.cc has the definitions;
// whether all of them can be put one after the other unit_cycles.h says.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "cu/control_stack.h"
#include "cu/tag_sets.h"
#include "cu/units.h"
#include "detectors/few.h"
#include "detectors/long_list.h"
#include "detectors/packed_list.h"
#include "detectors/shadow.h"
#include "detectors/touch.h"

namespace svd {

class UnitGraph {
 public:
  // 16 million arcs, of some 5 bytes, and as many marks at most.
  static constexpr std::size_t kMostArcs = std::size_t{1} << 24;

  UnitGraph() { marks_.push_back({}); }

  // What UnitListener (unit_detector.h) hears.
  void accessed(UnitMember unit, const Touch& access);
  void follows(UnitMember unit, UnitMember from) { arc(from, unit); }
  void follows(UnitMember unit, TagSet from, const TagSets& sets);
  void decided(UnitMember unit, ThreadIndex thread, const ControlStack& by, const TagSets& sets);
  void fresh(Addr address, std::uint64_t size) { shadow_.clear(address, size); }
  void soon(Addr address) {
    if (const Cell* cell = ahead_.bring(shadow_, address)) cell->threads.bring_rest_near();
  }

  // Nothing more will be heard, or nothing more is kept.
  void close();

  std::size_t arcs() const { return arcs_.size(); }
  // Whether arcs are missing, because there were too many.
  bool full() const { return arcs_.size() >= kMostArcs; }

 private:
  friend class UnitCycles;

  // A member of a unit; or a point, which is no unit: arcs that lead to it go on from there.
  using Node = std::uint32_t;
  static constexpr Node kPoint = 0x80000000;
  struct Arc {
    Node from = 0, to = 0;
    std::uint32_t mark = 0;  // of the access of the unit, where the arc is from or to memory
  };
  // Nodes by what sets them apart from the last one of their kind. An arc has no mark, the mark of
  // the last arc that had one, or the next one.
  class ArcCoder {
   public:
    void put(Bytes& bytes, const Arc& arc);
    Arc get(const std::uint8_t*& at);

   private:
    enum Which : std::uint32_t { kNone, kSame, kNext };
    std::uint64_t put_node(Node node);  // its difference, and whether it is a point
    Node get_node(std::uint64_t number);

    Node last_[2] = {0, kPoint};  // member, point
    std::uint32_t mark_ = 0;
  };
  class MarkCoder {
   public:
    void put(Bytes& bytes, const Mark& mark);
    Mark get(const std::uint8_t*& at);

   private:
    Mark last_;
  };
  // What one thread did to a cell: all its writes, or all its reads, up to here.
  struct Past {
    Node point = 0;                // 0: none
    UnitMember follower = 0;       // the last unit of another thread that came after it
    UnitMember last : 31 = 0;      // the last unit that was added
    std::uint32_t closed : 1 = 0;  // nothing is added to the point any more
  };
  struct ByThread {
    std::uint32_t thread = 0;
    Past writes, reads;
  };
  struct Cell {
    Few<ByThread> threads;

    Cell() = default;
    // Where a cell was divided several have the same points.
    Cell(const Cell& other) { *this = other; }
    Cell& operator=(const Cell& other) {
      threads = other.threads;
      for (ByThread& by : threads) by.writes.closed = by.reads.closed = 1;
      return *this;
    }
    Cell(Cell&&) noexcept = default;
    Cell& operator=(Cell&&) noexcept = default;
    ~Cell() = default;
  };
  // A condition, and the point for it and all around it.
  struct Decision {
    TagSet condition;
    Node node = 0;
  };

  Node point(UnitMember youngest);
  UnitMember youngest(Node node) const;
  void arc(Node from, Node to, std::uint32_t mark = 0);
  void memory_arc(Node from, Node to);
  void after(Past& past, UnitMember unit);
  void add(Past& past, UnitMember unit);

  PackedList<Arc, ArcCoder> arcs_;
  PackedList<Mark, MarkCoder> marks_;  // number 0 is none
  LongList<UnitMember> points_;        // of each the youngest member that leads to it
  Mark now_;                           // the access at hand
  std::uint32_t mark_ = 0;             // its number, once it has one
  Shadow<Cell> shadow_;
  CellsAhead ahead_;
  std::vector<std::vector<Decision>> decisions_;  // of each thread: the last ones, outermost first
  std::uint32_t generation_ = 0;                  // of the sets that they name
  std::vector<TagSet> conditions_;                // at hand, innermost first
};

}  // namespace svd
