/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * The preload library, which lives in the recorded program: it stands in front of the C library's
 * threads and allocator by plain symbol interposition, passes every call on, and tells the tool by
 * stores to the mailbox (svd/wire/ring.h), which cost an instruction each and no exit from
 * generated code. A Valgrind client request or a wrapped function would cost thousands of times
 * that.
 *
 * It must not run without the tool (the stores would fault); Valgrind preloads it with the tool
 * only. It allocates nothing, keeps no state but the addresses of the next definitions, and changes
 * no result and no errno. Objects are passed as void*: their types are not looked at.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stddef.h>
#include <stdint.h>

#include "svd/wire/ring.h"

struct timespec;

/* One instruction whose address is a constant wherever the superblock is cut. */
#define TEXT_(x) #x
#define TEXT(x) TEXT_(x)
#define TELL_WORD(word, value)                                              \
  __asm__ volatile("movabsq %%rax, " TEXT(SVD_WIRE_MAILBOX) " + 8 * " #word \
                   :                                                        \
                   : "a"((uint64_t)(value))                                 \
                   : "memory")

#define CALLER ((uintptr_t)__builtin_return_address(0))

#define TELL(call, phase, result, object)                                        \
  do {                                                                           \
    TELL_WORD(1, object);                                                        \
    TELL_WORD(4, CALLER);                                                        \
    TELL_WORD(0, SVD_WIRE_DOORBELL(SVD_CALL_##call, SVD_PHASE_##phase, result)); \
  } while (0)

#define TELL_END(call, result) \
  TELL_WORD(0, SVD_WIRE_DOORBELL(SVD_CALL_##call, SVD_PHASE_END, result))

#define TELL2(call, phase, result, object, second) \
  do {                                             \
    TELL_WORD(2, second);                          \
    TELL(call, phase, result, object);             \
  } while (0)

#define TELL3(call, phase, result, object, second, third) \
  do {                                                    \
    TELL_WORD(3, third);                                  \
    TELL2(call, phase, result, object, second);           \
  } while (0)

/* The next definition of `name`, found at its first use. */
#define NEXT(name)                                         \
  ({                                                       \
    static __typeof__(&name) next;                         \
    if (!next) next = (__typeof__(&name))find_next(#name); \
    next;                                                  \
  })

static void* find_next(const char* name) { return dlsym(RTLD_NEXT, name); }

/* Calls that wait: told before and after. */
#define WAITS(call, name, params, args, object) \
  int name params;                              \
  int name params {                             \
    TELL(call, BEGIN, 0, object);               \
    int result = NEXT(name) args;               \
    TELL_END(call, result);                     \
    return result;                              \
  }
#define WAITS2(call, name, params, args, object, second) \
  int name params;                                       \
  int name params {                                      \
    TELL2(call, BEGIN, 0, object, second);               \
    int result = NEXT(name) args;                        \
    TELL_END(call, result);                              \
    return result;                                       \
  }

/* Calls that take or make something: told when they are done. */
#define TAKES(call, name, params, args, object) \
  int name params;                              \
  int name params {                             \
    int result = NEXT(name) args;               \
    TELL(call, WHOLE, result, object);          \
    return result;                              \
  }
#define TAKES2(call, name, params, args, object, second) \
  int name params;                                       \
  int name params {                                      \
    int result = NEXT(name) args;                        \
    TELL2(call, WHOLE, result, object, second);          \
    return result;                                       \
  }

/* Calls that let others go on: told before they are done. */
#define GIVES(call, name, params, args, object) \
  int name params;                              \
  int name params {                             \
    TELL(call, WHOLE, 0, object);               \
    int result = NEXT(name) args;               \
    if (result) TELL_END(call, result);         \
    return result;                              \
  }

#define ONE (void* o)
#define TIMED (void* o, const struct timespec* t)
#define CLOCKED (void* o, int clock, const struct timespec* t)

/* ---- POSIX ---------------------------------------------------------------------------------- */

/* The kind of a mutex stands at this offset once it is made. */
#define MUTEX_KIND(o) (((const int*)(o))[4])

TAKES2(MUTEX_INIT, pthread_mutex_init, (void* o, const void* a), (o, a), o, MUTEX_KIND(o))
GIVES(MUTEX_DESTROY, pthread_mutex_destroy, ONE, (o), o)
WAITS(MUTEX_LOCK, pthread_mutex_lock, ONE, (o), o)
TAKES(MUTEX_TRYLOCK, pthread_mutex_trylock, ONE, (o), o)
WAITS(MUTEX_TIMEDLOCK, pthread_mutex_timedlock, TIMED, (o, t), o)
WAITS(MUTEX_TIMEDLOCK, pthread_mutex_clocklock, CLOCKED, (o, clock, t), o)
GIVES(MUTEX_UNLOCK, pthread_mutex_unlock, ONE, (o), o)
TAKES(MUTEX_CONSISTENT, pthread_mutex_consistent, ONE, (o), o)

TAKES(RWLOCK_INIT, pthread_rwlock_init, (void* o, const void* a), (o, a), o)
GIVES(RWLOCK_DESTROY, pthread_rwlock_destroy, ONE, (o), o)
WAITS(RWLOCK_RDLOCK, pthread_rwlock_rdlock, ONE, (o), o)
TAKES(RWLOCK_TRYRDLOCK, pthread_rwlock_tryrdlock, ONE, (o), o)
WAITS(RWLOCK_TIMEDRDLOCK, pthread_rwlock_timedrdlock, TIMED, (o, t), o)
WAITS(RWLOCK_TIMEDRDLOCK, pthread_rwlock_clockrdlock, CLOCKED, (o, clock, t), o)
WAITS(RWLOCK_WRLOCK, pthread_rwlock_wrlock, ONE, (o), o)
TAKES(RWLOCK_TRYWRLOCK, pthread_rwlock_trywrlock, ONE, (o), o)
WAITS(RWLOCK_TIMEDWRLOCK, pthread_rwlock_timedwrlock, TIMED, (o, t), o)
WAITS(RWLOCK_TIMEDWRLOCK, pthread_rwlock_clockwrlock, CLOCKED, (o, clock, t), o)
GIVES(RWLOCK_UNLOCK, pthread_rwlock_unlock, ONE, (o), o)

TAKES(SPIN_INIT, pthread_spin_init, (void* o, int shared), (o, shared), o)
GIVES(SPIN_DESTROY, pthread_spin_destroy, ONE, (o), o)
WAITS(SPIN_LOCK, pthread_spin_lock, ONE, (o), o)
TAKES(SPIN_TRYLOCK, pthread_spin_trylock, ONE, (o), o)
GIVES(SPIN_UNLOCK, pthread_spin_unlock, ONE, (o), o)

TAKES(COND_INIT, pthread_cond_init, (void* o, const void* a), (o, a), o)
GIVES(COND_DESTROY, pthread_cond_destroy, ONE, (o), o)
WAITS2(COND_WAIT, pthread_cond_wait, (void* o, void* m), (o, m), o, m)
WAITS2(COND_TIMEDWAIT, pthread_cond_timedwait, (void* o, void* m, const struct timespec* t),
       (o, m, t), o, m)
WAITS2(COND_TIMEDWAIT, pthread_cond_clockwait,
       (void* o, void* m, int clock, const struct timespec* t), (o, m, clock, t), o, m)
GIVES(COND_SIGNAL, pthread_cond_signal, ONE, (o), o)
GIVES(COND_BROADCAST, pthread_cond_broadcast, ONE, (o), o)

TAKES2(SEM_INIT, sem_init, (void* o, int shared, unsigned value), (o, shared, value), o, value)
GIVES(SEM_DESTROY, sem_destroy, ONE, (o), o)
WAITS(SEM_WAIT, sem_wait, ONE, (o), o)
TAKES(SEM_TRYWAIT, sem_trywait, ONE, (o), o)
WAITS(SEM_TIMEDWAIT, sem_timedwait, TIMED, (o, t), o)
WAITS(SEM_TIMEDWAIT, sem_clockwait, CLOCKED, (o, clock, t), o)
GIVES(SEM_POST, sem_post, ONE, (o), o)

TAKES2(BARRIER_INIT, pthread_barrier_init, (void* o, const void* a, unsigned count), (o, a, count),
       o, count)
GIVES(BARRIER_DESTROY, pthread_barrier_destroy, ONE, (o), o)
WAITS(BARRIER_WAIT, pthread_barrier_wait, ONE, (o), o)

WAITS2(ONCE, pthread_once, (void* o, void (*routine)(void)), (o, routine), o, (uintptr_t)routine)

int pthread_create(unsigned long* thread, const void* a, void* (*routine)(void*), void* arg);
int pthread_create(unsigned long* thread, const void* a, void* (*routine)(void*), void* arg) {
  TELL3(THREAD_CREATE, BEGIN, 0, 0, (uintptr_t)routine, arg);
  int result = NEXT(pthread_create)(thread, a, routine, arg);
  TELL(THREAD_CREATE, END, result, result ? 0 : *thread);
  return result;
}

WAITS(THREAD_JOIN, pthread_join, (unsigned long o, void** value), (o, value), o)
TAKES(THREAD_JOIN, pthread_tryjoin_np, (unsigned long o, void** value), (o, value), o)
WAITS(THREAD_JOIN, pthread_timedjoin_np, (unsigned long o, void** value, const struct timespec* t),
      (o, value, t), o)
WAITS(THREAD_JOIN, pthread_clockjoin_np,
      (unsigned long o, void** value, int clock, const struct timespec* t), (o, value, clock, t), o)
GIVES(THREAD_DETACH, pthread_detach, (unsigned long o), (o), o)
GIVES(THREAD_CANCEL, pthread_cancel, (unsigned long o), (o), o)

__attribute__((noreturn)) void pthread_exit(void* value);
void pthread_exit(void* value) {
  TELL(THREAD_EXIT, WHOLE, 0, value);
  NEXT(pthread_exit)(value);
  __builtin_unreachable();
}

int pthread_setname_np(unsigned long thread, const char* name);
int pthread_setname_np(unsigned long thread, const char* name) {
  int result = NEXT(pthread_setname_np)(thread, name);
  uint64_t words[2] = {0, 0};
  for (unsigned i = 0; i < sizeof(words) && name[i]; i++) ((char*)words)[i] = name[i];
  if (result == 0) TELL3(THREAD_NAME, WHOLE, 0, thread, words[0], words[1]);
  return result;
}

/* ---- C11: the C library does not go through the POSIX names ---------------------------------- */

TAKES2(MUTEX_INIT, mtx_init, (void* o, int type), (o, type), o, MUTEX_KIND(o))
WAITS(MUTEX_LOCK, mtx_lock, ONE, (o), o)
TAKES(MUTEX_TRYLOCK, mtx_trylock, ONE, (o), o)
WAITS(MUTEX_TIMEDLOCK, mtx_timedlock, TIMED, (o, t), o)
GIVES(MUTEX_UNLOCK, mtx_unlock, ONE, (o), o)
TAKES(COND_INIT, cnd_init, ONE, (o), o)
WAITS2(COND_WAIT, cnd_wait, (void* o, void* m), (o, m), o, m)
WAITS2(COND_TIMEDWAIT, cnd_timedwait, (void* o, void* m, const struct timespec* t), (o, m, t), o, m)
GIVES(COND_SIGNAL, cnd_signal, ONE, (o), o)
GIVES(COND_BROADCAST, cnd_broadcast, ONE, (o), o)
WAITS(THREAD_JOIN, thrd_join, (unsigned long o, int* value), (o, value), o)
GIVES(THREAD_DETACH, thrd_detach, (unsigned long o), (o), o)

void mtx_destroy(void* o);
void mtx_destroy(void* o) {
  TELL(MUTEX_DESTROY, WHOLE, 0, o);
  NEXT(mtx_destroy)(o);
}

void cnd_destroy(void* o);
void cnd_destroy(void* o) {
  TELL(COND_DESTROY, WHOLE, 0, o);
  NEXT(cnd_destroy)(o);
}

void call_once(void* o, void (*routine)(void));
void call_once(void* o, void (*routine)(void)) {
  TELL2(ONCE, BEGIN, 0, o, (uintptr_t)routine);
  NEXT(call_once)(o, routine);
  TELL_END(ONCE, 0);
}

int thrd_create(unsigned long* thread, int (*routine)(void*), void* arg);
int thrd_create(unsigned long* thread, int (*routine)(void*), void* arg) {
  TELL3(THREAD_CREATE, BEGIN, 0, 0, (uintptr_t)routine, arg);
  int result = NEXT(thrd_create)(thread, routine, arg);
  TELL(THREAD_CREATE, END, result, result ? 0 : *thread);
  return result;
}

__attribute__((noreturn)) void thrd_exit(int value);
void thrd_exit(int value) {
  TELL(THREAD_EXIT, WHOLE, 0, (long)value);
  NEXT(thrd_exit)(value);
  __builtin_unreachable();
}

/* ---- the allocator -------------------------------------------------------------------------- */

/* Looking up the next allocator can allocate. Only the main thread can be that early, and the C
 * library's own allocator serves it; what it returns is freed by the same. */
extern void* __libc_malloc(size_t size);
extern void* __libc_calloc(size_t n, size_t size);
extern void* __libc_realloc(void* p, size_t size);
extern void* __libc_memalign(size_t alignment, size_t size);
extern void __libc_free(void* p);

static int looking;

#define ALLOCATOR(name, fallback)                         \
  ({                                                      \
    static __typeof__(&name) next;                        \
    __typeof__(&name) use = next;                         \
    if (!use) {                                           \
      if (looking) {                                      \
        use = (fallback);                                 \
      } else {                                            \
        looking = 1;                                      \
        use = next = (__typeof__(&name))find_next(#name); \
        looking = 0;                                      \
      }                                                   \
    }                                                     \
    use;                                                  \
  })

void* malloc(size_t size);
void* malloc(size_t size) {
  void* p = ALLOCATOR(malloc, __libc_malloc)(size);
  TELL2(MALLOC, WHOLE, 0, p, size);
  return p;
}

void* calloc(size_t n, size_t size);
void* calloc(size_t n, size_t size) {
  void* p = ALLOCATOR(calloc, __libc_calloc)(n, size);
  TELL2(CALLOC, WHOLE, 0, p, n * size);
  return p;
}

void free(void* p);
void free(void* p) {
  TELL(FREE, WHOLE, 0, p);
  ALLOCATOR(free, __libc_free)(p);
}

void* realloc(void* p, size_t size);
void* realloc(void* p, size_t size) {
  TELL2(REALLOC, BEGIN, 0, p, size);
  void* result = ALLOCATOR(realloc, __libc_realloc)(p, size);
  TELL2(REALLOC, END, 0, result, size);
  return result;
}

void* memalign(size_t alignment, size_t size);
void* memalign(size_t alignment, size_t size) {
  void* p = ALLOCATOR(memalign, __libc_memalign)(alignment, size);
  TELL3(ALIGNED, WHOLE, 0, p, size, alignment);
  return p;
}

void* aligned_alloc(size_t alignment, size_t size);
void* aligned_alloc(size_t alignment, size_t size) {
  void* p = ALLOCATOR(aligned_alloc, __libc_memalign)(alignment, size);
  TELL3(ALIGNED, WHOLE, 0, p, size, alignment);
  return p;
}

int posix_memalign(void** p, size_t alignment, size_t size);
int posix_memalign(void** p, size_t alignment, size_t size) {
  int result = NEXT(posix_memalign)(p, alignment, size);
  if (result == 0) TELL3(ALIGNED, WHOLE, 0, *p, size, alignment);
  return result;
}

void* valloc(size_t size);
void* valloc(size_t size) {
  void* p = NEXT(valloc)(size);
  TELL2(MALLOC, WHOLE, 0, p, size);
  return p;
}

void* pvalloc(size_t size);
void* pvalloc(size_t size) {
  void* p = NEXT(pvalloc)(size);
  TELL2(MALLOC, WHOLE, 0, p, size);
  return p;
}
