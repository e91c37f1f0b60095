// SPDX-License-Identifier: Apache-2.0
#include "oracle/machine.h"

#include <asm/prctl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <cstring>

extern "C" {
svd::test::CpuState svd_oracle_in, svd_oracle_out;
std::uint64_t svd_oracle_host_rsp;
std::uint32_t svd_oracle_host_mxcsr;
const void* svd_oracle_slot;
void svd_oracle_run();
void svd_oracle_exit();
}

static_assert(offsetof(svd::test::CpuState, flags) == 128);
static_assert(offsetof(svd::test::CpuState, mxcsr) == 136);
static_assert(offsetof(svd::test::CpuState, vectors) == 144);

// Every place is named relative to rip: no register is the harness's own while the instruction
// runs, not even rsp.
asm(R"(
.macro svd_vectors op
  .irp n, 0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15
    \op \n
  .endr
.endm
.macro svd_load n
  vmovdqu svd_oracle_in+144+32*\n(%rip), %ymm\n
.endm
.macro svd_store n
  vmovdqu %ymm\n, svd_oracle_out+144+32*\n(%rip)
.endm
.text
.globl svd_oracle_run
.globl svd_oracle_exit
.type svd_oracle_run, @function
svd_oracle_run:
  push %rbx
  push %rbp
  push %r12
  push %r13
  push %r14
  push %r15
  mov %rsp, svd_oracle_host_rsp(%rip)
  stmxcsr svd_oracle_host_mxcsr(%rip)
  svd_vectors svd_load
  ldmxcsr svd_oracle_in+136(%rip)
  push svd_oracle_in+128(%rip)
  popfq
  mov svd_oracle_in+0(%rip), %rax
  mov svd_oracle_in+8(%rip), %rcx
  mov svd_oracle_in+16(%rip), %rdx
  mov svd_oracle_in+24(%rip), %rbx
  mov svd_oracle_in+32(%rip), %rsp
  mov svd_oracle_in+40(%rip), %rbp
  mov svd_oracle_in+48(%rip), %rsi
  mov svd_oracle_in+56(%rip), %rdi
  mov svd_oracle_in+64(%rip), %r8
  mov svd_oracle_in+72(%rip), %r9
  mov svd_oracle_in+80(%rip), %r10
  mov svd_oracle_in+88(%rip), %r11
  mov svd_oracle_in+96(%rip), %r12
  mov svd_oracle_in+104(%rip), %r13
  mov svd_oracle_in+112(%rip), %r14
  mov svd_oracle_in+120(%rip), %r15
  jmp *svd_oracle_slot(%rip)
svd_oracle_exit:
  mov %rax, svd_oracle_out+0(%rip)
  mov %rcx, svd_oracle_out+8(%rip)
  mov %rdx, svd_oracle_out+16(%rip)
  mov %rbx, svd_oracle_out+24(%rip)
  mov %rsp, svd_oracle_out+32(%rip)
  mov %rbp, svd_oracle_out+40(%rip)
  mov %rsi, svd_oracle_out+48(%rip)
  mov %rdi, svd_oracle_out+56(%rip)
  mov %r8, svd_oracle_out+64(%rip)
  mov %r9, svd_oracle_out+72(%rip)
  mov %r10, svd_oracle_out+80(%rip)
  mov %r11, svd_oracle_out+88(%rip)
  mov %r12, svd_oracle_out+96(%rip)
  mov %r13, svd_oracle_out+104(%rip)
  mov %r14, svd_oracle_out+112(%rip)
  mov %r15, svd_oracle_out+120(%rip)
  mov svd_oracle_host_rsp(%rip), %rsp
  pushfq
  pop svd_oracle_out+128(%rip)
  cld
  stmxcsr svd_oracle_out+136(%rip)
  svd_vectors svd_store
  vzeroupper
  ldmxcsr svd_oracle_host_mxcsr(%rip)
  pop %r15
  pop %r14
  pop %r13
  pop %r12
  pop %rbp
  pop %rbx
  ret
.size svd_oracle_run, .-svd_oracle_run
)");

namespace svd::test {
namespace {

constexpr std::size_t kArenaBytes = 0x1400000, kSlotBytes = 0x1000, kSignalStackBytes = 0x10000;
// Scaled addresses with one register for base and index divide by 2, 3, 5 and 9; steps of an
// address shall cross a multiple of 64 KiB.
constexpr std::uint64_t kMiddleDivisor = 0x10000ULL * 3 * 5 * 3;
constexpr std::size_t kWindowStride = kMiddleDivisor, kRoom = 0x100000;  // either way
constexpr int kSignals[] = {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGTRAP};
constexpr std::uint64_t kTrapFlag = 0x100, kAlignmentFlag = 0x40000;

// Written by the handler, in the one thread that runs.
volatile sig_atomic_t running, faulted;

void on_fault(int signal, siginfo_t*, void* context) {
  if (!running) {
    std::fprintf(stderr, "signal %d outside of a tried instruction\n", signal);
    std::_Exit(1);
  }
  faulted = signal;
  auto& registers = static_cast<ucontext_t*>(context)->uc_mcontext.gregs;
  registers[REG_RIP] = reinterpret_cast<greg_t>(&svd_oracle_exit);
  registers[REG_EFL] &= ~static_cast<greg_t>(kTrapFlag | kAlignmentFlag);
}

void require(bool ok, const char* what) {
  if (ok) return;
  std::perror(what);
  std::abort();
}

}  // namespace

bool Machine::possible() { return __builtin_cpu_supports("avx") != 0; }

Machine::Machine() {
  void* arena =
      mmap(nullptr, kArenaBytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_32BIT, -1, 0);
  require(arena != MAP_FAILED, "mmap");
  arena_ = static_cast<std::uint8_t*>(arena);
  for (std::size_t i = 0; i < kWindows; ++i) {
    auto* around = reinterpret_cast<void*>(middle(static_cast<Window>(i)) - kRoom);
    require(mprotect(around, 2 * kRoom, PROT_READ | PROT_WRITE) == 0, "mprotect");
  }
  // Not writable while instructions run: set_code() opens it.
  require(mprotect(arena_, kSlotBytes, PROT_READ | PROT_EXEC) == 0, "mprotect");
  svd_oracle_slot = arena_;

  signal_stack_ = new std::uint8_t[kSignalStackBytes];
  stack_t stack{.ss_sp = signal_stack_, .ss_flags = 0, .ss_size = kSignalStackBytes};
  require(sigaltstack(&stack, nullptr) == 0, "sigaltstack");
  struct sigaction action {};
  action.sa_sigaction = on_fault;
  action.sa_flags = SA_SIGINFO | SA_ONSTACK;
  for (int signal : kSignals) require(sigaction(signal, &action, nullptr) == 0, "sigaction");
}

Machine::~Machine() {
  for (int number : kSignals) signal(number, SIG_DFL);
  stack_t none{.ss_sp = nullptr, .ss_flags = SS_DISABLE, .ss_size = 0};
  sigaltstack(&none, nullptr);
  delete[] signal_stack_;
  munmap(arena_, kArenaBytes);
}

std::uint64_t Machine::middle(Window window) const {
  auto start = reinterpret_cast<std::uint64_t>(arena_) +
               (static_cast<std::uint64_t>(window) + 2) * kWindowStride;
  return start / kMiddleDivisor * kMiddleDivisor;
}

std::uint64_t Machine::code_address() const { return reinterpret_cast<std::uint64_t>(arena_); }

std::uint8_t* Machine::window(std::size_t index) const {
  return reinterpret_cast<std::uint8_t*>(middle(static_cast<Window>(index)) - kWindowMiddle -
                                         down_);
}

void Machine::set_code(std::span<const std::uint8_t> code) {
  require(mprotect(arena_, kSlotBytes, PROT_READ | PROT_WRITE) == 0, "mprotect");
  std::memcpy(arena_, code.data(), code.size());
  // jmp *0(%rip), and where to
  constexpr std::uint8_t kJump[] = {0xff, 0x25, 0, 0, 0, 0};
  auto exit = reinterpret_cast<std::uint64_t>(&svd_oracle_exit);
  std::memcpy(arena_ + code.size(), kJump, sizeof kJump);
  std::memcpy(arena_ + code.size() + sizeof kJump, &exit, sizeof exit);
  require(mprotect(arena_, kSlotBytes, PROT_READ | PROT_EXEC) == 0, "mprotect");
}

void Machine::set_gs_base(std::uint64_t base) {
  require(syscall(SYS_arch_prctl, ARCH_SET_GS, base) == 0, "arch_prctl");
}

int Machine::run(CpuState& state, Memory& memory) {
  for (std::size_t i = 0; i < kWindows; ++i)
    std::memcpy(window(i), memory.data() + i * kWindowBytes, kWindowBytes);
  svd_oracle_in = state;
  faulted = 0;
  running = 1;
  svd_oracle_run();
  running = 0;
  for (std::size_t i = 0; i < kWindows; ++i)
    std::memcpy(memory.data() + i * kWindowBytes, window(i), kWindowBytes);
  state = svd_oracle_out;
  return faulted;
}

}  // namespace svd::test
