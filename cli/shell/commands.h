// SPDX-License-Identifier: Apache-2.0
//
// The commands of the shell: a line of the table each, a function each.
#pragma once

#include <span>
#include <string_view>

#include "shell/session.h"

namespace svd::cli {

// Each gets what stands behind its name. An Error is one sentence about what was wrong with it.
Status shell_back(Session& session, std::string_view rest);
Status shell_find(Session& session, std::string_view rest);
Status shell_help(Session& session, std::string_view rest);
Status shell_last_write(Session& session, std::string_view rest);
Status shell_list(Session& session, std::string_view rest);
Status shell_next_write(Session& session, std::string_view rest);
Status shell_previous(Session& session, std::string_view rest);
Status shell_slice(Session& session, std::string_view rest);
Status shell_stack(Session& session, std::string_view rest);
Status shell_threads(Session& session, std::string_view rest);
Status shell_value(Session& session, std::string_view rest);
Status shell_who_read(Session& session, std::string_view rest);
Status shell_why(Session& session, std::string_view rest);

// What may stand behind a command, for completion.
enum class Argument : std::uint8_t { kNothing, kMemory, kCode, kCommand };

struct ShellCommand {
  std::string_view name;
  std::string_view arguments;
  std::string_view summary;
  Status (*run)(Session&, std::string_view);
  Argument argument;
};

std::span<const ShellCommand> shell_commands();

enum class Outcome : std::uint8_t { kGoOn, kQuit };
// Answers one line. An Error is one sentence about what was wrong with it.
Result<Outcome> answer(Session& session, std::string_view line);

}  // namespace svd::cli
