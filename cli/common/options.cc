// SPDX-License-Identifier: Apache-2.0
//
// CLI11 does the parsing; the help text and the sentences about wrong use are ours. CLI11 is told
// to collect what it does not know, because its own message for that names no near match.

#include "common/options.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdio>
#include <utility>

#include "common/exit_codes.h"
#include "svd/trace/nearest.h"

namespace svd::cli {
namespace {

// "-q, --quiet", "--limit=N".
std::string spelling(const CLI::Option& option) {
  std::string text;
  for (const std::string& name : option.get_snames()) text += "-" + name + ", ";
  for (const std::string& name : option.get_lnames()) text += "--" + name + ", ";
  text.resize(text.size() - 2);
  if (option.get_items_expected_max() == 0) return text;
  if (option.get_items_expected_min() == 0) return text + "[=" + option.get_type_name() + "]";
  return text + (option.get_lnames().empty() ? " " : "=") + option.get_type_name();
}

void add_row(std::string& out, std::string_view left, std::string_view right) {
  constexpr std::size_t kColumn = 26;
  if (left.size() >= kColumn) {
    out += fmt::format("  {}\n  {:<{}}  {}\n", left, "", kColumn, right);
  } else {
    out += fmt::format("  {:<{}}  {}\n", left, kColumn, right);
  }
}

std::string sentence(const CLI::ParseError& error, std::string_view missing) {
  if (error.get_name() == "RequiredError") return fmt::format("{} is missing", missing);
  if (error.get_name() == "ArgumentMismatch") {
    std::string_view text = error.what();
    std::size_t flag = text.find(" was given a disallowed flag override");
    if (flag != std::string_view::npos)
      return fmt::format("--{} takes no value", text.substr(0, flag));
    return fmt::format("{} takes one value", text.substr(0, text.find(':')));
  }
  return error.what();
}

}  // namespace

Command::Command(std::string name, std::string summary)
    : name_(std::move(name)), summary_(std::move(summary)), app_(summary_, name_) {
  app_.allow_extras();
  app_.set_help_flag("-h,--help", "this text");
  app_.get_help_ptr()->group("Common options");
  app_.set_version_flag("--version", "svd " SVD_VERSION, "the version")->group("Common options");
  app_.add_flag("-q,--quiet", quiet_, "no progress and no remarks on stderr; errors are still told")
      ->group("Common options");
  auto set_color = [this](const std::string& when) {
    static constexpr std::array<std::string_view, 3> kNames{"auto", "always", "never"};
    auto found = std::find(kNames.begin(), kNames.end(), when);
    if (found == kNames.end())
      throw CLI::ValidationError("--color", "takes auto, always or never, not '" + when + "'");
    color_ = static_cast<ColorMode>(found - kNames.begin());
  };
  app_.add_option_function<std::string>("--color", set_color,
                                        "auto (a terminal, and NO_COLOR is not set), always, never")
      ->type_name("WHEN")
      ->group("Common options");
}

void Command::example(std::string line, std::string what) {
  examples_.emplace_back(std::move(line), std::move(what));
}

void Command::exit_status(int code, std::string meaning) {
  exits_.emplace_back(code, std::move(meaning));
}

std::string Command::help() const {
  std::string out = fmt::format("{}: {}\n\nExamples:\n", name_, summary_);
  std::size_t width = 0;
  for (const auto& [line, what] : examples_) width = std::max(width, line.size());
  for (const auto& [line, what] : examples_)
    out += fmt::format("  {:<{}}  {}\n", line, width, what);
  out += fmt::format("\nUsage: {} {}\n", name_, usage_);
  auto rows = [this](auto&& wanted, auto&& left) {
    std::string text;
    for (const CLI::Option* option : app_.get_options()) {
      if (wanted(*option)) add_row(text, left(*option), option->get_description());
    }
    return text;
  };
  std::string positionals = rows([](const CLI::Option& option) { return option.get_positional(); },
                                 [](const CLI::Option& option) { return option.get_name(); });
  if (!positionals.empty()) out += "\n" + positionals;
  for (const std::string& text : remarks_) out += "\n" + text + "\n";
  for (std::string_view group : {"Options", "Common options"}) {
    std::string options = rows(
        [group](const CLI::Option& option) {
          return !option.get_positional() && option.get_group() == group;
        },
        spelling);
    if (!options.empty()) out += fmt::format("\n{}:\n{}", group, options);
  }
  out += "\nExit status:\n";
  for (const auto& [code, meaning] : exits_) out += fmt::format("  {}  {}\n", code, meaning);
  return out;
}

std::optional<int> Command::parse(const Arguments& arguments) {
  // "--limit= FILE" would take FILE for the limit.
  for (const std::string& word : arguments) {
    if (word == "--") break;
    if (word.size() > 3 && word.starts_with("--") && word.find('=') == word.size() - 1) {
      return wrong_use(
          fmt::format("{} needs a value; see {} --help", word.substr(0, word.size() - 1), name_));
    }
  }
  std::string problem;
  for (CLI::Option* option : app_.get_options()) {
    if (option->get_items_expected_max() == 0) option->disable_flag_override();
  }
  try {
    app_.parse(std::vector<std::string>(arguments.rbegin(), arguments.rend()));
  } catch (const CLI::CallForHelp&) {
    fmt::print("{}", help());
    return std::fflush(stdout) == 0 ? kSuccess : kFailed;
  } catch (const CLI::CallForVersion& version) {
    fmt::print("{}\n", version.what());
    return std::fflush(stdout) == 0 ? kSuccess : kFailed;
  } catch (const CLI::ParseError& error) {
    std::string missing;
    for (const CLI::Option* option : app_.get_options()) {
      if (missing.empty() && option->get_required() && option->count() == 0)
        missing = option->get_name();
    }
    problem = sentence(error, missing);
  }
  std::vector<std::string> unknown = app_.remaining();
  std::erase(unknown, "--");  // what is behind it is no option
  auto option = std::find_if(unknown.begin(), unknown.end(),
                             [](const std::string& word) { return word.starts_with("-"); });
  if (option != unknown.end()) {
    std::string word = option->substr(0, option->find('='));
    std::vector<std::string> names;
    for (const CLI::Option* known : app_.get_options()) {
      for (const std::string& name : known->get_lnames()) names.push_back("--" + name);
      for (const std::string& name : known->get_snames()) names.push_back("-" + name);
    }
    std::vector<std::string_view> candidates(names.begin(), names.end());
    return wrong_use(fmt::format("unknown option {}{}; see {} --help", word,
                                 did_you_mean(word, candidates), name_));
  }
  if (problem.empty() && !unknown.empty())
    problem = fmt::format("unexpected argument '{}'", unknown.front());
  if (problem.empty()) return std::nullopt;
  return wrong_use(fmt::format("{}; see {} --help", problem, name_));
}

int Command::wrong_use(std::string_view text) const {
  complain(text);
  return kUsage;
}

void Command::complain(std::string_view text) const {
  fmt::print(stderr, "{}: {}\n", name_, printable(text));
}

std::optional<std::uint64_t> parse_count(std::string_view text, std::uint64_t base) {
  std::uint64_t number = 0;
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  std::string_view suffix = text.substr(static_cast<std::size_t>(end - text.data()));
  if (error != std::errc() || suffix.size() > 1) return std::nullopt;
  int power = 0;
  if (!suffix.empty()) {
    auto at = std::string_view("kmg").find(static_cast<char>(suffix[0] | 0x20));
    if (at == std::string_view::npos) return std::nullopt;
    power = static_cast<int>(at) + 1;
  }
  for (; power > 0; --power) {
    if (__builtin_mul_overflow(number, base, &number)) return std::nullopt;
  }
  return number;
}

CLI::Option* add_count(CLI::App& app, const std::string& name, std::uint64_t& value,
                       const std::string& what) {
  auto set = [&value, name](const std::string& text) {
    auto number = parse_count(text, 1000);
    if (!number)
      throw CLI::ValidationError(name, "takes a number such as 500 or 20K, not '" + text + "'");
    value = *number;
  };
  return app.add_option_function<std::string>(name, set, what)->type_name("N");
}

void add_choice(CLI::App& app, const std::string& name, std::string& value,
                const std::vector<std::string>& words, const std::string& type,
                const std::string& what) {
  auto set = [&value, words, name](const std::string& word) {
    if (std::find(words.begin(), words.end(), word) == words.end())
      throw CLI::ValidationError(name,
                                 fmt::format("takes {}, not '{}'", fmt::join(words, ", "), word));
    value = word;
  };
  app.add_option_function<std::string>(name, set, what)->type_name(type);
}

}  // namespace svd::cli
