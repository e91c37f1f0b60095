// SPDX-License-Identifier: Apache-2.0
//
// nbody STEPS: 128 bodies attract each other; four threads share them out and meet after each step.
#include <math.h>

#include "team.h"

enum { kBodies = 128 };

typedef struct {
  double position[3], velocity[3], mass;
} Body;

static Body bodies[kBodies];
static size_t steps;

static void pull(Body* body) {
  for (int k = 0; k < kBodies; ++k) {
    double d[3], square = 0.01;
    for (int c = 0; c < 3; ++c) {
      d[c] = bodies[k].position[c] - body->position[c];
      square += d[c] * d[c];
    }
    double force = bodies[k].mass / (square * sqrt(square)) * 0.001;
    for (int c = 0; c < 3; ++c) body->velocity[c] += d[c] * force;
  }
}

static void* work(void* me) {
  size_t first = kBodies / kTeam * (size_t)me, end = first + kBodies / kTeam;
  for (size_t step = 0; step < steps; ++step) {
    for (size_t i = first; i < end; ++i) pull(&bodies[i]);
    team_meet();
    for (size_t i = first; i < end; ++i) {
      for (int c = 0; c < 3; ++c) bodies[i].position[c] += bodies[i].velocity[c] * 0.001;
    }
    team_meet();
  }
  return NULL;
}

int main(int argc, char** argv) {
  steps = size_argument(argc, argv);
  uint32_t random = 1;
  for (int i = 0; i < kBodies; ++i) {
    for (int c = 0; c < 3; ++c) bodies[i].position[c] = next_random(&random) / 4e9;
    bodies[i].mass = 1 + i % 3;
  }
  team_run(work);
  printf("%.6f\n", bodies[0].position[0]);
  return 0;
}
