// SPDX-License-Identifier: Apache-2.0

#include "ring.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <linux/futex.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <ctime>
#include <utility>

namespace svd {
namespace {

// A decoder may load eight bytes where a record ends; behind the file lies one page for that.
constexpr std::size_t kGuard = 4096;
constexpr std::uint64_t kMaxLap = 1U << 30;
// How long we sleep when there is nothing to read. Nobody wakes us before a quarter of the ring is
// full; what a slow program did is read at this rate.
constexpr long kSleepNs = 10'000'000;

void futex(std::uint32_t* word, int op, std::uint32_t value, const timespec* timeout) {
  syscall(SYS_futex, word, op, value, timeout, nullptr, 0);
}

Error problem(const std::string& path, std::string what) {
  return Error{ErrorKind::kIo, path, {}, {}, std::move(what)};
}

// The sentence that says why this is no ring that we can read; empty when it is one.
std::string header_problem(const SvdWireHeader& header, std::uint64_t file_size) {
  if (header.magic != SVD_WIRE_MAGIC) return "is not a ring";
  if (header.version != SVD_WIRE_VERSION)
    return fmt::format("is a ring of version {}, not {}; install svd-record and its tool together",
                       header.version, SVD_WIRE_VERSION);
  if (header.capacity == 0 || header.slack == 0 || header.capacity > kMaxLap ||
      header.slack > kMaxLap || SVD_WIRE_DATA_OFFSET + header.capacity + header.slack > file_size)
    return "is a ring of impossible size";
  return {};
}

}  // namespace

Result<Ring> Ring::open(const std::string& path) {
  int fd = ::open(path.c_str(), O_RDWR | O_CLOEXEC | O_NOFOLLOW);
  if (fd < 0) return problem(path, fmt::format("cannot be opened: {}", std::strerror(errno)));
  unlink(path.c_str());
  struct stat status {};
  fstat(fd, &status);
  auto size = static_cast<std::size_t>(status.st_size);
  void* base = MAP_FAILED;
  if (size >= SVD_WIRE_DATA_OFFSET)
    base = mmap(nullptr, size + kGuard, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (base != MAP_FAILED &&
      mmap(base, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, fd, 0) == MAP_FAILED) {
    munmap(base, size + kGuard);
    base = MAP_FAILED;
  }
  if (base == MAP_FAILED) {
    close(fd);
    return problem(path, "cannot be mapped");
  }
  Ring ring(fd, base, size + kGuard);
  if (std::string text = header_problem(ring.header(), size); !text.empty())
    return problem(path, text);
  return ring;
}

Ring::Ring(int fd, void* base, std::size_t size)
    : fd_(fd), base_(base), size_(size), header_(static_cast<SvdWireHeader*>(base)) {}

Ring::Ring(Ring&& other) noexcept
    : fd_(std::exchange(other.fd_, -1)),
      base_(std::exchange(other.base_, nullptr)),
      size_(other.size_),
      header_(other.header_) {}

Ring::~Ring() {
  if (base_ != nullptr) munmap(base_, size_);
  if (fd_ >= 0) close(fd_);
}

Window Ring::window(bool last) const {
  Window window;
  window.data = static_cast<const std::uint8_t*>(base_) + SVD_WIRE_DATA_OFFSET;
  window.capacity = header_->capacity;
  window.lap = header_->capacity + header_->slack;
  window.end = __atomic_load_n(&header_->published, __ATOMIC_ACQUIRE);
  window.last = last;
  return window;
}

void Ring::consume(std::uint64_t position) {
  __atomic_store_n(&header_->consumed, position, __ATOMIC_RELEASE);
  __atomic_add_fetch(&header_->consumed_futex, 1, __ATOMIC_SEQ_CST);
  if (__atomic_load_n(&header_->writer_waiting, __ATOMIC_SEQ_CST) != 0)
    futex(&header_->consumed_futex, FUTEX_WAKE, 1, nullptr);
}

void Ring::wait(std::uint64_t end) {
  std::uint32_t seen = __atomic_load_n(&header_->published_futex, __ATOMIC_ACQUIRE);
  __atomic_store_n(&header_->reader_waiting, 1U, __ATOMIC_SEQ_CST);
  if (__atomic_load_n(&header_->published, __ATOMIC_SEQ_CST) <= end) {
    timespec timeout{0, kSleepNs};
    futex(&header_->published_futex, FUTEX_WAIT, seen, &timeout);
  }
  __atomic_store_n(&header_->reader_waiting, 0U, __ATOMIC_RELAXED);
}

bool Ring::writer_lives() const {
  struct flock lock {};
  lock.l_type = F_WRLCK;
  return fcntl(fd_, F_GETLK, &lock) == 0 && lock.l_type != F_UNLCK;
}

void Ring::stop() { __atomic_store_n(&header_->stop, 1U, __ATOMIC_RELEASE); }

}  // namespace svd
