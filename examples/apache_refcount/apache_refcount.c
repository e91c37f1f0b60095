// SPDX-License-Identifier: Apache-2.0
//
// A web server in miniature that keeps pages in a memory cache, modelled on the cache module of
// Apache (README.md has the story). A page counts its users: the cache itself, and each worker that
// is sending it. Whoever leaves last gives its memory back.
//
// Counting down is atomic, but whether one was the last is a second look at the counter. Compiled
// with CORRECT, which makes the twin, the result of counting down decides.
#include <fcntl.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { kWorkers = 3, kPages = 40, kPageSize = 256, kCached = 1 };

typedef struct Body {
  unsigned size;
  char text[kPageSize];
} Body;

typedef struct CacheObject {
  int page;
  int refcount;
  Body* body;
  struct CacheObject* next;  // in the list of those that can be used again
} CacheObject;

typedef struct {
  pthread_mutex_t lock;
  CacheObject* objects[kCached];  // the oldest one makes place for a new one
  unsigned oldest;
  CacheObject* unused;
  int pages;  // the file that all pages come from
} Cache;

typedef struct {
  sem_t asked, answered;
  int page;  // -1: no more requests
  int output;
  unsigned long bytes;
} Worker;

typedef struct {
  Worker* workers;
  int requests;
} Client;

static Cache cache = {.lock = PTHREAD_MUTEX_INITIALIZER};

static void fail(const char* what) {
  perror(what);
  exit(2);
}

static void wait_for(sem_t* semaphore) {
  while (sem_wait(semaphore) != 0) continue;
}

// Nobody uses the object any more.
static void cleanup(CacheObject* object) {
  Body* body = object->body;
  object->body = NULL;
  body->size = 0;  // a null pointer, the second time
  free(body);
  pthread_mutex_lock(&cache.lock);
  object->next = cache.unused;
  cache.unused = object;
  pthread_mutex_unlock(&cache.lock);
}

static void decrement_refcount(CacheObject* object) {
#ifdef CORRECT
  if (__atomic_sub_fetch(&object->refcount, 1, __ATOMIC_ACQ_REL) == 0) cleanup(object);
#else
  __atomic_sub_fetch(&object->refcount, 1, __ATOMIC_ACQ_REL);  // BUG: write
  if (object->refcount == 0) cleanup(object);                  // BUG: read
#endif
}

static Body* load_body(int page) {
  Body* body = malloc(sizeof(*body));
  if (body == NULL) fail("apache_refcount: memory");
  ssize_t size = pread(cache.pages, body->text, kPageSize, (off_t)page * kPageSize);
  if (size != kPageSize) fail("apache_refcount: read");
  body->size = (unsigned)size;
  return body;
}

// Puts a page into the cache; the caller has the lock. What had to leave is in *evicted.
static CacheObject* insert(int page, Body* body, CacheObject** evicted) {
  CacheObject* object = cache.unused;
  if (object != NULL) {
    cache.unused = object->next;
  } else {
    object = malloc(sizeof(*object));
    if (object == NULL) fail("apache_refcount: memory");
  }
  *object = (CacheObject){page, 1, body, NULL};
  *evicted = cache.objects[cache.oldest];
  cache.objects[cache.oldest] = object;
  cache.oldest = (cache.oldest + 1) % kCached;
  return object;
}

static CacheObject* find(int page) {
  for (int i = 0; i < kCached; ++i) {
    if (cache.objects[i] != NULL && cache.objects[i]->page == page) return cache.objects[i];
  }
  return NULL;
}

// The page, with one user more.
static CacheObject* acquire(int page) {
  CacheObject* evicted = NULL;
  pthread_mutex_lock(&cache.lock);
  CacheObject* object = find(page);
  if (object == NULL) object = insert(page, load_body(page), &evicted);
  __atomic_add_fetch(&object->refcount, 1, __ATOMIC_ACQ_REL);
  pthread_mutex_unlock(&cache.lock);
  if (evicted != NULL) decrement_refcount(evicted);
  return object;
}

// A request is the page's number; the answer is the page.
static void* serve(void* argument) {
  Worker* worker = argument;
  for (;;) {
    wait_for(&worker->asked);
    if (worker->page < 0) return NULL;
    CacheObject* object = acquire(worker->page);
    char answer[kPageSize];
    size_t size = object->body->size;
    memcpy(answer, object->body->text, size);
    decrement_refcount(object);
    if (write(worker->output, answer, size) != (ssize_t)size) fail("apache_refcount: write");
    worker->bytes += size;
    sem_post(&worker->answered);
  }
}

// All workers are asked for the same pages at about the same time: pages that are in the news.
static void* send_requests(void* argument) {
  const Client* client = argument;
  unsigned random = 5;
  for (int sent = 0; sent <= client->requests; ++sent) {
    for (int i = 0; i < kWorkers; ++i) {
      random = random * 1103515245u + 12345u;
      int page = (sent + (int)(random >> 16) % 2) % kPages;
      client->workers[i].page = sent < client->requests ? page : -1;
      sem_post(&client->workers[i].asked);
    }
    for (int i = 0; i < kWorkers && sent < client->requests; ++i) {
      wait_for(&client->workers[i].answered);
    }
  }
  return NULL;
}

static void make_pages(const char* path) {
  FILE* file = fopen(path, "w");
  if (file == NULL) fail(path);
  for (int page = 0; page < kPages; ++page) {
    for (int i = 0; i < kPageSize; ++i) fputc('a' + (page + i) % 26, file);
  }
  if (fclose(file) != 0) fail(path);
  cache.pages = open(path, O_RDONLY);
  if (cache.pages < 0) fail(path);
}

int main(int argc, char** argv) {
  if (argc < 2 || argc > 3) {
    fprintf(stderr, "usage: %s PAGES [REQUESTS]\n", argv[0]);
    return 2;
  }
  make_pages(argv[1]);
  Worker workers[kWorkers] = {0};
  Client client = {workers, (argc > 2 ? atoi(argv[2]) : 3000) / kWorkers};
  int output = open("/dev/null", O_WRONLY);
  if (output < 0) fail("/dev/null");
  pthread_t threads[kWorkers], client_thread;
  for (int i = 0; i < kWorkers; ++i) {
    workers[i].output = output;
    sem_init(&workers[i].asked, 0, 0);
    sem_init(&workers[i].answered, 0, 0);
    if (pthread_create(&threads[i], NULL, serve, &workers[i]) != 0) fail("apache_refcount: thread");
  }
  if (pthread_create(&client_thread, NULL, send_requests, &client) != 0) {
    fail("apache_refcount: thread");
  }
  pthread_join(client_thread, NULL);
  unsigned long bytes = 0;
  for (int i = 0; i < kWorkers; ++i) {
    pthread_join(threads[i], NULL);
    bytes += workers[i].bytes;
  }
  printf("%lu bytes sent\n", bytes);
  close(output);
  close(cache.pages);
  return 0;
}
