// SPDX-License-Identifier: Apache-2.0
//
// A server of prepared queries in miniature, modelled on MySQL 4.1 (README.md has the story). Each
// client has a thread that executes the prepared queries the client asks for: it marks the fields
// of the table that the query uses, reads a row, and sends those fields.
//
// The marks stand in the table, as if it belonged to one query: all threads share them. Compiled
// with CORRECT, which makes the twin, each thread opens a table of its own.
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
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
  int connection;
  JoinTable* table;
} Session;

typedef struct {
  int connections[kClients];
  int queries;
  unsigned long answered, bytes;
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

// A request is the number of the query and that of the row.
static void* serve(void* argument) {
  Session* session = argument;
  unsigned request[2];
  char answer[kMostText];
  while (read(session->connection, request, sizeof(request)) == sizeof(request)) {
    const PreparedQuery* query = &kQueries[request[0] % (sizeof(kQueries) / sizeof(kQueries[0]))];
    int size = execute(session->table, query, request[1], answer);
    if (write(session->connection, answer, (size_t)size) != size) fail("mysql_query_id: write");
  }
  close(session->connection);
  return NULL;
}

// All clients in one thread: each has one query under way.
static void* send_queries(void* argument) {
  Clients* clients = argument;
  struct pollfd ends[kClients];
  int sent[kClients] = {0}, open = kClients;
  for (int i = 0; i < kClients; ++i) ends[i] = (struct pollfd){clients->connections[i], POLLOUT, 0};
  while (open > 0) {
    if (poll(ends, kClients, -1) < 0) fail("mysql_query_id: poll");
    for (int i = 0; i < kClients; ++i) {
      if (ends[i].fd < 0 || ends[i].revents == 0) continue;
      if (ends[i].events == POLLIN) {
        char answer[kMostText];
        ssize_t size = read(ends[i].fd, answer, sizeof(answer));
        if (size <= 0) fail("mysql_query_id: answer");
        clients->bytes += (unsigned long)size;
        clients->answered++;
      }
      if (sent[i] == clients->queries) {
        close(ends[i].fd);
        ends[i].fd = -1;
        --open;
        continue;
      }
      unsigned request[2] = {(unsigned)(sent[i] + i), (unsigned)(sent[i] * 7 + i)};
      if (write(ends[i].fd, request, sizeof(request)) != sizeof(request)) {
        fail("mysql_query_id: write");
      }
      ends[i].events = POLLIN;
      ++sent[i];
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
  Clients clients = {.queries = (argc > 2 ? atoi(argv[2]) : 600) / kClients};
  Session sessions[kClients];
  pthread_t threads[kClients], client;
#ifndef CORRECT
  JoinTable* shared = open_table(argv[1]);
#endif
  for (int i = 0; i < kClients; ++i) {
    int ends[2];
    if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends) != 0) fail("mysql_query_id: socketpair");
    clients.connections[i] = ends[1];
#ifdef CORRECT
    sessions[i] = (Session){ends[0], open_table(argv[1])};
#else
    sessions[i] = (Session){ends[0], shared};
#endif
  }
  if (pthread_create(&client, NULL, send_queries, &clients) != 0) fail("mysql_query_id: thread");
  for (int i = 0; i < kClients; ++i) {
    if (pthread_create(&threads[i], NULL, serve, &sessions[i]) != 0) fail("mysql_query_id: thread");
  }
  pthread_join(client, NULL);
  for (int i = 0; i < kClients; ++i) {
    pthread_join(threads[i], NULL);
#ifdef CORRECT
    close_table(sessions[i].table);
#endif
  }
#ifndef CORRECT
  close_table(shared);
#endif
  printf("%lu queries, %lu bytes of answers\n", clients.answered, clients.bytes);
  return 0;
}
