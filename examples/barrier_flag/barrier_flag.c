// SPDX-License-Identifier: Apache-2.0
//
// A computation on a tree of boxes whose threads wait for each other by means of their own,
// modelled on the programs FMM and Barnes of SPLASH-2 (README.md has the story). Up the tree each
// box waits until all of its children have been added to it, a counter; down the tree each box
// waits until its parent is done, a flag.
//
// There is no bug: the races on counter and flag are how the threads synchronise. Compiled with
// CORRECT, which makes the twin, they use a mutex and a condition.
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>

enum { kThreads = 3, kBoxes = 63, kPoints = 16, kLeaves = (kBoxes + 1) / 2, kSpins = 64 };

typedef struct {
  pthread_mutex_t lock;
  volatile int synch;  // how many children have been added, over all rounds
  volatile int done;   // the last round in which the box was done
  int num_children;
  long sum;     // of all points below
  long weight;  // what the way down makes of it
  int points[kPoints];
} Box;

static Box boxes[kBoxes];
static int rounds;
#ifdef CORRECT
static pthread_mutex_t progress_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t progress = PTHREAD_COND_INITIALIZER;
#endif

static void fail(const char* what) {
  perror(what);
  exit(2);
}

static int is_leaf(int box) { return 2 * box + 1 >= kBoxes; }
static int parent_of(int box) { return (box - 1) / 2; }

// Waits until *variable is at least `value`.
static void wait_until(const volatile int* variable, int value) {
#ifdef CORRECT
  pthread_mutex_lock(&progress_lock);
  while (*variable < value) pthread_cond_wait(&progress, &progress_lock);
  pthread_mutex_unlock(&progress_lock);
#else
  for (int spins = 1; *variable < value; ++spins) {  // RACE: read
    __builtin_ia32_pause();
    if (spins % kSpins == 0) sched_yield();
  }
#endif
}

static void set(volatile int* variable, int value) {
#ifdef CORRECT
  pthread_mutex_lock(&progress_lock);
  *variable = value;
  pthread_cond_broadcast(&progress);
  pthread_mutex_unlock(&progress_lock);
#else
  *variable = value;  // RACE: write
#endif
}

// Adds what the box has to its parent, once all that belongs to the box is there.
static void go_up(int number, int round) {
  Box* box = &boxes[number];
  if (is_leaf(number)) {
    box->sum = 0;
    for (int i = 0; i < kPoints; ++i) box->sum += (long)box->points[i] * round;
  } else {
    wait_until(&box->synch, box->num_children * round);
  }
  if (number == 0) return;
  Box* parent = &boxes[parent_of(number)];
  pthread_mutex_lock(&parent->lock);
  parent->sum += box->sum;
  set(&parent->synch, parent->synch + 1);
  pthread_mutex_unlock(&parent->lock);
}

static void go_down(int number, int round) {
  Box* box = &boxes[number];
  if (number == 0) {
    box->weight = 1;
  } else {
    wait_until(&boxes[parent_of(number)].done, round);
    box->weight = boxes[parent_of(number)].weight + box->sum % 7;
  }
  if (!is_leaf(number)) box->sum = 0;
  set(&box->done, round);
}

// Box i belongs to thread i modulo their number. Children have higher numbers than parents, so the
// highest one on the way up, and the lowest one on the way down, never has to wait.
static void* work(void* argument) {
  int thread = *(const int*)argument;
  for (int round = 1; round <= rounds; ++round) {
    for (int box = kBoxes - 1; box >= 0; --box) {
      if (box % kThreads == thread) go_up(box, round);
    }
    for (int box = 0; box < kBoxes; ++box) {
      if (box % kThreads == thread) go_down(box, round);
    }
  }
  return NULL;
}

static void read_points(const char* path) {
  FILE* file = fopen(path, "w");
  if (file == NULL) fail(path);
  for (int i = 0; i < kLeaves * kPoints; ++i) fprintf(file, "%d\n", i * 7919 % 1000);
  if (fclose(file) != 0) fail(path);

  file = fopen(path, "r");
  if (file == NULL) fail(path);
  for (int i = 0; i < kBoxes; ++i) {
    pthread_mutex_init(&boxes[i].lock, NULL);
    if (!is_leaf(i)) {
      boxes[i].num_children = 2;
      continue;
    }
    for (int point = 0; point < kPoints; ++point) {
      if (fscanf(file, "%d", &boxes[i].points[point]) != 1) fail(path);
    }
  }
  fclose(file);
}

// What one thread alone makes of the last round.
static long expected_weight(void) {
  long sums[kBoxes] = {0}, weights[kBoxes] = {1}, total = 1;
  for (int box = kBoxes - 1; box > 0; --box) {
    if (is_leaf(box)) {
      for (int i = 0; i < kPoints; ++i) sums[box] += (long)boxes[box].points[i] * rounds;
    }
    sums[parent_of(box)] += sums[box];
  }
  for (int box = 1; box < kBoxes; ++box) {
    weights[box] = weights[parent_of(box)] + sums[box] % 7;
    total += weights[box];
  }
  return total;
}

int main(int argc, char** argv) {
  if (argc < 2 || argc > 3) {
    fprintf(stderr, "usage: %s POINTS [ROUNDS]\n", argv[0]);
    return 2;
  }
  rounds = argc > 2 ? atoi(argv[2]) : 20;
  read_points(argv[1]);

  int numbers[kThreads];
  pthread_t threads[kThreads];
  for (int i = 0; i < kThreads; ++i) {
    numbers[i] = i;
    if (pthread_create(&threads[i], NULL, work, &numbers[i]) != 0) fail("barrier_flag: thread");
  }
  for (int i = 0; i < kThreads; ++i) pthread_join(threads[i], NULL);

  long total = 0;
  for (int i = 0; i < kBoxes; ++i) total += boxes[i].weight;
  printf("%d rounds, total weight %ld\n", rounds, total);
  if (total == expected_weight()) return 0;
  printf("expected %ld\n", expected_weight());
  return 1;
}
