/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Which bytes of a file, pipe or pair of sockets a system call moves, so that who reads them can be
 * joined with who wrote them. Descriptors need no model: the kernel says what a descriptor is
 * (device and inode) and where it stands, before a call and after.
 *
 * A channel is a file, or one direction of a pipe or pair; it is made when the process first writes
 * to it, and what is read of other files and pipes is not told. A byte's position in a file is its
 * offset, in a stream the number of bytes before it.
 *
 * Valgrind lets go of its lock during a call that can block. Calls on one channel can so overlap,
 * and the order in which they end here need not be that in which the kernel did them. Then a place
 * is told only where the kernel's counts leave no choice, and otherwise that it is not known: a
 * file's offset must have moved by just what the call says, a pipe must hold just what is left. A
 * reader can end before the one who wrote for it: that transfer is told then.
 *
 * What others do to a file or pipe shows in its size or fill, and makes it another channel. Not
 * seen are bytes of another process in place of the same number of ours, and writes through
 * mappings.
 */
#include "pub_tool_aspacemgr.h"
#include "pub_tool_hashtable.h"
#include "pub_tool_libcbase.h"
#include "pub_tool_libcfile.h"
#include "pub_tool_libcprint.h"
#include "pub_tool_mallocfree.h"
#include "pub_tool_threadstate.h"
#include "pub_tool_vki.h"
#include "pub_tool_vkiscnums.h"
#include "svd_core.h"
#include "svd_tool.h"

enum { MOST_NAME = 256, MODE_TYPE = 0170000, FIFO = 0010000, REGULAR = 0100000, SOCKET = 0140000 };
enum { PEEK = 2, STREAM = 1, UNIX = 1, CURRENT = 1 }; /* MSG_PEEK, SOCK_STREAM, AF_UNIX, SEEK_CUR */

typedef struct Channel {
  struct Channel* next;
  UWord key; /* of inode and device */
  ULong device, inode;
  UInt id;
  UInt type;
  struct Channel* peer; /* of a socket: what is written there is read here */
  /* A file. */
  ULong end; /* of what was written */
  /* A stream. */
  ULong written, read;
  Bool lost; /* nothing of it is known any more */
  HChar name[MOST_NAME];
} Channel;

/* The call of a thread that is under way. */
typedef struct {
  Bool active, out, append, peek;
  Bool placed; /* `position` is given by the call */
  Bool mixed;  /* another one did the same to the stream meanwhile */
  Bool told;   /* already, with all that it was given to write */
  Bool moved;  /* the file's offset after it is `after` */
  Int fd;
  Addr memory; /* the bytes, or `pieces` struct iovec */
  ULong size;
  UWord pieces;
  ULong position, before, after;
  Channel* channel; /* NULL: of a pipe that nobody of us has written to */
} Call;

static VgHashTable* channels;
static Call* calls;
static ThreadId last_tid; /* the highest that has made a call */
static UInt last_id;

static Word differ(const void* a, const void* b) {
  const Channel *x = a, *y = b;
  return x->device != y->device || x->inode != y->inode;
}

static Channel* find(const struct vg_stat* what) {
  Channel wanted = {.key = what->ino ^ what->dev << 40, .device = what->dev, .inode = what->ino};
  return channels ? VG_(HT_gen_lookup)(channels, &wanted, differ) : NULL;
}

static Channel* make(const struct vg_stat* what, Int fd) {
  Channel* channel = VG_(calloc)("svd.channel", 1, sizeof(*channel));
  if (!channels) channels = VG_(HT_construct)("svd.channels");
  channel->device = what->dev;
  channel->inode = what->ino;
  channel->key = what->ino ^ what->dev << 40;
  channel->type = what->mode & MODE_TYPE;
  channel->id = ++last_id;
  HChar link[32];
  VG_(snprintf)(link, sizeof(link), "/proc/self/fd/%d", fd);
  VG_(readlink)(link, channel->name, MOST_NAME - 1);
  VG_(HT_add_node)(channels, channel);
  return channel;
}

/* What was written to it before is forgotten. */
static void begin_anew(Channel* channel, ULong fill) {
  channel->id = ++last_id;
  channel->end = 0;
  channel->read = 0;
  channel->written = fill;
}

/* Bytes in a pipe. */
static ULong fill_of(Int fd) {
  Int bytes = 0;
  VG_(do_syscall)(__NR_ioctl, fd, VKI_FIONREAD, (UWord)&bytes, 0, 0, 0, 0, 0);
  return bytes;
}

static void log_transfer(ThreadId tid, Bool out, const Channel* channel, Bool known, ULong position,
                         Addr address, ULong size) {
  UInt length = VG_(strlen)(channel->name);
  SvdWireTransfer* r =
      svd_log_record(SVD_WIRE_TRANSFER, tid, svd_padded(sizeof(*r) + length), length);
  if (!r) return;
  r->channel = known ? channel->id : 0;
  r->out = out;
  r->position = position;
  r->address = address;
  r->size = size;
  VG_(memcpy)(r + 1, channel->name, length);
  svd_log_commit();
}

/* `size` bytes of the call from `position` on. */
static void tell(ThreadId tid, const Call* call, ULong position, ULong size) {
  if (size > call->size) size = call->size; /* MSG_TRUNC */
  if (call->pieces == 0) {
    log_transfer(tid, call->out, call->channel, True, position, call->memory, size);
    return;
  }
  const struct vki_iovec* piece = (const struct vki_iovec*)call->memory;
  for (UWord i = 0; i < call->pieces && size > 0; i++, piece++) {
    if (!VG_(am_is_valid_for_client)((Addr)piece, sizeof(*piece), VKI_PROT_READ)) return;
    ULong part = piece->iov_len < size ? piece->iov_len : size;
    if (part > 0) {
      log_transfer(tid, call->out, call->channel, True, position, (Addr)piece->iov_base, part);
    }
    position += part;
    size -= part;
  }
}

static void tell_unknown(ThreadId tid, const Call* call, ULong size) {
  log_transfer(tid, call->out, call->channel, False, 0, 0, size);
}

/* ---- Which call ---------------------------------------------------------------------------- */

static void take_buffer(Call* call, Bool out, const UWord* args) {
  call->active = True;
  call->out = out;
  call->fd = args[0];
  call->memory = args[1];
  call->size = args[2];
}

static void take_pieces(Call* call, Bool out, Int fd, Addr pieces, UWord count) {
  call->active = True;
  call->out = out;
  call->fd = fd;
  call->memory = pieces;
  call->pieces = count;
  for (UWord i = 0; i < count; i++) {
    const struct vki_iovec* piece = (const struct vki_iovec*)pieces + i;
    if (!VG_(am_is_valid_for_client)((Addr)piece, sizeof(*piece), VKI_PROT_READ)) return;
    call->size += piece->iov_len;
  }
}

static void take_message(Call* call, Bool out, const UWord* args) {
  const struct vki_msghdr* message = (const struct vki_msghdr*)args[1];
  if (!VG_(am_is_valid_for_client)(args[1], sizeof(*message), VKI_PROT_READ)) return;
  take_pieces(call, out, args[0], (Addr)message->msg_iov, message->msg_iovlen);
  call->peek = !out && (args[2] & PEEK);
}

static void take_place(Call* call, ULong position) {
  if (position == ~0ull) return;
  call->placed = True;
  call->position = position;
}

static void parse(Call* call, UInt number, const UWord* args) {
  switch (number) {
    case __NR_read:
    case __NR_write:
      return take_buffer(call, number == __NR_write, args);
    case __NR_pread64:
    case __NR_pwrite64:
      take_buffer(call, number == __NR_pwrite64, args);
      return take_place(call, args[3]);
    case __NR_readv:
    case __NR_writev:
      return take_pieces(call, number == __NR_writev, args[0], args[1], args[2]);
    case __NR_preadv:
    case __NR_preadv2:
      take_pieces(call, False, args[0], args[1], args[2]);
      return take_place(call, args[3]);
    case __NR_pwritev:
    case __NR_pwritev2:
      take_pieces(call, True, args[0], args[1], args[2]);
      return take_place(call, args[3]);
    case __NR_sendto:
      return take_buffer(call, True, args);
    case __NR_recvfrom:
      take_buffer(call, False, args);
      call->peek = (args[3] & PEEK) != 0;
      return;
    case __NR_sendmsg:
    case __NR_recvmsg:
      return take_message(call, number == __NR_sendmsg, args);
    default:
      return;
  }
}

/* ---- Files --------------------------------------------------------------------------------- */

/* What moves by what the call moves. */
static ULong measure(const Call* call) {
  struct vg_stat now;
  if (!call->append) return VG_(lseek)(call->fd, 0, CURRENT);
  return VG_(fstat)(call->fd, &now) == 0 ? now.size : 0;
}

static void file_begins(Call* call, const struct vg_stat* what) {
  call->channel = find(what);
  if (!call->channel && call->out) call->channel = make(what, call->fd);
  if (!call->channel) {
    call->active = False;
    return;
  }
  if (what->size < (Long)call->channel->end) begin_anew(call->channel, 0);
  call->append = call->out && (VG_(fcntl)(call->fd, VKI_F_GETFL, 0) & VKI_O_APPEND);
  if (call->append) call->placed = False;
  if (call->placed) return;
  call->before = measure(call);
  /* Who is under way and has moved it has come this far. */
  for (ThreadId other = 1; other <= last_tid; other++) {
    Call* o = &calls[other];
    if (o == call || !o->active || o->placed || o->moved || o->channel != call->channel) continue;
    if (o->fd != call->fd || o->append != call->append || o->before == call->before) continue;
    o->moved = True;
    o->after = call->before;
  }
}

static void file_ends(ThreadId tid, Call* call, ULong size) {
  if (size == 0) return;
  Channel* channel = call->channel;
  ULong position = call->placed ? call->position : call->before;
  ULong after = call->placed ? position + size : call->moved ? call->after : measure(call);
  if (after - position == size) {
    tell(tid, call, position, size);
  } else {
    tell_unknown(tid, call, size);
    if (call->out && after > position)
      log_transfer(tid, True, channel, True, position, 0, after - position);
  }
  if (call->out && after > channel->end) channel->end = after;
}

/* The file is as long as this now. */
static void cut(ThreadId tid, const struct vg_stat* what) {
  Channel* channel = (what->mode & MODE_TYPE) == REGULAR ? find(what) : NULL;
  if (!channel || what->size >= (Long)channel->end) return;
  log_transfer(tid, True, channel, True, what->size, 0, channel->end - what->size);
  channel->end = what->size;
}

/* ---- Pipes and sockets --------------------------------------------------------------------- */

/* Another call under way that does the same to the stream; the last one of them. */
static Call* other_call(const Call* call, Bool out, ThreadId* tid) {
  Call* found = NULL;
  for (ThreadId t = 1; t <= last_tid; t++) {
    Call* o = &calls[t];
    if (o == call || !o->active || o->told || o->channel != call->channel || o->out != out)
      continue;
    found = o;
    *tid = t;
  }
  return found;
}

/* The only one that writes has done so, but has not come back. */
static void tell_writer(const Call* call) {
  ThreadId tid;
  Call* writer = other_call(call, True, &tid);
  if (!writer || writer->mixed) return;
  tell(tid, writer, writer->channel->written, writer->size);
  writer->channel->written += writer->size;
  writer->told = True;
}

static Bool mixes(Call* call) {
  for (ThreadId t = 1; t <= last_tid; t++) {
    Call* o = &calls[t];
    if (o == call || !o->active || o->told || o->channel != call->channel) continue;
    if (o->out == call->out) o->mixed = call->mixed = True;
  }
  return call->mixed;
}

static Channel* stream_of(const Call* call, const struct vg_stat* what) {
  Channel* channel = find(what);
  if ((what->mode & MODE_TYPE) == SOCKET) return channel && !call->out ? channel->peer : channel;
  if (channel || !call->out) return channel;
  channel = make(what, call->fd);
  channel->written = fill_of(call->fd);
  return channel;
}

static void stream_begins(Call* call, const struct vg_stat* what) {
  Channel* channel = call->channel = stream_of(call, what);
  if (!channel) return;
  ThreadId tid;
  Bool read_now = other_call(call, False, &tid) != NULL;
  const Call* writer = other_call(call, True, &tid);
  if (channel->type == FIFO && !read_now) {
    ULong fill = fill_of(call->fd), known = channel->written - channel->read;
    if (writer && fill == known + writer->size) tell_writer(call);
    if (!writer && fill != known) begin_anew(channel, fill);
  }
  mixes(call);
}

static void stream_ends(ThreadId tid, Call* call, ULong size) {
  struct vg_stat what;
  if (!call->channel && VG_(fstat)(call->fd, &what) == 0) {
    call->channel = stream_of(call, &what);
    if (call->channel) mixes(call);
  }
  Channel* channel = call->channel;
  if (!channel || channel->lost) return;
  if (call->told) {
    channel->written += size - call->size;
    return;
  }
  Bool known = !call->mixed;
  if (!call->out) {
    ThreadId other;
    if (channel->read + size > channel->written) tell_writer(call);
    if (!other_call(call, True, &other)) {
      if (channel->read + size > channel->written) { /* another process has written */
        channel->lost = channel->type == SOCKET;
        begin_anew(channel, channel->lost ? 0 : fill_of(call->fd));
        return;
      }
      known = known || (channel->type == FIFO &&
                        channel->read + size + fill_of(call->fd) == channel->written);
    }
  }
  ULong* position = call->out ? &channel->written : &channel->read;
  if (size > 0 && known) tell(tid, call, *position, size);
  if (size > 0 && !known) tell_unknown(tid, call, size);
  if (!call->peek) *position += size;
}

static void pair(const Int* ends) {
  struct vg_stat what[2];
  if (VG_(fstat)(ends[0], &what[0]) < 0 || VG_(fstat)(ends[1], &what[1]) < 0) return;
  Channel* first = make(&what[0], ends[0]);
  Channel* second = make(&what[1], ends[1]);
  first->peer = second;
  second->peer = first;
}

/* ---- The calls ----------------------------------------------------------------------------- */

void svd_transfer_begins(ThreadId tid, UInt number, const UWord* args) {
  if (!svd_recording) return;
  if (!calls) calls = VG_(calloc)("svd.transfers", VG_N_THREADS, sizeof(Call));
  if (tid > last_tid) last_tid = tid;
  Call* call = &calls[tid];
  VG_(memset)(call, 0, sizeof(*call));
  parse(call, number, args);
  if (!call->active) return;
  struct vg_stat what;
  UInt type = VG_(fstat)(call->fd, &what) == 0 ? what.mode & MODE_TYPE : 0;
  call->active = type == REGULAR || type == FIFO || (type == SOCKET && find(&what));
  if (!call->active) return;
  if (type == REGULAR) {
    file_begins(call, &what);
  } else {
    stream_begins(call, &what);
  }
}

/* What is as long as it is by this call. */
static Bool sets_length(UInt number, const UWord* args, UWord result, struct vg_stat* what) {
  switch (number) {
    case __NR_open:
    case __NR_openat:
    case __NR_creat:
      return VG_(fstat)(result, what) == 0;
    case __NR_ftruncate:
      return VG_(fstat)(args[0], what) == 0;
    case __NR_truncate:
      return !sr_isError(VG_(stat)((const HChar*)args[0], what));
    default:
      return False;
  }
}

void svd_transfer_ends(ThreadId tid, UInt number, const UWord* args, SysRes result) {
  if (!svd_recording || !calls || tid > last_tid) return;
  struct vg_stat what;
  Call* call = &calls[tid];
  if (call->active) {
    ULong size = sr_isError(result) ? 0 : sr_Res(result);
    if (call->channel && call->channel->type == REGULAR) {
      file_ends(tid, call, size);
    } else {
      stream_ends(tid, call, size);
    }
    call->active = False;
  } else if (sr_isError(result)) {
    return;
  } else if (number == __NR_socketpair && args[0] == UNIX && (args[1] & 15) == STREAM) {
    pair((const Int*)args[3]);
  } else if (channels && sets_length(number, args, sr_Res(result), &what)) {
    cut(tid, &what);
  }
}

void svd_transfer_forked(void) {
  if (calls) VG_(memset)(calls, 0, VG_N_THREADS * sizeof(Call));
}
