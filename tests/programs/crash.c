// SPDX-License-Identifier: Apache-2.0
//
// crash HOW: dies, in the way that HOW says; see the table. In a second thread with "thread-"
// before it. "overflow-handled" survives by its alternate stack and exits 3.
#define _GNU_SOURCE
#include <assert.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "expect.h"

static volatile int zero, seven = 7;
static char alternate[1 << 16];

static void segv(void) { *(volatile int*)0x10 = 42; }
static void segv_read(void) { EXPECT(*(volatile int*)0x10 == 42); }
static void jump_to_nowhere(void) { ((void (*)(void))0x1234)(); }
static void fpe(void) { exit(seven / zero); }
static void ill(void) { __builtin_trap(); }
static void trap(void) { __asm__ volatile("int3"); }
static void abort_it(void) { abort(); }
static void assert_it(void) { assert(zero == 1); }
static void terminate(void) { kill(getpid(), SIGTERM); }
static void killed(void) { kill(getpid(), SIGKILL); }
static void twice(void) {
  char* block = malloc(24);
  free(block);
  free(block);
}
static void bus(void) {
  int fd = memfd_create("empty", 0);
  char* memory = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  memory[0] = 1;
}

static int overflow_depth(volatile char* outer) {
  volatile char frame[1024];
  frame[0] = outer[0];
  return overflow_depth(frame) + frame[0];
}
static void overflow(void) { exit(overflow_depth(alternate)); }

static void exit_3(int number) { _exit(number == SIGSEGV ? 3 : 4); }
static void crash_again(int number) { *(volatile int*)(8L * number) = 1; }

static void handle(void (*handler)(int), int flags) {
  stack_t stack = {.ss_sp = alternate, .ss_size = sizeof(alternate)};
  struct sigaction action;
  memset(&action, 0, sizeof(action));
  action.sa_handler = handler;
  action.sa_flags = flags;
  EXPECT(sigaltstack(&stack, NULL) == 0 && sigaction(SIGSEGV, &action, NULL) == 0);
}
static void overflow_handled(void) {
  handle(exit_3, SA_ONSTACK);
  overflow();
}
static void in_handler(void) {
  handle(crash_again, 0);
  segv();
}

static const struct {
  const char* name;
  void (*crash)(void);
} ways[] = {
    {"segv", segv},
    {"segv-read", segv_read},
    {"jump", jump_to_nowhere},
    {"fpe", fpe},
    {"ill", ill},
    {"trap", trap},
    {"abort", abort_it},
    {"assert", assert_it},
    {"term", terminate},
    {"kill", killed},
    {"double-free", twice},
    {"bus", bus},
    {"overflow", overflow},
    {"overflow-handled", overflow_handled},
    {"in-handler", in_handler},
};

static void* run(void* name) {
  for (size_t i = 0; i < sizeof(ways) / sizeof(ways[0]); ++i) {
    if (strcmp(ways[i].name, name) == 0) ways[i].crash();
  }
  return NULL;
}

int main(int argc, char** argv) {
  EXPECT(argc == 2);
  printf("before\n");
  fflush(stdout);
  if (strncmp(argv[1], "thread-", 7) == 0) {
    pthread_t thread;
    EXPECT(!pthread_create(&thread, NULL, run, argv[1] + 7) && !pthread_join(thread, NULL));
  } else {
    run(argv[1]);
  }
  printf("still alive\n");
  return 98;
}
