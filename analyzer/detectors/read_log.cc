// SPDX-License-Identifier: Apache-2.0
//
// Definition (SVD §2.3). Each triple (s, rw, lw): s reads what another thread wrote last, in rw,
// after its own thread had written the same bytes, last in lw. If s meant to read what lw wrote,
// rw broke in.
//
//     thread 5: used_fields = 1 (lw)                         read used_fields (s)
//     thread 6:                       used_fields = 9 (rw)
//
// Atomic reads are left out: they mean to read what others wrote. Grouped by their places in the
// code; the rare ones come first. It is no detector of errors: most
// of what threads tell each other looks like this.
//
// Cost: one shadow look-up (history.h) an access; 44 bytes a cell, and some 24 more for each
// further thread that writes it.

#include "detectors/read_log.h"

namespace svd {

bool ReadLog::look(HistoryCell& cell, Sight& sight) {
  const Touch& access = sight.access;
  if (access.kind == TouchKind::kFree || (access.atomic && !access.writes())) return false;
  BriefMark* last = nullptr;
  BriefMark* own = nullptr;
  for (BriefMark& mark : cell.marks) {
    if (!keeps(mark)) continue;
    last = &mark;
    if (mark.is(access.thread)) own = &mark;
  }
  if (access.writes()) {
    if (own != nullptr) forget(*own);
    keep(sight.mark);
  } else if (own != nullptr && own != last) {
    Mark read(access), remote = whole(*last), local = whole(*own);
    if (RawFinding* found = found_.triple(read, remote, local)) {
      found->accesses = {RawAccess("local-write", local, sight.address, sight.size),
                         RawAccess("remote-write", remote, sight.address, sight.size),
                         RawAccess("read", read, sight.address, sight.size)};
    }
  }
  return false;
}

}  // namespace svd
