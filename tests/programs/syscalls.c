// SPDX-License-Identifier: Apache-2.0
//
// Calls through which the kernel reads and writes memory: files (scattered, positioned), pipes,
// sockets with ancillary data, polling of all kinds, time, directories, failures, sizes that are
// wrong.
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#include "expect.h"

static void files(void) {
  char name[] = "/tmp/svd-syscalls-XXXXXX";
  int fd = mkstemp(name);
  EXPECT(fd >= 0 && unlink(name) == 0);
  char a[8] = "scatter", b[8] = "gather.";
  struct iovec parts[2] = {{a, 7}, {b, 7}};
  EXPECT(writev(fd, parts, 2) == 14 && pwrite(fd, "X", 1, 3) == 1);
  memset(a, 0, sizeof(a));
  EXPECT(lseek(fd, 0, SEEK_SET) == 0 && readv(fd, parts, 2) == 14 && strcmp(a, "scaXter") == 0);
  struct stat status;
  EXPECT(fstat(fd, &status) == 0 && status.st_size == 14);
  EXPECT(read(fd, a, 1) == 0 && read(-1, a, 1) == -1 && errno == EBADF);
  close(fd);
}

static void sockets(void) {
  int pair[2], ends[2];
  EXPECT(socketpair(AF_UNIX, SOCK_STREAM, 0, pair) == 0 && pipe(ends) == 0);
  char text[16] = "ancillary", space[CMSG_SPACE(sizeof(int))];
  struct iovec part = {text, 9};
  struct msghdr message;
  memset(&message, 0, sizeof(message));
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  message.msg_control = space;
  message.msg_controllen = sizeof(space);
  struct cmsghdr* header = CMSG_FIRSTHDR(&message);
  header->cmsg_level = SOL_SOCKET;
  header->cmsg_type = SCM_RIGHTS;
  header->cmsg_len = CMSG_LEN(sizeof(int));
  memcpy(CMSG_DATA(header), &ends[1], sizeof(int));
  EXPECT(sendmsg(pair[0], &message, 0) == 9);
  memset(text, 0, sizeof(text));
  EXPECT(recvmsg(pair[1], &message, 0) == 9 && strcmp(text, "ancillary") == 0);
  int passed;
  memcpy(&passed, CMSG_DATA(CMSG_FIRSTHDR(&message)), sizeof(int));
  EXPECT(write(passed, "through", 7) == 7 && read(ends[0], text, 16) == 7);
  EXPECT(memcmp(text, "throughry", 9) == 0);
}

static void polling(void) {
  int event = eventfd(0, 0), set = epoll_create1(0);
  unsigned long value = 5;
  struct epoll_event wanted = {.events = EPOLLIN, .data.u64 = 99}, found = {0};
  EXPECT(epoll_ctl(set, EPOLL_CTL_ADD, event, &wanted) == 0);
  EXPECT(epoll_wait(set, &found, 1, 0) == 0);
  EXPECT(write(event, &value, 8) == 8 && epoll_wait(set, &found, 1, -1) == 1);
  EXPECT(found.data.u64 == 99);
  struct pollfd one = {event, POLLIN, 0};
  EXPECT(poll(&one, 1, -1) == 1 && one.revents == POLLIN);
  fd_set readable;
  FD_ZERO(&readable);
  FD_SET(event, &readable);
  EXPECT(select(event + 1, &readable, NULL, NULL, NULL) == 1 && FD_ISSET(event, &readable));
  value = 0;
  EXPECT(read(event, &value, 8) == 8 && value == 5);
}

// Asks for 4 GB, of which 96 bytes are there.
static void too_much(void) {
  char name[] = "/tmp/svd-syscalls-XXXXXX";
  int fd = mkstemp(name);
  char* pages = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  EXPECT(fd >= 0 && unlink(name) == 0 && pages != MAP_FAILED && munmap(pages + 4096, 4096) == 0);
  EXPECT(write(fd, pages + 4000, 0xfffff000) == 96);
  EXPECT(write(fd, pages + 4096, 0xfffff000) == -1 && errno == EFAULT);
  close(fd);
}

int main(void) {
  too_much();
  for (int i = 0; i < 20; ++i) {
    files();
    sockets();
    polling();
  }
  struct utsname system;
  EXPECT(uname(&system) == 0 && strcmp(system.sysname, "Linux") == 0);
  DIR* directory = opendir("/proc/self");
  int entries = 0;
  for (struct dirent* entry = readdir(directory); entry != NULL; entry = readdir(directory)) {
    entries += strcmp(entry->d_name, "maps") == 0;
  }
  closedir(directory);
  struct timespec now;
  EXPECT(clock_gettime(CLOCK_REALTIME, &now) == 0 && now.tv_sec > 0 && time(NULL) >= now.tv_sec);
  printf("entries %d\n", entries);
  return 0;
}
