// SPDX-License-Identifier: Apache-2.0
//
// atomics [THREADS]: locked instructions of every width: exchange, add, compare-and-swap (that
// succeed and that fail), bit operations, 16 bytes at once; a lock-free stack and a sequence lock.

#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <thread>
#include <utility>
#include <vector>

namespace {

constexpr int kRounds = 1500;

template <class Int>
struct Counters {
  std::atomic<Int> sum{0}, bits{0}, swapped{0};
  void work(int i) {
    sum.fetch_add(static_cast<Int>(1));
    bits.fetch_or(static_cast<Int>(Int{1} << (i % 7)));
    bits.fetch_and(static_cast<Int>(~(Int{1} << (i % 5))));
    Int seen = swapped.load();
    while (!swapped.compare_exchange_weak(seen, static_cast<Int>(seen + 1))) {
    }
  }
};

Counters<std::uint8_t> bytes;
Counters<std::uint16_t> shorts;
Counters<std::uint32_t> words;
Counters<std::uint64_t> longs;

struct Node {
  Node* next = nullptr;
  int value = 0;
};
std::atomic<Node*> stack{nullptr};

void push(Node* node) {
  node->next = stack.load(std::memory_order_relaxed);
  while (!stack.compare_exchange_weak(node->next, node)) {
  }
}

struct alignas(16) Pair {
  std::uint64_t low = 0, high = 0;
};
Pair pair;

// cmpxchg16b, which std::atomic reaches only through a library.
bool swap_pair(Pair& seen, Pair wanted) {
  bool done;
  __asm__ volatile("lock cmpxchg16b %1; sete %0"
                   : "=q"(done), "+m"(pair), "+a"(seen.low), "+d"(seen.high)
                   : "b"(wanted.low), "c"(wanted.high)
                   : "memory", "cc");
  return done;
}

void add_to_pair() {
  Pair seen;
  while (!swap_pair(seen, Pair{seen.low + 1, seen.high + 2})) {
  }
}

void run() {
  for (int i = 0; i < kRounds; ++i) {
    bytes.work(i), shorts.work(i), words.work(i), longs.work(i);
    if (i % 10 == 0) push(new Node{nullptr, i});
    add_to_pair();
  }
}

}  // namespace

int main(int argc, char** argv) {
  int count = argc > 1 ? std::atoi(argv[1]) : 4;
  std::vector<std::thread> threads;
  for (int t = 1; t < count; ++t) threads.emplace_back(run);
  run();
  for (std::thread& thread : threads) thread.join();
  long values = 0;
  for (Node* node = stack; node != nullptr;) {
    values += node->value;
    delete std::exchange(node, node->next);
  }
  std::printf("%d %d %u %lu values %ld pair %lu %lu\n", bytes.sum.load(), shorts.swapped.load(),
              words.sum.load(), longs.swapped.load(), values, pair.low, pair.high);
}
