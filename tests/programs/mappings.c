// SPDX-License-Identifier: Apache-2.0
//
// Memory from the kernel: anonymous and file mappings (private and shared), mprotect, mremap,
// munmap and reuse of the address, brk.
#define _GNU_SOURCE
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "expect.h"

enum { kPage = 4096 };

static char* map(size_t size, int flags, int fd) {
  char* memory = mmap(NULL, size, PROT_READ | PROT_WRITE, flags, fd, 0);
  EXPECT(memory != MAP_FAILED);
  return memory;
}

int main(void) {
  char* memory = map(16 * kPage, MAP_PRIVATE | MAP_ANONYMOUS, -1);
  for (int i = 0; i < 16; ++i) {
    EXPECT(memory[i * kPage] == 0);
    memory[i * kPage] = (char)('a' + i);
  }
  EXPECT(mprotect(memory, kPage, PROT_READ) == 0 && memory[0] == 'a');
  EXPECT(munmap(memory + 4 * kPage, 4 * kPage) == 0);
  char* again = mmap(memory + 4 * kPage, kPage, PROT_READ | PROT_WRITE,
                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
  EXPECT(again == memory + 4 * kPage && *again == 0);
  char* moved = mremap(memory + 8 * kPage, 8 * kPage, 64 * kPage, MREMAP_MAYMOVE);
  EXPECT(moved != MAP_FAILED && moved[7 * kPage] == 'p' && moved[60 * kPage] == 0);
  moved = mremap(moved, 64 * kPage, 2 * kPage, 0);
  EXPECT(moved[kPage] == 'j');

  int fd = memfd_create("svd", 0);
  EXPECT(fd >= 0 && ftruncate(fd, 2 * kPage) == 0 && pwrite(fd, "from the file", 13, 10) == 13);
  char* shared = map(2 * kPage, MAP_SHARED, fd);
  char* private = map(2 * kPage, MAP_PRIVATE, fd);
  EXPECT(memcmp(shared + 10, "from the file", 13) == 0);
  EXPECT(memcmp(private + 10, "from the file", 13) == 0);
  memcpy(shared + 100, "through memory", 14);
  char text[14];
  EXPECT(pread(fd, text, 14, 100) == 14 && memcmp(text, "through memory", 14) == 0);
  EXPECT(pwrite(fd, "behind its back", 15, 200) == 15);
  EXPECT(memcmp(shared + 200, "behind its back", 15) == 0);
  EXPECT(madvise(memory, kPage, MADV_DONTNEED) == 0 && memory[0] == 0);

  char* end = sbrk(0);
  EXPECT(sbrk(8 * kPage) == end);
  memset(end, 7, 8 * kPage);
  EXPECT(brk(end) == 0 && sbrk(0) == end);
  printf("mapped, moved, shared\n");
  return 0;
}
