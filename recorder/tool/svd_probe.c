/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Probes, for calls that the preload library cannot stand in front of: those into functions that
 * the executable itself defines, which is all of them when it is statically linked, and those into
 * an allocator of its own. And for C++'s operators new and delete, in any file: they are found
 * where the preload library could not find the next definition (a library that was loaded
 * privately), and what they do is told by the allocator that they call, so only their entry is.
 *
 * A block that starts at the entry of such a function gets stores to the mailbox (svd/wire/ring.h)
 * of its arguments, and so does a block that starts where a direct call of such a function returns
 * to, of its result. They are ordinary IR, put in before the block is planned; everything behind
 * treats them as if they came from the preload library.
 *
 * Unsound where the symbol table is stripped, and for calls through pointers (their return is
 * missed). In an executable that is not static only the allocator is probed: its other names may be
 * its own.
 */
#include "libvex_guest_amd64.h"
#include "pub_tool_aspacemgr.h"
#include "pub_tool_debuginfo.h"
#include "pub_tool_libcbase.h"
#include "pub_tool_mallocfree.h"
#include "pub_tool_wordfm.h"
#include "svd_tool.h"

typedef struct {
  const HChar* name; /* without leading underscores */
  UInt call;
} Probe;

static const Probe allocator[] = {
    {"malloc", SVD_CALL_MALLOC},
    {"libc_malloc", SVD_CALL_MALLOC},
    {"calloc", SVD_CALL_CALLOC},
    {"libc_calloc", SVD_CALL_CALLOC},
    {"realloc", SVD_CALL_REALLOC},
    {"libc_realloc", SVD_CALL_REALLOC},
    {"free", SVD_CALL_FREE},
    {"libc_free", SVD_CALL_FREE},
    {"memalign", SVD_CALL_ALIGNED},
    {"libc_memalign", SVD_CALL_ALIGNED},
    {"aligned_alloc", SVD_CALL_ALIGNED},
};

static const Probe others[] = {
    {"pthread_mutex_init", SVD_CALL_MUTEX_INIT},
    {"pthread_mutex_destroy", SVD_CALL_MUTEX_DESTROY},
    {"pthread_mutex_lock", SVD_CALL_MUTEX_LOCK},
    {"pthread_mutex_trylock", SVD_CALL_MUTEX_TRYLOCK},
    {"pthread_mutex_timedlock", SVD_CALL_MUTEX_TIMEDLOCK},
    {"pthread_mutex_clocklock", SVD_CALL_MUTEX_TIMEDLOCK},
    {"pthread_mutex_unlock", SVD_CALL_MUTEX_UNLOCK},
    {"pthread_rwlock_rdlock", SVD_CALL_RWLOCK_RDLOCK},
    {"pthread_rwlock_tryrdlock", SVD_CALL_RWLOCK_TRYRDLOCK},
    {"pthread_rwlock_wrlock", SVD_CALL_RWLOCK_WRLOCK},
    {"pthread_rwlock_trywrlock", SVD_CALL_RWLOCK_TRYWRLOCK},
    {"pthread_rwlock_timedrdlock", SVD_CALL_RWLOCK_TIMEDRDLOCK},
    {"pthread_rwlock_clockrdlock", SVD_CALL_RWLOCK_TIMEDRDLOCK},
    {"pthread_rwlock_timedwrlock", SVD_CALL_RWLOCK_TIMEDWRLOCK},
    {"pthread_rwlock_clockwrlock", SVD_CALL_RWLOCK_TIMEDWRLOCK},
    {"pthread_rwlock_unlock", SVD_CALL_RWLOCK_UNLOCK},
    {"pthread_spin_lock", SVD_CALL_SPIN_LOCK},
    {"pthread_spin_trylock", SVD_CALL_SPIN_TRYLOCK},
    {"pthread_spin_unlock", SVD_CALL_SPIN_UNLOCK},
    {"pthread_spin_init", SVD_CALL_SPIN_UNLOCK}, /* the same code under two names */
    {"pthread_cond_wait", SVD_CALL_COND_WAIT},
    {"pthread_cond_timedwait", SVD_CALL_COND_TIMEDWAIT},
    {"pthread_cond_clockwait", SVD_CALL_COND_TIMEDWAIT},
    {"pthread_cond_signal", SVD_CALL_COND_SIGNAL},
    {"pthread_cond_broadcast", SVD_CALL_COND_BROADCAST},
    {"new_sem_init", SVD_CALL_SEM_INIT},
    {"new_sem_wait", SVD_CALL_SEM_WAIT},
    {"new_sem_trywait", SVD_CALL_SEM_TRYWAIT},
    {"sem_timedwait", SVD_CALL_SEM_TIMEDWAIT},
    {"sem_clockwait", SVD_CALL_SEM_TIMEDWAIT},
    {"new_sem_post", SVD_CALL_SEM_POST},
    {"pthread_barrier_init", SVD_CALL_BARRIER_INIT},
    {"pthread_barrier_wait", SVD_CALL_BARRIER_WAIT},
    {"pthread_once", SVD_CALL_ONCE},
    {"pthread_create", SVD_CALL_THREAD_CREATE},
    {"pthread_create_2_1", SVD_CALL_THREAD_CREATE},
    {"pthread_join", SVD_CALL_THREAD_JOIN},
    {"pthread_detach", SVD_CALL_THREAD_DETACH},
    {"pthread_cancel", SVD_CALL_THREAD_CANCEL},
};

/* As they begin when demangled: with their parameters, so that members of classes are not meant. */
static const Probe operators[] = {
    {"operator new(", SVD_CALL_NEW},
    {"operator new[](", SVD_CALL_NEW_ARRAY},
    {"operator delete(", SVD_CALL_DELETE},
    {"operator delete[](", SVD_CALL_DELETE_ARRAY},
};

/* Return address -> call. Blocks are made after the ones that call them, so it is known in time. */
static WordFM* return_sites;

static UInt find_name(const Probe* table, UInt n, const HChar* name) {
  for (UInt i = 0; i < n; i++) {
    if (VG_STREQ(table[i].name, name)) return table[i].call;
  }
  return SVD_CALL_NONE;
}

/* Whether the client's files are the executable alone. Asked before the first block runs, when no
 * library but the dynamic linker can be mapped. */
static Bool is_static(void) {
  static enum { UNKNOWN, STATIC, DYNAMIC } answer = UNKNOWN;
  if (answer != UNKNOWN) return answer == STATIC;
  answer = STATIC;
  /* Valgrind lends a page of the tool itself to the client. */
  const NSegment* tool = VG_(am_find_nsegment)((Addr)&is_static);
  const NSegment* executable = NULL;
  Addr starts[64];
  Int n = VG_(am_get_segment_starts)(SkFileC, starts, 64);
  for (Int i = 0; i < n; i++) {
    const NSegment* s = VG_(am_find_nsegment)(starts[i]);
    if (s->dev == tool->dev && s->ino == tool->ino) continue;
    if (!executable) executable = s;
    if (s->dev != executable->dev || s->ino != executable->ino) answer = DYNAMIC;
  }
  return answer == STATIC;
}

static UInt find_operator(const HChar* name) {
  for (UInt i = 0; i < sizeof(operators) / sizeof(operators[0]); i++) {
    if (VG_(strncmp)(name, operators[i].name, VG_(strlen)(operators[i].name)) == 0)
      return operators[i].call;
  }
  return SVD_CALL_NONE;
}

static UInt probed_function(Addr pc) {
  Bool static_executable = is_static();
  DiEpoch now = VG_(current_DiEpoch)();
  DebugInfo* object = VG_(find_DebugInfo)(now, pc);
  const HChar* name;
  if (!object || !VG_(get_fnname_if_entry)(now, pc, &name)) return SVD_CALL_NONE;
  UInt cxx = find_operator(name);
  if (cxx || !VG_STREQ(VG_(DebugInfo_get_soname)(object), "NONE")) return cxx;
  while (*name == '_') name++;
  UInt call = find_name(allocator, sizeof(allocator) / sizeof(allocator[0]), name);
  if (!call && static_executable) {
    call = find_name(others, sizeof(others) / sizeof(others[0]), name);
  }
  return call;
}

static void tell(IRSB* out, UInt word, IRExpr* value) {
  addStmtToIRSB(out, IRStmt_Store(Iend_LE, mkIRExpr_HWord(SVD_WIRE_MAILBOX + 8 * word), value));
}

static void tell_register(IRSB* out, UInt word, Int offset) {
  IRTemp t = newIRTemp(out->tyenv, Ity_I64);
  addStmtToIRSB(out, IRStmt_WrTmp(t, IRExpr_Get(offset, Ity_I64)));
  tell(out, word, IRExpr_RdTmp(t));
}

#define REGISTER(name) offsetof(VexGuestAMD64State, guest_##name)

static void tell_entry(IRSB* out, UInt call) {
  tell_register(out, 1, REGISTER(RDI));
  tell_register(out, 2, REGISTER(RSI));
  tell_register(out, 3, REGISTER(RDX));
  tell_register(out, 5, REGISTER(RSP));
  tell(out, 0, mkIRExpr_HWord(SVD_WIRE_DOORBELL(call, SVD_PHASE_ENTRY, 0)));
}

static void tell_return(IRSB* out, UInt call) {
  tell_register(out, 1, REGISTER(RAX));
  tell_register(out, 5, REGISTER(RSP));
  tell(out, 0, mkIRExpr_HWord(SVD_WIRE_DOORBELL(call, SVD_PHASE_RETURN, 0)));
}

/* The end of a block that calls a probed function directly: remember where it will return to. */
static void note_call(const IRSB* in, Addr return_address) {
  if (in->jumpkind != Ijk_Call || in->next->tag != Iex_Const) return;
  UInt call = probed_function(in->next->Iex.Const.con->Ico.U64);
  if (call && call < SVD_CALL_NEW) VG_(addToFM)(return_sites, return_address, call);
}

IRSB* svd_probe(IRSB* in) {
  if (!return_sites) return_sites = VG_(newFM)(VG_(malloc), "svd.sites", VG_(free), NULL);
  Int first = 0, last = in->stmts_used - 1;
  while (first <= last && in->stmts[first]->tag != Ist_IMark) first++;
  while (last >= first && in->stmts[last]->tag != Ist_IMark) last--;
  if (first > last) return in;
  note_call(in, in->stmts[last]->Ist.IMark.addr + in->stmts[last]->Ist.IMark.len);

  Addr pc = in->stmts[first]->Ist.IMark.addr;
  UInt entered = probed_function(pc);
  UWord returned = SVD_CALL_NONE;
  VG_(lookupFM)(return_sites, NULL, &returned, pc);
  if (!entered && !returned) return in;

  IRSB* out = deepCopyIRSBExceptStmts(in);
  for (Int i = 0; i < in->stmts_used; i++) {
    addStmtToIRSB(out, in->stmts[i]);
    if (i != first) continue;
    if (returned) tell_return(out, returned);
    if (entered) tell_entry(out, entered);
  }
  return out;
}
