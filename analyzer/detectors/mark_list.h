// SPDX-License-Identifier: Apache-2.0
//
// The accesses that one shadow cell remembers: mostly one, then without an allocation.
#pragma once

#include <memory>
#include <utility>
#include <vector>

#include "detectors/touch.h"

namespace svd {

class MarkList {
 public:
  MarkList() = default;
  MarkList(const MarkList& other)
      : first_(other.first_),
        rest_(other.rest_ ? std::make_unique<std::vector<Mark>>(*other.rest_) : nullptr) {}
  MarkList& operator=(const MarkList& other) {
    if (this != &other) *this = MarkList(other);
    return *this;
  }
  MarkList(MarkList&&) noexcept = default;
  MarkList& operator=(MarkList&&) noexcept = default;
  ~MarkList() = default;

  bool empty() const { return first_.moment == 0; }
  void clear() { *this = MarkList(); }

  // Calls f(const Mark&) for each.
  template <class F>
  void each(F&& f) const {
    if (empty()) return;
    f(first_);
    if (rest_) {
      for (const Mark& mark : *rest_) f(mark);
    }
  }

  void add(const Mark& mark) {
    if (empty()) {
      first_ = mark;
    } else {
      if (!rest_) rest_ = std::make_unique<std::vector<Mark>>();
      rest_->push_back(mark);
    }
  }

  // Removes those for which gone(const Mark&).
  template <class F>
  void remove_if(F&& gone) {
    if (rest_) {
      std::erase_if(*rest_, gone);
      if (rest_->empty()) rest_.reset();
    }
    if (empty() || !gone(std::as_const(first_))) return;
    first_ = Mark();
    if (!rest_) return;
    first_ = rest_->back();
    rest_->pop_back();
    if (rest_->empty()) rest_.reset();
  }

 private:
  Mark first_;
  std::unique_ptr<std::vector<Mark>> rest_;
};

}  // namespace svd
