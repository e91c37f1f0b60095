// SPDX-License-Identifier: Apache-2.0
#include "shell/commands.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>

#include "shell/narrator.h"
#include "svd/trace/nearest.h"

namespace svd::cli {
namespace {

constexpr std::array kCommands{
    ShellCommand{"slice", "[CRITERION]", "what led here, or to CRITERION; goes there", shell_slice,
                 Argument::kCode},
    ShellCommand{"why", "[SEQ]", "what an instruction directly follows from; goes there", shell_why,
                 Argument::kNothing},
    ShellCommand{"last-write", "ADDR[,SIZE] [SEQ]", "who wrote it last before; goes there",
                 shell_last_write, Argument::kMemory},
    ShellCommand{"next-write", "ADDR[,SIZE] [SEQ]", "who writes it next; goes there",
                 shell_next_write, Argument::kMemory},
    ShellCommand{"who-read", "ADDR[,SIZE] [SEQ]", "who reads it from here to the next write",
                 shell_who_read, Argument::kMemory},
    ShellCommand{"value", "ADDR[,SIZE]|REG [SEQ]", "what is in memory or in a register",
                 shell_value, Argument::kMemory},
    ShellCommand{"find", "WHERE[@N]",
                 "the next time that WHERE is executed, or the N-th; goes there", shell_find,
                 Argument::kCode},
    ShellCommand{"previous", "WHERE", "the last time before; goes there", shell_previous,
                 Argument::kCode},
    ShellCommand{"list", "[SEQ|FILE:LINE]", "source and run around it; goes to SEQ", shell_list,
                 Argument::kCode},
    ShellCommand{"stack", "[SEQ]", "the calls that are active", shell_stack, Argument::kNothing},
    ShellCommand{"threads", "", "all threads, and where they are", shell_threads,
                 Argument::kNothing},
    ShellCommand{"back", "", "to where you were before", shell_back, Argument::kNothing},
    ShellCommand{"help", "[COMMAND]", "this text", shell_help, Argument::kCommand},
    ShellCommand{"quit", "", "leaves, as Ctrl-D does", nullptr, Argument::kNothing},
};

// What people who come from gdb type, and what it is here.
struct Alias {
  std::string_view word;
  std::string_view command;
};
constexpr std::array kAliases{Alias{"bt", "stack"}, Alias{"where", "stack"},
                              Alias{"print", "value"}, Alias{"x", "value"}, Alias{"exit", "quit"}};

// By its name, by an alias, or by as many of its first letters as no other command has.
Result<const ShellCommand*> command_of(std::string_view word) {
  for (const Alias& alias : kAliases)
    if (alias.word == word) word = alias.command;
  std::vector<std::string_view> names, begin;
  const ShellCommand* found = nullptr;
  for (const ShellCommand& command : kCommands) {
    names.push_back(command.name);
    if (command.name == word) return &command;
    if (!command.name.starts_with(word)) continue;
    begin.push_back(command.name);
    found = &command;
  }
  if (begin.size() == 1) return found;
  if (begin.size() > 1) return wrong(fmt::format("'{}' can be {}", word, fmt::join(begin, ", ")));
  return wrong(
      fmt::format("there is no command '{}'{}; help lists them", word, did_you_mean(word, names)));
}

}  // namespace

std::span<const ShellCommand> shell_commands() { return kCommands; }

Status shell_help(Session& session, std::string_view rest) {
  auto words = words_of(rest);
  const ShellCommand* only = nullptr;
  if (!words.empty()) {
    auto command = command_of(words[0]);
    if (!command) return command.error();
    only = *command;
  }
  for (const ShellCommand& command : kCommands)
    if (only == nullptr || only == &command)
      session.say(fmt::format("  {:<34}  {}", fmt::format("{} {}", command.name, command.arguments),
                              command.summary));
  if (only != nullptr) return Done{};
  session.say(
      "\nSEQ is the number of an instruction; without it the position is meant, and that is right\n"
      "before the instruction. ADDR is an address or a variable, as in hits or table+8,4; WHERE "
      "is\n"
      "FILE:LINE, a function, pc:ADDRESS, or a part of a function's name with *. CRITERION is "
      "what\n"
      "svd-analyze slice takes. Commands can be shortened. An empty line repeats the last one.");
  return Done{};
}

Status shell_back(Session& session, std::string_view) {
  if (auto went = session.back(); !went) return went;
  auto found = session.find(session.position());
  if (!found) return found.error();
  Narrator(session).tell(*found);
  return Done{};
}

Result<Outcome> answer(Session& session, std::string_view line) {
  auto words = words_of(line);
  if (words.empty() || words[0].starts_with("#")) return Outcome::kGoOn;
  auto command = command_of(words[0]);
  if (!command) return command.error();
  if ((*command)->run == nullptr) return Outcome::kQuit;
  auto behind = static_cast<std::size_t>(words[0].data() + words[0].size() - line.data());
  if (auto done = (*command)->run(session, line.substr(behind)); !done) return done.error();
  return Outcome::kGoOn;
}

}  // namespace svd::cli
