// SPDX-License-Identifier: Apache-2.0
//
// A database server in miniature with a binary log, modelled on MySQL 3.23 (README.md has the
// story). Sessions insert rows into tables and, now and then, delete all rows of one; each writes
// what it did to the log, from which the tables can be made again.
//
// A delete leaves the table's lock before it writes the log. Compiled with CORRECT, which makes the
// twin, it writes first.
#include <fcntl.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { kSessions = 3, kTables = 3, kMostText = 128, kDeleteEvery = 5 };

typedef struct {
  pthread_mutex_t lock;
  unsigned long rows;
  unsigned long sum;
} Table;

typedef struct {
  pthread_mutex_t lock;
  int fd;
  unsigned long events;
} BinLog;

typedef struct {
  char operation;  // 'i' or 'd'; 'q': no more queries
  int table;
  unsigned long value;
} Query;

typedef struct {
  sem_t asked, answered;
  Query query;
} Session;

typedef struct {
  Session* sessions;
  int queries;
} Client;

static Table tables[kTables];
static BinLog binlog = {.lock = PTHREAD_MUTEX_INITIALIZER};

static void fail(const char* what) {
  perror(what);
  exit(2);
}

static void wait_for(sem_t* semaphore) {
  while (sem_wait(semaphore) != 0) continue;
}

static void write_binlog(const char* event, int size) {
  pthread_mutex_lock(&binlog.lock);
  if (write(binlog.fd, event, (size_t)size) != size) fail("mysql_delete_insert: write");
  binlog.events++;
  pthread_mutex_unlock(&binlog.lock);
}

static void insert_row(int number, unsigned long value) {
  Table* table = &tables[number];
  char event[kMostText];
  int size = snprintf(event, sizeof(event), "INSERT INTO t%d VALUES (%lu)\n", number, value);
  pthread_mutex_lock(&table->lock);
  table->rows++;  // BUG: insert
  table->sum += value;
  write_binlog(event, size);  // BUG: log of the insert
  pthread_mutex_unlock(&table->lock);
}

static void log_delete(int number, unsigned long rows) {
  char event[kMostText];
  int size = snprintf(event, sizeof(event), "DELETE FROM t%d -- %lu rows\n", number, rows);
  write_binlog(event, size);  // BUG: log of the delete
}

static void delete_rows(int number) {
  Table* table = &tables[number];
  pthread_mutex_lock(&table->lock);
  unsigned long rows = table->rows;
  table->rows = 0;  // BUG: delete
  table->sum = 0;
#ifdef CORRECT
  log_delete(number, rows);
#endif
  pthread_mutex_unlock(&table->lock);
#ifndef CORRECT
  log_delete(number, rows);
#endif
}

static void* run_session(void* argument) {
  Session* session = argument;
  for (;;) {
    wait_for(&session->asked);
    const Query* query = &session->query;
    if (query->operation == 'q') return NULL;
    if (query->operation == 'i') {
      insert_row(query->table, query->value);
    } else {
      delete_rows(query->table);
    }
    sem_post(&session->answered);
  }
}

// Each session gets a query; the next ones follow when all have answered. While one deletes,
// another one inserts into the same table.
static void* send_queries(void* argument) {
  const Client* client = argument;
  for (int sent = 0; sent <= client->queries; ++sent) {
    int deletes = sent % kDeleteEvery == kDeleteEvery - 1;
    for (int i = 0; i < kSessions; ++i) {
      Query query = {'i', (sent + i) % kTables, (unsigned long)sent};
      if (deletes && i == 0) query.operation = 'd';
      if (deletes && i == 2) query.table = sent % kTables;
      if (sent == client->queries) query.operation = 'q';
      client->sessions[i].query = query;
      sem_post(&client->sessions[i].asked);
    }
    for (int i = 0; i < kSessions && sent < client->queries; ++i) {
      wait_for(&client->sessions[i].answered);
    }
  }
  return NULL;
}

// Makes the tables as a recovery would from the log. Returns how many deletes did not find the rows
// there that they had deleted.
static unsigned long replay(const char* path, Table recovered[kTables]) {
  FILE* file = fopen(path, "r");
  if (file == NULL) fail(path);
  char line[kMostText];
  unsigned long wrong = 0;
  while (fgets(line, sizeof(line), file) != NULL) {
    int number;
    unsigned long value;
    if (sscanf(line, "INSERT INTO t%d VALUES (%lu)", &number, &value) == 2) {
      recovered[number].rows++;
      recovered[number].sum += value;
    } else if (sscanf(line, "DELETE FROM t%d -- %lu rows", &number, &value) == 2) {
      if (recovered[number].rows != value) wrong++;
      recovered[number].rows = recovered[number].sum = 0;
    }
  }
  fclose(file);
  return wrong;
}

int main(int argc, char** argv) {
  if (argc < 2 || argc > 3) {
    fprintf(stderr, "usage: %s LOG [QUERIES]\n", argv[0]);
    return 2;
  }
  Session sessions[kSessions];
  Client client = {sessions, (argc > 2 ? atoi(argv[2]) : 900) / kSessions};
  binlog.fd = open(argv[1], O_WRONLY | O_CREAT | O_TRUNC, 0600);
  if (binlog.fd < 0) fail(argv[1]);
  for (int i = 0; i < kTables; ++i) pthread_mutex_init(&tables[i].lock, NULL);

  pthread_t threads[kSessions], client_thread;
  for (int i = 0; i < kSessions; ++i) {
    sem_init(&sessions[i].asked, 0, 0);
    sem_init(&sessions[i].answered, 0, 0);
    if (pthread_create(&threads[i], NULL, run_session, &sessions[i]) != 0) {
      fail("mysql_delete_insert: thread");
    }
  }
  if (pthread_create(&client_thread, NULL, send_queries, &client) != 0) {
    fail("mysql_delete_insert: thread");
  }
  pthread_join(client_thread, NULL);
  for (int i = 0; i < kSessions; ++i) pthread_join(threads[i], NULL);
  close(binlog.fd);

  Table recovered[kTables] = {0};
  unsigned long wrong = replay(argv[1], recovered);
  for (int i = 0; i < kTables; ++i) {
    if (recovered[i].rows != tables[i].rows || recovered[i].sum != tables[i].sum) wrong++;
  }
  printf("%lu events\n", binlog.events);
  if (wrong != 0) printf("events in the wrong order: %lu\n", wrong);
  return wrong != 0;
}
