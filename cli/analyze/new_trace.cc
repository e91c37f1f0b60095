// SPDX-License-Identifier: Apache-2.0
//
// Refusal, creation and removal of the file that a verb writes.

#include "analyze/new_trace.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>

#include "common/output.h"

namespace svd::cli {

namespace {

// A recorder holds a lock on the trace that it writes.
bool is_being_written(const std::string& path) {
  int fd = open(path.c_str(), O_RDONLY | O_NONBLOCK | O_NOFOLLOW | O_CLOEXEC);
  if (fd < 0) return false;
  bool locked = flock(fd, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK;
  close(fd);
  return locked;
}

// The unfinished file, for the signal handler.
std::string unfinished;

// The handler is gone by now, so the signal ends us once we return.
void remove_unfinished(int signal) {
  unlink(unfinished.c_str());
  raise(signal);
}

// An interrupted command leaves no unfinished file behind.
void remove_when_interrupted(const std::string& path) {
  unfinished = path;
  for (int signal : {SIGINT, SIGTERM, SIGHUP}) {
    struct sigaction action {};
    sigaction(signal, nullptr, &action);
    if (action.sa_handler != SIG_DFL) continue;
    action.sa_handler = remove_unfinished;
    action.sa_flags = static_cast<int>(SA_RESETHAND);
    sigaction(signal, &action, nullptr);
  }
}

}  // namespace

NewTrace::~NewTrace() {
  if (written_ != path_) unlink(written_.c_str());
}

Result<std::unique_ptr<TraceWriter>> NewTrace::create(const Process& process) {
  if (same_file(path_, input_)) {
    Error error;
    error.kind = ErrorKind::kUsage;
    error.file = path_;
    error.what = "this is the input; choose another file for the output";
    return error;
  }
  if (is_being_written(path_)) {
    Error error;
    error.file = path_;
    error.what = "is being written by another process";
    return error;
  }
  // Only a regular file, or none, can be replaced as a whole; anything else is written to, or
  // refused, as TraceWriter does it.
  struct stat status {};
  bool whole = path_ != "-" && (lstat(path_.c_str(), &status) != 0 || S_ISREG(status.st_mode));
  std::string place = whole ? fmt::format("{}.{}.part", path_, getpid()) : path_;
  auto writer = TraceWriter::create(place, process);
  if (writer) written_ = place;
  if (writer && whole) remove_when_interrupted(place);
  if (!writer && whole) {
    Error error = writer.error();
    error.file = path_;
    return error;
  }
  return writer;
}

Status NewTrace::keep() {
  std::string from = std::exchange(written_, path_);
  if (from == path_ || std::rename(from.c_str(), path_.c_str()) == 0) return Done{};
  Error error;
  error.file = path_;
  error.what =
      fmt::format("cannot be replaced: {}; the trace is in {}", std::strerror(errno), from);
  return error;
}

}  // namespace svd::cli
