// SPDX-License-Identifier: Apache-2.0

#include "support/std_workload.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <random>

namespace svd::test {
namespace {

constexpr unsigned kThreads = 8;
constexpr unsigned kLocks = 16;
constexpr unsigned kVariables = 1000;

class Workload {
 public:
  Workload(std::size_t events, std::uint64_t seed) : events_(events), random_(seed) {
    log_.reserve(20 * events);
  }

  std::string run() {
    for (unsigned thread = 1; thread < kThreads; ++thread) line(0, "fork", 'T', thread);
    while (count_ < events_) step(below(kThreads));
    return std::move(log_);
  }

 private:
  struct Thread {
    unsigned accesses_left = 0;  // of the open transaction
    std::optional<unsigned> lock;
  };

  unsigned below(unsigned end) {
    return std::uniform_int_distribution<unsigned>(0, end - 1)(random_);
  }

  void line(unsigned thread, std::string_view op, char kind, unsigned operand) {
    fmt::format_to(std::back_inserter(log_), "T{}|{}({}{})|{}\n", thread, op, kind, operand,
                   ++count_);
  }

  // A stretch of one thread, within one transaction.
  void step(unsigned id) {
    Thread& thread = threads_[id];
    if (thread.accesses_left == 0) {
      thread.accesses_left = 5 + below(16);
      line(id, "begin", 'm', id);
      unsigned lock = below(3 * kLocks);
      if (lock < kLocks && !held_[lock]) {
        held_[lock] = true;
        thread.lock = lock;
        line(id, "acq", 'L', lock);
      }
    }
    unsigned accesses = std::min(thread.accesses_left, 1 + below(8));
    for (unsigned i = 0; i < accesses; ++i)
      line(id, below(5) < 3 ? "r" : "w", 'V', below(kVariables));
    thread.accesses_left -= accesses;
    if (thread.accesses_left > 0) return;
    if (thread.lock) {
      held_[*thread.lock] = false;
      line(id, "rel", 'L', *thread.lock);
      thread.lock.reset();
    }
    line(id, "end", 'm', id);
  }

  std::size_t events_;
  std::mt19937_64 random_;
  std::string log_;
  std::size_t count_ = 0;
  std::array<Thread, kThreads> threads_;
  std::array<bool, kLocks> held_{};
};

}  // namespace

std::string std_workload(std::size_t events, std::uint64_t seed) {
  return Workload(events, seed).run();
}

}  // namespace svd::test
