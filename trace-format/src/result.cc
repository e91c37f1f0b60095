// SPDX-License-Identifier: Apache-2.0

#include "svd/trace/result.h"

#include <fmt/format.h>

#include <cstdio>
#include <cstdlib>

namespace svd {

std::string Error::describe() const {
  std::string place = file;
  if (kind == ErrorKind::kText) {
    if (offset) place += fmt::format(":{}", *offset);
  } else {
    if (chunk) place += fmt::format("{}chunk {}", place.empty() ? "" : ": ", *chunk);
    if (offset)
      place += fmt::format("{}{}offset {}",
                           place.empty() ? ""
                           : chunk       ? " "
                                         : ": ",
                           chunk ? "at " : "", *offset);
  }
  return place.empty() ? what : place + ": " + what;
}

void check_failed(const char* condition, const char* file, int line) {
  std::fprintf(stderr, "svd: internal error: %s does not hold (%s:%d); please report this\n",
               condition, file, line);
  std::abort();
}

}  // namespace svd
