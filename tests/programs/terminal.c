// SPDX-License-Identifier: Apache-2.0
//
// Talks to a terminal: asks, switches echo off and on, reads a line, answers; without a terminal it
// says so and exits 1.
#include <string.h>
#include <termios.h>
#include <unistd.h>

#include "expect.h"

int main(void) {
  if (!isatty(0) || !isatty(1)) {
    printf("no terminal\n");
    return 1;
  }
  printf("name? ");
  fflush(stdout);
  struct termios before, quiet;
  EXPECT(tcgetattr(0, &before) == 0);
  quiet = before;
  quiet.c_lflag &= (tcflag_t)~ECHO;
  EXPECT(tcsetattr(0, TCSANOW, &quiet) == 0);
  char line[100];
  if (fgets(line, sizeof(line), stdin) == NULL) return 2;
  EXPECT(tcsetattr(0, TCSANOW, &before) == 0);
  line[strcspn(line, "\n")] = 0;
  printf("hello %s\n", line);
  return 0;
}
