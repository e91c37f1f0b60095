// SPDX-License-Identifier: Apache-2.0
//
// The client of cache_server: a shop whose pages look up prices, and change them now and then. A
// page needs several of them, so requests are sent by the batch, one batch under way on each
// connection, all from one thread. The requests are the same in each run.
#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { kConnections = 3, kMostText = 4096, kMostLine = 64, kKeys = 5, kBatch = 20 };

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

// Sends so many requests in one piece; each shop is at another article. Mostly look-ups; an article
// that is sold out is deleted, and set anew soon after.
static void send_requests(int connection, int shop, int first, int count) {
  char text[kBatch * kMostLine];
  size_t size = 0;
  for (int number = first; number < first + count; ++number) {
    char* line = text + size;
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
    size += (size_t)length;
  }
  if (send(connection, text, size, MSG_NOSIGNAL) != (ssize_t)size) fail("cache_client: send");
}

// Reads what there is, and returns how many answers, that is lines, end in it.
static int receive_answers(int connection) {
  char text[kMostText];
  ssize_t size = read(connection, text, sizeof(text));
  if (size <= 0) {
    fprintf(stderr, "cache_client: the server is gone\n");
    exit(1);
  }
  int lines = 0;
  for (ssize_t i = 0; i < size; ++i) lines += text[i] == '\n';
  return lines;
}

int main(int argc, char** argv) {
  if (argc != 3) {
    fprintf(stderr, "usage: %s PORT REQUESTS\n", argv[0]);
    return 2;
  }
  int requests = atoi(argv[2]) / kConnections, open = kConnections;
  int sent[kConnections] = {0}, answered[kConnections] = {0};
  struct pollfd connections[kConnections];
  for (int i = 0; i < kConnections; ++i) {
    connections[i] = (struct pollfd){connect_to((unsigned)atoi(argv[1])), POLLOUT, 0};
  }
  while (open > 0) {
    if (poll(connections, kConnections, -1) < 0) fail("cache_client: poll");
    for (int i = 0; i < kConnections; ++i) {
      if (connections[i].fd < 0 || connections[i].revents == 0) continue;
      if (connections[i].events == POLLIN) answered[i] += receive_answers(connections[i].fd);
      if (answered[i] < sent[i]) continue;
      int count = requests - sent[i] < kBatch ? requests - sent[i] : kBatch;
      if (count > 0) {
        send_requests(connections[i].fd, i, sent[i], count);
        connections[i].events = POLLIN;
        sent[i] += count;
      } else {
        close(connections[i].fd);
        connections[i].fd = -1;
        --open;
      }
    }
  }
  return 0;
}
