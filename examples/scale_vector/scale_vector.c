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
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { kMostText = 64 };

typedef struct {
  double x, y;
  int scaled;
} Vector;

typedef struct {
  int connection;
  int file;
  unsigned long frames;
  unsigned long wrong;
} Display;

typedef struct {
  int sensor, display;
  int vectors;
} Source;

static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static Vector vector = {1, 1, 1};

static void fail(const char* what) {
  perror(what);
  exit(2);
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

// The sensor sends two numbers at a time.
static void* read_sensor(void* argument) {
  const int* connection = argument;
  int numbers[2];
  while (read(*connection, numbers, sizeof(numbers)) == sizeof(numbers)) {
    set_vector(numbers[0], numbers[1]);
    if (write(*connection, "k", 1) != 1) fail("scale_vector: write");
  }
  close(*connection);
  return NULL;
}

// The display's clock says when to draw.
static void* draw(void* argument) {
  Display* display = argument;
  char tick;
  while (read(display->connection, &tick, 1) == 1) {
    scale_vector();
    show_vector(display);
    if (write(display->connection, "k", 1) != 1) fail("scale_vector: write");
  }
  close(display->connection);
  return NULL;
}

static void* generate(void* argument) {
  const Source* source = argument;
  for (int i = 0; i < source->vectors; ++i) {
    int numbers[2] = {1 + i * 37 % 100, 1 + i * 53 % 90};
    char answer;
    if (write(source->display, "t", 1) != 1) fail("scale_vector: write");
    if (write(source->sensor, numbers, sizeof(numbers)) != sizeof(numbers)) {
      fail("scale_vector: write");
    }
    if (read(source->display, &answer, 1) != 1) fail("scale_vector: answer");
    if (read(source->sensor, &answer, 1) != 1) fail("scale_vector: answer");
  }
  close(source->sensor);
  close(source->display);
  return NULL;
}

int main(int argc, char** argv) {
  if (argc < 2 || argc > 3) {
    fprintf(stderr, "usage: %s FRAMES [VECTORS]\n", argv[0]);
    return 2;
  }
  int sensor_ends[2], display_ends[2];
  if (socketpair(AF_UNIX, SOCK_STREAM, 0, sensor_ends) != 0) fail("scale_vector: socketpair");
  if (socketpair(AF_UNIX, SOCK_STREAM, 0, display_ends) != 0) fail("scale_vector: socketpair");
  Display display = {.connection = display_ends[0]};
  display.file = open(argv[1], O_WRONLY | O_CREAT | O_TRUNC, 0600);
  if (display.file < 0) fail(argv[1]);
  Source source = {sensor_ends[1], display_ends[1], argc > 2 ? atoi(argv[2]) : 600};

  pthread_t sensing, drawing, generating;
  if (pthread_create(&sensing, NULL, read_sensor, &sensor_ends[0]) != 0 ||
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
