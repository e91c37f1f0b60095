// SPDX-License-Identifier: Apache-2.0
//
// daemon FILE: becomes a daemon by two forks and setsid, which then writes its line to FILE. The
// first process waits for nothing and exits 0.
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "expect.h"

int main(int argc, char** argv) {
  EXPECT(argc == 2);
  printf("going\n");
  fflush(stdout);
  pid_t child = fork();
  EXPECT(child >= 0);
  if (child > 0) return 0;
  EXPECT(setsid() >= 0);
  child = fork();
  EXPECT(child >= 0);
  if (child > 0) _exit(0);
  umask(0077);
  for (int fd = 0; fd < 3; ++fd) close(fd);
  char name[4096];
  snprintf(name, sizeof(name), "%s.new", argv[1]);
  int fd = open(name, O_WRONLY | O_CREAT | O_TRUNC, 0600);
  static const char kLine[] = "the daemon was here\n";
  if (fd < 0 || write(fd, kLine, strlen(kLine)) < 0 || close(fd) != 0) _exit(1);
  return rename(name, argv[1]) == 0 ? 0 : 1;
}
