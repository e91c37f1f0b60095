// SPDX-License-Identifier: Apache-2.0
//
// The private directory in which recorded processes and the collector meet. Its lock says that the
// collector lives; the kernel drops it if we are killed, and whoever makes the next session then
// removes what is left of this one.
#pragma once

#include <string>
#include <vector>

#include "svd/trace/result.h"

namespace svd {

class Session {
 public:
  static Result<Session> create();
  Session(Session&& other) noexcept;
  Session& operator=(Session&&) = delete;
  ~Session();

  const std::string& directory() const { return directory_; }
  // Readable (inotify) when a ring has come.
  int descriptor() const { return watch_; }
  // Paths of the rings that stand there, oldest first.
  std::vector<std::string> rings() const;
  // Lets all recorded processes go on unrecorded.
  void abandon();

 private:
  Session(std::string directory, int lock, int watch);
  std::string directory_;
  int lock_;
  int watch_;
};

}  // namespace svd
