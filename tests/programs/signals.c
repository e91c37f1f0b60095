// SPDX-License-Identifier: Apache-2.0
//
// Signals that a program survives: handlers with siginfo, on an alternate stack, nested, sent
// between threads, interrupting a system call; an interval timer; sigwait; a fault that its handler
// mends, and one that it leaves by siglongjmp.
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <unistd.h>

#include "expect.h"

static volatile sig_atomic_t usr1, usr2, alarms, on_alternate, mended;
static char* page;
static sigjmp_buf back;
static char alternate[1 << 16];

static void on_usr1(int number, siginfo_t* info, void* context) {
  (void)context;
  EXPECT(number == SIGUSR1 && info->si_pid == getpid());
  ++usr1;
  raise(SIGUSR2);
}
static void on_usr2(int number) {
  char here;
  on_alternate += &here >= alternate && &here < alternate + sizeof(alternate);
  usr2 += number == SIGUSR2;
}
static void on_alarm(int number) { alarms += number == SIGALRM; }

static void on_segv(int number, siginfo_t* info, void* context) {
  (void)context;
  EXPECT(number == SIGSEGV);
  if (info->si_addr == page) {
    EXPECT(mprotect(page, 4096, PROT_READ | PROT_WRITE) == 0);
    ++mended;
  } else {
    siglongjmp(back, 1);
  }
}

static void handle(int number, void* handler, int flags) {
  struct sigaction action;
  memset(&action, 0, sizeof(action));
  action.sa_flags = flags;
  action.sa_sigaction = (void (*)(int, siginfo_t*, void*))handler;
  EXPECT(sigaction(number, &action, NULL) == 0);
}

static void* sleeper(void* unused) {
  (void)unused;
  usleep(100000000);  // until the signal
  return (void*)(long)errno;
}

int main(void) {
  stack_t stack = {.ss_sp = alternate, .ss_size = sizeof(alternate)};
  EXPECT(sigaltstack(&stack, NULL) == 0);
  handle(SIGUSR1, (void*)on_usr1, SA_SIGINFO);
  handle(SIGUSR2, (void*)on_usr2, SA_ONSTACK);
  handle(SIGALRM, (void*)on_alarm, SA_RESTART);
  handle(SIGSEGV, (void*)on_segv, SA_SIGINFO);

  for (int i = 0; i < 50; ++i) kill(getpid(), SIGUSR1);
  printf("usr1 %d usr2 %d on the alternate stack %d\n", usr1, usr2, on_alternate);

  pthread_t thread;
  void* result;
  EXPECT(!pthread_create(&thread, NULL, sleeper, NULL));
  usleep(50000);
  EXPECT(pthread_kill(thread, SIGUSR2) == 0 && !pthread_join(thread, &result));
  printf("usr2 %d interrupted %d\n", usr2, (long)result == EINTR);

  struct itimerval timer = {{0, 2000}, {0, 2000}};
  EXPECT(setitimer(ITIMER_REAL, &timer, NULL) == 0);
  volatile double work = 1;
  while (alarms < 5) work = work * 1.0001 + 1;
  memset(&timer, 0, sizeof(timer));
  EXPECT(setitimer(ITIMER_REAL, &timer, NULL) == 0);
  printf("alarms %d\n", alarms >= 5);

  page = mmap(NULL, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  page[0] = 'm';
  EXPECT(page[0] == 'm' && mended == 1);
  if (sigsetjmp(back, 1) == 0) *(volatile int*)8 = 1;
  printf("mended %d\n", mended);

  sigset_t set;
  int number = 0;
  sigemptyset(&set);
  sigaddset(&set, SIGTERM);
  EXPECT(sigprocmask(SIG_BLOCK, &set, NULL) == 0 && raise(SIGTERM) == 0);
  EXPECT(sigwait(&set, &number) == 0 && number == SIGTERM);
  printf("waited for %d\n", number);
  return 0;
}
