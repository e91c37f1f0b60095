// SPDX-License-Identifier: Apache-2.0
//
// C++ exceptions: thrown through frames with destructors, rethrown, carried to another thread by
// exception_ptr and by futures, thrown by four threads at once. "exceptions uncaught" lets one
// escape from a thread, which ends in std::terminate.

#include <cstdio>
#include <cstring>
#include <exception>
#include <future>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace {

thread_local int unwound = 0;

struct Guard {
  ~Guard() { ++unwound; }
};

void descend(int depth) {
  Guard guard;
  if (depth == 0) throw std::runtime_error("bottom");
  descend(depth - 1);
}

int rounds(int count) {
  int caught = 0;
  for (int i = 0; i < count; ++i) {
    try {
      try {
        descend(i % 10);
      } catch (const std::logic_error&) {
        return -1;
      } catch (const std::exception& e) {
        if (std::strcmp(e.what(), "bottom") == 0) throw;
      }
    } catch (const std::runtime_error&) {
      ++caught;
    }
  }
  return caught;
}

std::string carried() {
  std::exception_ptr kept;
  std::thread([&] {
    try {
      descend(3);
    } catch (...) {
      kept = std::current_exception();
    }
  }).join();
  auto future = std::async(std::launch::async, [kept]() -> int { std::rethrow_exception(kept); });
  try {
    future.get();
  } catch (const std::runtime_error& e) {
    return e.what();
  }
  return "lost";
}

}  // namespace

int main(int argc, char** argv) {
  std::vector<std::future<int>> results;
  results.reserve(4);
  for (int t = 0; t < 4; ++t) {
    results.push_back(std::async(std::launch::async, [] { return rounds(200) + unwound; }));
  }
  for (auto& result : results) std::printf("%d\n", result.get());
  std::printf("carried: %s\n", carried().c_str());
  std::fflush(stdout);
  if (argc > 1 && std::strcmp(argv[1], "uncaught") == 0) std::thread(descend, 2).join();
}
