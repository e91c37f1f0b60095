// SPDX-License-Identifier: Apache-2.0
//
// What transitivity leaves out of the graph, for few instructions: one walk to learn which bytes
// they write, one that keeps every access to these. Cost: linear in the trace and, for each of the
// instructions, in what was kept.
#include <algorithm>

#include "dpdg/byte_shadow.h"
#include "dpdg/conflict_accesses.h"
#include "dpdg/conflicts.h"

namespace svd {
namespace {

struct Wanted {
  Seq first, end;
  ByteShadow<std::uint8_t> bytes{};

  bool holds(const Touched& touched) const { return touched.seq >= first && touched.seq < end; }
  bool touches(Addr address, std::uint64_t size) const {
    bool any = false;
    bytes.visit(address, size, [&any](Addr, unsigned, std::uint8_t) { any = true; });
    return any;
  }
  void access(const Touched& touched) {
    if (touched.write && holds(touched)) bytes.set(touched.address, touched.size, 1);
  }
  void fresh(Range) {}
};

struct Restorer {
  const Wanted& wanted;
  std::vector<Touched> earlier{};  // what is left of them in this lifetime
  std::vector<OrderPair> pairs{};

  void access(const Touched& touched) {
    if (touched.write && wanted.holds(touched))
      for (const Touched& before : earlier) {
        Addr first = std::max(touched.address, before.address);
        bool meet = first < before.address + before.size && first < touched.address + touched.size;
        if (meet && before.thread != touched.thread && before.seq < touched.seq)
          pairs.push_back(
              {before.write, before.seq, before.thread, touched.seq, touched.thread, first});
      }
    if (wanted.touches(touched.address, touched.size)) earlier.push_back(touched);
  }

  void fresh(Range range) {
    if (!wanted.touches(range.address, range.size)) return;
    Addr end = range.address + range.size;
    std::vector<Touched> left;
    for (const Touched& access : earlier) {
      Addr access_end = access.address + access.size;
      auto keep = [&](Addr from, Addr to) {
        if (from >= to) return;
        Touched part = access;
        part.address = from;
        part.size = to - from;
        left.push_back(part);
      };
      keep(access.address, std::min(access_end, range.address));
      keep(std::max(access.address, end), access_end);
    }
    earlier = std::move(left);
  }
};

}  // namespace

std::vector<OrderPair> restore_conflicts(const TraceReader& trace, std::span<const Seq> faults,
                                         Seq first, Seq end, Diagnostics& diagnostics) {
  Wanted wanted{first, end};
  walk_accesses(trace, faults, wanted, end, diagnostics);
  Restorer restorer{wanted};
  Diagnostics told;
  walk_accesses(trace, faults, restorer, end, told);
  return std::move(restorer.pairs);
}

}  // namespace svd
