// SPDX-License-Identifier: Apache-2.0
//
// What the C++ library offers to threads: thread, jthread, mutex, recursive and timed ones, lock
// guards, shared_mutex, condition_variable, call_once, futures, promises, async, packaged_task,
// latch, barrier, counting_semaphore, stop tokens, thread_local, function-local statics.

#include <atomic>
#include <barrier>
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <future>
#include <latch>
#include <mutex>
#include <numeric>
#include <queue>
#include <semaphore>
#include <shared_mutex>
#include <thread>
#include <vector>

namespace {

using std::chrono::seconds;

struct Counted {
  static inline std::atomic<int> made = 0;
  Counted() { ++made; }
};

const Counted& shared_static() {
  static const Counted kCounted;
  return kCounted;
}

long locks() {
  std::mutex mutex;
  std::recursive_mutex recursive;
  std::timed_mutex timed;
  std::shared_mutex shared;
  std::once_flag once;
  std::atomic<int> initialised = 0;
  long sum = 0;
  std::vector<std::jthread> threads;
  threads.reserve(4);
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < 500; ++i) {
        std::call_once(once, [&] { ++initialised; });
        shared_static();
        std::scoped_lock both(mutex, recursive);
        std::lock_guard again(recursive);
        std::unique_lock third(timed, seconds(60));
        if (i % 4 != 0) {
          std::shared_lock reader(shared);
          sum += i;
        } else {
          std::unique_lock writer(shared);
          sum += 1;
        }
      }
    });
  }
  threads.clear();
  return sum * initialised * Counted::made;
}

long queue_through_condition() {
  std::mutex mutex;
  std::condition_variable_any filled;
  std::queue<int> queue;
  long sum = 0;
  std::jthread consumer([&](const std::stop_token& stop) {
    std::unique_lock lock(mutex);
    while (filled.wait(lock, stop, [&] { return !queue.empty(); })) {
      sum += queue.front();
      queue.pop();
    }
  });
  for (int i = 0; i < 1000; ++i) {
    std::lock_guard lock(mutex);
    queue.push(i);
    filled.notify_one();
  }
  for (bool empty = false; !empty; std::this_thread::yield()) {
    std::lock_guard lock(mutex);
    empty = queue.empty();
  }
  consumer.request_stop();
  consumer.join();
  return sum;
}

long futures() {
  std::promise<int> promise;
  std::shared_future<int> shared = promise.get_future().share();
  auto twice = std::async(std::launch::async, [shared] { return 2 * shared.get(); });
  auto lazy = std::async(std::launch::deferred, [shared] { return 3 * shared.get(); });
  std::packaged_task<int(int)> task([](int n) { return n + 1; });
  auto next = task.get_future();
  std::thread(std::move(task), 41).detach();
  promise.set_value(7);
  return twice.get() + lazy.get() + next.get();
}

long rendezvous() {
  constexpr int kThreads = 4;
  std::latch ready(kThreads);
  std::atomic<long> phases = 0;
  std::barrier step(kThreads, [&]() noexcept { ++phases; });
  std::counting_semaphore<2> slots(2);
  std::atomic<int> flag = 0;
  thread_local int turns = 0;
  std::vector<std::thread> threads;
  std::vector<int> turns_of(kThreads);
  for (std::size_t t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      ready.arrive_and_wait();
      flag.wait(0);
      for (int i = 0; i < 50; ++i) {
        slots.acquire();
        ++turns;
        slots.release();
        step.arrive_and_wait();
      }
      turns_of[t] = turns;
    });
  }
  ready.wait();
  flag = 1;
  flag.notify_all();
  for (std::thread& thread : threads) thread.join();
  return phases + std::accumulate(turns_of.begin(), turns_of.end(), 0L);
}

}  // namespace

int main() {
  std::printf("locks %ld\n", locks());
  std::printf("queue %ld\n", queue_through_condition());
  std::printf("futures %ld\n", futures());
  std::printf("rendezvous %ld\n", rendezvous());
}
