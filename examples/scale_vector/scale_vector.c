// SPDX-License-Identifier: Apache-2.0
//
// An instrument in miniature: a sensor delivers vectors, and the display wants them scaled so that
// the greater component is 1 (README.md has the story: it is the scaleVector function of
// "Detection of High-Level Synchronization Anomalies in Parallel Programs").
//
// Scaling takes the lock twice, once to read the vector and once to write it. Compiled with
// CORRECT, which makes the twin, it takes the lock once.
#include <fcntl.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { kMostText = 64 };

typedef struct {
  double x, y;
  int scaled;
} Vector;

typedef struct {
  sem_t asked, answered;
  int numbers[2];  // 0: no more vectors
} Sensor;

typedef struct {
  sem_t asked, answered;
  int is_over;
  int file;
  unsigned long frames;
  unsigned long wrong;
} Display;

typedef struct {
  Sensor* sensor;
  Display* display;
  int vectors;
} Source;

static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static Vector vector = {1, 1, 1};

static void fail(const char* what) {
  perror(what);
  exit(2);
}

static void wait_for(sem_t* semaphore) {
  while (sem_wait(semaphore) != 0) continue;
}

static void set_vector(double x, double y) {
  pthread_mutex_lock(&m);
  vector.x = x;  // BUG: remote write
  vector.y = y;  // BUG: remote write
  vector.scaled = 0;
  pthread_mutex_unlock(&m);
}

static void scale_vector(void) {
  pthread_mutex_lock(&m);
  double a = vector.x, b = vector.y;  // BUG: read
  int scaled = vector.scaled;
#ifndef CORRECT
  pthread_mutex_unlock(&m);
#endif
  double max = a > b ? a : b;
#ifndef CORRECT
  pthread_mutex_lock(&m);
#endif
  if (!scaled) {
    vector.x /= max;  // BUG: write
    vector.y /= max;  // BUG: write
    vector.scaled = 1;
  }
  pthread_mutex_unlock(&m);
}

// Writes the vector down, unless it still has to be scaled.
static void show_vector(Display* display) {
  pthread_mutex_lock(&m);
  Vector shown = vector;
  pthread_mutex_unlock(&m);
  if (!shown.scaled) return;
  char line[kMostText];
  int size = snprintf(line, sizeof(line), "%d %d\n", (int)(shown.x * 1000), (int)(shown.y * 1000));
  if (write(display->file, line, (size_t)size) != size) fail("scale_vector: write");
  display->frames++;
  if ((shown.x > shown.y ? shown.x : shown.y) != 1) display->wrong++;
}

// The sensor has two numbers at a time.
static void* read_sensor(void* argument) {
  Sensor* sensor = argument;
  for (;;) {
    wait_for(&sensor->asked);
    if (sensor->numbers[0] == 0) return NULL;
    set_vector(sensor->numbers[0], sensor->numbers[1]);
    sem_post(&sensor->answered);
  }
}

// The display's clock says when to draw.
static void* draw(void* argument) {
  Display* display = argument;
  for (;;) {
    wait_for(&display->asked);
    if (display->is_over) return NULL;
    scale_vector();
    show_vector(display);
    sem_post(&display->answered);
  }
}

static void* generate(void* argument) {
  const Source* source = argument;
  for (int i = 0; i < source->vectors; ++i) {
    sem_post(&source->display->asked);
    source->sensor->numbers[0] = 1 + i * 37 % 100;
    source->sensor->numbers[1] = 1 + i * 53 % 90;
    sem_post(&source->sensor->asked);
    wait_for(&source->display->answered);
    wait_for(&source->sensor->answered);
  }
  source->sensor->numbers[0] = 0;
  sem_post(&source->sensor->asked);
  source->display->is_over = 1;
  sem_post(&source->display->asked);
  return NULL;
}

int main(int argc, char** argv) {
  if (argc < 2 || argc > 3) {
    fprintf(stderr, "usage: %s FRAMES [VECTORS]\n", argv[0]);
    return 2;
  }
  Sensor sensor = {0};
  Display display = {0};
  sem_init(&sensor.asked, 0, 0);
  sem_init(&sensor.answered, 0, 0);
  sem_init(&display.asked, 0, 0);
  sem_init(&display.answered, 0, 0);
  display.file = open(argv[1], O_WRONLY | O_CREAT | O_TRUNC, 0600);
  if (display.file < 0) fail(argv[1]);
  Source source = {&sensor, &display, argc > 2 ? atoi(argv[2]) : 600};

  pthread_t sensing, drawing, generating;
  if (pthread_create(&sensing, NULL, read_sensor, &sensor) != 0 ||
      pthread_create(&drawing, NULL, draw, &display) != 0 ||
      pthread_create(&generating, NULL, generate, &source) != 0) {
    fail("scale_vector: thread");
  }
  pthread_join(generating, NULL);
  pthread_join(sensing, NULL);
  pthread_join(drawing, NULL);
  close(display.file);

  printf("%d vectors\n", source.vectors);
  if (display.wrong != 0) printf("%lu frames are not scaled to 1\n", display.wrong);
  return display.wrong != 0;
}
