// SPDX-License-Identifier: Apache-2.0
//
// The client of cache_server: a shop whose pages look up prices, and change them now and then. A
// page needs many at a time: it sends a batch of requests over each of its connections, and reads
// the answers when all are under way. The requests are the same in each run.
#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { kConnections = 3, kMostText = 4096, kMostLine = 64, kKeys = 5, kBatch = 100 };

static void fail(const char* what) {
  perror(what);
  exit(2);
}

static int connect_to(unsigned port) {
  struct sockaddr_in address = {.sin_family = AF_INET,
                                .sin_port = htons((unsigned short)port),
                                .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
  int connection = socket(AF_INET, SOCK_STREAM, 0);
  if (connection < 0) fail("cache_client: socket");
  if (connect(connection, (struct sockaddr*)&address, sizeof(address)) != 0) {
    fail("cache_client: connect");
  }
  return connection;
}

typedef struct {
  int fd;
  size_t size;
  char text[kBatch * kMostLine];
} Connection;

// Writes requests down. Mostly look-ups; an article that is sold out is deleted, and set anew soon
// after. Each shop is at another article.
static void prepare_requests(Connection* connection, int shop, int first) {
  connection->size = 0;
  for (int number = first; number < first + kBatch; ++number) {
    char* line = connection->text + connection->size;
    int key = (number * 7 + shop * 3) % kKeys, length;
    switch (number % 8) {
      case 3:
        length = snprintf(line, kMostLine, "delete article%d\n", key);
        break;
      case 0:
      case 6:
        length = snprintf(line, kMostLine, "set article%d price %d, %d in stock\n", key,
                          number * 7 % 100, number % 50);
        break;
      default:
        length = snprintf(line, kMostLine, "get article%d\n", key);
    }
    connection->size += (size_t)length;
  }
}

static void send_requests(const Connection* connection) {
  ssize_t sent = send(connection->fd, connection->text, connection->size, MSG_NOSIGNAL);
  if (sent != (ssize_t)connection->size) fail("cache_client: send");
}

// Every answer is a line.
static void receive_answers(const Connection* connection) {
  char text[kMostText];
  for (int lines = 0; lines < kBatch;) {
    ssize_t size = read(connection->fd, text, sizeof(text));
    if (size <= 0) {
      fprintf(stderr, "cache_client: the server is gone\n");
      exit(1);
    }
    for (ssize_t i = 0; i < size; ++i) lines += text[i] == '\n';
  }
}

int main(int argc, char** argv) {
  if (argc != 3) {
    fprintf(stderr, "usage: %s PORT PAGES\n", argv[0]);
    return 2;
  }
  static Connection connections[kConnections];
  for (int i = 0; i < kConnections; ++i) connections[i].fd = connect_to((unsigned)atoi(argv[1]));
  for (int page = 0; page < atoi(argv[2]); ++page) {
    for (int i = 0; i < kConnections; ++i) prepare_requests(&connections[i], i, page * kBatch);
    for (int i = 0; i < kConnections; ++i) send_requests(&connections[i]);
    for (int i = 0; i < kConnections; ++i) receive_answers(&connections[i]);
  }
  for (int i = 0; i < kConnections; ++i) close(connections[i].fd);
  return 0;
}
