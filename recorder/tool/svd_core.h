/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Functions of Valgrind's core that its tool headers do not declare. They are in the static library
 * that the tool links; their signatures are those of Valgrind 3.19.
 */
#ifndef SVD_CORE_H
#define SVD_CORE_H

#include "pub_tool_basics.h"
#include "pub_tool_vki.h"

extern SysRes VG_(do_syscall)(UWord number, UWord a1, UWord a2, UWord a3, UWord a4, UWord a5,
                              UWord a6, UWord a7, UWord a8);
/* Moves a descriptor to the range that the client cannot see, close-on-exec. */
extern Int VG_(safe_fd)(Int fd);
extern Int VG_(fcntl)(Int fd, Int command, Addr argument);
extern SysRes VG_(am_shared_mmap_file_float_valgrind)(SizeT length, UInt protection, Int fd,
                                                      Off64T offset);
/* Takes effect at once, so only where no thread is inside, or about to enter or chain, generated
 * code: in a system call, where signals are delivered, between two turns. */
extern void VG_(discard_translations)(Addr start, ULong size, const HChar* who);
/* The scheduler's lock; `status` is that of a thread without it. */
enum { THREAD_YIELDING = 4 };
extern void VG_(release_BigLock)(ThreadId tid, UInt status, const HChar* who);
extern void VG_(acquire_BigLock)(ThreadId tid, const HChar* who);
extern Bool VG_(is_exiting)(ThreadId tid);
/* What Valgrind checks when it enters and leaves generated code. */
extern Bool VG_(in_generated_code);
extern UInt VG_(stats__n_xIndirs_32), VG_(stats__n_xIndir_hits1_32), VG_(stats__n_xIndir_hits2_32),
    VG_(stats__n_xIndir_hits3_32), VG_(stats__n_xIndir_misses_32);
extern Int VG_(sigaction)(Int number, const vki_sigaction_toK_t* action,
                          vki_sigaction_fromK_t* before);
extern Int VG_(tkill)(Int lwp, Int number);
extern Bool VG_(clo_trace_children);
extern Int VG_(cl_exec_fd); /* the client's executable */
/* What execve does; `pathname` need not be the client's memory when it is not to be checked. */
extern void handle_pre_sys_execve(ThreadId tid, void* status, Addr pathname, Addr arguments,
                                  Addr environment, Int type, Bool check_pathname);

#endif /* SVD_CORE_H */
