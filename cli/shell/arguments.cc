// SPDX-License-Identifier: Apache-2.0
#include "shell/arguments.h"

#include <fmt/format.h>

namespace svd::cli {

Result<Seq> moment_asked(Session& session, std::string_view command, std::string_view rest) {
  auto words = words_of(rest);
  if (words.size() > 1)
    return wrong(fmt::format("say {} [SEQ]: one instruction's number", command));
  return words.empty() ? session.position() : session.seq(words[0]);
}

Result<MemoryQuestion> MemoryQuestion::parse(Session& session, std::string_view command,
                                             std::string_view rest) {
  auto words = words_of(rest);
  if (words.empty() || words.size() > 2)
    return wrong(fmt::format("say {} ADDR[,SIZE] [SEQ]: which memory, and from when on", command));
  auto bytes = session.memory(words[0]);
  if (!bytes) return bytes.error();
  auto at = words.size() == 2 ? session.seq(words[1]) : session.position();
  if (!at) return at.error();
  return MemoryQuestion{*bytes, *at};
}

}  // namespace svd::cli
