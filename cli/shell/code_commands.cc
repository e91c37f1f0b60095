// SPDX-License-Identifier: Apache-2.0
//
// find, previous, list: from code to moments of the run, and what is around one.
#include <fmt/format.h>

#include <algorithm>

#include "shell/arguments.h"
#include "shell/code_places.h"
#include "shell/commands.h"
#include "shell/narrator.h"
#include "shell/surroundings.h"
#include "slicer/queries/executions.h"

namespace svd::cli {
namespace {

// Without blanks around it.
std::string_view trimmed(std::string_view text) {
  auto words = words_of(text);
  if (words.empty()) return {};
  return text.substr(
      static_cast<std::size_t>(words.front().data() - text.data()),
      static_cast<std::size_t>(words.back().data() + words.back().size() - words.front().data()));
}

std::string times(std::uint64_t count) {
  return count == 1 ? "once" : fmt::format("{} times", grouped(count));
}

Status tell_functions(Session& session, std::string_view pattern) {
  auto names = functions_like(session, pattern);
  if (names.empty())
    return wrong(fmt::format("no function that was executed has '{}' in its name", pattern));
  constexpr std::size_t kShown = 30;
  for (std::size_t i = 0; i < std::min(kShown, names.size()); ++i)
    session.say("  " + printable(names[i]));
  if (names.size() > kShown) session.say(fmt::format("  and {} more", names.size() - kShown));
  return Done{};
}

// Goes to where it is executed, counted from where we are or from the beginning or end.
Status go_to(Session& session, const CodePlaces& places, bool forward) {
  Executions executions(session.run(), places.wanted);
  Seq here = session.position();
  auto at = places.count ? executions.nth(*places.count)
            : forward    ? executions.after(here)
                         : executions.before(here);
  if (!at) {
    if (places.count)
      return wrong(fmt::format("{} was executed {}; @N is from 1 to {}, or from -1 back",
                               places.what, times(executions.count()), executions.count()));
    return wrong(fmt::format("{} is not executed {} {}; it is {}, {} at {}", places.what,
                             forward ? "after" : "before", here.value, times(executions.count()),
                             forward ? "last" : "first",
                             executions.nth(forward ? -1 : 1).value_or(Seq()).value));
  }
  auto found = session.find(*at);
  if (!found) return found.error();
  Narrator(session).tell(*found);
  session.say(session.style().faint(fmt::format("the {} of {} executions of {}",
                                                grouped(executions.number(*at)),
                                                grouped(executions.count()), places.what)));
  session.go(*at);
  return Done{};
}

Status search(Session& session, std::string_view command, std::string_view rest, bool forward) {
  std::string_view text = trimmed(rest);
  if (text.empty())
    return wrong(fmt::format("say {} WHERE: FILE:LINE, a function or pc:ADDRESS", command));
  if (text.find('*') != std::string_view::npos) return tell_functions(session, text);
  auto places = code_places(session, text);
  if (!places) return places.error();
  return go_to(session, *places, forward);
}

}  // namespace

Status shell_find(Session& session, std::string_view rest) {
  return search(session, "find", rest, true);
}

Status shell_previous(Session& session, std::string_view rest) {
  return search(session, "previous", rest, false);
}

Status shell_list(Session& session, std::string_view rest) {
  std::string_view text = trimmed(rest);
  if (auto line = file_line(text)) {
    if (!any(instructions_of(session, *line)) &&
        session.source().pcs_of_line(line->file, line->line).empty())
      return no_code(session, *line);
    list_source(session, *line);
    return Done{};
  }
  auto at = moment_asked(session, "list", text);
  if (!at) return at.error();
  if (auto shown = list_run(session, *at); !shown) return shown;
  session.go(*at);
  return Done{};
}

}  // namespace svd::cli
