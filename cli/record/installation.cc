// SPDX-License-Identifier: Apache-2.0

#include "record/installation.h"

#include <elf.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "record/exit_codes.h"

namespace svd::cli {
namespace {

namespace fs = std::filesystem;

bool is_file(const std::string& path) {
  struct stat status {};
  return stat(path.c_str(), &status) == 0 && S_ISREG(status.st_mode);
}

// The first runnable file called `name` in PATH; or one that is there but cannot be run.
std::string search_path(const std::string& name) {
  const char* value = std::getenv("PATH");
  std::string path = value != nullptr ? value : "/usr/local/bin:/usr/bin:/bin";
  std::string seen;
  for (std::size_t at = 0; at <= path.size();) {
    std::size_t end = std::min(path.find(':', at), path.size());
    std::string place = path.substr(at, end - at);
    std::string file = (place.empty() ? "." : place) + "/" + name;
    if (is_file(file)) {
      if (access(file.c_str(), X_OK) == 0) return file;
      seen = file;
    }
    at = end + 1;
  }
  return seen;
}

std::string foreign(const std::string& path) {
  std::array<unsigned char, 20> head{};
  std::ifstream(path, std::ios::binary)
      .read(reinterpret_cast<char*>(head.data()), static_cast<std::streamsize>(head.size()));
  if (std::memcmp(head.data(), ELFMAG, SELFMAG) != 0) return {};
  bool ours = head[EI_CLASS] == ELFCLASS64 && head[18] == EM_X86_64;
  return ours ? "" : "is not an x86-64 program; svd-record records no others";
}

}  // namespace

Found find_program(const std::string& word) {
  bool search = word.find('/') == std::string::npos;
  std::string path = search ? search_path(word) : word;
  Found found;
  if (path.empty() || access(path.c_str(), F_OK) != 0) {
    found.problem = fmt::format("{}: not found{}", word, search ? " in PATH" : "");
    found.exit_code = kNotFound;
  } else if (!is_file(path) || access(path.c_str(), X_OK) != 0) {
    found.problem =
        fmt::format("{}: {}", word, is_file(path) ? "not executable" : "not a regular file");
    found.exit_code = kCannotRun;
  } else if (std::string why = foreign(path); !why.empty()) {
    found.problem = fmt::format("{}: {}", word, why);
    found.exit_code = kRecorderFailed;
  } else {
    std::error_code ignored;
    fs::path full = fs::canonical(path, ignored);
    found.path = full.empty() ? path : full.string();
  }
  return found;
}

std::string find_valgrind() {
  std::string path = search_path("valgrind");
  return !path.empty() && access(path.c_str(), X_OK) == 0 ? path : "";
}

std::string tool_directory() {
  std::error_code ignored;
  fs::path self = fs::read_symlink("/proc/self/exe", ignored);
  return (self.parent_path().parent_path() / "lib" / "svd").string();
}

std::string output_problem(const std::string& file) {
  struct stat status {};
  if (lstat(file.c_str(), &status) == 0 && S_ISCHR(status.st_mode)) return {};
  if (!file.empty() && lstat(file.c_str(), &status) == 0 && !S_ISREG(status.st_mode))
    return fmt::format("{}: is {}, which traces are not written to; name another file with -o",
                       file, S_ISLNK(status.st_mode) ? "a symbolic link" : "not a regular file");
  fs::path folder = fs::path(file).parent_path();
  if (folder.empty()) folder = ".";
  if (access(folder.c_str(), W_OK | X_OK) == 0) return {};
  return fmt::format("{}: {}; name another file with -o", folder.string(), std::strerror(errno));
}

std::string tool_problem() {
  for (const char* name : {"svd-amd64-linux", "vgpreload_svd-amd64-linux.so",
                           "vgpreload_core-amd64-linux.so", "default.supp"}) {
    std::string path = tool_directory() + "/" + name;
    if (access(path.c_str(), R_OK) != 0) return fmt::format("{} is missing", path);
  }
  return {};
}

}  // namespace svd::cli
