// SPDX-License-Identifier: Apache-2.0
//
// What is only for people in front of a terminal: colour, and progress on stderr.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>

#include "svd/trace/result.h"

namespace svd::cli {

enum class ColorMode { kAuto, kAlways, kNever };

// Colours text, or leaves it as it is.
class Style {
 public:
  // kAuto: where `fd` is a terminal that can show colour and NO_COLOR is not set.
  Style(ColorMode mode, int fd);
  std::string bold(std::string_view text) const { return wrap("1", text); }
  std::string faint(std::string_view text) const { return wrap("2", text); }
  std::string bad(std::string_view text) const { return wrap("1;31", text); }
  std::string warning(std::string_view text) const { return wrap("33", text); }
  std::string name(std::string_view text) const { return wrap("36", text); }
  bool on() const { return on_; }

 private:
  std::string wrap(std::string_view code, std::string_view text) const;
  bool on_;
};

// A line on stderr that says how far we are: "reading  43 %  212 Minstr/s  3 s left". Silent unless
// stderr is a terminal, and during the first second. The line is gone when the object is.
class Progress {
 public:
  // `unit` is counted in millions; `total` 0: unknown.
  Progress(std::string what, std::string unit, std::uint64_t total, bool quiet);
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  void at(std::uint64_t done);
  // at(), for a task that takes a ProgressFunction; not to be called after our end.
  ProgressFunction function() {
    return [this](std::uint64_t done) { at(done); };
  }

 private:
  std::string what_;
  std::string unit_;
  std::uint64_t total_;
  bool enabled_;
  bool shown_ = false;
  std::chrono::steady_clock::time_point start_;
  std::chrono::steady_clock::time_point next_;
};

// The text of a progress line.
std::string progress_line(std::string_view what, std::string_view unit, std::uint64_t done,
                          std::uint64_t total, double seconds);

// `text` with control characters spelled out: what stands in a trace must not steer the terminal.
std::string printable(std::string_view text);

// 1234567 as "1,234,567"; with what they are, as "1 step" or "2 steps"; and bytes as "1.2 MB".
std::string grouped(std::uint64_t number);
std::string counted(std::uint64_t number, std::string_view what);
std::string human_bytes(std::uint64_t bytes);

}  // namespace svd::cli
