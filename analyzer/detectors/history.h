// SPDX-License-Identifier: Apache-2.0
//
// What the detectors remember that judge an access by earlier ones to the same bytes: races of all
// kinds, and the log of reads. Mostly that is the same for all of them, the last write and the last
// read. So in one walk they have one history: one look-up of a cell for all, in which an access
// stands once, with a bit for each who remembers it.
//
// Cells are asked for ahead: the history is some accesses late, and what orders them with it.
//
// Accesses to memory that is not shared (Touch::shared) make no difference to any of them and are
// left out. A detector that is alone has a history to itself.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "detectors/detector.h"
#include "detectors/few.h"
#include "detectors/manners.h"
#include "detectors/raw_finding.h"
#include "detectors/shadow.h"

namespace svd {

class HistoryDetector;

// What some bytes were accessed by.
struct HistoryCell {
  Few<BriefMark, 3> marks;
  // Of race-lockset.
  std::uint32_t candidates : 30 = 0;
  std::uint32_t state : 2 = 0;
};
static_assert(sizeof(HistoryCell) == 44);

// An access to the bytes of a cell.
struct Sight {
  const Touch& access;
  BriefMark mark;  // as it is going to be remembered, by those who say so
  Addr address{};
  std::uint64_t size = 0;
};

class History {
 public:
  // All that join do it before the walk. The bit by which it is known.
  std::uint64_t join(HistoryDetector& detector);
  // Who is told of the walk, for all.
  const HistoryDetector& leader() const { return *detectors_.front(); }

  void access(const Touch& access) {
    if (!access.shared) return;
    shadow_.bring_place_near(access.address);
    put(access);
  }
  void fresh(Addr address, std::uint64_t size) {
    catch_up();
    shadow_.clear(address, size);
  }
  void acquire(ThreadIndex thread, ChannelId channel, EdgeKind kind, Moment now) {
    put(OrderEdge{thread, channel, kind, now, true});
  }
  void release(ThreadIndex thread, ChannelId channel, EdgeKind kind, Moment now) {
    put(OrderEdge{thread, channel, kind, now, false});
  }
  // Calls f(HistoryCell&) for cells that exist.
  template <class F>
  void visit(Addr address, std::uint64_t size, F&& f) {
    shadow_.visit(address, size, [&f](HistoryCell& cell, Addr, std::uint64_t) { f(cell); });
  }
  const Manners& manners() const { return manners_; }
  // The walk is over.
  void close() {
    catch_up();
    shadow_ = {};
  }

 private:
  // So many more have been told when the place of a cell has come, the cell, and all of it.
  static constexpr std::size_t kPlace = 8, kCell = 12, kLate = 16;

  template <class T>
  void put(const T& told) {
    if (const Touch* access = before(kPlace)) shadow_.bring_cell_near(access->address);
    if (const Touch* access = before(kCell))
      if (const HistoryCell* cell = shadow_.find(access->address)) cell->marks.bring_rest_near();
    if (told_ - seen_ == kLate) see_next();
    late_[told_++ % kLate].emplace<T>(told);
  }
  // What was told so many before, if it is an access.
  const Touch* before(std::size_t many) const {
    return std::get_if<Touch>(&late_[(told_ - many) % kLate]);
  }
  void see_next();
  void see(const Touch& access);
  void catch_up() {
    while (seen_ != told_) see_next();
  }

  Manners manners_;
  Shadow<HistoryCell> shadow_;
  std::array<std::variant<Touch, OrderEdge>, kLate> late_;
  std::size_t told_ = 0, seen_ = 0;  // accesses and edges
  std::vector<HistoryDetector*> detectors_;
};

class HistoryDetector : public Detector {
 public:
  bool wants_accesses() const final { return &history_->leader() == this; }
  void access(const Touch& access) final { history_->access(access); }
  void fresh(Addr address, std::uint64_t size) final { history_->fresh(address, size); }
  void acquire(ThreadIndex thread, ChannelId channel, EdgeKind kind, Moment now) final {
    history_->acquire(thread, channel, kind, now);
  }
  void release(ThreadIndex thread, ChannelId channel, EdgeKind kind, Moment now) final {
    history_->release(thread, channel, kind, now);
  }
  std::vector<RawFinding> findings() final {
    history_->close();
    return found_.list();
  }

  virtual void acquired(ThreadIndex, ChannelId, EdgeKind, Moment) {}
  virtual void released(ThreadIndex, ChannelId, EdgeKind, Moment) {}
  // Judges the access, forgets what it need not remember any more, and remembers this one if it
  // has to. Whether it wants to settle() the access when it has seen all cells of it.
  virtual bool look(HistoryCell& cell, Sight& sight) = 0;
  virtual void settle(const Touch&) {}

 protected:
  HistoryDetector(std::string_view name, std::shared_ptr<History> history)
      : found_(name), history_(std::move(history)), bit_(history_->join(*this)) {}

  bool keeps(const BriefMark& mark) const { return (mark.keepers & bit_) != 0; }
  void keep(BriefMark& mark) const { mark.keepers = (mark.keepers | bit_) & BriefMark::kKeepers; }
  void forget(BriefMark& mark) const { mark.keepers = mark.keepers & ~bit_ & BriefMark::kKeepers; }
  History& history() { return *history_; }
  Mark whole(const BriefMark& mark) const { return history_->manners().mark(mark); }
  LockSetId lock_set(const BriefMark& mark) const { return history_->manners().lock_set(mark); }

  RawFindings found_;

 private:
  std::shared_ptr<History> history_;
  std::uint64_t bit_;
};

}  // namespace svd
