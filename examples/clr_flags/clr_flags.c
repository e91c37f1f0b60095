// SPDX-License-Identifier: Apache-2.0
//
// Two threads that ask types for their attributes, modelled on a test case of Microsoft's CLR
// (README.md has the story). Whether a type has an attribute is found out at the first question and
// kept in a byte of flags: a bit that the answer is known, and the answer, for each attribute.
//
// The threads ask for different attributes, so nobody thought of a lock; but the bits share a byte.
// Compiled with CORRECT, which makes the twin, the byte changes atomically.
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { kMostText = 96, kMostPath = 256, kMostTypes = 20000, kGroup = 2 };
enum { VALUE_A = 1, VALID_A = 2, VALUE_B = 4, VALID_B = 8 };

typedef struct {
  char text[kMostText];  // the declaration
  volatile unsigned char flags;
} Type;

typedef int (*Question)(Type* type, FILE* log);

typedef struct {
  Question question;
  const char* attribute;
  FILE* log;
  unsigned long yes;
  unsigned long wrong;
} Asker;

static Type* types;
static int type_count;
static pthread_barrier_t start;

static void fail(const char* what) {
  perror(what);
  exit(2);
}

static int has_attribute(const Type* type, const char* attribute) {
  return strstr(type->text, attribute) != NULL;
}

static void set_flags(Type* type, int bits) {
#ifdef CORRECT
  __atomic_or_fetch(&type->flags, (unsigned char)bits, __ATOMIC_ACQ_REL);
#else
  unsigned char flags = type->flags;            // BUG: read
  type->flags = (unsigned char)(flags | bits);  // BUG: write
#endif
}

static int is_a(Type* type, FILE* log) {
  if ((type->flags & VALID_A) == 0) {
    int value = has_attribute(type, "[sealed]");
    set_flags(type, value ? VALID_A | VALUE_A : VALID_A);
  }
  fprintf(log, "is_a: %s", type->text);
  return (type->flags & VALUE_A) != 0;  // BUG: answer
}

static int is_b(Type* type, FILE* log) {
  if ((type->flags & VALID_B) == 0) {
    int value = has_attribute(type, "[serializable]");
    set_flags(type, value ? VALID_B | VALUE_B : VALID_B);
  }
  fprintf(log, "is_b: %s", type->text);
  return (type->flags & VALUE_B) != 0;  // BUG: answer
}

// A group of types at a time; both begin it together.
static void* ask(void* argument) {
  Asker* asker = argument;
  for (int i = 0; i < type_count; ++i) {
    if (i % kGroup == 0) pthread_barrier_wait(&start);
    int answer = asker->question(&types[i], asker->log);
    asker->yes += (unsigned long)answer;
    if (answer != has_attribute(&types[i], asker->attribute)) asker->wrong++;
  }
  return NULL;
}

static FILE* open_log(const char* types_path, int number) {
  char path[kMostPath];
  snprintf(path, sizeof(path), "%s.log%d", types_path, number);
  FILE* log = fopen(path, "w");
  if (log == NULL) fail(path);
  return log;
}

static void make_types(const char* path, int count) {
  FILE* file = fopen(path, "w");
  if (file == NULL) fail(path);
  unsigned random = 1;
  for (int i = 0; i < count; ++i) {
    random = random * 1103515245u + 12345u;
    fprintf(file, "%s%s%s class Type%d\n", random & 0x10000 ? "[public]" : "[internal]",
            random & 0x20000 ? "[serializable]" : "", random & 0x40000 ? "[sealed]" : "", i);
  }
  if (fclose(file) != 0) fail(path);
}

static void read_types(const char* path) {
  FILE* file = fopen(path, "r");
  if (file == NULL) fail(path);
  types = calloc(kMostTypes, sizeof(*types));
  if (types == NULL) fail("clr_flags: memory");
  while (type_count < kMostTypes && fgets(types[type_count].text, kMostText, file) != NULL) {
    ++type_count;
  }
  fclose(file);
}

int main(int argc, char** argv) {
  if (argc < 2 || argc > 3) {
    fprintf(stderr, "usage: %s TYPES [COUNT]\n", argv[0]);
    return 2;
  }
  int count = argc > 2 ? atoi(argv[2]) : 1000;
  make_types(argv[1], count < kMostTypes ? count : kMostTypes);
  read_types(argv[1]);

  Asker askers[] = {{.question = is_a, .attribute = "[sealed]"},
                    {.question = is_b, .attribute = "[serializable]"}};
  pthread_t threads[2];
  pthread_barrier_init(&start, NULL, 2);
  for (int i = 0; i < 2; ++i) {
    askers[i].log = open_log(argv[1], i);
    if (pthread_create(&threads[i], NULL, ask, &askers[i]) != 0) fail("clr_flags: thread");
  }
  for (int i = 0; i < 2; ++i) {
    pthread_join(threads[i], NULL);
    fclose(askers[i].log);
  }

  printf("%d types", type_count);
  for (int i = 0; i < 2; ++i) printf(", %lu %s", askers[i].yes, askers[i].attribute);
  printf("\n");
  unsigned long wrong = askers[0].wrong + askers[1].wrong;
  if (wrong != 0) printf("%lu wrong answers\n", wrong);
  free(types);
  return wrong != 0;
}
