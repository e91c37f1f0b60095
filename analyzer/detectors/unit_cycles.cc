// SPDX-License-Identifier: Apache-2.0
//
// A cycle comes back to where it began, so it has an arc that goes back in time, whatever the order
// of time is as long as it is one: here a unit stands at its first member, a point behind the
// youngest member that leads to it. Units are mostly made of what is near in time, and few arcs go
// back. Where nothing leads to from the ends of these arcs, or nothing leads from there to their
// beginnings, no cycle is. Only the rest are nodes for Tarjan's algorithm.
//
// As arcs are in the order of time nearly all that can be reached is found in the first round
// through them, and all of it in two or three. What is made of each arc by itself is made of two
// halves side by side.
//
// Cost: 8 bytes an arc and 10 a member or point, for as long as the ends are followed; then 4 an
// arc of the rest, and what Components takes of it.

#include "detectors/unit_cycles.h"

#include <algorithm>
#include <array>
#include <span>
#include <utility>

#include "dpdg/large_pages.h"
#include "svd/trace/processors.h"

namespace svd {
namespace {

// Between units, each at the place of who stands for it, and points behind all members.
struct Link {
  std::uint32_t from = 0, to = 0;
};

// Half of them, in the order of the arcs: millions, made at once.
struct Links {
  std::size_t first = 0;  // of the arcs
  std::vector<Link, LargePages<Link>> all{};
  std::vector<Link> back{};  // those that go back in time
};

// What `f` makes of 0 and of 1, side by side.
template <class F>
auto both(F&& f) {
  auto second = beside([&f] { return f(1); });
  auto first = f(0);
  return std::array{std::move(first), second.get()};
}

// Nodes that can be reached from some, along links or against them.
class Reach {
 public:
  Reach(std::span<const Links> links, std::size_t nodes) : links_(links), known_(nodes) {}

  void add(std::uint32_t node) { known_[node] = 1; }
  void follow() {
    find_all([this] {
      bool any = false;
      for (const Links& part : links_)
        any |= spread(part.all.begin(), part.all.end(), &Link::from, &Link::to);
      return any;
    });
  }
  void follow_back() {
    find_all([this] {
      bool any = false;
      for (auto part = links_.rbegin(); part != links_.rend(); ++part)
        any |= spread(part->all.rbegin(), part->all.rend(), &Link::to, &Link::from);
      return any;
    });
  }
  bool operator[](std::size_t node) const { return known_[node] != 0; }

 private:
  static constexpr int kMostRounds = 16;

  // Where that takes too many rounds every node counts as found: what Components is given may be
  // more than cycles can be in.
  template <class Round>
  void find_all(Round&& finds_more) {
    for (int round = 0; round < kMostRounds; ++round)
      if (!finds_more()) return;
    std::fill(known_.begin(), known_.end(), std::uint8_t{1});
  }

  template <class Iterator>
  bool spread(Iterator link, Iterator end, std::uint32_t Link::*from, std::uint32_t Link::*to) {
    std::uint8_t any = 0;
    for (; link != end; ++link) {
      std::uint8_t& there = known_[(*link).*to];
      auto more = static_cast<std::uint8_t>(known_[(*link).*from] & ~there);
      if (more == 0) continue;
      there = 1;
      any = 1;
    }
    return any != 0;
  }

  std::span<const Links> links_;
  std::vector<std::uint8_t> known_;
};

}  // namespace

bool UnitOrder::together(UnitMember a, UnitMember b) const {
  auto set = [this](UnitMember member) -> std::optional<std::uint32_t> {
    auto found = std::lower_bound(sets_.begin(), sets_.end(), std::pair(member, std::uint32_t{0}));
    if (found == sets_.end() || found->first != member) return std::nullopt;
    return found->second;
  };
  std::optional<std::uint32_t> one = set(a);
  return one && one == set(b);
}

std::optional<bool> UnitOrder::serializable(const RawFinding& violation) const {
  bool all = violation.units.size() == violation.occurrences && complete_;
  for (auto [unit, other] : violation.units) {
    if (together(unit, other)) return false;
    all = all && unit != 0 && other != 0;  // what the kernel did may be of no unit
  }
  return all ? std::optional(true) : std::nullopt;
}

UnitCycles::UnitCycles(const UnitGraph& graph, Units& units)
    : graph_(graph), units_(units), members_(units.by_member()) {
  auto members = static_cast<std::uint32_t>(members_.size());
  std::size_t all = members + graph_.points_.size();
  auto place = [&](UnitGraph::Node node) {
    return is_point(node) ? members + (node & ~UnitGraph::kPoint) : members_[node];
  };
  auto youngest = [&](std::uint32_t node) {
    return node < members ? node : graph_.points_[node - members];
  };
  auto goes_back = [&](const Link& link) {
    UnitMember from = youngest(link.from), to = youngest(link.to);
    return from == to ? link.from > link.to : from > to;
  };
  auto read = [&](std::size_t half) {
    Links part{graph_.arcs() * half / 2};
    std::size_t end = graph_.arcs() * (half + 1) / 2;
    part.all.reserve(end - part.first);
    graph_.arcs_.each(part.first, end, [&](const UnitGraph::Arc& arc) {
      Link link{place(arc.from), place(arc.to)};
      part.all.push_back(link);
      if (goes_back(link)) part.back.push_back(link);
    });
    return part;
  };
  std::array<Links, 2> links = both(read);
  // Every cycle has a link that goes back.
  Reach after(links, all), before(links, all);
  for (Links& part : links) {
    for (const Link& link : std::exchange(part.back, {})) {
      after.add(link.to);
      before.add(link.from);
    }
  }
  auto followed = beside([&before] { before.follow_back(); });
  after.follow();
  followed.get();
  auto may_be_on_cycle = [&](std::size_t node) { return after[node] && before[node]; };
  // Who stands for a unit comes before its other members.
  for (UnitMember member = 0; member < members; ++member) {
    UnitMember unit = members_[member];
    members_[member] = unit != member ? members_[unit] : may_be_on_cycle(unit) ? ++count_ : 0;
  }
  points_.reserve(graph_.points_.size());
  for (std::size_t point = members; point < all; ++point)
    points_.push_back(may_be_on_cycle(point) ? ++count_ : 0);
  auto node_at = [&](std::uint32_t at) {
    return at < members ? members_[at] : points_[at - members];
  };
  arcs_ = both([&](std::size_t half) {
    std::vector<std::uint32_t> arcs;
    std::size_t number = links[half].first;
    for (const Link& link : links[half].all) {
      if (may_be_on_cycle(link.from) && may_be_on_cycle(link.to))
        arcs.push_back(static_cast<std::uint32_t>(number));
      ++number;
    }
    return arcs;
  });
  components_.emplace(count_ + std::size_t{1}, [&](auto&& f) {
    for (std::size_t half = 0; half < links.size(); ++half) {
      for (std::uint32_t number : arcs_[half]) {
        const Link& link = links[half].all[number - links[half].first];
        f(node_at(link.from), node_at(link.to), number);
      }
    }
  });
}

UnitOrder UnitCycles::order() const {
  UnitOrder::Sets sets;
  for (UnitMember member = 0; member < members_.size(); ++member)
    if (members_[member] != 0) sets.emplace_back(member, components_->of(members_[member]));
  return {std::move(sets), !graph_.full()};
}

// On a cycle, and from memory to the unit that accesses it after others.
bool UnitCycles::between_threads(const UnitGraph::Arc& arc) const {
  return arc.mark != 0 && is_point(arc.from) && components_->together(node(arc.from), node(arc.to));
}

// To a unit that is older than those which the point is for.
bool UnitCycles::goes_back(const UnitGraph::Arc& arc) {
  return units_.of_member(arc.to) <= graph_.youngest(arc.from);
}

std::vector<UnitCycles::Step> UnitCycles::cycle(const UnitGraph::Arc& last) {
  std::vector<Step> cycle;
  auto take = [&](const UnitGraph::Arc& arc) {
    if (arc.mark == 0) return;
    Mark mark = graph_.marks_[arc.mark];
    if (is_point(arc.to)) {
      cycle.push_back({mark, {}});
    } else {
      cycle.back().second = mark;
    }
  };
  for (std::uint32_t link : components_->way(node(last.to), node(last.from)))
    take(graph_.arcs_[link]);
  take(last);
  return cycle;
}

std::vector<std::vector<UnitCycles::Step>> UnitCycles::list() {
  std::vector<std::vector<Step>> found;
  std::vector<bool> told(count_ + std::size_t{1});
  auto tell = [&](const UnitGraph::Arc& last) {
    std::uint32_t component = components_->of(node(last.to));
    if (!told[component]) found.push_back(cycle(last));
    told[component] = true;
  };
  // What closes a cycle mostly goes back to an older unit. Others are for where nothing does.
  std::vector<UnitGraph::Arc> others;
  std::vector<bool> has_other(told.size());
  auto look = [&](const UnitGraph::Arc& arc) {
    if (!between_threads(arc)) return;
    std::uint32_t component = components_->of(node(arc.to));
    if (told[component]) return;
    if (goes_back(arc)) return tell(arc);
    if (!has_other[component]) others.push_back(arc);
    has_other[component] = true;
  };
  for (const std::vector<std::uint32_t>& half : arcs_) graph_.arcs_.each_of(half, look);
  std::for_each(others.begin(), others.end(), tell);
  return found;
}

}  // namespace svd
