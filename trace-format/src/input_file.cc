// SPDX-License-Identifier: Apache-2.0

#include "input_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "svd/trace/limits.h"

namespace svd {

FileMapping::FileMapping(FileMapping&& other) noexcept
    : base_(std::exchange(other.base_, nullptr)),
      mapped_(std::exchange(other.mapped_, 0)),
      skip_(other.skip_) {}

FileMapping& FileMapping::operator=(FileMapping&& other) noexcept {
  std::swap(base_, other.base_);
  std::swap(mapped_, other.mapped_);
  std::swap(skip_, other.skip_);
  return *this;
}

FileMapping::~FileMapping() {
  if (base_ != nullptr) munmap(base_, mapped_);
}

Result<InputFile> InputFile::open(const std::string& path) {
  auto refuse = [&](ErrorKind kind, std::string why) {
    return Error{kind, path, {}, {}, std::move(why)};
  };
  // Non-blocking, so that a FIFO without a writer does not hang us.
  int fd = ::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC);
  if (fd < 0)
    return refuse(ErrorKind::kNotATrace, fmt::format("cannot be opened: {}", std::strerror(errno)));
  InputFile file(path, fd, 0, false);
  struct stat status {};
  if (fstat(fd, &status) != 0)
    return refuse(ErrorKind::kIo, fmt::format("cannot be examined: {}", std::strerror(errno)));
  if (S_ISDIR(status.st_mode))
    return refuse(ErrorKind::kNotATrace, "is a directory, not a trace file");
  if (S_ISFIFO(status.st_mode))
    return refuse(ErrorKind::kNotATrace,
                  "is a FIFO; a trace must be a regular file, save it to one first");
  if (!S_ISREG(status.st_mode)) return refuse(ErrorKind::kNotATrace, "is not a regular file");
  if (status.st_size == 0) return refuse(ErrorKind::kNotATrace, "is empty");
  file.size_ = static_cast<std::uint64_t>(status.st_size);
  file.being_written_ = flock(fd, LOCK_SH | LOCK_NB) != 0 && errno == EWOULDBLOCK;
  if (!file.being_written_) flock(fd, LOCK_UN);
  return file;
}

InputFile::InputFile(InputFile&& other) noexcept
    : path_(std::move(other.path_)),
      fd_(std::exchange(other.fd_, -1)),
      size_(other.size_),
      being_written_(other.being_written_) {}

InputFile::~InputFile() {
  if (fd_ >= 0) ::close(fd_);
}

Result<FileMapping> InputFile::map(std::uint64_t offset, std::size_t size) const {
  SVD_CHECK(offset <= size_ && size <= size_ - offset);
  static const auto kPage = static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
  std::size_t skip = offset % kPage;
  void* base =
      mmap(nullptr, size + skip, PROT_READ, MAP_PRIVATE, fd_, static_cast<off_t>(offset - skip));
  if (base == MAP_FAILED)
    return Error{ErrorKind::kIo,
                 path_,
                 {},
                 offset,
                 fmt::format("cannot be mapped: {}", std::strerror(errno))};
  return FileMapping(base, size + skip, skip);
}

bool InputFile::read_bytes(std::uint64_t offset, void* to, std::size_t size) const {
  if (offset > size_ || size > size_ - offset) return false;
  return pread(fd_, to, size, static_cast<off_t>(offset)) == static_cast<ssize_t>(size);
}

Result<LoadedChunk> InputFile::load_chunk(std::uint64_t offset, std::uint64_t trace_id) const {
  auto damaged = [&](std::optional<std::uint32_t> ordinal, const char* why) {
    return Error{ErrorKind::kDamaged, path_, ordinal, offset, why};
  };
  auto header = read<ChunkHeader>(offset);
  if (!header) return damaged({}, "the file ends in the middle of a chunk header");
  if (header->magic != kChunkMagic || (trace_id != 0 && header->trace_id != trace_id)) {
    return damaged({}, "no chunk of this trace begins here");
  }
  if (header->size > kMaxChunkBytes - sizeof(ChunkHeader) || header->size % 8 != 0 ||
      header->size == 0) {
    return damaged({}, "the chunk header is damaged");
  }
  if (header->size > size_ - offset - sizeof(ChunkHeader))
    return damaged(header->ordinal, "the file ends in the middle of the chunk");
  auto mapping = map(offset, sizeof(ChunkHeader) + header->size);
  if (!mapping) return mapping.error();
  auto body = mapping->bytes().subspan(sizeof(ChunkHeader));
  if (checksum_of(*header, body.data()) != header->checksum)
    return damaged(header->ordinal, "the checksum does not match");
  const fb::ChunkBody* root = chunk_body(body, header->kind);
  if (root == nullptr) return damaged(header->ordinal, "the chunk's layout is not valid");
  return LoadedChunk{std::move(*mapping), *header, root};
}

}  // namespace svd
