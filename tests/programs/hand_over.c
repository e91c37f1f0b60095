// SPDX-License-Identifier: Apache-2.0
//
// hand_over WHERE [late]: a thread hands a parcel over to another one by a flag of plain memory,
// which that one looks at between other work. Both lie in a mailbox, which is
//   static  a static variable
//   heap    allocated
// late: the flag is raised before all of the parcel is there.
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "expect.h"

struct mailbox {
  long parcel[4];
  volatile int ready;
};

static struct mailbox box;
static volatile long rounds;  // of other work
static int late;

static void put(struct mailbox* mail, int i) { mail->parcel[i] = 10 + i; }

static void* deliver(void* argument) {
  struct mailbox* mail = argument;
  for (int i = 0; i < 4 - late; i++) put(mail, i);
  mail->ready = 1;
  if (late) put(mail, 3);
  return NULL;
}

static void* collect(void* argument) {
  struct mailbox* mail = argument;
  while (!mail->ready) rounds++;
  long sum = 0;
  for (int i = 0; i < 4; i++) sum += mail->parcel[i];
  printf("%ld\n", sum);
  return NULL;
}

int main(int argc, char** argv) {
  EXPECT(argc > 1);
  struct mailbox* mail = strcmp(argv[1], "heap") == 0 ? calloc(1, sizeof *mail) : &box;
  late = argc > 2;
  pthread_t collector, deliverer;
  EXPECT(!pthread_create(&collector, NULL, collect, mail));
  EXPECT(!pthread_create(&deliverer, NULL, deliver, mail));
  EXPECT(!pthread_join(deliverer, NULL));
  EXPECT(!pthread_join(collector, NULL));
  if (mail != &box) free(mail);
  return 0;
}
