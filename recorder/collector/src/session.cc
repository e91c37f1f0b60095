// SPDX-License-Identifier: Apache-2.0

#include "session.h"

#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <utility>

#include "svd/collector/collector.h"
#include "svd/wire/ring.h"

namespace svd {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kPrefix = "svd-record.";
constexpr std::string_view kRing = "ring.";

Error failed(const std::string& path, const char* doing) {
  return Error{ErrorKind::kIo, path, {}, {}, fmt::format("{}: {}", doing, std::strerror(errno))};
}

bool lock_for_writing(int fd) {
  struct flock lock {};
  lock.l_type = F_WRLCK;
  return fcntl(fd, F_SETLK, &lock) == 0;
}

// "ring.<pid>.<start_ns>"
std::uint64_t start_of(const std::string& path) {
  std::string_view digits = std::string_view(path).substr(path.rfind('.') + 1);
  std::uint64_t start = 0;
  std::from_chars(digits.data(), digits.data() + digits.size(), start);
  return start;
}

}  // namespace

std::string session_place() {
  if (access("/dev/shm", W_OK | X_OK) == 0) return "/dev/shm";
  const char* place = std::getenv("TMPDIR");
  return place != nullptr && *place == '/' ? place : "/tmp";
}

void remove_stale_sessions() {
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(session_place(), ignored)) {
    if (!entry.path().filename().string().starts_with(kPrefix)) continue;
    struct stat status {};
    if (lstat(entry.path().c_str(), &status) != 0 || !S_ISDIR(status.st_mode) ||
        status.st_uid != geteuid())
      continue;
    std::string file = entry.path() / SVD_WIRE_SESSION_FILE;
    int fd = open(file.c_str(), O_RDWR | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0) continue;
    bool stale = lock_for_writing(fd);
    if (stale) fs::remove_all(entry.path(), ignored);
    close(fd);
  }
}

Result<Session> Session::create() {
  std::string directory = fmt::format("{}/{}XXXXXX", session_place(), kPrefix);
  if (mkdtemp(directory.data()) == nullptr)
    return failed(session_place(), "cannot make a directory there");
  // The lock file gets its name when it is locked: another recorder that found it unlocked would
  // take the session for stale.
  std::string file = directory + "/" SVD_WIRE_SESSION_FILE;
  std::string nameless = file + ".new";
  int lock = open(nameless.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  int watch = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
  Session session(directory, lock, watch);
  if (lock < 0 || !lock_for_writing(lock) || rename(nameless.c_str(), file.c_str()) != 0)
    return failed(file, "cannot be locked");
  if (watch < 0 || inotify_add_watch(watch, directory.c_str(), IN_MOVED_TO) < 0)
    return failed(directory, "cannot be watched");
  return session;
}

Session::Session(std::string directory, int lock, int watch)
    : directory_(std::move(directory)), lock_(lock), watch_(watch) {}

Session::Session(Session&& other) noexcept
    : directory_(std::exchange(other.directory_, {})),
      lock_(std::exchange(other.lock_, -1)),
      watch_(std::exchange(other.watch_, -1)) {}

Session::~Session() {
  std::error_code ignored;
  if (!directory_.empty()) fs::remove_all(directory_, ignored);
  if (watch_ >= 0) close(watch_);
  abandon();
}

void Session::abandon() {
  if (lock_ >= 0) close(std::exchange(lock_, -1));
}

std::vector<std::string> Session::rings() const {
  std::array<char, 4096> events;
  while (read(watch_, events.data(), events.size()) > 0) {
  }
  std::vector<std::string> paths;
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(directory_, ignored)) {
    if (entry.path().filename().string().starts_with(kRing)) paths.push_back(entry.path());
  }
  std::sort(paths.begin(), paths.end(),
            [](const std::string& a, const std::string& b) { return start_of(a) < start_of(b); });
  return paths;
}

}  // namespace svd
