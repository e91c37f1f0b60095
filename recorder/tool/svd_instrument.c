/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Turns the plan of a superblock into code: stores to the log, and nothing else on the hot path.
 *
 *   p = pointer;  if (limit <= p) { refill(); }  p = pointer
 *   [p] = id << 8;  pointer = p + size of a record that leaves by exit 0
 *   ... before an access: its address, what it writes; after it: what it read
 *   ... behind side exit k: [p] low byte = k + 1;  pointer = p + size of a record of exit k + 1
 *
 * So when the block is left, wherever that is, the pointer stands behind a record that names its
 * exit.
 *
 * Invariant: the log words of an access are complete before it can fault, except what it reads.
 */
#include "pub_tool_debuginfo.h"
#include "pub_tool_libcassert.h"
#include "pub_tool_libcbase.h"
#include "pub_tool_machine.h"
#include "svd_tool.h"

enum { MAX_BLOCK_ID = (1 << 24) - 1 };

static SvdPlan plan;
static UInt last_id;

/* While one superblock is instrumented. */
static IRSB* out;
static IRTemp log_pointer;
static Int pointer_offset; /* of the log pointer in the guest state */
static Int ip_offset;
static Bool in_runtime;

static IRExpr* assign(IRExpr* e) {
  IRTemp t = newIRTemp(out->tyenv, typeOfIRExpr(out->tyenv, e));
  addStmtToIRSB(out, IRStmt_WrTmp(t, e));
  return IRExpr_RdTmp(t);
}

static IRExpr* log_address(UInt at) {
  IRExpr* p = IRExpr_RdTmp(log_pointer);
  return at == 0 ? p : assign(IRExpr_Binop(Iop_Add64, p, mkIRExpr_HWord(at)));
}

static void log_store(UInt at, IRExpr* value) {
  addStmtToIRSB(out, IRStmt_Store(Iend_LE, log_address(at), value));
}

static void set_record_size(UInt size) {
  addStmtToIRSB(out, IRStmt_Put(pointer_offset, log_address(size)));
}

static void open_record(UInt id) {
  IRExpr* p = assign(IRExpr_Get(pointer_offset, Ity_I64));
  IRExpr* limit =
      assign(IRExpr_Get(pointer_offset + SVD_SHADOW_LIMIT - SVD_SHADOW_POINTER, Ity_I64));
  IRExpr* full = assign(IRExpr_Binop(Iop_CmpLE64U, limit, p));
  IRDirty* refill = unsafeIRDirty_0_N(0, "svd_log_refill", VG_(fnptr_to_fnentry)(&svd_log_refill),
                                      mkIRExprVec_0());
  refill->guard = full;
  addStmtToIRSB(out, IRStmt_Dirty(refill));

  log_pointer = newIRTemp(out->tyenv, Ity_I64);
  addStmtToIRSB(out, IRStmt_WrTmp(log_pointer, IRExpr_Get(pointer_offset, Ity_I64)));
  log_store(0, IRExpr_Const(IRConst_U32(id << 8)));
  if (svd_sched_chaos()) {
    addStmtToIRSB(out, IRStmt_Put(pointer_offset + SVD_SHADOW_RECORD - SVD_SHADOW_POINTER,
                                  IRExpr_RdTmp(log_pointer)));
  }
  set_record_size(plan.exit[0].record_size);
}

/* Whether another thread may come before this slot: not inside an indivisible instruction. */
static Bool may_pause(UInt slot) {
  UInt instruction = plan.slot[slot].wire.instruction, first = slot;
  while (first > 0 && plan.slot[first - 1].wire.instruction == instruction) first--;
  if (first == slot) return True;
  for (UInt i = first; i < plan.slots && plan.slot[i].wire.instruction == instruction; i++) {
    if (plan.slot[i].wire.flags & SVD_WIRE_ATOMIC) return False;
  }
  return True;
}

/* Whether code belongs to the C or C++ library, or to us. */
static Bool is_runtime(Addr pc) {
  static const HChar* const names[] = {"ld-linux", "libc.",      "libc-2",    "libgcc_s",
                                       "libm.",    "libpthread", "libstdc++", "vgpreload_"};
  DebugInfo* object = VG_(find_DebugInfo)(VG_(current_DiEpoch)(), pc);
  if (!object) return False;
  const HChar* path = VG_(DebugInfo_get_filename)(object);
  const HChar* slash = VG_(strrchr)(path, '/');
  const HChar* name = slash ? slash + 1 : path;
  for (UInt i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
    if (VG_(strncmp)(name, names[i], VG_(strlen)(names[i])) == 0) return True;
  }
  return False;
}

static void count_down(UInt slot) {
  Int count_offset = pointer_offset + SVD_SHADOW_COUNT - SVD_SHADOW_POINTER;
  IRExpr* left =
      assign(IRExpr_Binop(Iop_Sub64, assign(IRExpr_Get(count_offset, Ity_I64)), mkIRExpr_HWord(1)));
  addStmtToIRSB(out, IRStmt_Put(count_offset, left));
  IRDirty* pause = unsafeIRDirty_0_N(
      0, "svd_sched_pause", VG_(fnptr_to_fnentry)(&svd_sched_pause),
      mkIRExprVec_3(mkIRExpr_HWord(slot), plan.slot[slot].address, mkIRExpr_HWord(in_runtime)));
  pause->guard = assign(IRExpr_Binop(Iop_CmpEQ64, left, mkIRExpr_HWord(0)));
  addStmtToIRSB(out, IRStmt_Dirty(pause));
  log_pointer = newIRTemp(out->tyenv, Ity_I64);
  IRExpr* record = IRExpr_Get(pointer_offset + SVD_SHADOW_RECORD - SVD_SHADOW_POINTER, Ity_I64);
  addStmtToIRSB(out, IRStmt_WrTmp(log_pointer, record));
}

static void log_before(const SvdSlot* s) {
  if (s->wire.address.source == SVD_WIRE_LOGGED) log_store(s->wire.address.at, s->address);
  if (s->guard) log_store(s->wire.present_at, assign(IRExpr_Unop(Iop_1Uto8, s->guard)));
  if ((s->wire.flags & SVD_WIRE_WRITE) && s->wire.value.source == SVD_WIRE_LOGGED) {
    log_store(s->wire.value.at, s->value);
  }
}

static IRExpr* equal(IRTemp old, IRExpr* expected) {
  IROp op;
  switch (typeOfIRTemp(out->tyenv, old)) {
    case Ity_I8:
      op = Iop_CasCmpEQ8;
      break;
    case Ity_I16:
      op = Iop_CasCmpEQ16;
      break;
    case Ity_I32:
      op = Iop_CasCmpEQ32;
      break;
    default:
      op = Iop_CasCmpEQ64;
      break;
  }
  return assign(IRExpr_Unop(Iop_1Uto8, assign(IRExpr_Binop(op, IRExpr_RdTmp(old), expected))));
}

static void log_after(const SvdSlot* s) {
  if (!(s->wire.flags & SVD_WIRE_WRITE) && s->wire.value.source == SVD_WIRE_LOGGED) {
    log_store(s->wire.value.at, s->value);
  }
  if (s->cas) {
    IRExpr* done = equal(s->cas->oldLo, s->cas->expdLo);
    if (s->cas->oldHi != IRTemp_INVALID) {
      done = assign(IRExpr_Binop(Iop_And8, done, equal(s->cas->oldHi, s->cas->expdHi)));
    }
    log_store(s->wire.present_at, done);
  }
}

static void pass_exit(UInt k) {
  log_store(0, IRExpr_Const(IRConst_U8(k + 1)));
  if (plan.exit[k + 1].record_size != plan.exit[k].record_size) {
    set_record_size(plan.exit[k + 1].record_size);
  }
}

/* A division can fault without accessing memory, and VEX lets the program counter lag until then.
 */
static Bool can_fault_on_registers(const IRStmt* st) {
  if (st->tag != Ist_WrTmp || st->Ist.WrTmp.data->tag != Iex_Binop) return False;
  switch (st->Ist.WrTmp.data->Iex.Binop.op) {
    case Iop_DivModU64to32:
    case Iop_DivModS64to32:
    case Iop_DivModU128to64:
    case Iop_DivModS128to64:
    case Iop_DivModU32to32:
    case Iop_DivModS32to32:
    case Iop_DivModU64to64:
    case Iop_DivModS64to64:
      return True;
    default:
      return False;
  }
}

static Bool is_mailbox_store(const IRStmt* st) {
  return st->tag == Ist_Store && svd_is_mailbox(st->Ist.Store.addr);
}

static void log_body(IRSB* in) {
  UInt slot = 0, exit = 0, instruction = 0;
  for (Int i = plan.body; i < in->stmts_used; i++) {
    IRStmt* st = in->stmts[i];
    if (st->tag == Ist_IMark) instruction++;
    UInt first = slot;
    if (svd_sched_chaos() && slot < plan.slots && plan.slot[slot].statement == i &&
        !is_mailbox_store(st) && may_pause(slot)) {
      count_down(slot);
    }
    for (; slot < plan.slots && plan.slot[slot].statement == i; slot++) {
      log_before(&plan.slot[slot]);
    }
    if (can_fault_on_registers(st)) {
      Addr pc = plan.instruction[instruction - 1].pc;
      addStmtToIRSB(out, IRStmt_Put(ip_offset, mkIRExpr_HWord(pc)));
    }
    if (!is_mailbox_store(st)) addStmtToIRSB(out, st);
    for (UInt s = first; s < slot; s++) log_after(&plan.slot[s]);
    if (st->tag == Ist_Exit) pass_exit(exit++);
  }
  tl_assert(slot == plan.slots && exit + 1 == plan.exits);
}

IRSB* svd_instrument(VgCallbackClosure* closure, IRSB* in, const VexGuestLayout* layout,
                     const VexGuestExtents* vge, const VexArchInfo* archinfo_host, IRType gWordTy,
                     IRType hWordTy) {
  if (svd_recording && last_id == MAX_BLOCK_ID) svd_log_detach(False);
  if (!svd_recording || !svd_in_window) {
    for (Int i = 0; i < in->stmts_used; i++) {
      if (is_mailbox_store(in->stmts[i])) in->stmts[i] = IRStmt_NoOp();
    }
    return svd_recording ? svd_window_watch(in) : in;
  }
  in = svd_probe(svd_window_watch(in));
  if (!svd_plan(&plan, in)) return in;
  UInt id = ++last_id;
  svd_log_block(&plan, id);

  out = deepCopyIRSBExceptStmts(in);
  pointer_offset = layout->total_sizeB + SVD_SHADOW_POINTER;
  ip_offset = layout->offset_IP;
  in_runtime = svd_sched_chaos() && is_runtime(vge->base[0]);
  for (Int i = 0; i < plan.body; i++) addStmtToIRSB(out, in->stmts[i]);
  open_record(id);
  log_body(in);
  if (svd_sched_chaos() && in->jumpkind == Ijk_Yield) {
    addStmtToIRSB(
        out, IRStmt_Dirty(unsafeIRDirty_0_N(
                 0, "svd_sched_spins", VG_(fnptr_to_fnentry)(&svd_sched_spins), mkIRExprVec_0())));
  }
  return out;
}
