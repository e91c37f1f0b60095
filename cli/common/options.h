// SPDX-License-Identifier: Apache-2.0
//
// The command line of one command or verb, with the manners that all of them share: examples first
// in --help, --color, --quiet,
// --version, unknown options answered with the nearest one, one sentence and exit code 2 on wrong
// use.
#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "common/terminal.h"

namespace svd::cli {

using Arguments = std::vector<std::string>;

class Command {
 public:
  // `name` as typed: "svd-analyze info". `summary`: what it does, one line.
  Command(std::string name, std::string summary);

  void example(std::string line, std::string what);
  void usage(std::string line) { usage_ = std::move(line); }
  void exit_status(int code, std::string meaning);
  // A paragraph of the help, above the options.
  void remark(std::string text) { remarks_.push_back(std::move(text)); }

  // Options are added here. Names of positionals are in capitals.
  CLI::App& app() { return app_; }

  // An exit code when there is nothing left to do: help and version were shown, or the use was
  // wrong.
  std::optional<int> parse(const Arguments& arguments);

  // Says what is wrong with the use, on stderr; returns kUsage.
  int wrong_use(std::string_view sentence) const;
  // Says on stderr what happened; silent about nothing.
  void complain(std::string_view sentence) const;

  const std::string& name() const { return name_; }
  bool quiet() const { return quiet_; }
  ColorMode color() const { return color_; }
  std::string help() const;

 private:
  std::string name_;
  std::string summary_;
  std::string usage_;
  std::vector<std::pair<std::string, std::string>> examples_;
  std::vector<std::pair<int, std::string>> exits_;
  std::vector<std::string> remarks_;
  CLI::App app_;
  bool quiet_ = false;
  ColorMode color_ = ColorMode::kAuto;
};

// "12", "4K", "200M", "1G" (powers of 1000 for `base` 1000, of 1024 for 1024). Nothing when it is
// no such number.
std::optional<std::uint64_t> parse_count(std::string_view text, std::uint64_t base);

// Adds an option whose value is such a count.
CLI::Option* add_count(CLI::App& app, const std::string& name, std::uint64_t& value,
                       const std::string& what);

// Adds an option that takes one of a few words.
void add_choice(CLI::App& app, const std::string& name, std::string& value,
                const std::vector<std::string>& words, const std::string& type,
                const std::string& what);

}  // namespace svd::cli
