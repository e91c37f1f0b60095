/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Hides the fast-string features from the program. With them the C library copies by "rep movsb",
 * which Valgrind runs one byte a superblock; without them it copies by vectors. Wrapped at link
 * time.
 */
#include "libvex_guest_amd64.h"

enum {
  LEAF_FEATURES = 7,
  EBX_ERMS = 1 << 9,
  EDX_FSRM = 1 << 4,
};

void __real_amd64g_dirtyhelper_CPUID_avx2(VexGuestAMD64State* state, ULong f16c, ULong rdrand,
                                          ULong rdseed);
void __wrap_amd64g_dirtyhelper_CPUID_avx2(VexGuestAMD64State* state, ULong f16c, ULong rdrand,
                                          ULong rdseed);

void __wrap_amd64g_dirtyhelper_CPUID_avx2(VexGuestAMD64State* state, ULong f16c, ULong rdrand,
                                          ULong rdseed) {
  UInt leaf = (UInt)state->guest_RAX;
  __real_amd64g_dirtyhelper_CPUID_avx2(state, f16c, rdrand, rdseed);
  if (leaf == LEAF_FEATURES) {
    state->guest_RBX &= ~(ULong)EBX_ERMS;
    state->guest_RDX &= ~(ULong)EDX_FSRM;
  }
}
