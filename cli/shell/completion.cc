// SPDX-License-Identifier: Apache-2.0
#include "shell/completion.h"

#include <algorithm>
#include <set>

#include "shell/code_places.h"
#include "shell/commands.h"

namespace svd::cli {

std::vector<std::string> completions(Session& session, const std::string& line) {
  std::size_t begin = line.find_last_of(" \t") + 1;
  std::string typed = line.substr(begin);
  auto words = words_of(std::string_view(line).substr(0, begin));
  std::set<std::string> found;
  auto add = [&](std::string_view name) {
    if (name.starts_with(typed) && name.find(' ') == std::string_view::npos) found.emplace(name);
  };
  Argument argument = Argument::kCommand;
  if (!words.empty()) {
    auto commands = shell_commands();
    auto command = std::find_if(commands.begin(), commands.end(), [&words](const ShellCommand& c) {
      return c.name.starts_with(words[0]);
    });
    argument =
        command == commands.end() || words.size() > 1 ? Argument::kNothing : command->argument;
  }
  switch (argument) {
    case Argument::kNothing:
      break;
    case Argument::kCommand:
      for (const ShellCommand& command : shell_commands()) add(command.name);
      break;
    case Argument::kMemory:
      for (const Symbol* symbol : session.names().variables()) add(symbol->name);
      break;
    case Argument::kCode:
      for (const std::string& name : functions_like(session, "")) add(name);
      break;
  }
  return {found.begin(), found.end()};
}

}  // namespace svd::cli
