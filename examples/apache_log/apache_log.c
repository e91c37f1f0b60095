// SPDX-License-Identifier: Apache-2.0
//
// A web server in miniature whose worker threads answer requests and write an access log, modelled
// on the log_config module of Apache (README.md has the story). Lines of the log are gathered in a
// buffer that all workers share, and the buffer goes to the file when the next line does not fit.
//
// The lock that should surround check, copy and update in buffered_log_writer() is missing, unless
// this is compiled with CORRECT, which makes the twin.
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { kLogBufferSize = 512, kWorkers = 4, kMostLine = 200 };

typedef struct {
  unsigned outcnt;
  char outbuf[kLogBufferSize];
  struct LogFile* file;
} BufferedLog;

typedef struct LogFile {
  int fd;
  const char* path;
  unsigned long written;
} LogFile;

typedef struct {
  int number;
  int requests;
  int connection;  // to the client that sends the requests
} Worker;

static BufferedLog* access_log;
#ifdef CORRECT
static pthread_mutex_t log_mutex = PTHREAD_MUTEX_INITIALIZER;
#endif

static void lock_log(void) {
#ifdef CORRECT
  pthread_mutex_lock(&log_mutex);
#endif
}

static void unlock_log(void) {
#ifdef CORRECT
  pthread_mutex_unlock(&log_mutex);
#endif
}

static void fail(const char* what) {
  perror(what);
  exit(1);
}

static void write_all(int fd, const char* bytes, size_t count) {
  while (count > 0) {
    ssize_t done = write(fd, bytes, count);
    if (done < 0 && errno == EINTR) continue;
    if (done < 0) fail("apache_log: write");
    bytes += done;
    count -= (size_t)done;
  }
}

// Writes the buffer out; a disk that takes only a part of it leaves the rest for the next time.
static void flush_log(BufferedLog* buf) {
  ssize_t done = write(buf->file->fd, buf->outbuf, buf->outcnt);
  if (done < 0) fail("apache_log: write");
  buf->file->written += (unsigned long)done;
  buf->outcnt -= (unsigned)done;  // BUG: write
  memmove(buf->outbuf, buf->outbuf + done, buf->outcnt);
}

// Appends a line that is given in pieces.
static void buffered_log_writer(BufferedLog* buf, const char* const* pieces, int count) {
  unsigned len = 0;
  for (int i = 0; i < count; ++i) len += (unsigned)strlen(pieces[i]);

  lock_log();
  if (len + buf->outcnt > kLogBufferSize) flush_log(buf);  // BUG: check
  char* s = &buf->outbuf[buf->outcnt];                     // BUG: read
  for (int i = 0; i < count; ++i) {
    size_t piece = strlen(pieces[i]);
    memcpy(s, pieces[i], piece);
    s += piece;
  }
  buf->outcnt += len;  // BUG: write
  unlock_log();
}

static void log_request(const char* client, const char* request, int status, size_t bytes) {
  char numbers[kMostLine];
  snprintf(numbers, sizeof(numbers), " %d %zu\n", status, bytes);
  const char* pieces[] = {client, " - - [18/Nov/2026:10:00:00 +0000] \"", request, "\"", numbers};
  buffered_log_writer(access_log, pieces, (int)(sizeof(pieces) / sizeof(pieces[0])));
}

// Reads up to the end of the line; 0 at the end of the stream.
static size_t read_line(int fd, char* line, size_t size) {
  size_t length = 0;
  while (length + 1 < size && read(fd, &line[length], 1) == 1) {
    if (line[length] == '\n') break;
    ++length;
  }
  line[length] = 0;
  return length;
}

static void* serve(void* argument) {
  const Worker* worker = argument;
  char request[kMostLine], client[32], answer[kMostLine];
  snprintf(client, sizeof(client), "10.0.0.%d", worker->number);
  while (read_line(worker->connection, request, sizeof(request)) > 0) {
    int found = strstr(request, "/missing") == NULL;
    int size =
        snprintf(answer, sizeof(answer), "HTTP/1.1 %s\n", found ? "200 OK" : "404 Not found");
    write_all(worker->connection, answer, (size_t)size);
    log_request(client, request, found ? 200 : 404, (size_t)size);
  }
  close(worker->connection);
  return NULL;
}

// The other end of the connections: one thread for all of them, one request under way on each.
static void* send_requests(void* argument) {
  const Worker* workers = argument;
  struct pollfd ends[kWorkers];
  int sent[kWorkers] = {0}, open = kWorkers;
  char line[kMostLine];
  for (int i = 0; i < kWorkers; ++i) {
    ends[i] = (struct pollfd){workers[i].connection, POLLOUT, 0};
  }
  while (open > 0) {
    if (poll(ends, kWorkers, -1) < 0) fail("apache_log: poll");
    for (int i = 0; i < kWorkers; ++i) {
      if (ends[i].fd < 0 || ends[i].revents == 0) continue;
      if (ends[i].events == POLLIN) read_line(ends[i].fd, line, sizeof(line));
      if (sent[i] == workers[i].requests) {
        close(ends[i].fd);
        ends[i].fd = -1;
        --open;
        continue;
      }
      const char* page = sent[i] % 7 == 3 ? "missing" : "a-page-with-a-rather-long-name";
      int size = snprintf(line, sizeof(line), "GET /%s/%d HTTP/1.1\n", page, sent[i]++);
      write_all(ends[i].fd, line, (size_t)size);
      ends[i].events = POLLIN;
    }
  }
  return NULL;
}

static BufferedLog* open_log(const char* path) {
  LogFile* file = malloc(sizeof(*file));
  BufferedLog* buf = malloc(sizeof(*buf));
  if (file == NULL || buf == NULL) fail("apache_log: memory");
  *file = (LogFile){open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600), path, 0};
  if (file->fd < 0) fail(path);
  buf->outcnt = 0;
  buf->file = file;
  return buf;
}

int main(int argc, char** argv) {
  if (argc < 2 || argc > 3) {
    fprintf(stderr, "usage: %s LOG [REQUESTS]\n", argv[0]);
    return 2;
  }
  int requests = argc > 2 ? atoi(argv[2]) : 1000;
  access_log = open_log(argv[1]);

  Worker workers[kWorkers], clients[kWorkers];
  pthread_t threads[kWorkers], client;
  for (int i = 0; i < kWorkers; ++i) {
    int ends[2];
    if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends) != 0) fail("apache_log: socketpair");
    workers[i] = (Worker){i, requests / kWorkers, ends[0]};
    clients[i] = (Worker){i, requests / kWorkers, ends[1]};
  }
  if (pthread_create(&client, NULL, send_requests, clients) != 0) fail("apache_log: thread");
  for (int i = 0; i < kWorkers; ++i) {
    if (pthread_create(&threads[i], NULL, serve, &workers[i]) != 0) fail("apache_log: thread");
  }
  for (int i = 0; i < kWorkers; ++i) pthread_join(threads[i], NULL);
  pthread_join(client, NULL);

  while (access_log->outcnt > 0) flush_log(access_log);
  printf("%d requests, %lu bytes of log\n", requests / kWorkers * kWorkers,
         access_log->file->written);
  close(access_log->file->fd);
  free(access_log->file);
  free(access_log);
  return 0;
}
