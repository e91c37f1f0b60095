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
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { kSessions = 3, kMostText = 128, kMostName = 256, kRotateEvery = 5 };
enum LogType { LOG_CLOSED, LOG_BIN };

typedef struct {
  pthread_mutex_t lock;
  volatile enum LogType log_type;
  int fd;
  int next_fd;  // the next file, made in time
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

// One that does something whenever it is asked.
typedef struct {
  sem_t asked, answered;
  int number;
  int requests;
} Session;

static BinLog mysql_bin_log = {.lock = PTHREAD_MUTEX_INITIALIZER};
static Table table = {.lock = PTHREAD_MUTEX_INITIALIZER};

static void fail(const char* what) {
  perror(what);
  exit(2);
}

static void wait_for(sem_t* semaphore) {
  while (sem_wait(semaphore) != 0) continue;
}

static void name_file(const BinLog* log, int number, char name[kMostName]) {
  snprintf(name, kMostName, "%s.%06d", log->path, number);
}

// Makes the file of that number; its first line says which one it is.
static int make_file(const BinLog* log, int number) {
  char name[kMostName], header[kMostText];
  name_file(log, number, name);
  int fd = open(name, O_WRONLY | O_CREAT | O_TRUNC, 0600);
  if (fd < 0) fail(name);
  int size = snprintf(header, sizeof(header), "# binlog %d\n", number);
  if (write(fd, header, (size_t)size) != size) fail("mysql_binlog: write");
  return fd;
}

static void use_next_file(BinLog* log, const char* name) {
  log->fd = log->next_fd;
  strcpy(log->name, name);
  log->number++;
  log->events = 0;
}

// Rotates the log.
static void new_file(BinLog* log) {
  char name[kMostName];
  name_file(log, log->number + 1, name);
  pthread_mutex_lock(&log->lock);
  int last = log->fd;
  enum LogType local_log_type = log->log_type;
  log->log_type = LOG_CLOSED;  // BUG: first write
  use_next_file(log, name);
  log->log_type = local_log_type;  // BUG: second write
  pthread_mutex_unlock(&log->lock);
  close(last);
  log->next_fd = make_file(log, log->number + 1);
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
  Session* session = argument;
  for (int i = 0; i < session->requests; ++i) {
    wait_for(&session->asked);
    unsigned long value = (unsigned long)(i * kSessions + session->number);
    insert_row(value);
    log_insert(&mysql_bin_log, value);
    sem_post(&session->answered);
  }
  return NULL;
}

// "FLUSH LOGS", whenever it is asked for.
static void* administrate(void* argument) {
  Session* session = argument;
  for (int i = 0; i < session->requests; ++i) {
    wait_for(&session->asked);
    new_file(&mysql_bin_log);
    sem_post(&session->answered);
  }
  return NULL;
}

// The clients: each session inserts a row, and now and then the log is rotated meanwhile.
static void send_requests(Session* sessions, Session* administrator) {
  for (int i = 0; i < sessions[0].requests; ++i) {
    int rotates = i % kRotateEvery == kRotateEvery - 1;
    if (rotates) sem_post(&administrator->asked);
    for (int k = 0; k < kSessions; ++k) sem_post(&sessions[k].asked);
    for (int k = 0; k < kSessions; ++k) wait_for(&sessions[k].answered);
    if (rotates) wait_for(&administrator->answered);
  }
}

static void start(Session* session, int number, int requests, void* (*run)(void*),
                  pthread_t* thread) {
  session->number = number;
  session->requests = requests;
  sem_init(&session->asked, 0, 0);
  sem_init(&session->answered, 0, 0);
  if (pthread_create(thread, NULL, run, session) != 0) fail("mysql_binlog: thread");
}

// What a recovery from the logs would bring back.
static Table replay(const BinLog* log) {
  Table recovered = {.rows = 0};
  for (int number = 1; number <= log->number + 1; ++number) {
    char path[kMostName], line[kMostText];
    unsigned long value;
    name_file(log, number, path);
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
  int inserts = (argc > 2 ? atoi(argv[2]) : 900) / kSessions;
  char name[kMostName];
  BinLog* log = &mysql_bin_log;
  log->path = argv[1];
  log->next_fd = make_file(log, 1);
  name_file(log, 1, name);
  use_next_file(log, name);
  log->next_fd = make_file(log, 2);
  log->log_type = LOG_BIN;

  Session sessions[kSessions], administrator;
  pthread_t threads[kSessions], administrator_thread;
  start(&administrator, 0, inserts / kRotateEvery, administrate, &administrator_thread);
  for (int i = 0; i < kSessions; ++i) start(&sessions[i], i, inserts, run_session, &threads[i]);
  send_requests(sessions, &administrator);
  for (int i = 0; i < kSessions; ++i) pthread_join(threads[i], NULL);
  pthread_join(administrator_thread, NULL);
  close(log->fd);
  close(log->next_fd);

  Table recovered = replay(log);
  printf("%lu rows, %d logs\n", table.rows, log->number);
  if (recovered.rows == table.rows && recovered.sum == table.sum) return 0;
  printf("inserts missing in the logs: %lu\n", table.rows - recovered.rows);
  return 1;
}
