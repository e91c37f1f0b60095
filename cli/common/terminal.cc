// SPDX-License-Identifier: Apache-2.0
//
// Colour, progress and the spelling of numbers for people.

#include "common/terminal.h"

#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <utility>

namespace svd::cli {
namespace {

constexpr auto kPatience = std::chrono::seconds(1);  // what is shorter needs no progress
constexpr auto kRefresh = std::chrono::milliseconds(200);

bool wants_color(ColorMode mode, int fd) {
  if (mode != ColorMode::kAuto) return mode == ColorMode::kAlways;
  const char* no_color = std::getenv("NO_COLOR");
  if (no_color != nullptr && *no_color != '\0') return false;
  const char* term = std::getenv("TERM");
  return isatty(fd) == 1 && term != nullptr && std::string_view(term) != "dumb";
}

}  // namespace

Style::Style(ColorMode mode, int fd) : on_(wants_color(mode, fd)) {}

std::string Style::wrap(std::string_view code, std::string_view text) const {
  return on_ ? fmt::format("\x1b[{}m{}\x1b[0m", code, text) : std::string(text);
}

Progress::Progress(std::string what, std::string unit, std::uint64_t total, bool quiet)
    : what_(std::move(what)),
      unit_(std::move(unit)),
      total_(total),
      enabled_(!quiet && isatty(STDERR_FILENO) == 1),
      start_(std::chrono::steady_clock::now()),
      next_(start_ + kPatience) {}

Progress::~Progress() {
  if (shown_) std::fputs("\r\x1b[K", stderr);
}

void Progress::at(std::uint64_t done) {
  if (!enabled_) return;
  auto now = std::chrono::steady_clock::now();
  if (now < next_) return;
  next_ = now + kRefresh;
  shown_ = true;
  double seconds = std::chrono::duration<double>(now - start_).count();
  fmt::print(stderr, "\r{}\x1b[K", progress_line(what_, unit_, done, total_, seconds));
  std::fflush(stderr);
}

std::string progress_line(std::string_view what, std::string_view unit, std::uint64_t done,
                          std::uint64_t total, double seconds) {
  double rate = static_cast<double>(done) / seconds;
  if (total == 0 || done == 0)
    return fmt::format("{}  {:.1f} M{}  {:.1f} M{}/s", what, static_cast<double>(done) / 1e6, unit,
                       rate / 1e6, unit);
  double share = static_cast<double>(done) / static_cast<double>(total);
  double left = static_cast<double>(total - done) / rate;
  return fmt::format(
      "{}  {:.0f} %  {:.1f} M{}/s  {} left", what, 100 * share, rate / 1e6, unit,
      left < 90 ? fmt::format("{:.0f} s", left) : fmt::format("{:.0f} min", left / 60));
}

std::string printable(std::string_view text) {
  std::string out;
  for (char c : text) {
    auto byte = static_cast<unsigned char>(c);
    if (byte >= 0x20 && byte != 0x7f) {
      out += c;
    } else {
      out += fmt::format("\\x{:02x}", byte);
    }
  }
  return out;
}

std::string grouped(std::uint64_t number) {
  std::string digits = std::to_string(number);
  for (std::size_t at = digits.size(); at > 3;) digits.insert(at -= 3, 1, ',');
  return digits;
}

std::string counted(std::uint64_t number, std::string_view what) {
  return fmt::format("{} {}{}", grouped(number), what, number == 1 ? "" : "s");
}

std::string human_bytes(std::uint64_t bytes) {
  static constexpr std::array<const char*, 4> kUnits{"kB", "MB", "GB", "TB"};
  if (bytes < 1000) return fmt::format("{} bytes", bytes);
  auto value = static_cast<double>(bytes);
  std::size_t unit = 0;
  for (value /= 1000; value >= 1000 && unit + 1 < kUnits.size(); value /= 1000) ++unit;
  return fmt::format("{:.1f} {}", value, kUnits[unit]);
}

}  // namespace svd::cli
