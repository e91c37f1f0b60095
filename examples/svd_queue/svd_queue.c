// SPDX-License-Identifier: Apache-2.0
//
// A trading system in miniature: gateways receive orders and put them into a queue, one thread
// takes them out and writes them down (README.md has the story: it is the example of SVD with an
// atomic region whose statements do not depend on each other).
//
// Filling the entry at the head and moving the head on should be one step; the lock was forgotten.
// Compiled with CORRECT, which makes the twin, it is there.
#include <fcntl.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { kGateways = 3, kQueueSize = 32, kMostText = 64 };

typedef struct {
  unsigned account;
  unsigned amount;  // always the account's number times three, plus one
} Order;

typedef struct {
  Order entries[kQueueSize];
  unsigned head;  // where the next order goes
  unsigned tail;  // where the next one is taken
  sem_t free;
  sem_t filled;
#ifdef CORRECT
  pthread_mutex_t lock;
#endif
} Queue;

typedef struct {
  sem_t asked, answered;
  char line[kMostText];  // empty: no more orders
} Gateway;

typedef struct {
  Gateway* gateways;
  int orders;
} Client;

typedef struct {
  int fd;
  int orders;
  unsigned long wrong;
} Writer;

static Queue queue;

static void fail(const char* what) {
  perror(what);
  exit(2);
}

static void wait_for(sem_t* semaphore) {
  while (sem_wait(semaphore) != 0) continue;
}

static void put(unsigned account, unsigned amount) {
  wait_for(&queue.free);
#ifdef CORRECT
  pthread_mutex_lock(&queue.lock);
#endif
  Order* entry = &queue.entries[queue.head % kQueueSize];  // BUG: read
  entry->account = account;                                // BUG: fill
  entry->amount = amount;                                  // BUG: fill
  queue.head = queue.head + 1;                             // BUG: write
#ifdef CORRECT
  pthread_mutex_unlock(&queue.lock);
#endif
  sem_post(&queue.filled);
}

static Order take(void) {
  wait_for(&queue.filled);
  Order* entry = &queue.entries[queue.tail % kQueueSize];
  Order order = *entry;
  *entry = (Order){0, 0};
  queue.tail++;
  sem_post(&queue.free);
  return order;
}

// A gateway: an order comes as a line of text.
static void* receive_orders(void* argument) {
  Gateway* gateway = argument;
  for (;;) {
    wait_for(&gateway->asked);
    if (gateway->line[0] == 0) return NULL;
    unsigned account, amount;
    if (sscanf(gateway->line, "ORDER %u %u", &account, &amount) == 2) put(account, amount);
    sem_post(&gateway->answered);
  }
}

static void* send_orders(void* argument) {
  const Client* client = argument;
  for (int sent = 0; sent < client->orders; ++sent) {
    for (int i = 0; i < kGateways; ++i) {
      unsigned account = (unsigned)(sent * kGateways + i + 1);
      snprintf(client->gateways[i].line, kMostText, "ORDER %u %u\n", account, account * 3 + 1);
    }
    for (int i = 0; i < kGateways; ++i) sem_post(&client->gateways[i].asked);
    for (int i = 0; i < kGateways; ++i) wait_for(&client->gateways[i].answered);
  }
  for (int i = 0; i < kGateways; ++i) {
    client->gateways[i].line[0] = 0;
    sem_post(&client->gateways[i].asked);
  }
  return NULL;
}

static void* write_orders(void* argument) {
  Writer* writer = argument;
  char line[kMostText];
  for (int i = 0; i < writer->orders; ++i) {
    Order order = take();
    if (order.amount != order.account * 3 + 1) writer->wrong++;
    int size = snprintf(line, sizeof(line), "%u %u\n", order.account, order.amount);
    if (write(writer->fd, line, (size_t)size) != size) fail("svd_queue: write");
  }
  return NULL;
}

int main(int argc, char** argv) {
  if (argc < 2 || argc > 3) {
    fprintf(stderr, "usage: %s FILE [ORDERS]\n", argv[0]);
    return 2;
  }
  Gateway gateways[kGateways];
  Client client = {gateways, (argc > 2 ? atoi(argv[2]) : 600) / kGateways};
  Writer writer = {.orders = client.orders * kGateways};
  writer.fd = open(argv[1], O_WRONLY | O_CREAT | O_TRUNC, 0600);
  if (writer.fd < 0) fail(argv[1]);
  sem_init(&queue.free, 0, kQueueSize);
  sem_init(&queue.filled, 0, 0);
#ifdef CORRECT
  pthread_mutex_init(&queue.lock, NULL);
#endif

  pthread_t gateway_threads[kGateways], client_thread, writer_thread;
  if (pthread_create(&writer_thread, NULL, write_orders, &writer) != 0) fail("svd_queue: thread");
  for (int i = 0; i < kGateways; ++i) {
    sem_init(&gateways[i].asked, 0, 0);
    sem_init(&gateways[i].answered, 0, 0);
    if (pthread_create(&gateway_threads[i], NULL, receive_orders, &gateways[i]) != 0) {
      fail("svd_queue: thread");
    }
  }
  if (pthread_create(&client_thread, NULL, send_orders, &client) != 0) fail("svd_queue: thread");
  pthread_join(client_thread, NULL);
  for (int i = 0; i < kGateways; ++i) pthread_join(gateway_threads[i], NULL);
  pthread_join(writer_thread, NULL);
  close(writer.fd);

  printf("%d orders\n", writer.orders);
  if (writer.wrong != 0) printf("%lu of them lost or mixed up\n", writer.wrong);
  return writer.wrong != 0;
}
