// SPDX-License-Identifier: Apache-2.0
//
// Hand-written code without frames, for decisions.c: it decides, and leaves by a tail call.

        .text
        .globl  by_hand
        .type   by_hand, @function
by_hand:
        test    %edi, %edi
        jz      1f                      // @hand
        lea     1(%rdi), %eax           // by @hand
        jmp     by_hand_tail            // @tail by @hand
1:      xor     %eax, %eax
        ret
        .size   by_hand, . - by_hand

        .globl  by_hand_tail
        .type   by_hand_tail, @function
by_hand_tail:
        add     %eax, %eax              // by @tail
        ret
        .size   by_hand_tail, . - by_hand_tail

        .section .note.GNU-stack, "", @progbits
