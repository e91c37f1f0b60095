/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-or-later
 *
 * The wire between the Valgrind tool (writer) and the collector (reader): a ring in a shared file,
 * and the records in it. C99 and C++; freestanding; no functions.
 *
 * Session. The collector makes a private directory and holds a POSIX write lock (fcntl) on the file
 * SVD_WIRE_SESSION_FILE in it for as long as it reads. Every recorded process image makes a ring
 * file there, locks it for writing, and renames it to "ring.<pid>.<start_ns>" when its header is
 * complete. Locks are dropped by the kernel at death, so either side learns of the other's end by
 * F_GETLK.
 *
 * Ring. The file is SvdWireHeader (one page), then `capacity` bytes of ring, then `slack` bytes.
 * A position counts bytes from 0; a lap is capacity + slack bytes, and position p stands at offset
 * p % lap of the data. A record is contiguous: it begins at an offset < capacity and may run into
 * the slack, and then the next record begins at the start of the next lap. So a reader whose offset
 * is >= capacity moves on to the next multiple of the lap.
 *   writer: everything before `published` is whole records. It is stored at every entry to and exit
 *           from the scheduler (a thread switch, a system call, at most 100,000 blocks) and every
 *           SVD_WIRE_STRIDE bytes: that much is lost when the tool is killed, nothing when it is
 * not. reader: `consumed` is the position up to which the writer may overwrite (one lap behind).
 * Whoever has to wait sets its `*_waiting` word, waits on the futex word of the other side with a
 * time-out, and looks whether the other side still lives when it expires.
 *
 * Records. The first word says what follows:
 *   word >= 256: an execution of block word >> 8; word & 255 is the exit by which it was left, an
 *                index into the exits of its SVD_WIRE_BLOCK. Its length and the offset of every
 *                address and value in it are in the block's tables.
 *   word <  256: an SvdWireRecord of that type, `size` bytes in all (a multiple of 8).
 * An execution that ended in a fault is followed by SVD_WIRE_CUT before any other record, one that
 * was left for another thread in its middle by SVD_WIRE_PAUSE.
 * Everything is little-endian and unaligned.
 *
 * Mailbox. The preload library tells what the program calls by storing words to addresses that no
 * program can have (SVD_WIRE_MAILBOX is not canonical). The tool logs such a store like any other,
 * always with its value, and does not do it. Arguments go to words 1..; the store to word 0 rings:
 * its value is the SvdWireCall, and the call takes place at that instruction. A thread can be
 * preempted between the stores, so each has a mailbox of its own in the reader.
 */
#ifndef SVD_WIRE_RING_H
#define SVD_WIRE_RING_H

#include <stdint.h>

#define SVD_WIRE_MAGIC 0x3176676e69726473u /* "sdringv1" */
#define SVD_WIRE_VERSION 5u
#define SVD_WIRE_SESSION_FILE "session"

#define SVD_WIRE_DATA_OFFSET 4096u
#define SVD_WIRE_CAPACITY (4u << 20)
/* No record is longer than the slack. */
#define SVD_WIRE_SLACK (64u << 10)
#define SVD_WIRE_STRIDE (256u << 10)

/* No suffix: assembler reads it, too. */
#define SVD_WIRE_MAILBOX 0x5356440000000000
#define SVD_WIRE_MAILBOX_WORDS 8u

enum SvdWireFlags {
  SVD_WIRE_VALUES = 1, /* values are recorded */
};

typedef struct SvdWireHeader {
  uint64_t magic;
  uint32_t version;
  uint32_t flags;
  uint64_t capacity;
  uint64_t slack;
  uint32_t pid;
  uint32_t parent_pid;
  uint64_t start_ns;       /* CLOCK_REALTIME */
  char engine_version[16]; /* of the Valgrind that the tool is linked with */
  /* Written by the tool. */
  uint64_t published;
  uint32_t published_futex; /* changes with every wake-up */
  uint32_t writer_waiting;
  uint8_t pad2[48];
  /* Written by the collector. */
  uint64_t consumed;
  uint32_t consumed_futex;
  uint32_t reader_waiting;
  uint32_t stop; /* the writer shall record no more (seen when it next looks for room) */
  uint8_t pad3[44];
} SvdWireHeader;

enum SvdWireType {
  SVD_WIRE_NONE = 0,      /* never written */
  SVD_WIRE_BLOCK,         /* SvdWireBlock */
  SVD_WIRE_SWITCH,        /* what follows ran in `tid` */
  SVD_WIRE_WINDOW,        /* SvdWireWindow, then what makes the edge, as the user said it */
  SVD_WIRE_CUT,           /* SvdWireCut */
  SVD_WIRE_PAUSE,         /* SvdWirePause */
  SVD_WIRE_THREAD_CREATE, /* SvdWireThreadCreate */
  SVD_WIRE_THREAD_START,  /* SvdWireThreadStart */
  SVD_WIRE_THREAD_EXIT,   /* then the kernel write by which others learn of it */
  SVD_WIRE_THREAD_NAME,   /* text */
  SVD_WIRE_SYSCALL,       /* SvdWireSyscall */
  SVD_WIRE_SYSCALL_EXIT,  /* SvdWireSyscallExit */
  SVD_WIRE_KERNEL_READ,   /* SvdWireRange */
  SVD_WIRE_KERNEL_WRITE,  /* SvdWireRange, then the bytes */
  SVD_WIRE_TRANSFER,      /* SvdWireTransfer, then the channel's name */
  SVD_WIRE_SIGNAL,        /* SvdWireSignal: a signal has reached the thread */
  SVD_WIRE_HANDLER,       /* SvdWireHandler: its handler will run next */
  SVD_WIRE_HANDLER_END,   /* SvdWireHandler: sigreturn has been done */
  SVD_WIRE_MAP,           /* SvdWireMap, then the file's name */
  SVD_WIRE_UNMAP,         /* SvdWireRange */
  SVD_WIRE_PROTECT,       /* SvdWireMap */
  SVD_WIRE_REMAP,         /* SvdWireRemap */
  SVD_WIRE_BREAK,         /* SvdWireRange: what brk added; SVD_WIRE_UNMAP: what it took */
  SVD_WIRE_FORK,          /* SvdWireFork */
  SVD_WIRE_EXEC,          /* the file's name; when it failed a second one without a name follows */
  SVD_WIRE_FATAL,         /* the process dies of the SVD_WIRE_SIGNAL before this */
  SVD_WIRE_END,           /* SvdWireEnd */
};

typedef struct SvdWireRecord {
  uint32_t type;
  uint32_t size;
  uint32_t tid;       /* Valgrind's thread number: reused, so a number lives from create to exit */
  uint32_t text_size; /* bytes of trailing text or data, before padding */
} SvdWireRecord;

/* Where an address or a value comes from. */
enum SvdWireSource {
  SVD_WIRE_ABSENT = 0, /* not recorded (values only) */
  SVD_WIRE_LOGGED,     /* in the execution record, at `at` */
  SVD_WIRE_CONSTANT,   /* `constant` */
  SVD_WIRE_ADDRESS_OF, /* the address of slot `slot`, plus `constant` */
  SVD_WIRE_VALUE_OF,   /* the value of slot `slot`, plus `constant` */
};

typedef struct SvdWireQuantity {
  uint8_t source;
  uint8_t pad;
  uint16_t slot;
  uint32_t at;
  uint64_t constant;
} SvdWireQuantity;

enum SvdWireSlotFlags {
  SVD_WIRE_WRITE = 1,
  SVD_WIRE_ATOMIC = 2,
  SVD_WIRE_OPTIONAL = 4, /* may not happen: the byte at `present_at` says (its address is there) */
};

/* One memory access of one instruction; in the order of execution. */
typedef struct SvdWireSlot {
  uint16_t instruction;
  uint16_t size;
  uint16_t flags;
  uint16_t present_at;
  SvdWireQuantity address;
  SvdWireQuantity value;
} SvdWireSlot;

typedef struct SvdWireInstruction {
  uint64_t pc;
  uint32_t length;
  uint32_t pad;
} SvdWireInstruction;

enum SvdWireJump {
  SVD_WIRE_JUMP,
  SVD_WIRE_CALL,
  SVD_WIRE_RETURN,
  SVD_WIRE_KERNEL, /* a system call comes next */
  SVD_WIRE_TRAP,   /* a signal comes next: undecodable, int3, … */
};

/* A way to leave a block. Of its instructions the first `instructions` have run (the last one of
 * them possibly in part, as in a repeated string instruction), of its slots the first `slots`. */
typedef struct SvdWireExit {
  uint16_t instructions;
  uint16_t slots;
  uint32_t record_size;
  uint32_t jump;
  uint32_t pad;
  uint64_t target; /* 0: not known before it runs */
} SvdWireExit;

/* Followed by the instructions, slots, exits and code bytes. A block is never redefined; the same
 * code gets a new block when Valgrind translates it again. */
typedef struct SvdWireBlock {
  SvdWireRecord record;
  uint32_t id;
  uint32_t instructions;
  uint32_t slots;
  uint32_t exits;
  uint32_t code_size;
  uint32_t pad;
} SvdWireBlock;

/* The execution before this record ran up to and including the instruction at `pc`, which faulted.
 */
typedef struct SvdWireCut {
  SvdWireRecord record;
  uint64_t pc;
} SvdWireCut;

/* The execution before this record came up to, and not including, the access `slot`. The thread's
 * next execution record is the rest of it, if the thread goes on at all: one of the same block, and
 * whole, so that what comes later can derive from what came before. */
typedef struct SvdWirePause {
  SvdWireRecord record;
  uint32_t slot;
  uint32_t pad;
} SvdWirePause;

typedef struct SvdWireThreadCreate {
  SvdWireRecord record;
  uint32_t child;
  uint32_t pad;
  uint64_t self; /* as it will say when it starts; 0: not known */
} SvdWireThreadCreate;

typedef struct SvdWireThreadStart {
  SvdWireRecord record;
  uint32_t os_tid;
  uint32_t pad;
  uint64_t self; /* the thread pointer, which is also glibc's pthread_t; 0 for the main thread */
  uint64_t stack_pointer;
  uint64_t stack_top; /* highest byte */
  uint64_t stack_size;
} SvdWireThreadStart;

typedef struct SvdWireSyscall {
  SvdWireRecord record;
  uint64_t number;
  uint64_t arguments[6];
} SvdWireSyscall;

typedef struct SvdWireSyscallExit {
  SvdWireRecord record;
  uint64_t number;
  int64_t result; /* -errno on failure */
} SvdWireSyscallExit;

typedef struct SvdWireRange {
  SvdWireRecord record;
  uint64_t address;
  uint64_t size;
} SvdWireRange;

/* What a system call moved between memory and a channel: a file, or one direction of a pipe or of a
 * pair of sockets. It stands behind the kernel's accesses. */
typedef struct SvdWireTransfer {
  SvdWireRecord record;
  uint32_t channel; /* 0: it is not known which or where */
  uint32_t out;     /* from memory to the channel */
  uint64_t position;
  uint64_t address; /* 0: these bytes of the channel are no longer what was written */
  uint64_t size;
} SvdWireTransfer;

typedef struct SvdWireSignal {
  SvdWireRecord record;
  int32_t number;
  int32_t code;
  uint64_t address;
  uint64_t pc;
} SvdWireSignal;

typedef struct SvdWireHandler {
  SvdWireRecord record;
  int32_t number;
  uint32_t on_alternate_stack;
  uint64_t handler; /* its code; 0: not known */
} SvdWireHandler;

typedef struct SvdWireMap {
  SvdWireRecord record;
  uint64_t address;
  uint64_t size;
  uint64_t file_offset;
  uint32_t protection; /* PROT_* */
  uint32_t initial;    /* mapped before the program ran */
} SvdWireMap;

typedef struct SvdWireRemap {
  SvdWireRecord record;
  uint64_t old_address;
  uint64_t address;
  uint64_t size;
} SvdWireRemap;

typedef struct SvdWireFork {
  SvdWireRecord record;
  uint32_t child_pid;
  uint32_t recorded; /* the child records itself into a ring of its own */
} SvdWireFork;

/* Nothing follows. */
typedef struct SvdWireEnd {
  SvdWireRecord record;
  int32_t status;
  int32_t signal; /* 0: exited with `status` */
} SvdWireEnd;

enum SvdWireEdge {
  SVD_WINDOW_AWAITED, /* nothing is recorded before it begins */
  SVD_WINDOW_BEGINS,
  SVD_WINDOW_ENDS, /* and nothing behind it */
};

/* Outside of the window there are only records about threads, the address space and the process. */
typedef struct SvdWireWindow {
  SvdWireRecord record;
  uint32_t edge;
  uint32_t pad;
} SvdWireWindow;

/* What mailbox word 0 holds: the call in the low byte, its phase in the next, and above (bits 32 to
 * 63) the result. Words: 1 object, 2 and 3 arguments, 4 the caller; a word that a call has no use
 * for keeps what an earlier call left there.
 *
 * A call that can wait is BEGIN and END; any other is WHOLE, told before it is done where it lets
 * others go on (unlock, signal, post, free) and after it is done otherwise, so that the order of
 * the log is an order in which it can have happened. If a call that was told before fails, an END
 * with its result follows. An END belongs to the thread's last BEGIN of the same call and tells
 * only the result, except where its words are listed below. */
enum SvdWireCall {
  SVD_CALL_NONE = 0,
  SVD_CALL_MUTEX_INIT, /* 2: kind */
  SVD_CALL_MUTEX_DESTROY,
  SVD_CALL_MUTEX_LOCK,
  SVD_CALL_MUTEX_TRYLOCK,
  SVD_CALL_MUTEX_TIMEDLOCK,
  SVD_CALL_MUTEX_UNLOCK,
  SVD_CALL_MUTEX_CONSISTENT,
  SVD_CALL_RWLOCK_INIT,
  SVD_CALL_RWLOCK_DESTROY,
  SVD_CALL_RWLOCK_RDLOCK,
  SVD_CALL_RWLOCK_TRYRDLOCK,
  SVD_CALL_RWLOCK_TIMEDRDLOCK,
  SVD_CALL_RWLOCK_WRLOCK,
  SVD_CALL_RWLOCK_TRYWRLOCK,
  SVD_CALL_RWLOCK_TIMEDWRLOCK,
  SVD_CALL_RWLOCK_UNLOCK,
  SVD_CALL_SPIN_INIT,
  SVD_CALL_SPIN_DESTROY,
  SVD_CALL_SPIN_LOCK,
  SVD_CALL_SPIN_TRYLOCK,
  SVD_CALL_SPIN_UNLOCK,
  SVD_CALL_COND_INIT,
  SVD_CALL_COND_DESTROY,
  SVD_CALL_COND_WAIT, /* 2: mutex */
  SVD_CALL_COND_TIMEDWAIT,
  SVD_CALL_COND_SIGNAL,
  SVD_CALL_COND_BROADCAST,
  SVD_CALL_SEM_INIT, /* 2: value */
  SVD_CALL_SEM_DESTROY,
  SVD_CALL_SEM_WAIT,
  SVD_CALL_SEM_TRYWAIT,
  SVD_CALL_SEM_TIMEDWAIT,
  SVD_CALL_SEM_POST,
  SVD_CALL_BARRIER_INIT, /* 2: count */
  SVD_CALL_BARRIER_DESTROY,
  SVD_CALL_BARRIER_WAIT,
  SVD_CALL_ONCE,          /* 2: routine */
  SVD_CALL_THREAD_CREATE, /* BEGIN: 2 routine, 3 argument; END: 1 pthread_t */
  SVD_CALL_THREAD_JOIN,   /* 1: pthread_t */
  SVD_CALL_THREAD_DETACH,
  SVD_CALL_THREAD_EXIT,
  SVD_CALL_THREAD_CANCEL,
  SVD_CALL_THREAD_NAME, /* 1: pthread_t, 2 and 3: its bytes */
  SVD_CALL_MALLOC,      /* 1: address, 2: size */
  SVD_CALL_CALLOC,
  SVD_CALL_ALIGNED, /* 3: alignment */
  SVD_CALL_REALLOC, /* BEGIN: 1 old address, 2 size; END: 1 new address (0: the old one lives on) */
  SVD_CALL_FREE,
  SVD_CALL_NEW, /* C++ operators, ENTRY only: the allocator's call that follows is theirs */
  SVD_CALL_NEW_ARRAY,
  SVD_CALL_DELETE,
  SVD_CALL_DELETE_ARRAY,
};

/* ENTRY and RETURN come from probes, where the preload library does not reach: words 1, 2 and 3 of
 * an ENTRY are the arguments of the C function, word 1 of a RETURN is what it returned; word 5 is
 * the stack pointer, at the RETURN 8 more than at the ENTRY that it belongs to. A RETURN without an
 * ENTRY is a jump to the place where some call returns to, and means nothing. */
enum SvdWirePhase {
  SVD_PHASE_WHOLE = 0,
  SVD_PHASE_BEGIN,
  SVD_PHASE_END,
  SVD_PHASE_ENTRY,
  SVD_PHASE_RETURN,
};

#define SVD_WIRE_DOORBELL(call, phase, result) \
  ((uint64_t)(call) | ((uint64_t)(phase) << 8) | ((uint64_t)(uint32_t)(result) << 32))

#endif /* SVD_WIRE_RING_H */
