// SPDX-License-Identifier: Apache-2.0
//
// Control flow that skips returns: longjmp out of deep recursion, in loops, in four threads at
// once, siglongjmp out of a handler, and contexts that switch stacks (makecontext, swapcontext).
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <ucontext.h>

#include "expect.h"

enum { kThreads = 4, kRounds = 300 };

static _Thread_local jmp_buf out;
static sigjmp_buf out_of_handler;
static ucontext_t outer, inner;
static int switches;

static void descend(int depth) {
  volatile char frame[64];
  frame[depth % 64] = 1;
  if (depth == 0) longjmp(out, frame[0] + 1);
  descend(depth - 1);
}

static void* run(void* unused) {
  (void)unused;
  volatile long jumps = 0;
  for (volatile int i = 0; i < kRounds; ++i) {
    int value = setjmp(out);
    if (value == 0) descend(i % 40);
    jumps += value;
  }
  return (void*)jumps;
}

static void on_signal(int number) { siglongjmp(out_of_handler, number); }

static void coroutine(void) {
  while (1) {
    ++switches;
    swapcontext(&inner, &outer);
  }
}

int main(void) {
  pthread_t threads[kThreads];
  long total = 0;
  for (int i = 0; i < kThreads; ++i) EXPECT(!pthread_create(&threads[i], NULL, run, NULL));
  for (int i = 0; i < kThreads; ++i) {
    void* jumps;
    EXPECT(!pthread_join(threads[i], &jumps));
    total += (long)jumps;
  }
  signal(SIGUSR1, on_signal);
  volatile int signals = 0;
  for (volatile int i = 0; i < 20; ++i) {
    if (sigsetjmp(out_of_handler, 1) == 0) {
      raise(SIGUSR1);
    } else {
      ++signals;
    }
  }
  static char stack[1 << 16];
  getcontext(&inner);
  inner.uc_stack.ss_sp = stack;
  inner.uc_stack.ss_size = sizeof(stack);
  makecontext(&inner, coroutine, 0);
  for (int i = 0; i < 50; ++i) swapcontext(&outer, &inner);
  printf("jumps %ld signals %d switches %d\n", total, signals, switches);
  return 0;
}
