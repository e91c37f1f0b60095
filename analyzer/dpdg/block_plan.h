// SPDX-License-Identifier: Apache-2.0
//
// What an execution of a part of a block does to dependences, as far as it is the same each time,
// worked out once (Zhang and Gupta's limited preprocessing): which arcs lie inside of it, which
// registers it uses as they were before, which it leaves changed.
//
// A section ends where a register is restored, because the value it gets is that of another
// instance: all uses of a section are of what was there when it began, or of its own definitions.
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <span>
#include <vector>

#include "dpdg/code_table.h"
#include "svd/trace/chunk.h"

namespace svd {

// Steps count from the part's first, accesses from its first slot. In place of a step:
inline constexpr std::uint16_t kNoData = 0xffff;  // it follows from no data
inline constexpr std::uint16_t kBefore = 0xfffe;  // what was there when the section began

struct PlannedUse {
  Cell cell = 0;
  std::uint16_t step = 0;
};
struct PlannedArc {
  std::uint16_t use = 0, def = 0;  // steps
};
struct PlannedAccess {
  std::uint16_t access = 0;
  std::uint16_t step = 0;
  std::uint16_t size = 0;  // 0: a range
  bool write = false;
  bool carries = true;  // false: a restore's read, or of a return address
};
struct PlannedDef {
  Cell cell = 0;
  std::uint16_t step = 0;
};
inline constexpr std::size_t kMostSaved = 3;  // cells of a general register: the lanes that it has
struct PlannedSave {
  std::uint16_t access = 0;
  std::uint16_t count = 0;
  std::array<PlannedDef, kMostSaved> cells;  // of the register, with the steps that defined them
};
struct PlannedRestore {
  Cell cell = 0;
  std::uint16_t access = 0;
  std::uint16_t number = 0;  // of the cell, among the saved ones
};

class BlockPlans {
 public:
  template <class T>
  struct Range {
    std::uint32_t first = 0, end = 0;
  };
  struct Section {
    Range<PlannedArc> arcs;
    Range<PlannedUse> uses;
    Range<PlannedAccess> accesses;
    Range<PlannedSave> saves;
    Range<PlannedDef> defs;
    Range<PlannedRestore> restores;
  };

  explicit BlockPlans(const CodeTable& code) : code_(code) {}

  // In the order of the run. Good until the next call.
  std::span<const Section> of(const Shape& shape) {
    if (plan_of_.size() <= shape.id.value) plan_of_.resize(shape.id.value + 1);
    for (std::uint32_t p = plan_of_[shape.id.value]; p != 0; p = plans_[p].next)
      if (plans_[p].part == std::bit_cast<std::uint64_t>(shape.part)) return sections(plans_[p]);
    return sections(make(shape));
  }

  std::span<const PlannedArc> of(Range<PlannedArc> range) const { return part(arcs_, range); }
  std::span<const PlannedUse> of(Range<PlannedUse> range) const { return part(uses_, range); }
  std::span<const PlannedAccess> of(Range<PlannedAccess> range) const {
    return part(accesses_, range);
  }
  std::span<const PlannedSave> of(Range<PlannedSave> range) const { return part(saves_, range); }
  std::span<const PlannedDef> of(Range<PlannedDef> range) const { return part(defs_, range); }
  std::span<const PlannedRestore> of(Range<PlannedRestore> range) const {
    return part(restores_, range);
  }

 private:
  struct Plan {
    std::uint64_t part = 0;  // its four numbers, compared as one
    Range<Section> sections;
    std::uint32_t next = 0;  // another part of the block
  };
  const Plan& make(const Shape& shape);
  void add_step(const Shape& shape, const Step& step, std::uint16_t index);
  void add_accesses(const Shape& shape, const Step& step, std::uint16_t index);
  void open();
  void close();
  const PlannedDef* local(Cell cell) const;
  void define(Cell cell, std::uint16_t step);

  template <class T>
  static std::span<const T> part(const std::vector<T>& all, Range<T> range) {
    return {all.data() + range.first, range.end - range.first};
  }
  std::span<const Section> sections(const Plan& plan) const {
    return part(sections_, plan.sections);
  }

  const CodeTable& code_;
  std::vector<std::uint32_t> plan_of_;  // by block: its first plan
  std::vector<Plan> plans_ = std::vector<Plan>(1);
  std::vector<Section> sections_;
  std::vector<PlannedArc> arcs_;
  std::vector<PlannedUse> uses_;
  std::vector<PlannedAccess> accesses_;
  std::vector<PlannedSave> saves_;
  std::vector<PlannedDef> defs_;
  std::vector<PlannedRestore> restores_;
  std::vector<PlannedDef> local_;  // the last definitions of the section that is being made
};

}  // namespace svd
