// SPDX-License-Identifier: Apache-2.0
//
// A table handler in miniature, modelled on the table locks of MySQL's MyISAM (README.md has the
// story). Threads lock a shared table, update rows of its file, and unlock it again. There is a
// data race on tot_lock, and it is not a bug: the unlocked check in update_row() cannot come out
// wrong, because the thread that makes it holds a table lock itself.
//
// Compiled with CORRECT, which makes the twin, there is no race either: the check takes the mutex.
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { kThreads = 4, kRows = 64 };

typedef struct {
  unsigned long value;
  unsigned long updates;
} Row;

typedef struct {
  pthread_mutex_t internal_lock;
  int tot_lock;                  // table locks given out; despite its name it locks nothing
  unsigned long states_written;  // how often the last one to leave wrote the table's state
  int fd;
  int is_shared;  // a table of one thread alone needs no table lock
} TableInfo;

typedef struct {
  TableInfo* table;
  int number;
  int operations;
  unsigned long direct_writes;
} Session;

static pthread_mutex_t row_locks[kRows];

static void fail(const char* what) {
  perror(what);
  exit(2);
}

static void write_state(TableInfo* info) {
  unsigned long state = ++info->states_written;
  if (pwrite(info->fd, &state, sizeof(state), kRows * sizeof(Row)) != sizeof(state)) {
    fail("mysql_table_lock: write");
  }
}

static void lock_table(TableInfo* info) {
  pthread_mutex_lock(&info->internal_lock);
  if (info->is_shared) {
    int locks = info->tot_lock;
    info->tot_lock = locks + 1;  // RACE: write
  }
  pthread_mutex_unlock(&info->internal_lock);
}

static void unlock_table(TableInfo* info) {
  pthread_mutex_lock(&info->internal_lock);
  if (info->is_shared) {
    info->tot_lock--;  // RACE: write
    if (info->tot_lock == 0) write_state(info);
  }
  pthread_mutex_unlock(&info->internal_lock);
}

static int is_locked(TableInfo* info) {
#ifdef CORRECT
  pthread_mutex_lock(&info->internal_lock);
  int locks = info->tot_lock;
  pthread_mutex_unlock(&info->internal_lock);
  return locks != 0;
#else
  return info->tot_lock != 0;  // RACE: read
#endif
}

// Adds `amount` to a row. The state of a table that nobody locked, a temporary one, goes to the
// file at once; that of a locked one when the last lock is given back.
static void update_row(Session* session, unsigned row, unsigned long amount) {
  TableInfo* info = session->table;
  off_t place = (off_t)(row * sizeof(Row));
  Row content;
  pthread_mutex_lock(&row_locks[row]);
  if (pread(info->fd, &content, sizeof(content), place) != sizeof(content)) {
    fail("mysql_table_lock: read");
  }
  content.value += amount;
  content.updates++;
  if (pwrite(info->fd, &content, sizeof(content), place) != sizeof(content)) {
    fail("mysql_table_lock: write");
  }
  pthread_mutex_unlock(&row_locks[row]);
  if (!is_locked(info)) {
    session->direct_writes++;
    write_state(info);
  }
}

static void* run_session(void* argument) {
  Session* session = argument;
  unsigned random = 17 + (unsigned)session->number;
  for (int i = 0; i < session->operations; ++i) {
    lock_table(session->table);
    for (int update = 0; update < 3; ++update) {
      random = random * 1103515245u + 12345u;
      update_row(session, random >> 16 & (kRows - 1), random >> 24);
    }
    unlock_table(session->table);
  }
  return NULL;
}

static unsigned long count_updates(const TableInfo* info) {
  unsigned long updates = 0;
  for (int i = 0; i < kRows; ++i) {
    Row row;
    if (pread(info->fd, &row, sizeof(row), (off_t)((size_t)i * sizeof(row))) != sizeof(row)) {
      fail("mysql_table_lock: read");
    }
    updates += row.updates;
  }
  return updates;
}

int main(int argc, char** argv) {
  if (argc < 2 || argc > 3) {
    fprintf(stderr, "usage: %s TABLE [OPERATIONS]\n", argv[0]);
    return 2;
  }
  int operations = (argc > 2 ? atoi(argv[2]) : 2000) / kThreads;

  TableInfo table = {.internal_lock = PTHREAD_MUTEX_INITIALIZER, .is_shared = 1};
  table.fd = open(argv[1], O_RDWR | O_CREAT | O_TRUNC, 0600);
  if (table.fd < 0) fail(argv[1]);
  if (ftruncate(table.fd, (kRows + 1) * sizeof(Row)) != 0) fail(argv[1]);
  for (int i = 0; i < kRows; ++i) pthread_mutex_init(&row_locks[i], NULL);

  Session sessions[kThreads];
  pthread_t threads[kThreads];
  for (int i = 0; i < kThreads; ++i) {
    sessions[i] = (Session){.table = &table, .number = i, .operations = operations};
    if (pthread_create(&threads[i], NULL, run_session, &sessions[i]) != 0) {
      fail("mysql_table_lock: thread");
    }
  }
  unsigned long direct_writes = 0;
  for (int i = 0; i < kThreads; ++i) {
    pthread_join(threads[i], NULL);
    direct_writes += sessions[i].direct_writes;
  }

  unsigned long updates = count_updates(&table), expected = 3ul * kThreads * (unsigned)operations;
  printf("%lu updates\n", updates);
  if (direct_writes != 0) printf("%lu writes to an unlocked table\n", direct_writes);
  close(table.fd);
  return updates != expected || direct_writes != 0 || table.tot_lock != 0;
}
