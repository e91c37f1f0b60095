// SPDX-License-Identifier: Apache-2.0
//
// slice: the story of how it came to a moment.
#include <fmt/format.h>

#include "report/slice_text.h"
#include "shell/commands.h"

namespace svd::cli {

Status shell_slice(Session& session, std::string_view rest) {
  constexpr std::size_t kShown = 10;
  auto words = words_of(rest);
  if (words.size() > 1) return wrong("say slice [CRITERION], without blanks in it");
  std::string criterion = !words.empty() ? std::string(words[0])
                          : session.position() == session.ending()
                              ? "fault"
                              : fmt::format("seq:{}", session.position().value);
  auto explained = session.explainer().explain(criterion, {}, session.patience());
  if (!explained) return explained.error();
  print_slice({session.trace(), session.source(), *explained}, kShown, session.style(),
              session.output());
  session.go(explained->failure.at.seq);
  return Done{};
}

}  // namespace svd::cli
