// SPDX-License-Identifier: Apache-2.0
//
// Loops that only wait for another thread (waits_…), and such that do something themselves
// (works_…), for cfg_waits_test.cc. Compiled several times, as a shared library; never executed.

void yield(void);
extern volatile int flag, limit, shared, table[];

typedef struct Node {
  struct Node* volatile next;
  volatile int done;
} Node;

void waits_flag(void) {
  while (!flag) {
  }
}

void waits_at_least(const volatile int* counter, int value) {
  while (*counter < value) __builtin_ia32_pause();
}

void waits_with_yield(volatile int* counter, int value) {
  for (int spins = 1; *counter < value; ++spins) {
    __builtin_ia32_pause();
    if (spins % 64 == 0) yield();
  }
}

// The time-out ends it too, by a branch of its own.
int waits_with_timeout(void) {
  for (int i = 0; i < 1000; ++i) {
    if (flag) return 1;
    yield();
  }
  return 0;
}

void waits_for_two(void) {
  while (flag < limit) yield();
}

void waits_through_pointer(Node* node) {
  while (node->next->done == 0) yield();
}

void waits_with_backoff(void) {
  for (int delay = 1; !flag; delay *= 2)
    for (int i = 0; i < delay; ++i) __builtin_ia32_pause();
}

void works_counts(void) {
  for (int i = 0; i < limit; ++i) yield();
}

Node* works_walks(Node* node) {
  while (node->next != 0) node = node->next;
  return node;
}

int works_searches(int value) {
  int i = 0;
  while (table[i] != value) ++i;
  return i;
}

void works_stores(void) {
  while (!flag) shared = shared + 1;
}

// Who is first takes it: a loop that ends by what it wrote.
void works_takes(void) {
  while (__atomic_exchange_n(&shared, 1, __ATOMIC_ACQUIRE) != 0) yield();
}

int works_sums(void) {
  int sum = 0;
  while (sum < 100) sum += flag;
  return sum;
}
