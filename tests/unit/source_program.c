/* SPDX-License-Identifier: Apache-2.0
 *
 * What source_map_test.cc looks up in C; see source_program.cc. */

struct buffer {
  char bytes[32];
  int count;
};

static struct buffer buffers[2];
int counter; /* as in many programs */

/* The linker throws it away where it is asked to. */
void never_called(void) { counter = 7; }

static inline void put(struct buffer* to, char c) { to->bytes[to->count++] = c; /* here: put */ }

__attribute__((noinline)) int next_id(void) {
  static int counter = 5;
  return ++counter; /* here: next_id */
}

struct server {
  int port;
  struct buffer* log;
};

__attribute__((noinline)) int drain(struct server* server, const int* limit) {
  server->log->count = *limit;             /* here: drain */
  return server->log->bytes[server->port]; /* here: index */
}

__attribute__((noinline)) int serve(void* argument) {
  struct server* served = argument;
  return served->port; /* here: serve */
}

__attribute__((noinline)) int on_stack(int argc) {
  volatile struct buffer own;
  own.count = argc; /* here: own */
  return own.count;
}

int main(int argc, char** argv) {
  put(&buffers[argc & 1], **argv); /* here: call of put */
#line 700 "grammar.y"
  counter = next_id();
  struct server server = {on_stack(argc), buffers};
  return drain(&server, &counter) + serve(&server);
}
