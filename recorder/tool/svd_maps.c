/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * The program's address space: what is mapped, from which file, and what is taken away.
 */
#include "pub_tool_aspacemgr.h"
#include "pub_tool_libcbase.h"
#include "pub_tool_mallocfree.h"
#include "pub_tool_vki.h"
#include "svd_tool.h"

static UInt protection(Bool r, Bool w, Bool x) {
  return (r ? VKI_PROT_READ : 0) | (w ? VKI_PROT_WRITE : 0) | (x ? VKI_PROT_EXEC : 0);
}

static void log_map(UInt type, Addr address, SizeT size, UInt prot, Bool initial) {
  const NSegment* segment = VG_(am_find_nsegment)(address);
  const HChar* name = NULL;
  if (type == SVD_WIRE_MAP && segment && segment->kind == SkFileC) {
    name = VG_(am_get_filename)(segment);
  }
  UInt length = name ? VG_(strlen)(name) : 0;
  SvdWireMap* r = svd_log_record(type, 0, svd_padded(sizeof(*r) + length), length);
  if (!r) return;
  r->address = address;
  r->size = size;
  r->protection = prot;
  r->initial = initial;
  if (name) {
    r->file_offset = segment->offset + (address - segment->start);
    VG_(memcpy)(r + 1, name, length);
  }
  svd_log_commit();
}

void svd_map_startup(Addr address, SizeT size, Bool r, Bool w, Bool x, ULong handle) {
  log_map(SVD_WIRE_MAP, address, size, protection(r, w, x), True);
}

void svd_map(Addr address, SizeT size, Bool r, Bool w, Bool x, ULong handle) {
  log_map(SVD_WIRE_MAP, address, size, protection(r, w, x), False);
}

void svd_protect(Addr address, SizeT size, Bool r, Bool w, Bool x) {
  log_map(SVD_WIRE_PROTECT, address, size, protection(r, w, x), False);
}

static void log_range(UInt type, ThreadId tid, Addr address, ULong size) {
  SvdWireRange* r = svd_log_record(type, tid, sizeof(*r), 0);
  if (!r) return;
  r->address = address;
  r->size = size;
  svd_log_commit();
}

void svd_unmap(Addr address, SizeT size) { log_range(SVD_WIRE_UNMAP, 0, address, size); }

void svd_break_grow(Addr address, SizeT size, ThreadId tid) {
  log_range(SVD_WIRE_BREAK, tid, address, size);
}

void svd_break_shrink(Addr address, SizeT size) { log_range(SVD_WIRE_UNMAP, 0, address, size); }

void svd_remap(Addr from, Addr to, SizeT size) {
  SvdWireRemap* r = svd_log_record(SVD_WIRE_REMAP, 0, sizeof(*r), 0);
  if (!r) return;
  r->old_address = from;
  r->address = to;
  r->size = size;
  svd_log_commit();
}

void svd_log_all_maps(void) {
  UInt kinds = SkFileC | SkAnonC | SkShmC;
  Int room = 256, n;
  Addr* starts = NULL;
  do {
    VG_(free)(starts);
    room *= 2;
    starts = VG_(malloc)("svd.starts", room * sizeof(Addr));
    n = VG_(am_get_segment_starts)(kinds, starts, room);
  } while (n < 0);
  for (Int i = 0; i < n; i++) {
    const NSegment* s = VG_(am_find_nsegment)(starts[i]);
    svd_map_startup(s->start, s->end + 1 - s->start, s->hasR, s->hasW, s->hasX, 0);
  }
  VG_(free)(starts);
}
