// SPDX-License-Identifier: Apache-2.0
//
// work_queue [THREADS]: 16 workers take tasks (strings and vectors made by others) from one queue
// and put results on another; the usual shape of a server.

#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace {

constexpr int kTasks = 2000;

template <class T>
class Queue {
 public:
  void push(T value) {
    std::lock_guard lock(mutex_);
    values_.push_back(std::move(value));
    filled_.notify_one();
  }
  T pop() {
    std::unique_lock lock(mutex_);
    filled_.wait(lock, [&] { return !values_.empty(); });
    T value = std::move(values_.front());
    values_.pop_front();
    return value;
  }

 private:
  std::mutex mutex_;
  std::condition_variable filled_;
  std::deque<T> values_;
};

struct Task {
  int number = -1;  // negative: the end
  std::string text;
};

}  // namespace

int main(int argc, char** argv) {
  int workers = argc > 1 ? std::atoi(argv[1]) : 16;
  Queue<Task> tasks;
  Queue<std::size_t> results;
  std::vector<std::thread> threads;
  threads.reserve(static_cast<std::size_t>(workers));
  for (int w = 0; w < workers; ++w) {
    threads.emplace_back([&] {
      for (Task task = tasks.pop(); task.number >= 0; task = tasks.pop()) {
        for (char& c : task.text) c = static_cast<char>(c ^ task.number);
        results.push(std::hash<std::string>{}(task.text) % 1000 + task.text.size());
      }
    });
  }
  for (int i = 0; i < kTasks; ++i) {
    tasks.push({i, std::string(static_cast<std::size_t>(i % 100), 'a')});
  }
  std::size_t sum = 0;
  for (int i = 0; i < kTasks; ++i) sum += results.pop();
  for (int w = 0; w < workers; ++w) tasks.push({});
  for (std::thread& thread : threads) thread.join();
  std::printf("sum %zu\n", sum);
}
