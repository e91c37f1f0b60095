// SPDX-License-Identifier: Apache-2.0
//
// A cache server in miniature: values under keys, over TCP (README.md has the story and the
// protocol). It listens at a port of the system's choice, starts the client program, serves its
// connections with a thread each, and ends with the client.
//
// Whoever changes an entry takes its lock; "get" takes none, as it only reads. Between two of its
// reads the value may go away. Compiled with CORRECT, which makes the twin, "get" takes the lock.
#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

enum { kConnections = 3, kEntries = 64, kMostKey = 32, kMostValue = 128, kMostText = 256 };

typedef struct Value {
  unsigned size;
  char bytes[kMostValue];
  struct Value* next;  // among those that can be used again
} Value;

typedef struct {
  pthread_mutex_t lock;
  char key[kMostKey];
  Value* value;  // none: the entry is empty
} Entry;

typedef struct {
  int connection;
  unsigned long requests;
  unsigned long hits;
} Session;

static Entry entries[kEntries];
static pthread_mutex_t unused_lock = PTHREAD_MUTEX_INITIALIZER;
static Value* unused;
extern char** environ;

static void fail(const char* what) {
  perror(what);
  exit(2);
}

static Value* new_value(const char* bytes) {
  pthread_mutex_lock(&unused_lock);
  Value* value = unused;
  if (value != NULL) unused = value->next;
  pthread_mutex_unlock(&unused_lock);
  if (value == NULL) value = malloc(sizeof(*value));
  if (value == NULL) fail("cache_server: memory");
  value->size = (unsigned)strnlen(bytes, kMostValue);
  memcpy(value->bytes, bytes, value->size);
  return value;
}

static void give_back(Value* value) {
  if (value == NULL) return;
  pthread_mutex_lock(&unused_lock);
  value->next = unused;
  unused = value;
  pthread_mutex_unlock(&unused_lock);
}

static Entry* entry_of(const char* key) {
  unsigned hash = 5381;
  for (const char* c = key; *c != 0; ++c) hash = hash * 33 + (unsigned char)*c;
  return &entries[hash % kEntries];
}

static void set(const char* key, const char* bytes) {
  Entry* entry = entry_of(key);
  Value* value = new_value(bytes);
  pthread_mutex_lock(&entry->lock);
  Value* old = entry->value;
  snprintf(entry->key, sizeof(entry->key), "%s", key);
  entry->value = value;
  pthread_mutex_unlock(&entry->lock);
  give_back(old);
}

static void delete (const char* key) {
  Entry* entry = entry_of(key);
  pthread_mutex_lock(&entry->lock);
  Value* old = NULL;
  if (strcmp(entry->key, key) == 0) {
    old = entry->value;
    entry->value = NULL;  // BUG: remote write
  }
  pthread_mutex_unlock(&entry->lock);
  give_back(old);
}

// The size of the answer, which begins with VALUE if there is one.
static int get(const char* key, char* answer) {
  Entry* entry = entry_of(key);
  int size = 0;
#ifdef CORRECT
  pthread_mutex_lock(&entry->lock);
#endif
  if (entry->value != NULL && strcmp(entry->key, key) == 0) {  // BUG: check
    size = (int)(stpcpy(stpcpy(stpcpy(answer, "VALUE "), key), " ") - answer);
    memcpy(answer + size, entry->value->bytes, kMostValue);  // BUG: use
    size += (int)entry->value->size;                         // BUG: use
  }
#ifdef CORRECT
  pthread_mutex_unlock(&entry->lock);
#endif
  if (size == 0) return snprintf(answer, kMostText, "NONE\n");
  answer[size++] = '\n';
  return size;
}

// A request is a line: "get KEY", "set KEY VALUE" or "delete KEY". The answer is a line, too.
static void* serve(void* argument) {
  Session* session = argument;
  char line[kMostText], answer[kMostText + kMostValue];
  FILE* requests = fdopen(session->connection, "r");
  if (requests == NULL) fail("cache_server: fdopen");
  while (fgets(line, sizeof(line), requests) != NULL) {
    char *rest = NULL, *verb = strtok_r(line, " \n", &rest), *key = strtok_r(NULL, " \n", &rest);
    if (key != NULL && strlen(key) >= kMostKey) key[kMostKey - 1] = 0;
    int size;
    if (verb == NULL || key == NULL) {
      size = snprintf(answer, sizeof(answer), "WRONG\n");
    } else if (strcmp(verb, "get") == 0) {
      size = get(key, answer);
      session->hits += answer[0] == 'V';
    } else if (strcmp(verb, "set") == 0) {
      char* value = strtok_r(NULL, "\n", &rest);
      set(key, value != NULL ? value : "");
      size = snprintf(answer, sizeof(answer), "STORED\n");
    } else {
      delete (key);
      size = snprintf(answer, sizeof(answer), "DELETED\n");
    }
    if (write(session->connection, answer, (size_t)size) != size) break;
    session->requests++;
  }
  fclose(requests);
  return NULL;
}

// A socket that listens at a free port of this machine; *port is which.
static int listen_at_free_port(unsigned* port) {
  struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
  socklen_t size = sizeof(address);
  int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (listener < 0) fail("cache_server: socket");
  if (bind(listener, (struct sockaddr*)&address, size) != 0) fail("cache_server: bind");
  if (listen(listener, kConnections) != 0) fail("cache_server: listen");
  if (getsockname(listener, (struct sockaddr*)&address, &size) != 0) fail("cache_server: port");
  *port = ntohs(address.sin_port);
  return listener;
}

static pid_t start_client(char* program, unsigned port, char* pages) {
  char text[16];
  snprintf(text, sizeof(text), "%u", port);
  char* words[] = {program, text, pages, NULL};
  pid_t client;
  if (posix_spawn(&client, program, NULL, NULL, words, environ) != 0) fail(program);
  return client;
}

int main(int argc, char** argv) {
  if (argc != 3) {
    fprintf(stderr, "usage: %s CLIENT PAGES\n", argv[0]);
    return 2;
  }
  unsigned port;
  int listener = listen_at_free_port(&port);
  for (int i = 0; i < kEntries; ++i) pthread_mutex_init(&entries[i].lock, NULL);
  pid_t client = start_client(argv[1], port, argv[2]);

  Session sessions[kConnections] = {0};
  pthread_t threads[kConnections];
  for (int i = 0; i < kConnections; ++i) {
    sessions[i].connection = accept(listener, NULL, NULL);
    if (sessions[i].connection < 0) fail("cache_server: accept");
    int at_once = 1;  // an answer does not wait for the next one
    setsockopt(sessions[i].connection, IPPROTO_TCP, TCP_NODELAY, &at_once, sizeof(at_once));
    if (pthread_create(&threads[i], NULL, serve, &sessions[i]) != 0) fail("cache_server: thread");
  }
  close(listener);
  unsigned long requests = 0, hits = 0;
  for (int i = 0; i < kConnections; ++i) {
    pthread_join(threads[i], NULL);
    requests += sessions[i].requests;
    hits += sessions[i].hits;
  }
  int status;
  if (waitpid(client, &status, 0) != client) fail("cache_server: wait");
  printf("%lu requests, %s\n", requests, hits > 0 ? "some were hits" : "no hits");
  return status != 0;
}
