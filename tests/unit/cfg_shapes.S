// SPDX-License-Identifier: Apache-2.0
//
// Shapes of control flow for cfg_shapes_test.cc, which knows the labels: `x.at` is a branch or jump,
// `x.join` where its region ends. Linked at fixed addresses; never executed.

.macro function name
  .globl \name
  .type \name, @function
\name:
  .cfi_startproc
.endm
.macro done name
  .cfi_endproc
  .size \name, . - \name
.endm

  .text

function if_else
  test %edi, %edi
if_else.at:
  je 1f
  mov $1, %eax
  jmp if_else.join
1:
  mov $2, %eax
if_else.join:
  ret
done if_else

function if_only
  test %edi, %edi
if_only.at:
  jne if_only.join
  inc %eax
if_only.join:
  ret
done if_only

function two_returns
  test %edi, %edi
two_returns.at:
  je 1f
  ret
1:
  inc %eax
  ret
done two_returns

function while_loop
1:
  test %edi, %edi
while_loop.at:
  je while_loop.join
  dec %edi
  jmp 1b
while_loop.join:
  ret
done while_loop

// do { if (a) continue; if (b) break; x; } while (c); after
function break_continue
1:
  test %edi, %edi
break_continue.continue.at:
  je break_continue.condition
  test %esi, %esi
break_continue.break.at:
  je break_continue.join
  inc %eax
break_continue.condition:
  cmp %eax, %edx
break_continue.loop.at:
  jne 1b
break_continue.join:
  ret
done break_continue

// if (a && b || c) x; y
function short_circuit
  test %edi, %edi
short_circuit.a.at:
  je 1f
  test %esi, %esi
short_circuit.b.at:
  jne 2f
1:
  test %edx, %edx
short_circuit.c.at:
  je short_circuit.join
2:
  inc %eax
short_circuit.join:
  ret
done short_circuit

// A loop with two entries, made by goto.
function irreducible
  test %edi, %edi
irreducible.at:
  je 2f
1:
  inc %eax
2:
irreducible.loop:
  dec %esi
irreducible.loop.at:
  jne 1b
irreducible.join:
  ret
done irreducible

function distances
  cmp $3, %edi
distances.range.at:
  ja distances.join
  mov %edi, %edi
  lea distances.table(%rip), %rdx
  movslq (%rdx,%rdi,4), %rax
  add %rdx, %rax
distances.at:
  notrack jmp *%rax
distances.0:
  inc %ecx
distances.1:
  inc %ecx
  jmp distances.join
distances.2:
  dec %ecx
  jmp distances.join
distances.3:
  neg %ecx
distances.join:
  mov %ecx, %eax
  ret
done distances

// The table's address is taken before the loop, the index lies on the stack.
function hoisted
  lea hoisted.table(%rip), %r8
1:
  mov %edi, -4(%rsp)
  cmpl $2, -4(%rsp)
hoisted.range.at:
  jbe 2f
  dec %edi
hoisted.loop.at:
  jne 1b
hoisted.return:
  ret
2:
  mov -4(%rsp), %eax
  movslq (%r8,%rax,4), %rax
  add %r8, %rax
hoisted.at:
  jmp *%rax
hoisted.0:
  inc %ecx
hoisted.1:
  inc %ecx
hoisted.join:
  dec %edi
  jmp 1b
done hoisted

// Without optimisation.
function spilled
  mov %edi, -20(%rsp)
  cmpl $1, -20(%rsp)
spilled.range.at:
  ja spilled.join
  mov -20(%rsp), %eax
  lea 0(,%rax,4), %rdx
  lea spilled.table(%rip), %rax
  mov (%rdx,%rax), %eax
  cltq
  lea spilled.table(%rip), %rdx
  add %rdx, %rax
spilled.at:
  jmp *%rax
spilled.0:
  inc %ecx
  jmp spilled.join
spilled.1:
  dec %ecx
spilled.join:
  ret
done spilled

// No comparison: the table ends where an entry leads elsewhere.
function addresses
  xor %eax, %eax
addresses.at:
  jmp *addresses.table(,%rdi,8)
addresses.0:
  inc %eax
  jmp addresses.join
addresses.1:
  dec %eax
addresses.join:
  ret
done addresses

function masked
  and $3, %edi
masked.at:
  jmp *masked.table(,%rdi,8)
masked.0:
  inc %eax
  jmp masked.join
masked.1:
  dec %eax
masked.join:
  ret
done masked

// The first table is as long as the second one lets it be: read on, it would lead into this piece.
function two_tables
  lea two_tables.table(%rip), %rdx
  movslq (%rdx,%rdi,4), %rax
  add %rdx, %rax
two_tables.at:
  jmp *%rax
two_tables.0:
  inc %ecx
two_tables.1:
  cmp $1, %esi
  ja two_tables.join
  mov %esi, %esi
  lea two_tables.second(%rip), %rdx
  movslq (%rdx,%rsi,4), %rax
  add %rdx, %rax
two_tables.second.at:
  jmp *%rax
two_tables.2:
  mov $0, %eax
  jmp two_tables.join
two_tables.3:
  mov $1, %eax
two_tables.join:
  ret
done two_tables

// The table is in the section of the code.
function in_text
  cmp $1, %edi
in_text.range.at:
  ja in_text.join
  jmp 1f
  .balign 8
in_text.table:
  .quad in_text.0, in_text.1
1:
in_text.at:
  jmp *in_text.table(,%rdi,8)
in_text.0:
  inc %eax
  jmp in_text.join
in_text.1:
  dec %eax
in_text.join:
  ret
done in_text

// Nothing tells where it goes, but a run does.
function computed
  xor %eax, %eax
computed.at:
  jmp *%rdi
computed.0:
  inc %eax
  jmp computed.join
computed.1:
  dec %eax
  jmp computed.join
computed.2:
  neg %eax
computed.join:
  ret
done computed

function tail_call
  test %edi, %edi
tail_call.at:
  je tail_call.out
  test %esi, %esi
tail_call.conditional.at:
  jne if_else
  ret
tail_call.out:
  jmp if_only
done tail_call

// Does not return; is not declared so.
function stop
  mov $60, %eax
  syscall
1:
  hlt
stop.end:
  jmp 1b
done stop

function stops_too
  test %edi, %edi
stops_too.at:
  je stops_too.join
  inc %eax
stops_too.join:
  call stop
  ret
done stops_too

// One side never comes back, so that what follows depends on the branch.
function checked
  test %edi, %edi
checked.at:
  jne 1f
  call stops_too
1:
  test %esi, %esi
checked.second.at:
  je checked.join
  inc %eax
checked.join:
  ret
done checked

function endless
  test %edi, %edi
endless.outside.at:
  je endless.head
  inc %eax
endless.head:
  test %esi, %esi
endless.at:
  je endless.join
  inc %eax
endless.join:
  jmp endless.head
done endless

// A jump into the middle of an instruction, past its prefix.
function past_prefix
  cmpl $0, %fs:0
past_prefix.at:
  je past_prefix.middle
  lock
past_prefix.middle:
  decl (%rdi)
past_prefix.join:
  ret
done past_prefix

function counted
counted.at:
  jrcxz counted.join
1:
  inc %eax
counted.loop.at:
  loop 1b
counted.join:
  ret
done counted

function transaction
transaction.at:
  xbegin transaction.abort
  inc %eax
  xend
  jmp transaction.join
transaction.abort:
  dec %eax
transaction.join:
  ret
done transaction

// Takes its own address: the call leads into the middle.
function own_address
  call 1f
1:
  pop %rax
  test %edi, %edi
own_address.at:
  je own_address.join
  inc %eax
own_address.join:
  ret
done own_address

function calls_nameless
  call nameless
  ret
done calls_nameless

function calls_through
  call *%rdi
  ret
done calls_through

// Two entries to one body.
function first_entry
  test %edi, %edi
first_entry.at:
  je second_entry.middle
  inc %eax
  jmp second_entry.middle
done first_entry
function second_entry
  inc %ecx
second_entry.middle:
  ret
done second_entry

function split
  test %edi, %edi
split.at:
  je split.cold
split.join:
  ret
done split

function split_nameless
  test %edi, %edi
split_nameless.at:
  je 2f
split_nameless.join:
  ret
done split_nameless

// The function that it calls does not return, but throws.
function handler
  .cfi_lsda 0x1b, handler.table
  call stop
handler.pad:
  test %eax, %eax
handler.at:
  je handler.join
  inc %eax
handler.join:
  ret
done handler

// What stands behind the call cannot run.
function no_handler
  call stop
  test %eax, %eax
  je 1f
  inc %eax
1:
  ret
done no_handler

// Neither symbol nor frame description: known by the call only, or by the run.
  .balign 16
nameless:
  test %edi, %edi
nameless.at:
  je nameless.join
  inc %eax
nameless.join:
  ret
  .balign 16
only_run:
  test %edi, %edi
only_run.at:
  je only_run.join
  inc %eax
only_run.join:
  ret

  .section .text.unlikely, "ax"
  .type split.cold, @function
split.cold:
  .cfi_startproc
  test %esi, %esi
split.cold.at:
  je split.cold.join
  inc %eax
split.cold.join:
  jmp split.join
done split.cold

  .cfi_startproc
2:
  test %esi, %esi
split_nameless.cold.at:
  je split_nameless.cold.join
  inc %eax
split_nameless.cold.join:
  jmp split_nameless.join
  .cfi_endproc

  .section .rodata
  .balign 8
distances.table:
  .long distances.0 - distances.table, distances.1 - distances.table
  .long distances.2 - distances.table, distances.3 - distances.table
hoisted.table:
  .long hoisted.0 - hoisted.table, hoisted.1 - hoisted.table, hoisted.join - hoisted.table
two_tables.table:
  .long two_tables.0 - two_tables.table, two_tables.1 - two_tables.table
two_tables.second:
  .long two_tables.2 - two_tables.second, two_tables.3 - two_tables.second
spilled.table:
  .long spilled.0 - spilled.table, spilled.1 - spilled.table
  .balign 8
addresses.table:
  .quad addresses.0, addresses.1, addresses.0
masked.table:
  .quad masked.0, masked.1, masked.0, masked.1

  .section .gcc_except_table, "a"
handler.table:
  .byte 0xff, 0xff, 0x01  // pads from the function's beginning, no types, LEB128
  .uleb128 2f - 1f
1:
  .uleb128 0              // from, size, pad, action
  .uleb128 handler.pad - handler
  .uleb128 handler.pad - handler
  .uleb128 1
2:

  .section .note.GNU-stack, "", @progbits
