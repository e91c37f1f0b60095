// SPDX-License-Identifier: Apache-2.0
//
// Two threads add to one vector without a lock. There is room enough, so that nothing worse than a
// lost sample comes of it; compiled without optimisation, so that what races are functions of the
// C++ library's headers.

#include <cstdio>
#include <thread>
#include <vector>

namespace {

std::vector<int> samples;

void add(int sample) {
  samples.push_back(sample);  // race
}

void measure(int first) {
  for (int i = 0; i < 20; ++i) add(first + i);
}

}  // namespace

int main() {
  samples.reserve(100);
  std::thread one(measure, 0);
  std::thread other(measure, 100);
  one.join();
  other.join();
  std::puts("done");
}
