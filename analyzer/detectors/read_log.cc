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
// Cost: one shadow look-up an access; 40 bytes a cell, and 16 more for each further thread that
// writes it.

#include "detectors/read_log.h"

namespace svd {

void ReadLog::access(const Touch& access) {
  auto same_thread = [&](const Mark& mark) { return mark.is(access.thread); };
  auto look = [&](Cell& cell, Addr address, std::uint64_t size) {
    if (access.writes()) {
      cell.by_thread.remove_if(same_thread);
      cell.last = Mark(access);
      cell.by_thread.add(cell.last);
      return;
    }
    if (access.atomic || cell.last.moment == 0 || same_thread(cell.last)) return;
    cell.by_thread.each([&](const Mark& local) {
      if (!same_thread(local)) return;
      Mark reader(access);
      if (RawFinding* found = found_.triple(reader, cell.last, local)) {
        found->accesses = {RawAccess("local-write", local, address, size),
                           RawAccess("remote-write", cell.last, address, size),
                           RawAccess("read", reader, address, size)};
      }
    });
  };
  // What nobody wrote tells a reader nothing.
  if (access.kind == TouchKind::kWrite) {
    shadow_.touch(access.address, access.size, look);
  } else if (access.kind == TouchKind::kRead) {
    shadow_.visit(access.address, access.size, look);
  }
}

}  // namespace svd
