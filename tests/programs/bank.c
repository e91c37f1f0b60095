// SPDX-License-Identifier: Apache-2.0
//
// bank [THREADS [TRANSFERS]]: transfers between accounts under two locks in order, and audits that
// lock all of them; heap-allocated accounts, up to 16 threads.
#include <pthread.h>

#include "expect.h"

enum { kAccounts = 12, kMostThreads = 16 };

typedef struct {
  pthread_mutex_t mutex;
  long balance;
} Account;

static Account* accounts[kAccounts];
static int transfers = 1500;

static void transfer(int from, int to, long amount) {
  Account* first = accounts[from < to ? from : to];
  Account* second = accounts[from < to ? to : from];
  pthread_mutex_lock(&first->mutex);
  pthread_mutex_lock(&second->mutex);
  accounts[from]->balance -= amount;
  accounts[to]->balance += amount;
  pthread_mutex_unlock(&second->mutex);
  pthread_mutex_unlock(&first->mutex);
}

static long audit(void) {
  long total = 0;
  for (int i = 0; i < kAccounts; ++i) pthread_mutex_lock(&accounts[i]->mutex);
  for (int i = 0; i < kAccounts; ++i) total += accounts[i]->balance;
  for (int i = kAccounts; i-- > 0;) pthread_mutex_unlock(&accounts[i]->mutex);
  return total;
}

static void* run(void* seed) {
  unsigned state = (unsigned)(long)seed * 2654435761U + 1;
  for (int i = 0; i < transfers; ++i) {
    state = state * 1103515245 + 12345;
    int from = (int)(state >> 16) % kAccounts, to = (int)(state >> 8 & 0xff) % kAccounts;
    if (from != to) transfer(from, to, (long)(state & 63));
    if (i % 500 == 0) EXPECT(audit() == kAccounts * 1000);
  }
  return NULL;
}

int main(int argc, char** argv) {
  int threads = argc > 1 ? atoi(argv[1]) : 4;
  if (argc > 2) transfers = atoi(argv[2]);
  EXPECT(threads >= 1 && threads <= kMostThreads);
  for (int i = 0; i < kAccounts; ++i) {
    accounts[i] = malloc(sizeof(Account));
    pthread_mutex_init(&accounts[i]->mutex, NULL);
    accounts[i]->balance = 1000;
  }
  pthread_t ids[kMostThreads];
  for (long i = 0; i < threads; ++i) EXPECT(!pthread_create(&ids[i], NULL, run, (void*)i));
  for (int i = 0; i < threads; ++i) EXPECT(!pthread_join(ids[i], NULL));
  printf("total %ld\n", audit());
  for (int i = 0; i < kAccounts; ++i) free(accounts[i]);
  return 0;
}
