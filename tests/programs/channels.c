// SPDX-License-Identifier: Apache-2.0
//
// Threads that tell each other numbers through a file, a pipe, a pair of sockets and a stream of
// the C library. The line marked "@x" is where the number comes from that the one marked "from @x"
// looks at. What is marked "lost" never arrives.
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#include "expect.h"

static int file, ends[2], pair[2];
static char stream_name[] = "/tmp/svd-channels-XXXXXX";
static volatile int base = 40;
static int seen;

static void* lose_number(void* unused) {
  int number = base - 1;  // lost
  EXPECT(write(file, &number, sizeof(number)) == sizeof(number));
  EXPECT(pwrite(file, &number, sizeof(number), 96) == sizeof(number));
  return unused;
}

static void* to_file(void* unused) {
  int number = base + 1;  // @file
  EXPECT(pwrite(file, &number, sizeof(number), 64) == sizeof(number));
  return unused;
}

static void* to_pipe(void* unused) {
  usleep(20000);  // the reader waits
  char padding[3] = "to";
  int number = base + 2;  // @pipe
  struct iovec parts[2] = {{padding, sizeof(padding)}, {&number, sizeof(number)}};
  EXPECT(writev(ends[1], parts, 2) == sizeof(padding) + sizeof(number));
  return unused;
}

static void* to_socket(void* unused) {
  int answer = 0, number = base + 3;  // @socket
  EXPECT(send(pair[0], &number, sizeof(number), 0) == sizeof(number));
  EXPECT(recv(pair[0], &answer, sizeof(answer), 0) == sizeof(answer));
  seen += answer;  // from @answer
  return unused;
}

static void* to_stream(void* unused) {
  FILE* stream = fopen(stream_name, "w");
  for (int i = 0; i < 1000; ++i) {
    int number = base * i;  // @stream
    fprintf(stream, "number %d\n", number);
  }
  fclose(stream);
  return unused;
}

static void run(void* (*routine)(void*)) {
  pthread_t thread;
  EXPECT(pthread_create(&thread, NULL, routine, NULL) == 0 && pthread_join(thread, NULL) == 0);
}

static void of_file(void) {
  char name[] = "/tmp/svd-channels-XXXXXX";
  file = mkstemp(name);
  int number = 0;
  run(lose_number);
  EXPECT(ftruncate(file, 0) == 0);
  run(to_file);
  int other = open(name, O_RDONLY);
  EXPECT(unlink(name) == 0 && lseek(other, 64, SEEK_SET) == 64);
  EXPECT(read(other, &number, sizeof(number)) == sizeof(number));
  seen += number;  // from @file
}

static void of_pipe(void) {
  char padding[3];
  int number = 0;
  pthread_t thread;
  EXPECT(pipe(ends) == 0 && pthread_create(&thread, NULL, to_pipe, NULL) == 0);
  struct iovec parts[2] = {{padding, sizeof(padding)}, {&number, sizeof(number)}};
  EXPECT(readv(ends[0], parts, 2) == sizeof(padding) + sizeof(number));
  seen += number;  // from @pipe
  pthread_join(thread, NULL);
}

static void of_socket(void) {
  int number = 0;
  pthread_t thread;
  EXPECT(socketpair(AF_UNIX, SOCK_STREAM, 0, pair) == 0);
  EXPECT(pthread_create(&thread, NULL, to_socket, NULL) == 0);
  EXPECT(read(pair[1], &number, sizeof(number)) == sizeof(number));
  int answer = number;  // @answer
  EXPECT(write(pair[1], &answer, sizeof(answer)) == sizeof(answer));
  seen += number;  // from @socket
  pthread_join(thread, NULL);
}

static void of_stream(void) {
  close(mkstemp(stream_name));
  run(to_stream);
  FILE* stream = fopen(stream_name, "r");
  char line[32];
  for (int i = 0; i < 999; ++i) EXPECT(fgets(line, sizeof(line), stream) == line);
  seen += line[7];  // from @stream
  fclose(stream);
  unlink(stream_name);
}

int main(void) {
  of_file();
  of_pipe();
  of_socket();
  of_stream();
  printf("seen %d\n", seen);
  return 0;
}
