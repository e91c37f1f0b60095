/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * The window: what part of the run is recorded, where --start-at or --stop-at say so. There is one,
 * from the first moment to the second.
 *
 * Outside of it blocks are not instrumented, and of other records only those about threads, the
 * address space and the process's end are made (svd_log.c), so that the trace is true at the
 * window's edges. At an edge all translations are dropped and made anew, the other way.
 *
 * A function: the block at its entry asks svd_window_entered(), in a statement before the first
 *   instruction, and if that moves the edge goes back to the scheduler by a jump that makes it drop
 *   all translations, then to the same block.
 * A time: looked at in system calls and between the turns of threads.
 * A signal: begins with its delivery, ends before the handler runs.
 */
#include "libvex_guest_amd64.h"
#include "pub_tool_debuginfo.h"
#include "pub_tool_libcbase.h"
#include "pub_tool_libcproc.h"
#include "pub_tool_machine.h"
#include "pub_tool_vki.h"
#include "svd_tool.h"

typedef struct {
  const HChar* option;
  const HChar* what; /* as the user wrote it; a function's name */
  HChar kind;        /* 'f' function, 't' time, 's' signal, 0: not asked for */
  UInt number;       /* milliseconds, or the signal */
} Moment;

static Moment moments[] = {{"--start-at", NULL, 0, 0}, {"--stop-at", NULL, 0, 0}};
static UInt passed;          /* of the two moments */
static UInt start_ms;        /* when the program started */
static Bool stop_is_due;     /* its signal has come */
static Addr entered_through; /* the block whose entry began the window, until it runs */

Bool svd_in_window = False;

Bool svd_window_option(const HChar* option, const HChar* text) {
  Moment* m = VG_STREQ(option, moments[0].option) ? &moments[0] : &moments[1];
  HChar* end;
  m->kind = text[0];
  m->number = text[0] ? VG_(strtoull10)(text + 1, &end) : 0;
  if (!VG_(strchr)("fts", text[0]) || text[0] == 0 || *end != ',') return False;
  m->what = end + 1;
  return True;
}

void svd_window_start(void) {
  start_ms = VG_(read_millisecond_timer)();
  if (!moments[0].kind) passed = 1;
  svd_in_window = passed == 1;
}

static void tell(UInt edge, const Moment* m) {
  UInt length = VG_(strlen)(m->what);
  SvdWireWindow* r = svd_log_record(SVD_WIRE_WINDOW, 0, svd_padded(sizeof(*r) + length), length);
  if (!r) return;
  r->edge = edge;
  VG_(memcpy)(r + 1, m->what, length);
  svd_log_commit();
}

void svd_window_tell(void) {
  if (passed == 0) tell(SVD_WINDOW_AWAITED, &moments[0]);
  if (passed == 2) tell(SVD_WINDOW_ENDS, &moments[1]);
}

/* The moment that comes next; its kind is 0 when there is none. */
static const Moment* next_moment(void) {
  static const Moment never = {NULL, NULL, 0, 0};
  return passed < 2 ? &moments[passed] : &never;
}

static void pass_moment(void) {
  const Moment* m = next_moment();
  stop_is_due = False;
  passed++;
  svd_in_window = passed == 1;
  tell(svd_in_window ? SVD_WINDOW_BEGINS : SVD_WINDOW_ENDS, m);
  /* A thread that another one names does so by a call that only recorded code tells. */
  if (svd_in_window) svd_log_thread_names();
}

void svd_window_poll(void) {
  const Moment* m = next_moment();
  Bool due = m->kind == 't' && VG_(read_millisecond_timer)() - start_ms >= m->number;
  if (due || stop_is_due) {
    pass_moment();
    svd_log_drop_translations();
  }
}

void __real_vgPlain_poll_signals(ThreadId tid);

/* Between two turns of a thread. */
void __wrap_vgPlain_poll_signals(ThreadId tid) {
  svd_window_poll();
  __real_vgPlain_poll_signals(tid);
}

void svd_window_signal(Int number) {
  const Moment* m = next_moment();
  if (m->kind != 's' || m->number != (UInt)number) return;
  if (svd_in_window) {
    stop_is_due = True;
  } else {
    pass_moment();
    svd_log_drop_translations();
  }
}

Bool svd_window_is_signal(Int number) {
  for (UInt i = 0; i < 2; i++) {
    if (moments[i].kind == 's' && moments[i].number == (UInt)number) return True;
  }
  return False;
}

/* Called by generated code before the block at `pc`, which is the entry of the next moment's
 * function. Whether the block must be left: its translation no longer fits. */
static ULong svd_window_entered(Addr pc) {
  Addr through = entered_through;
  entered_through = 0;
  if (through == pc || next_moment()->kind != 'f') return 0;
  pass_moment();
  if (svd_in_window) entered_through = pc;
  return 1;
}

/* Symbols may have their parameters or version behind their name. */
static Bool is_called(const HChar* symbol, const HChar* name) {
  SizeT n = VG_(strlen)(name);
  return VG_(strncmp)(symbol, name, n) == 0 &&
         (symbol[n] == 0 || symbol[n] == '(' || symbol[n] == '@');
}

static Bool enters(const IRSB* in, const HChar* function, Addr* pc) {
  Int i = 0;
  while (i < in->stmts_used && in->stmts[i]->tag != Ist_IMark) i++;
  if (i == in->stmts_used) return False;
  *pc = in->stmts[i]->Ist.IMark.addr;
  const HChar* name;
  return VG_(get_fnname_if_entry)(VG_(current_DiEpoch)(), *pc, &name) && is_called(name, function);
}

#define GUEST(name) offsetof(VexGuestAMD64State, guest_##name)

IRSB* svd_window_watch(IRSB* in) {
  const Moment* m = next_moment();
  Addr pc;
  if (m->kind != 'f' || !enters(in, m->what, &pc)) return in;

  IRSB* out = deepCopyIRSBExceptStmts(in);
  IRTemp moved = newIRTemp(out->tyenv, Ity_I64);
  IRTemp leave = newIRTemp(out->tyenv, Ity_I1);
  IRDirty* ask =
      unsafeIRDirty_1_N(moved, 0, "svd_window_entered", VG_(fnptr_to_fnentry)(&svd_window_entered),
                        mkIRExprVec_1(mkIRExpr_HWord(pc)));
  addStmtToIRSB(out, IRStmt_Dirty(ask));
  addStmtToIRSB(
      out, IRStmt_WrTmp(leave, IRExpr_Binop(Iop_CmpNE64, IRExpr_RdTmp(moved), mkIRExpr_HWord(0))));
  addStmtToIRSB(out, IRStmt_Put(GUEST(CMSTART), mkIRExpr_HWord(SVD_CLIENT_START)));
  addStmtToIRSB(out, IRStmt_Put(GUEST(CMLEN), mkIRExpr_HWord(SVD_CLIENT_SIZE)));
  addStmtToIRSB(out,
                IRStmt_Exit(IRExpr_RdTmp(leave), Ijk_InvalICache, IRConst_U64(pc), GUEST(RIP)));
  for (Int i = 0; i < in->stmts_used; i++) addStmtToIRSB(out, in->stmts[i]);
  return out;
}
