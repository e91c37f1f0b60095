// SPDX-License-Identifier: Apache-2.0
//
// A bank in miniature: tellers transfer money between accounts and write a journal (README.md has
// the story).
//
// Looking at a balance and setting one take the account's lock each, so there is no data race; but
// what is set was computed from what had been looked at before. Compiled with CORRECT, which makes
// the twin, a transfer holds the locks of both accounts from beginning to end.
#include <fcntl.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { kTellers = 3, kAccounts = 12, kFirstBalance = 1000, kMostText = 64 };

typedef struct {
  pthread_mutex_t lock;
  long balance;
} Account;

typedef struct {
  int from, to;  // the same: no more orders
  long amount;
} Order;

typedef struct {
  sem_t asked, answered;
  Order order;
  int journal;
} Teller;

typedef struct {
  Teller* tellers;
  int orders;
} Customers;

static Account accounts[kAccounts];

static void fail(const char* what) {
  perror(what);
  exit(2);
}

static void wait_for(sem_t* semaphore) {
  while (sem_wait(semaphore) != 0) continue;
}

#ifdef CORRECT

static void lock_both(int from, int to) {  // the lower one first, so that nobody waits in a circle
  pthread_mutex_lock(&accounts[from < to ? from : to].lock);
  pthread_mutex_lock(&accounts[from < to ? to : from].lock);
}

static void unlock_both(int from, int to) {
  pthread_mutex_unlock(&accounts[from].lock);
  pthread_mutex_unlock(&accounts[to].lock);
}

static long balance(int account) { return accounts[account].balance; }
static void set_balance(int account, long amount) { accounts[account].balance = amount; }

#else

static void lock_both(int from, int to) { (void)from, (void)to; }
static void unlock_both(int from, int to) { (void)from, (void)to; }

static long balance(int account) {
  pthread_mutex_lock(&accounts[account].lock);
  long amount = accounts[account].balance;  // BUG: read
  pthread_mutex_unlock(&accounts[account].lock);
  return amount;
}

static void set_balance(int account, long amount) {
  pthread_mutex_lock(&accounts[account].lock);
  accounts[account].balance = amount;  // BUG: write
  pthread_mutex_unlock(&accounts[account].lock);
}

#endif

// Returns whether there was enough money.
static int transfer(const Order* order) {
  lock_both(order->from, order->to);
  long available = balance(order->from);
  int possible = available >= order->amount;
  if (possible) {
    set_balance(order->from, available - order->amount);
    set_balance(order->to, balance(order->to) + order->amount);
  }
  unlock_both(order->from, order->to);
  return possible;
}

static void* run_teller(void* argument) {
  Teller* teller = argument;
  for (;;) {
    wait_for(&teller->asked);
    const Order* order = &teller->order;
    if (order->from == order->to) return NULL;
    int possible = transfer(order);
    char line[kMostText];
    int size = snprintf(line, sizeof(line), "%d -> %d: %ld%s\n", order->from, order->to,
                        order->amount, possible ? "" : " refused");
    if (write(teller->journal, line, (size_t)size) != size) fail("bank_account: write");
    sem_post(&teller->answered);
  }
}

// Every teller gets an order; the next ones follow when all have answered.
static void* give_orders(void* argument) {
  const Customers* customers = argument;
  unsigned random = 3;
  for (int given = 0; given <= customers->orders; ++given) {
    for (int i = 0; i < kTellers; ++i) {
      random = random * 1103515245u + 12345u;
      int from = (int)(random >> 16) % kAccounts;
      int to = (from + 1 + (int)(random >> 24) % (kAccounts - 1)) % kAccounts;
      if (given == customers->orders) to = from;
      customers->tellers[i].order = (Order){from, to, (long)(random >> 20 & 127)};
      sem_post(&customers->tellers[i].asked);
    }
    for (int i = 0; i < kTellers && given < customers->orders; ++i) {
      wait_for(&customers->tellers[i].answered);
    }
  }
  return NULL;
}

int main(int argc, char** argv) {
  if (argc < 2 || argc > 3) {
    fprintf(stderr, "usage: %s JOURNAL [TRANSFERS]\n", argv[0]);
    return 2;
  }
  int journal = open(argv[1], O_WRONLY | O_CREAT | O_TRUNC | O_APPEND, 0600);
  if (journal < 0) fail(argv[1]);
  for (int i = 0; i < kAccounts; ++i) {
    pthread_mutex_init(&accounts[i].lock, NULL);
    accounts[i].balance = kFirstBalance;
  }

  Teller tellers[kTellers];
  Customers customers = {tellers, (argc > 2 ? atoi(argv[2]) : 900) / kTellers};
  pthread_t threads[kTellers], customer_thread;
  for (int i = 0; i < kTellers; ++i) {
    tellers[i].journal = journal;
    sem_init(&tellers[i].asked, 0, 0);
    sem_init(&tellers[i].answered, 0, 0);
    if (pthread_create(&threads[i], NULL, run_teller, &tellers[i]) != 0) {
      fail("bank_account: thread");
    }
  }
  if (pthread_create(&customer_thread, NULL, give_orders, &customers) != 0) {
    fail("bank_account: thread");
  }
  pthread_join(customer_thread, NULL);
  for (int i = 0; i < kTellers; ++i) pthread_join(threads[i], NULL);
  close(journal);

  long total = 0;
  for (int i = 0; i < kAccounts; ++i) total += accounts[i].balance;
  printf("%d orders\n", customers.orders * kTellers);
  if (total == (long)kAccounts * kFirstBalance) return 0;
  printf("the bank has %ld, and should have %ld\n", total, (long)kAccounts * kFirstBalance);
  return 1;
}
