// SPDX-License-Identifier: Apache-2.0
//
// ledger: two threads book into an allocated ledger without a lock, by one line that accesses two
// members of it, one of them through a function of a header.
#include <cstddef>
#include <cstdio>
#include <thread>
#include <vector>

struct Ledger {
  char owner[16];
  std::vector<int> entries;
  double total;
};
static_assert(offsetof(Ledger, entries) == 16 && offsetof(Ledger, total) == 40);

static void book(Ledger* ledger) {
  for (int i = 0; i < 100; i++) ledger->entries.push_back(i), ledger->total += i;  // race
}

int main() {
  auto* ledger = new Ledger{"us", {}, 0};
  ledger->entries.reserve(200);
  std::thread first(book, ledger), second(book, ledger);
  first.join();
  second.join();
  std::printf("%zu entries, %g\n", ledger->entries.size(), ledger->total);
  delete ledger;
}
