/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * The plan of a superblock: its instructions, its memory accesses (slots), its exits, and where
 * each logged word stands in the execution record.
 *
 * Little of what is accessed has to be logged. Every 64-bit temporary is resolved to a root
 * temporary plus a constant; the first address or value with a given root is logged, and the others
 * follow from it (a push after a push, a field after its neighbour, a pointer just loaded and then
 * used).
 *
 * Invariants: slots are in the order of execution, so what a side exit leaves is a prefix of them,
 * and a derived quantity names an earlier slot. The address of a slot is computed, and logged, even
 * when its access does not happen; the value of an optional slot is never derived from.
 *
 * Touches: nothing but the plan; svd_log_block writes it to the ring.
 */
#include "pub_tool_libcassert.h"
#include "pub_tool_libcbase.h"
#include "pub_tool_mallocfree.h"
#include "svd_tool.h"

typedef struct {
  IRTemp root; /* IRTemp_INVALID: unknown */
  ULong delta;
} Term;

typedef struct {
  UChar source; /* SVD_WIRE_ABSENT: root not known */
  UShort slot;
  ULong delta; /* root = quantity - delta */
} Known;

/* While one superblock is planned. */
static SvdPlan* plan;
static IRSB* sb;
static Term* terms;   /* by temporary: what it is in terms of its root */
static Known* knowns; /* by root */
static UInt record_size;
static Int statement;

Bool svd_is_mailbox(const IRExpr* address) {
  return address->tag == Iex_Const && address->Iex.Const.con->tag == Ico_U64 &&
         address->Iex.Const.con->Ico.U64 - SVD_WIRE_MAILBOX < 8 * SVD_WIRE_MAILBOX_WORDS;
}

static Bool constant_bits(const IRExpr* e, ULong* bits) {
  if (e->tag != Iex_Const) return False;
  const IRConst* c = e->Iex.Const.con;
  switch (c->tag) {
    case Ico_U8:
      *bits = c->Ico.U8;
      return True;
    case Ico_U16:
      *bits = c->Ico.U16;
      return True;
    case Ico_U32:
      *bits = c->Ico.U32;
      return True;
    case Ico_U64:
      *bits = c->Ico.U64;
      return True;
    case Ico_F32i:
      *bits = c->Ico.F32i;
      return True;
    case Ico_F64i:
      *bits = c->Ico.F64i;
      return True;
    default:
      return False;
  }
}

static UInt size_of_value(const IRExpr* e) {
  switch (typeOfIRExpr(sb->tyenv, e)) {
    case Ity_I8:
      return 1;
    case Ity_I16:
      return 2;
    case Ity_I32:
    case Ity_F32:
      return 4;
    case Ity_I64:
    case Ity_F64:
      return 8;
    default:
      return 0;
  }
}

/* Notes that `tmp` is another term of its root, if `e` says so. */
static void learn_term(IRTemp tmp, const IRExpr* e) {
  Term* t = &terms[tmp];
  t->root = tmp;
  t->delta = 0;
  ULong k;
  if (e->tag == Iex_RdTmp) {
    *t = terms[e->Iex.RdTmp.tmp];
  } else if (e->tag == Iex_Binop) {
    const IRExpr* a = e->Iex.Binop.arg1;
    const IRExpr* b = e->Iex.Binop.arg2;
    if (e->Iex.Binop.op == Iop_Add64) {
      if (a->tag == Iex_RdTmp && constant_bits(b, &k)) {
        *t = terms[a->Iex.RdTmp.tmp];
        t->delta += k;
      } else if (b->tag == Iex_RdTmp && constant_bits(a, &k)) {
        *t = terms[b->Iex.RdTmp.tmp];
        t->delta += k;
      }
    } else if (e->Iex.Binop.op == Iop_Sub64 && a->tag == Iex_RdTmp && constant_bits(b, &k)) {
      *t = terms[a->Iex.RdTmp.tmp];
      t->delta -= k;
    }
  }
}

/* Fills `q` with the cheapest source of atom `e`; allots `size` bytes of the record if it must. */
static void find_source(SvdWireQuantity* q, const IRExpr* e, UInt size, UChar self_source,
                        Bool reusable) {
  ULong k;
  if (constant_bits(e, &k)) {
    q->source = SVD_WIRE_CONSTANT;
    q->constant = k;
    return;
  }
  Term t = terms[e->Iex.RdTmp.tmp];
  Known* known = &knowns[t.root];
  if (known->source != SVD_WIRE_ABSENT) {
    q->source = known->source;
    q->slot = known->slot;
    q->constant = t.delta - known->delta;
    return;
  }
  q->source = SVD_WIRE_LOGGED;
  q->at = record_size;
  record_size += size;
  if (reusable) {
    known->source = self_source;
    known->slot = plan->slots;
    known->delta = t.delta;
  }
}

static void add_slot(IRExpr* address, UInt size, IRExpr* value, UInt flags, IRExpr* guard,
                     IRCAS* cas) {
  tl_assert(plan->slots < SVD_MAX_SLOTS);
  SvdSlot* s = &plan->slot[plan->slots];
  VG_(memset)(s, 0, sizeof(*s));
  s->statement = statement;
  s->address = address;
  s->guard = guard;
  s->cas = cas;
  s->wire.instruction = plan->instructions - 1;
  s->wire.size = size;
  s->wire.flags = flags;
  if (guard || cas) {
    s->wire.flags |= SVD_WIRE_OPTIONAL;
    s->wire.present_at = record_size++;
  }
  find_source(&s->wire.address, address, 8, SVD_WIRE_ADDRESS_OF, True);
  if (value && (svd_values || svd_is_mailbox(address)) && size_of_value(value) == size) {
    s->value = value;
    find_source(&s->wire.value, value, size, SVD_WIRE_VALUE_OF, !guard && !cas);
  }
  plan->slots++;
}

/* In a locked instruction VEX loads, computes, and compare-and-swaps: the load is the read. */
static Bool was_read_by_this_instruction(const IRExpr* address) {
  for (Int i = (Int)plan->slots - 1; i >= 0; i--) {
    SvdSlot* s = &plan->slot[i];
    if (s->wire.instruction != plan->instructions - 1) return False;
    if (!(s->wire.flags & SVD_WIRE_WRITE) && eqIRAtom(s->address, address)) {
      s->wire.flags |= SVD_WIRE_ATOMIC;
      return True;
    }
  }
  return False;
}

static void plan_cas(IRCAS* cas) {
  Bool twice = cas->oldHi != IRTemp_INVALID;
  UInt size = sizeofIRType(typeOfIRExpr(sb->tyenv, cas->dataLo)) * (twice ? 2 : 1);
  IRExpr* old = IRExpr_RdTmp(cas->oldLo);
  if (!was_read_by_this_instruction(cas->addr)) {
    add_slot(cas->addr, size, old, SVD_WIRE_ATOMIC, NULL, NULL);
  }
  add_slot(cas->addr, size, cas->dataLo, SVD_WIRE_ATOMIC | SVD_WIRE_WRITE, NULL, cas);
}

static void plan_dirty(IRDirty* d) {
  if (d->mFx == Ifx_None) return;
  ULong always;
  IRExpr* guard = constant_bits(d->guard, &always) || d->guard->tag == Iex_Const ? NULL : d->guard;
  if (d->mFx != Ifx_Write) add_slot(d->mAddr, d->mSize, NULL, 0, guard, NULL);
  if (d->mFx != Ifx_Read) add_slot(d->mAddr, d->mSize, NULL, SVD_WIRE_WRITE, guard, NULL);
}

static void plan_guarded_load(IRLoadG* lg) {
  UInt size = 0;
  switch (lg->cvt) {
    case ILGop_IdentV128:
      size = 16;
      break;
    case ILGop_Ident64:
      size = 8;
      break;
    case ILGop_Ident32:
      size = 4;
      break;
    case ILGop_16Uto32:
    case ILGop_16Sto32:
      size = 2;
      break;
    case ILGop_8Uto32:
    case ILGop_8Sto32:
      size = 1;
      break;
    default:
      VG_(tool_panic)("guarded load");
  }
  add_slot(lg->addr, size, IRExpr_RdTmp(lg->dst), 0, lg->guard, NULL);
}

static UInt jump_of(IRJumpKind kind) {
  switch (kind) {
    case Ijk_Boring:
    case Ijk_Yield:
    case Ijk_ClientReq:
    case Ijk_NoRedir:
    case Ijk_InvalICache:
    case Ijk_EmWarn:
    case Ijk_FlushDCache:
      return SVD_WIRE_JUMP;
    case Ijk_Call:
      return SVD_WIRE_CALL;
    case Ijk_Ret:
      return SVD_WIRE_RETURN;
    case Ijk_Sys_syscall:
    case Ijk_Sys_int128:
    case Ijk_Sys_int32:
    case Ijk_Sys_int129:
    case Ijk_Sys_int130:
    case Ijk_Sys_int145:
    case Ijk_Sys_int210:
    case Ijk_Sys_sysenter:
      return SVD_WIRE_KERNEL;
    default:
      return SVD_WIRE_TRAP;
  }
}

static void add_exit(IRJumpKind kind, ULong target) {
  tl_assert(plan->exits < SVD_MAX_EXITS);
  SvdWireExit* x = &plan->exit[plan->exits++];
  x->instructions = plan->instructions;
  x->slots = plan->slots;
  x->record_size = record_size;
  x->jump = jump_of(kind);
  x->pad = 0;
  x->target = target;
}

static void add_instruction(Addr pc, UInt length) {
  tl_assert(plan->instructions < SVD_MAX_INSTRUCTIONS);
  /* Undecodable to VEX, so of unknown length; ud2 is the one that compilers make. */
  if (length == 0) length = ((const UChar*)pc)[0] == 0x0f && ((const UChar*)pc)[1] == 0x0b ? 2 : 1;
  SvdWireInstruction* n = &plan->instruction[plan->instructions++];
  n->pc = pc;
  n->length = length;
  n->pad = 0;
  plan->code_size += length;
}

static void plan_statement(IRStmt* st) {
  switch (st->tag) {
    case Ist_IMark:
      add_instruction(st->Ist.IMark.addr, st->Ist.IMark.len);
      break;
    case Ist_WrTmp: {
      IRExpr* e = st->Ist.WrTmp.data;
      learn_term(st->Ist.WrTmp.tmp, e);
      if (e->tag == Iex_Load) {
        add_slot(e->Iex.Load.addr, sizeofIRType(e->Iex.Load.ty), IRExpr_RdTmp(st->Ist.WrTmp.tmp), 0,
                 NULL, NULL);
      }
      break;
    }
    case Ist_Store:
      add_slot(st->Ist.Store.addr, sizeofIRType(typeOfIRExpr(sb->tyenv, st->Ist.Store.data)),
               st->Ist.Store.data, SVD_WIRE_WRITE, NULL, NULL);
      break;
    case Ist_StoreG: {
      IRStoreG* sg = st->Ist.StoreG.details;
      add_slot(sg->addr, sizeofIRType(typeOfIRExpr(sb->tyenv, sg->data)), sg->data, SVD_WIRE_WRITE,
               sg->guard, NULL);
      break;
    }
    case Ist_LoadG:
      plan_guarded_load(st->Ist.LoadG.details);
      break;
    case Ist_CAS:
      plan_cas(st->Ist.CAS.details);
      break;
    case Ist_Dirty:
      plan_dirty(st->Ist.Dirty.details);
      break;
    case Ist_Exit: {
      ULong target = 0;
      constant_bits(IRExpr_Const(st->Ist.Exit.dst), &target);
      add_exit(st->Ist.Exit.jk, target);
      break;
    }
    default:
      break;
  }
}

Bool svd_plan(SvdPlan* p, IRSB* in) {
  plan = p;
  sb = in;
  plan->instructions = plan->slots = plan->exits = plan->code_size = 0;
  record_size = sizeof(UInt);

  Int body = 0;
  while (body < in->stmts_used && in->stmts[body]->tag != Ist_IMark) body++;
  if (body == in->stmts_used) return False;
  plan->body = body;

  Int n = in->tyenv->types_used;
  terms = VG_(calloc)("svd.terms", n, sizeof(Term));
  knowns = VG_(calloc)("svd.knowns", n, sizeof(Known));
  /* A temporary that no statement here explains (a helper's result) is its own root. */
  for (Int i = 0; i < n; i++) terms[i].root = i;
  for (statement = body; statement < in->stmts_used; statement++) {
    plan_statement(in->stmts[statement]);
  }
  ULong target = 0;
  constant_bits(in->next, &target);
  add_exit(in->jumpkind, target);
  VG_(free)(terms);
  VG_(free)(knowns);
  return True;
}

void svd_log_block(const SvdPlan* p, UInt id) {
  UInt size = sizeof(SvdWireBlock) + p->instructions * sizeof(SvdWireInstruction) +
              p->slots * sizeof(SvdWireSlot) + p->exits * sizeof(SvdWireExit) + p->code_size;
  SvdWireBlock* r = svd_log_record(SVD_WIRE_BLOCK, 0, svd_padded(size), 0);
  if (!r) return;
  r->id = id;
  r->instructions = p->instructions;
  r->slots = p->slots;
  r->exits = p->exits;
  r->code_size = p->code_size;

  UChar* out = (UChar*)(r + 1);
  UInt bytes = p->instructions * sizeof(SvdWireInstruction);
  VG_(memcpy)(out, p->instruction, bytes);
  out += bytes;
  for (UInt i = 0; i < p->slots; i++, out += sizeof(SvdWireSlot)) {
    VG_(memcpy)(out, &p->slot[i].wire, sizeof(SvdWireSlot));
  }
  bytes = p->exits * sizeof(SvdWireExit);
  VG_(memcpy)(out, p->exit, bytes);
  out += bytes;
  for (UInt i = 0; i < p->instructions; i++) {
    VG_(memcpy)(out, (const void*)p->instruction[i].pc, p->instruction[i].length);
    out += p->instruction[i].length;
  }
  svd_log_commit();
}
