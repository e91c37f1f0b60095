// SPDX-License-Identifier: Apache-2.0
//
// till: a member function and a library, on behalf of a line that has another name for the object,
// change an allocated till without a lock.
#include <cstdio>
#include <cstring>
#include <thread>

struct Till {
  int coins, notes;
  void pay_in() {
    for (int i = 0; i < 100; i++) coins += i;  // race
  }
};

static void empty(Till* till, const Till* none, std::size_t size) {
  for (int i = 0; i < 100; i++) std::memcpy(&till->coins, &none->notes, size);  // race
}

int main() {
  auto *till = new Till{1, 2}, *none = new Till{3, 4};
  std::thread first(&Till::pay_in, till), second(empty, till, none, sizeof(int));
  first.join();
  second.join();
  std::printf("%d\n", till->coins);
  delete none;
  delete till;
}
