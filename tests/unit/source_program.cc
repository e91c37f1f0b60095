// SPDX-License-Identifier: Apache-2.0
//
// What source_map_test.cc looks up; it is compiled in several ways (see CMakeLists.txt) and never
// run. Lines are found by the words after "here:".

#include <array>
#include <atomic>
#include <mutex>

#define NOINLINE __attribute__((noinline))

namespace app {

struct Entry {
  long key;
  int value;
  struct {
    short low;
    short high;
  } range;
};

struct Empty {};

struct Base {
  int of_base;
};

struct Stats : Base, Empty {
  std::atomic<int> hits;
  std::mutex mutex;
  union {
    double real;
    int whole;
  };
  unsigned flag : 3;
  unsigned rest : 20;
};

Stats stats;
Entry table[4];
int matrix[3][5];
std::array<int, 6> fixed;
thread_local int of_thread;

namespace {
volatile int hidden;
}

inline int twice(int x) {
  hidden = x;  // here: innermost
  return hidden + hidden;
}

struct Log {
  static int count;
  NOINLINE void append(int n) {
    static volatile int total;
    total = total + n;  // here: append
    count += twice(n);  // here: call of twice
  }
  NOINLINE void append(const char* text) { count += text[0]; }
  template <class T>
  NOINLINE T scale(T x) {
    return x * static_cast<T>(count);  // here: scale
  }
};
int Log::count = 1;

}  // namespace app

int main(int argc, char** argv) {
  struct Local {
    NOINLINE int go(int x) { return x + app::hidden; }  // here: local class
  } local;
  auto lambda = [argc](int x) NOINLINE { return x * argc + app::hidden; };  // here: lambda
  app::Log log;
  log.append(argc);
  log.append(argv[0]);
  // here: no code
  app::matrix[argc][argc] = app::table[argc].range.high;
  app::fixed[static_cast<std::size_t>(argc)] = app::of_thread++;
  app::stats.hits += argc;  // here: atomic
  app::stats.whole = log.scale(argc) + static_cast<int>(log.scale(2.5));
  return local.go(argc) + lambda(argc);
}
