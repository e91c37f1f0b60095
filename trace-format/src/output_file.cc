// SPDX-License-Identifier: Apache-2.0

#include "output_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

namespace svd {

namespace {

Error refuse(const std::string& path, std::string why) {
  return Error{ErrorKind::kIo, path, {}, {}, std::move(why)};
}

// Makes room at `path`, or says why that cannot be.
Status clear_place(const std::string& path) {
  struct stat status {};
  if (lstat(path.c_str(), &status) != 0) return Done{};
  if (S_ISCHR(status.st_mode)) return Done{};
  if (S_ISLNK(status.st_mode))
    return refuse(path,
                  "is a symbolic link; traces are not written through links, name the file itself");
  if (S_ISDIR(status.st_mode)) return refuse(path, "is a directory");
  if (!S_ISREG(status.st_mode)) return refuse(path, "is not a regular file");
  int fd = open(path.c_str(), O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
  if (fd >= 0) {
    bool locked = flock(fd, LOCK_EX | LOCK_NB) != 0;
    ::close(fd);
    if (locked) return refuse(path, "is being written by another process");
  }
  if (unlink(path.c_str()) != 0)
    return refuse(path, fmt::format("cannot be replaced: {}", std::strerror(errno)));
  return Done{};
}

}  // namespace

Result<OutputFile> OutputFile::create(const std::string& path) {
  if (path == "-") return OutputFile("standard output", fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3));
  if (auto cleared = clear_place(path); !cleared) return cleared.error();
  struct stat status {};
  bool device = stat(path.c_str(), &status) == 0;
  int fd =
      open(path.c_str(), O_RDWR | O_NOFOLLOW | O_CLOEXEC | (device ? 0 : O_CREAT | O_EXCL), 0600);
  if (fd < 0) return refuse(path, fmt::format("cannot be created: {}", std::strerror(errno)));
  if (!device && flock(fd, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) {
    ::close(fd);
    return refuse(path, "is being written by another process");
  }
  return OutputFile(path, fd);
}

OutputFile::OutputFile(OutputFile&& other) noexcept
    : path_(std::move(other.path_)), fd_(std::exchange(other.fd_, -1)), size_(other.size_) {}

OutputFile::~OutputFile() {
  if (fd_ >= 0) ::close(fd_);
}

Error OutputFile::error(const char* doing, int code) const {
  std::string advice = code == ENOSPC ? "; free some space, or write to another disk with -o" : "";
  return Error{ErrorKind::kIo,
               path_,
               {},
               size_,
               fmt::format("{}: {}{}", doing, std::strerror(code), advice)};
}

Status OutputFile::append(std::span<const std::uint8_t> bytes) {
  std::size_t done = 0;
  while (done < bytes.size()) {
    ssize_t wrote = ::write(fd_, bytes.data() + done, bytes.size() - done);
    if (wrote > 0) {
      done += static_cast<std::size_t>(wrote);
    } else if (wrote < 0 && errno != EINTR) {
      int code = errno;
      if (ftruncate(fd_, static_cast<off_t>(size_)) != 0) {
        // A pipe or device cannot be cut; its reader sees the partial chunk's checksum fail.
      }
      return error("cannot write", code);
    }
  }
  size_ += bytes.size();
  return Done{};
}

Status OutputFile::write_at(std::uint64_t offset, std::span<const std::uint8_t> bytes) {
  for (std::size_t done = 0; done < bytes.size();) {
    ssize_t wrote =
        ::pwrite(fd_, bytes.data() + done, bytes.size() - done, static_cast<off_t>(offset + done));
    if (wrote < 0 && errno != EINTR) return error("cannot write", errno);
    if (wrote > 0) done += static_cast<std::size_t>(wrote);
  }
  return Done{};
}

Status OutputFile::read_at(std::uint64_t offset, std::span<std::uint8_t> bytes) const {
  for (std::size_t done = 0; done < bytes.size();) {
    ssize_t got =
        ::pread(fd_, bytes.data() + done, bytes.size() - done, static_cast<off_t>(offset + done));
    if (got == 0) return error("cannot read back", EIO);
    if (got < 0 && errno != EINTR) return error("cannot read back", errno);
    if (got > 0) done += static_cast<std::size_t>(got);
  }
  return Done{};
}

Status OutputFile::close() {
  int fd = std::exchange(fd_, -1);
  if (fd >= 0 && ::close(fd) != 0) return error("cannot finish writing", errno);
  return Done{};
}

}  // namespace svd
