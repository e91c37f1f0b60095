// SPDX-License-Identifier: Apache-2.0
//
// What decides what: a line that ends in "by @x" is control dependent on the line that ends in
// "@x", the nearest one that is. The test asks svd-analyze for each of them.

#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

int by_hand(int n);  // decisions_by_hand.S

static volatile int value;
static jmp_buf landing;

static void if_else(int n) {
  if (n > 0)    // @if
    value = 1;  // by @if
  else
    value = 2;
  value = 3;  // by @call-if
}

static void loops(int n) {
  for (int i = 0; i < n; ++i) {  // @for
    if (i == 1) continue;        // @continue by @for
    value = i;                   // by @continue
    if (i == 5) break;           // @break by @continue
    value = i + 1;               // by @break
  }
  value = 4;  // by @call-loops
}

static void early(int n) {
  while (n > 0) {  // @while
    if (n == 2)    // @return by @while
      return;      // by @return
    --n;           // by @return
  }
}

static void backward(int n) {
again:
  value = n;
  if (n > 0) {  // @goto
    --n;        // by @goto
    goto again;
  }
}

static int positive(int n) { return n > 0; }

static void both(int a, int b) {
  if (positive(a) &&  // @left
      positive(b))    // by @left
    value = 20;
}

static void table(int n) {
  switch (n) {  // @switch
    case 0:
      value = 10;
      break;
    case 1:
      value = 11;
      break;
    case 2:
      value = 12;
      break;
    case 3:
      value = 13;
      break;  // by @switch
    case 4:
      value = 14;
      break;
    case 5:
      value = 15;
      break;
    default:
      value = 16;
  }
}

static int factorial(int n) {
  if (n < 2)   // @bottom
    return 1;  // by @bottom
  return n * factorial(n - 1);
}

static void gone(int n) {
  if (n == 7) longjmp(landing, n);
  value = n;
}

static void jumps(void) {
  int n = setjmp(landing);
  if (n == 0)  // @landed
    gone(7);
  else
    value = n;  // by @landed
}

static void handler(int number) {
  if (number == SIGUSR1)  // @handler
    value = number;       // by @handler
}

static int compare(const void* a, const void* b) {
  if (*(const int*)a < *(const int*)b)  // @callback
    return -1;                          // by @callback
  return 1;
}

static void check(int n) {
  if (n == 0) {  // @check
    fprintf(stderr, "no\n");
    abort();
  }
  value = n;  // by @check
}

int main(int argc, char** argv) {
  (void)argv;
  if_else(argc);  // @call-if
  loops(8);       // @call-loops
  early(4);
  backward(3);
  both(argc, argc);
  table(argc + 2);
  value = by_hand(argc);
  value = factorial(5);
  jumps();
  signal(SIGUSR1, handler);
  raise(SIGUSR1);
  int numbers[] = {3, 1, 2};
  qsort(numbers, 3, sizeof(numbers[0]), compare);
  check(argc);
  return 0;
}
