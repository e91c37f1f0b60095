// SPDX-License-Identifier: Apache-2.0
//
// server REQUESTS: a TCP server on loopback, a thread a connection, with a shared table under a
// mutex, and its own client that sends REQUESTS requests over each of four connections.
#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "team.h"

enum { kValues = 256, kLine = 128 };

static size_t requests;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static char values[kValues][kLine];
static struct sockaddr_in address;

static void check(int ok, const char* what) {
  if (ok) return;
  perror(what);
  exit(1);
}

static void answer(char* line) {
  unsigned key = 0;
  char value[kLine];
  if (sscanf(line, "set %u %127s", &key, value) == 2) {
    pthread_mutex_lock(&mutex);
    strcpy(values[key % kValues], value);
    pthread_mutex_unlock(&mutex);
    strcpy(line, "stored\n");
  } else if (sscanf(line, "get %u", &key) == 1) {
    pthread_mutex_lock(&mutex);
    snprintf(line, kLine, "%.100s\n", values[key % kValues]);
    pthread_mutex_unlock(&mutex);
  }
}

static void* serve(void* connection) {
  int fd = (int)(long)connection;
  char line[kLine + 1];
  for (ssize_t size; (size = recv(fd, line, kLine, 0)) > 0;) {
    line[size] = 0;
    answer(line);
    check(send(fd, line, strlen(line), 0) > 0, "send");
  }
  close(fd);
  return NULL;
}

static void* work(void* me) {
  int fd = socket(AF_INET, SOCK_STREAM, 0), on = 1;
  char line[kLine + 1];
  check(connect(fd, (struct sockaddr*)&address, sizeof(address)) == 0, "connect");
  setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
  for (size_t i = 0; i < requests; ++i) {
    unsigned key = (unsigned)(i * 7 + (size_t)me);
    int size = i % 3 == 0 ? snprintf(line, kLine, "set %u value-%zu-of-%u\n", key, i, key)
                          : snprintf(line, kLine, "get %u\n", key);
    check(send(fd, line, (size_t)size, 0) == size, "send");
    check(recv(fd, line, kLine, 0) > 0, "recv");
  }
  close(fd);
  return NULL;
}

static void* run_clients(void* unused) {
  team_run(work);
  return unused;
}

int main(int argc, char** argv) {
  requests = size_argument(argc, argv);
  int listener = socket(AF_INET, SOCK_STREAM, 0);
  socklen_t size = sizeof(address);
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  check(bind(listener, (struct sockaddr*)&address, sizeof(address)) == 0, "bind");
  check(listen(listener, kTeam) == 0, "listen");
  check(getsockname(listener, (struct sockaddr*)&address, &size) == 0, "getsockname");
  pthread_t client, servers[kTeam];
  check(pthread_create(&client, NULL, run_clients, NULL) == 0, "thread");
  for (int i = 0; i < kTeam; ++i) {
    int fd = accept(listener, NULL, NULL), on = 1;
    check(fd >= 0, "accept");
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
    check(pthread_create(&servers[i], NULL, serve, (void*)(long)fd) == 0, "thread");
  }
  pthread_join(client, NULL);
  for (int i = 0; i < kTeam; ++i) pthread_join(servers[i], NULL);
  printf("%s\n", values[0]);
  return 0;
}
