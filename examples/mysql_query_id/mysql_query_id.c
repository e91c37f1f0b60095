// SPDX-License-Identifier: Apache-2.0
//
// A server of prepared queries in miniature, modelled on MySQL 4.1 (README.md has the story). Each
// client has a thread that executes the prepared queries the client asks for: it marks the fields
// of the table that the query uses, reads a row, and sends those fields.
//
// The marks stand in the table, as if it belonged to one query: all threads share them. Compiled
// with CORRECT, which makes the twin, each thread opens a table of its own.
#include <fcntl.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { kClients = 3, kFields = 8, kRows = 100, kFieldSize = 8, kMostText = 4096 };

typedef struct {
  unsigned long query_id;  // of the query that uses the field
  const char* name;
  unsigned offset;  // in the row
} Field;

typedef struct {
  int fd;
  unsigned used_fields;  // by the query under way
  Field* field;
} JoinTable;

typedef struct {
  const char* text;
  unsigned fields;  // a bit for each
} PreparedQuery;

typedef struct {
  sem_t asked, answered;
  const PreparedQuery* query;  // none: no more queries
  unsigned row;
  JoinTable* table;
  int output;
  unsigned long bytes;
} Session;

typedef struct {
  Session* sessions;
  int queries;
} Clients;

static const PreparedQuery kQueries[] = {
    {"SELECT id, name FROM book WHERE id=?", 0x03},
    {"SELECT name, author, year, price FROM book WHERE id=?", 0x1e},
    {"SELECT * FROM book WHERE id=?", 0xff},
    {"SELECT price, stock FROM book WHERE id=?", 0x30},
};
static const char* const kFieldNames[kFields] = {"id",    "name",  "author", "year",
                                                 "price", "stock", "place",  "note"};
static atomic_ulong last_query_id = 0x5000000000;

static void fail(const char* what) {
  perror(what);
  exit(2);
}

static void wait_for(sem_t* semaphore) {
  while (sem_wait(semaphore) != 0) continue;
}

static JoinTable* open_table(const char* path) {
  JoinTable* table = malloc(sizeof(*table));
  Field* fields = malloc(kFields * sizeof(*fields));
  if (table == NULL || fields == NULL) fail("mysql_query_id: memory");
  for (unsigned i = 0; i < kFields; ++i) {
    fields[i] = (Field){0, kFieldNames[i], i * kFieldSize};
  }
  *table = (JoinTable){open(path, O_RDONLY), 0, fields};
  if (table->fd < 0) fail(path);
  return table;
}

static void close_table(JoinTable* table) {
  close(table->fd);
  free(table->field);
  free(table);
}

// Marks what the query uses: later steps look at the marks only.
static void setup_fields(JoinTable* table, const PreparedQuery* query, unsigned long id) {
  unsigned used = 0;
  for (unsigned i = 0; i < kFields; ++i) {
    if ((query->fields >> i & 1) == 0) continue;
    Field* field = &table->field[i];
    if (field->query_id != id) {
      field->query_id = id;  // BUG: write
      ++used;
    }
  }
  table->used_fields = used;  // BUG: write
}

// The fields of the row that the query uses: when all are found, the search ends.
static int copy_fields(const JoinTable* table, const char* row, unsigned long id, char* answer) {
  int size = 0;
  const Field* field = table->field;
  for (unsigned found = 0; found < table->used_fields; ++field) {  // BUG: read
    if (field->query_id != id) continue;                           // BUG: read
    memcpy(answer + size, row + field->offset, kFieldSize);
    size += kFieldSize;
    ++found;
  }
  answer[size++] = '\n';
  return size;
}

static int execute(JoinTable* table, const PreparedQuery* query, unsigned row_number,
                   char* answer) {
  char row[kFields * kFieldSize];
  off_t place = (off_t)(row_number % kRows * sizeof(row));
  if (pread(table->fd, row, sizeof(row), place) != sizeof(row)) fail("mysql_query_id: read");
  unsigned long id = ++last_query_id;
  setup_fields(table, query, id);
  return copy_fields(table, row, id, answer);
}

static void* serve(void* argument) {
  Session* session = argument;
  char answer[kMostText];
  for (;;) {
    wait_for(&session->asked);
    if (session->query == NULL) return NULL;
    int size = execute(session->table, session->query, session->row, answer);
    if (write(session->output, answer, (size_t)size) != size) fail("mysql_query_id: write");
    session->bytes += (unsigned long)size;
    sem_post(&session->answered);
  }
}

// All clients in one thread: each has one query under way.
static void* send_queries(void* argument) {
  const Clients* clients = argument;
  for (int sent = 0; sent <= clients->queries; ++sent) {
    for (int i = 0; i < kClients; ++i) {
      Session* session = &clients->sessions[i];
      session->query = &kQueries[(size_t)(sent + i) % (sizeof(kQueries) / sizeof(kQueries[0]))];
      session->row = (unsigned)(sent * 7 + i);
      if (sent == clients->queries) session->query = NULL;
      sem_post(&session->asked);
    }
    for (int i = 0; i < kClients && sent < clients->queries; ++i) {
      wait_for(&clients->sessions[i].answered);
    }
  }
  return NULL;
}

static void make_table(const char* path) {
  FILE* file = fopen(path, "w");
  if (file == NULL) fail(path);
  for (int row = 0; row < kRows; ++row) {
    for (int field = 0; field < kFields; ++field) fprintf(file, "%c%06d ", 'a' + field, row);
  }
  if (fclose(file) != 0) fail(path);
}

int main(int argc, char** argv) {
  if (argc < 2 || argc > 3) {
    fprintf(stderr, "usage: %s TABLE [QUERIES]\n", argv[0]);
    return 2;
  }
  make_table(argv[1]);
  Session sessions[kClients] = {0};
  Clients clients = {sessions, (argc > 2 ? atoi(argv[2]) : 600) / kClients};
  pthread_t threads[kClients], client;
  int output = open("/dev/null", O_WRONLY);
  if (output < 0) fail("/dev/null");
#ifndef CORRECT
  JoinTable* shared = open_table(argv[1]);
#endif
  for (int i = 0; i < kClients; ++i) {
#ifdef CORRECT
    sessions[i].table = open_table(argv[1]);
#else
    sessions[i].table = shared;
#endif
    sessions[i].output = output;
    sem_init(&sessions[i].asked, 0, 0);
    sem_init(&sessions[i].answered, 0, 0);
  }
  if (pthread_create(&client, NULL, send_queries, &clients) != 0) fail("mysql_query_id: thread");
  for (int i = 0; i < kClients; ++i) {
    if (pthread_create(&threads[i], NULL, serve, &sessions[i]) != 0) fail("mysql_query_id: thread");
  }
  pthread_join(client, NULL);
  unsigned long bytes = 0;
  for (int i = 0; i < kClients; ++i) {
    pthread_join(threads[i], NULL);
    bytes += sessions[i].bytes;
#ifdef CORRECT
    close_table(sessions[i].table);
#endif
  }
#ifndef CORRECT
  close_table(shared);
#endif
  printf("%d queries, %lu bytes of answers\n", clients.queries * kClients, bytes);
  close(output);
  return 0;
}
