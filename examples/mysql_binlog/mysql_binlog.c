// SPDX-License-Identifier: Apache-2.0
//
// A database server in miniature that writes a binary log of its updates, modelled on MySQL 4.0
// (README.md has the story). Sessions insert rows and log each insert; an administrator rotates the
// log: it is closed, and opened anew under the next number.
//
// A session looks whether the log is open before it takes the log's lock. Compiled with CORRECT,
// which makes the twin, it looks under the lock.
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { kSessions = 3, kMostText = 128, kMostName = 256, kRotateEvery = 150 };
enum LogType { LOG_CLOSED, LOG_BIN };

typedef struct {
  pthread_mutex_t lock;
  volatile enum LogType log_type;
  int fd;
  int number;
  const char* path;      // of all files, but for their numbers
  char name[kMostName];  // of this file
  unsigned long events;  // in this file
} BinLog;

typedef struct {
  pthread_mutex_t lock;
  unsigned long rows;
  unsigned long sum;
} Table;

typedef struct {
  int number;
  int inserts;
  int administrator;  // the socket over which it hears that the log is long enough
} Session;

static BinLog mysql_bin_log = {.lock = PTHREAD_MUTEX_INITIALIZER};
static Table table = {.lock = PTHREAD_MUTEX_INITIALIZER};

static void fail(const char* what) {
  perror(what);
  exit(2);
}

// Makes the file of the log's next number, whose name goes to `name`; its first line says which
// number it is.
static int make_next(const BinLog* log, char name[kMostName]) {
  char header[kMostText];
  snprintf(name, kMostName, "%s.%06d", log->path, log->number + 1);
  int fd = open(name, O_WRONLY | O_CREAT | O_TRUNC, 0600);
  if (fd < 0) fail(name);
  int size = snprintf(header, sizeof(header), "# binlog %d\n", log->number + 1);
  if (write(fd, header, (size_t)size) != size) fail("mysql_binlog: write");
  return fd;
}

static void use_file(BinLog* log, int fd, const char* name) {
  log->fd = fd;
  strcpy(log->name, name);
  log->number++;
  log->events = 0;
}

// Rotates the log.
static void new_file(BinLog* log) {
  char name[kMostName];
  int next = make_next(log, name);
  pthread_mutex_lock(&log->lock);
  int last = log->fd;
  enum LogType local_log_type = log->log_type;
  log->log_type = LOG_CLOSED;  // BUG: first write
  use_file(log, next, name);
  log->log_type = local_log_type;  // BUG: second write
  pthread_mutex_unlock(&log->lock);
  close(last);
}

static void insert_row(unsigned long value) {
  pthread_mutex_lock(&table.lock);
  table.rows++;
  table.sum += value;
  pthread_mutex_unlock(&table.lock);
}

static void log_insert(BinLog* log, unsigned long value) {
  char event[kMostText];
  int size = snprintf(event, sizeof(event), "INSERT INTO t VALUES (%lu)\n", value);
#ifdef CORRECT
  pthread_mutex_lock(&log->lock);
#endif
  if (log->log_type != LOG_CLOSED) {  // BUG: read
#ifndef CORRECT
    pthread_mutex_lock(&log->lock);
#endif
    if (write(log->fd, event, (size_t)size) != size) fail("mysql_binlog: write");
    log->events++;
#ifndef CORRECT
    pthread_mutex_unlock(&log->lock);
#endif
  }
#ifdef CORRECT
  pthread_mutex_unlock(&log->lock);
#endif
}

static void* run_session(void* argument) {
  const Session* session = argument;
  for (int i = 0; i < session->inserts; ++i) {
    unsigned long value = (unsigned long)(i * kSessions + session->number);
    insert_row(value);
    log_insert(&mysql_bin_log, value);
    if (i % kRotateEvery == kRotateEvery - 1 && write(session->administrator, "f", 1) != 1) {
      fail("mysql_binlog: write");
    }
  }
  return NULL;
}

// "FLUSH LOGS", whenever a session asks for it.
static void* administrate(void* argument) {
  const int* requests = argument;
  char request;
  while (read(*requests, &request, 1) == 1) new_file(&mysql_bin_log);
  return NULL;
}

// What a recovery from the logs would bring back.
static Table replay(const BinLog* log) {
  Table recovered = {.rows = 0};
  for (int number = 1; number <= log->number; ++number) {
    char path[kMostName], line[kMostText];
    unsigned long value;
    snprintf(path, sizeof(path), "%s.%06d", log->path, number);
    FILE* file = fopen(path, "r");
    if (file == NULL) fail(path);
    while (fgets(line, sizeof(line), file) != NULL) {
      if (sscanf(line, "INSERT INTO t VALUES (%lu)", &value) != 1) continue;
      recovered.rows++;
      recovered.sum += value;
    }
    fclose(file);
    unlink(path);
  }
  return recovered;
}

int main(int argc, char** argv) {
  if (argc < 2 || argc > 3) {
    fprintf(stderr, "usage: %s LOG [INSERTS]\n", argv[0]);
    return 2;
  }
  int inserts = (argc > 2 ? atoi(argv[2]) : 900) / kSessions, ends[2];
  BinLog* log = &mysql_bin_log;
  log->path = argv[1];
  char name[kMostName];
  int first = make_next(log, name);
  use_file(log, first, name);
  log->log_type = LOG_BIN;
  if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends) != 0) fail("mysql_binlog: socketpair");

  Session sessions[kSessions];
  pthread_t threads[kSessions], administrator;
  if (pthread_create(&administrator, NULL, administrate, &ends[0]) != 0) {
    fail("mysql_binlog: thread");
  }
  for (int i = 0; i < kSessions; ++i) {
    sessions[i] = (Session){i, inserts, ends[1]};
    if (pthread_create(&threads[i], NULL, run_session, &sessions[i]) != 0) {
      fail("mysql_binlog: thread");
    }
  }
  for (int i = 0; i < kSessions; ++i) pthread_join(threads[i], NULL);
  close(ends[1]);
  pthread_join(administrator, NULL);
  close(ends[0]);
  close(log->fd);

  Table recovered = replay(log);
  printf("%lu rows, %d logs\n", table.rows, log->number);
  if (recovered.rows == table.rows && recovered.sum == table.sum) return 0;
  printf("inserts missing in the logs: %lu\n", table.rows - recovered.rows);
  return 1;
}
