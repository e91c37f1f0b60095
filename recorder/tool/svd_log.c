/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * The ring: the one file that touches shared memory (layout: svd/wire/ring.h).
 *
 * While a thread runs generated code, its shadow state holds the log pointer, because generated
 * code reaches that with one instruction; otherwise `cursor` does. `code_tid` says which of the two
 * is true. Signal frames save and restore shadow state, so it is written at every entry to
 * generated code and read at every exit, and never trusted in between.
 *
 * Invariants: cursor < data + capacity + slack. When cursor < limit, `slack` bytes at cursor may be
 * written: the reader has consumed what was there. Every writer compares with limit first.
 */
#include "config.h"
#include "pub_tool_aspacemgr.h"
#include "pub_tool_libcassert.h"
#include "pub_tool_libcbase.h"
#include "pub_tool_libcfile.h"
#include "pub_tool_libcprint.h"
#include "pub_tool_libcproc.h"
#include "pub_tool_machine.h"
#include "pub_tool_vkiscnums.h"
#include "svd_core.h"
#include "svd_tool.h"

enum { LOCK_WRITE = 1, LOCK_NONE = 2 }; /* F_WRLCK, F_UNLCK */
enum { TIMED_OUT = 110 };               /* ETIMEDOUT */
enum { PEER_CHECK_MS = 50 };

Bool svd_recording = False;

static SvdWireHeader* header;
static UChar* data;
static UChar* cursor;
static UChar* limit;
static ULong lap_start;         /* position of data[0] in this lap */
static ThreadId code_tid;       /* in generated code now, or 0 */
static ThreadId last_tid;       /* of the last SVD_WIRE_SWITCH */
static Bool stale_translations; /* made before recording stopped, or numbered for another ring */
static Int session_fd = -1;     /* locked by the collector while it lives */
static Int ring_fd = -1;        /* locked by us while we live */

static const SizeT lap = SVD_WIRE_CAPACITY + SVD_WIRE_SLACK;

static SysRes syscall6(UWord number, UWord a1, UWord a2, UWord a3, UWord a4, UWord a5, UWord a6) {
  return VG_(do_syscall)(number, a1, a2, a3, a4, a5, a6, 0, 0);
}

static ULong position(void) { return lap_start + (ULong)(cursor - data); }

static void fetch_pointer(void) {
  if (code_tid) {
    VG_(get_shadow_regs_area)(code_tid, (UChar*)&cursor, 1, SVD_SHADOW_POINTER, sizeof(cursor));
  }
}

static void store_pointer(void) {
  if (code_tid) {
    UChar* both[2] = {cursor, limit};
    VG_(set_shadow_regs_area)(code_tid, 1, SVD_SHADOW_POINTER, sizeof(both), (UChar*)both);
  }
}

static void futex_wake(UInt* word) {
  syscall6(__NR_futex, (UWord)word, VKI_FUTEX_WAKE, 1, 0, 0, 0);
}

static Bool collector_lives(void) {
  struct vki_flock lock;
  VG_(memset)(&lock, 0, sizeof(lock));
  lock.l_type = LOCK_WRITE;
  if (VG_(fcntl)(session_fd, VKI_F_GETLK, (Addr)&lock) < 0) return False;
  return lock.l_type != LOCK_NONE;
}

static Bool room_up_to(ULong end) {
  return end <= __atomic_load_n(&header->consumed, __ATOMIC_ACQUIRE) + lap;
}

/* Waits until everything before position `end` may be written; False if the collector is gone. */
static Bool wait_for_room(ULong end) {
  struct vki_timespec timeout = {0, PEER_CHECK_MS * 1000000};
  while (!room_up_to(end)) {
    UInt seen = __atomic_load_n(&header->consumed_futex, __ATOMIC_ACQUIRE);
    __atomic_store_n(&header->writer_waiting, 1, __ATOMIC_SEQ_CST);
    if (!room_up_to(end)) {
      SysRes r = syscall6(__NR_futex, (UWord)&header->consumed_futex, VKI_FUTEX_WAIT, seen,
                          (UWord)&timeout, 0, 0);
      if (sr_isError(r) && sr_Err(r) == TIMED_OUT && !collector_lives()) return False;
    }
    __atomic_store_n(&header->writer_waiting, 0, __ATOMIC_RELAXED);
  }
  return True;
}

void svd_log_publish(void) {
  if (svd_recording) __atomic_store_n(&header->published, position(), __ATOMIC_RELEASE);
}

/* Makes cursor < limit true again. */
static void make_room(void) {
  if (cursor >= data + SVD_WIRE_CAPACITY) {
    lap_start += lap;
    cursor = data;
  }
  SizeT offset = cursor - data;
  if (svd_recording) {
    svd_log_publish();
    __atomic_add_fetch(&header->published_futex, 1, __ATOMIC_SEQ_CST);
    if (__atomic_load_n(&header->reader_waiting, __ATOMIC_SEQ_CST)) {
      futex_wake(&header->published_futex);
    }
    Bool stop = __atomic_load_n(&header->stop, __ATOMIC_RELAXED);
    if (stop || !wait_for_room(position() + SVD_WIRE_STRIDE + SVD_WIRE_SLACK)) {
      svd_log_detach(False);
    }
  }
  SizeT end = offset + SVD_WIRE_STRIDE;
  limit = data + (end < SVD_WIRE_CAPACITY ? end : SVD_WIRE_CAPACITY);
}

void svd_log_refill(void) {
  fetch_pointer();
  make_room();
  store_pointer();
}

/* What is told outside of the window, too, so that its edges are known for what they are. */
static Bool is_always_told(UInt type) {
  switch (type) {
    case SVD_WIRE_SWITCH:
    case SVD_WIRE_THREAD_CREATE:
    case SVD_WIRE_THREAD_START:
    case SVD_WIRE_THREAD_EXIT:
    case SVD_WIRE_THREAD_NAME:
    case SVD_WIRE_MAP:
    case SVD_WIRE_UNMAP:
    case SVD_WIRE_PROTECT:
    case SVD_WIRE_REMAP:
    case SVD_WIRE_BREAK:
    case SVD_WIRE_FORK:
    case SVD_WIRE_EXEC:
    case SVD_WIRE_END:
    case SVD_WIRE_WINDOW:
    case SVD_WIRE_PAUSE: /* by a block that was paused when the window ended */
      return True;
    default:
      return False;
  }
}

void* svd_log_record(UInt type, ThreadId tid, UInt size, UInt text_size) {
  if (!svd_recording || !(svd_in_window || is_always_told(type))) return NULL;
  tl_assert(size % 8 == 0 && size <= SVD_WIRE_SLACK);
  fetch_pointer();
  if (cursor >= limit) make_room();
  SvdWireRecord* record = (SvdWireRecord*)cursor;
  VG_(memset)(record, 0, size);
  record->type = type;
  record->size = size;
  record->tid = tid;
  record->text_size = text_size;
  return record;
}

void svd_log_commit(void) {
  cursor += ((SvdWireRecord*)cursor)->size;
  store_pointer();
}

void svd_log_enter(ThreadId tid, ULong blocks) {
  if (svd_recording && tid != last_tid) {
    last_tid = tid;
    if (svd_log_record(SVD_WIRE_SWITCH, tid, sizeof(SvdWireRecord), 0)) svd_log_commit();
  }
  svd_log_publish();
  code_tid = tid;
  store_pointer();
}

void svd_log_leave(ThreadId tid, ULong blocks) {
  fetch_pointer();
  code_tid = 0;
  svd_log_publish();
}

UInt svd_log_pause(ThreadId tid, UInt slot, UChar* kept, UInt room) {
  UChar* start;
  VG_(get_shadow_regs_area)(tid, (UChar*)&start, 1, SVD_SHADOW_RECORD, sizeof(start));
  fetch_pointer();
  UInt size = cursor - start;
  tl_assert(size <= room);
  VG_(memcpy)(kept, start, size);
  SvdWirePause* r = svd_log_record(SVD_WIRE_PAUSE, tid, sizeof(*r), 0);
  if (r) {
    r->slot = slot;
    svd_log_commit();
  }
  svd_log_leave(tid, 0);
  return size;
}

void svd_log_resume(ThreadId tid, const UChar* kept, UInt size) {
  svd_log_enter(tid, 0);
  if (cursor >= limit) make_room();
  VG_(set_shadow_regs_area)(tid, 1, SVD_SHADOW_RECORD, sizeof(cursor), (UChar*)&cursor);
  VG_(memcpy)(cursor, kept, size);
  cursor += size;
  store_pointer();
}

Bool svd_log_in_code(void) { return code_tid != 0; }

/* Says why there is no recording; the program goes on without. */
static Bool refuse(const HChar* what, const HChar* path) {
  VG_(umsg)("svd: not recorded: cannot %s %s\n", what, path);
  return False;
}

/* The new ring file, locked and of full size, or -1. */
static Int make_file(const HChar* path) {
  Int fd = VG_(fd_open)(path, VKI_O_RDWR | VKI_O_CREAT | VKI_O_EXCL, 0600);
  if (fd < 0) return -1;
  fd = VG_(safe_fd)(fd);
  struct vki_flock lock;
  VG_(memset)(&lock, 0, sizeof(lock));
  lock.l_type = LOCK_WRITE;
  VG_(fcntl)(fd, VKI_F_SETLK, (Addr)&lock);
  /* Reserved now: a store to a full tmpfs would be a bus error. */
  if (sr_isError(syscall6(__NR_fallocate, fd, 0, 0, SVD_WIRE_DATA_OFFSET + lap, 0, 0))) {
    VG_(close)(fd);
    VG_(unlink)(path);
    return -1;
  }
  return fd;
}

static SysRes map_file(Int fd, Addr fixed) {
  SizeT size = SVD_WIRE_DATA_OFFSET + lap;
  UInt protection = VKI_PROT_READ | VKI_PROT_WRITE;
  if (!fixed) return VG_(am_shared_mmap_file_float_valgrind)(size, protection, fd, 0);
  return syscall6(__NR_mmap, fixed, size, protection, VKI_MAP_SHARED | VKI_MAP_FIXED, fd, 0);
}

static void fill_header(Int pid, ULong start_ns) {
  header->magic = SVD_WIRE_MAGIC;
  header->version = SVD_WIRE_VERSION;
  header->flags = svd_values ? SVD_WIRE_VALUES : 0;
  header->capacity = SVD_WIRE_CAPACITY;
  header->slack = SVD_WIRE_SLACK;
  header->pid = pid;
  header->parent_pid = VG_(getppid)();
  header->start_ns = start_ns;
  VG_(strncpy)(header->engine_version, VERSION, sizeof(header->engine_version) - 1);
}

/* Makes a ring and maps it: at `fixed`, or anywhere for 0. It gets its name when it can be read. */
static Bool make_ring(Addr fixed) {
  HChar hidden[512], final[512];
  struct vki_timespec now;
  VG_(clock_gettime)(&now, VKI_CLOCK_REALTIME);
  ULong start_ns = now.tv_sec * 1000000000ull + now.tv_nsec;
  Int pid = VG_(getpid)();
  const HChar* dir = svd_session_dir;
  VG_(snprintf)(hidden, sizeof(hidden), "%s/new.%d.%llu", dir, pid, start_ns);
  VG_(snprintf)(final, sizeof(final), "%s/ring.%d.%llu", dir, pid, start_ns);

  ring_fd = make_file(hidden);
  if (ring_fd < 0) return refuse("make", hidden);
  SysRes mapped = map_file(ring_fd, fixed);
  if (sr_isError(mapped)) return refuse("map", hidden);
  header = (SvdWireHeader*)sr_Res(mapped);
  data = cursor = limit = (UChar*)header + SVD_WIRE_DATA_OFFSET;
  lap_start = 0;
  last_tid = 0;
  fill_header(pid, start_ns);
  if (VG_(rename)(hidden, final) != 0) return refuse("name", final);
  svd_recording = True;
  svd_window_tell();
  return True;
}

void svd_log_open(void) {
  HChar path[512];
  VG_(snprintf)(path, sizeof(path), "%s/%s", svd_session_dir, SVD_WIRE_SESSION_FILE);
  Int fd = VG_(fd_open)(path, VKI_O_RDWR, 0);
  if (fd >= 0) session_fd = VG_(safe_fd)(fd);
  if (fd < 0 || !collector_lives()) {
    refuse("find the collector of", path);
    return;
  }
  make_ring(0);
}

void svd_log_detach(Bool forked) {
  svd_recording = False;
  stale_translations = True;
  if (forked) {
    /* Translations that are still instrumented write here until they are discarded. */
    syscall6(__NR_mmap, (UWord)header, SVD_WIRE_DATA_OFFSET + lap, VKI_PROT_READ | VKI_PROT_WRITE,
             VKI_MAP_PRIVATE | VKI_MAP_FIXED | VKI_MAP_ANONYMOUS, (UWord)-1, 0);
    VG_(close)(ring_fd);
  }
}

void svd_log_reopen(void) {
  VG_(close)(ring_fd);
  stale_translations = True;
  if (!make_ring((Addr)header)) svd_log_detach(True);
}

void svd_log_drop_translations(void) {
  stale_translations = False;
  VG_(discard_translations)(SVD_CLIENT_START, SVD_CLIENT_SIZE, "svd");
}

void svd_log_retranslate(void) {
  if (stale_translations) svd_log_drop_translations();
}
