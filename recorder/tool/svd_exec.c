/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * A program that executes itself as /proc/self/exe means itself; to the kernel, and so to
 * Valgrind 3.19, that is Valgrind's tool. The call is wrapped at link time, and given the program's
 * own path.
 */
#include "pub_tool_libcbase.h"
#include "pub_tool_libcfile.h"
#include "pub_tool_libcproc.h"
#include "svd_core.h"
#include "svd_tool.h"

enum { EXECVE = 0 }; /* of Valgrind's ExecveType */

void __real_vgSysWrap_generic_sys_execve_before(ThreadId tid, void* layout, UWord* args,
                                                void* status, UWord* flags);

static Bool means_itself(Addr path) {
  HChar own[32];
  VG_(snprintf)(own, sizeof(own), "/proc/%d/exe", VG_(getpid)());
  return svd_client_string_is(path, "/proc/self/exe") || svd_client_string_is(path, own);
}

/* `args`: the number of the call, then its arguments. */
void __wrap_vgSysWrap_generic_sys_execve_before(ThreadId tid, void* layout, UWord* args,
                                                void* status, UWord* flags) {
  static HChar program[4096];
  HChar link[32];
  VG_(snprintf)(link, sizeof(link), "/proc/self/fd/%d", VG_(cl_exec_fd));
  SSizeT length = means_itself(args[1]) ? VG_(readlink)(link, program, sizeof(program) - 1) : 0;
  if (length <= 0) {
    __real_vgSysWrap_generic_sys_execve_before(tid, layout, args, status, flags);
    return;
  }
  program[length] = 0;
  handle_pre_sys_execve(tid, status, (Addr)program, args[2], args[3], EXECVE, False);
}
