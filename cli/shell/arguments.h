// SPDX-License-Identifier: Apache-2.0
//
// What commands of the shell are given, understood.
#pragma once

#include <string_view>

#include "shell/session.h"

namespace svd::cli {

// "[SEQ]": the position when it is not said.
Result<Seq> moment_asked(Session& session, std::string_view command, std::string_view rest);

// "ADDR[,SIZE] [SEQ]".
struct MemoryQuestion {
  Range bytes{};
  Seq at{};
  static Result<MemoryQuestion> parse(Session& session, std::string_view command,
                                      std::string_view rest);
};

}  // namespace svd::cli
