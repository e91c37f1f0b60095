// SPDX-License-Identifier: Apache-2.0
//
// The client of cache_server: a shop whose pages look up prices, and change them now and then. It
// has several connections with one request under way on each, all from one thread. The requests are
// the same in each run.
#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { kConnections = 3, kMostText = 512, kKeys = 10 };

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

// Mostly look-ups; an article that is sold out is deleted, and set anew soon after.
static void send_request(int connection, int number) {
  char line[kMostText];
  int key = number / kConnections % kKeys, size;
  switch (number % 8) {
    case 3:
      size = snprintf(line, sizeof(line), "delete article%d\n", key);
      break;
    case 0:
    case 6:
      size = snprintf(line, sizeof(line), "set article%d price %d, %d in stock\n", key,
                      number * 7 % 100, number % 50);
      break;
    default:
      size = snprintf(line, sizeof(line), "get article%d\n", key);
  }
  if (send(connection, line, (size_t)size, MSG_NOSIGNAL) != size) fail("cache_client: send");
}

// Reads one line.
static void receive_answer(int connection) {
  char answer[kMostText];
  ssize_t size = 0;
  do {
    ssize_t more = read(connection, answer + size, sizeof(answer) - (size_t)size);
    if (more <= 0) {
      fprintf(stderr, "cache_client: the server is gone\n");
      exit(1);
    }
    size += more;
  } while (answer[size - 1] != '\n');
}

int main(int argc, char** argv) {
  if (argc != 3) {
    fprintf(stderr, "usage: %s PORT REQUESTS\n", argv[0]);
    return 2;
  }
  int requests = atoi(argv[2]), sent = 0, open = kConnections;
  struct pollfd connections[kConnections];
  for (int i = 0; i < kConnections; ++i) {
    connections[i] = (struct pollfd){connect_to((unsigned)atoi(argv[1])), POLLIN, 0};
  }
  for (int i = 0; i < kConnections; ++i) send_request(connections[i].fd, sent++);
  while (open > 0) {
    if (poll(connections, kConnections, -1) < 0) fail("cache_client: poll");
    for (int i = 0; i < kConnections; ++i) {
      if (connections[i].fd < 0 || connections[i].revents == 0) continue;
      receive_answer(connections[i].fd);
      if (sent < requests) {
        send_request(connections[i].fd, sent++);
      } else {
        close(connections[i].fd);
        connections[i].fd = -1;
        --open;
      }
    }
  }
  return 0;
}
