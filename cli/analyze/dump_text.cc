// SPDX-License-Identifier: Apache-2.0
//
// Columns wide enough for most; a line that needs more pushes the rest to the right instead of
// being cut.

#include <fmt/format.h>

#include "analyze/describe.h"
#include "analyze/dump_listings.h"

namespace svd::cli {
namespace {

class TextListing : public Listing {
 public:
  TextListing(const TraceReader& trace, const Names& names, const Style& style, Output& output)
      : trace_(trace), names_(names), style_(style), output_(output) {
    for (const ThreadInfo& info : trace.threads())
      thread_width_ = std::max(thread_width_, names.thread(info.id).size());
    seq_width_ = std::max<std::size_t>(seq_width_, std::to_string(trace.steps()).size());
    output_.write(style_.faint(fmt::format("{:>{}}  {:<{}}  {:<{}}  {}", "seq", seq_width_,
                                           "thread", thread_width_, "place", kPlaceWidth, "what")) +
                  "\n");
  }

  void step(const Step& step) override {
    std::string place = fmt::format("{:<{}}", step_place(step, trace_, names_), kPlaceWidth);
    std::string what = step_accesses(step, names_);
    if (step.abstract()) {
      const std::string& text = step.statement(trace_).text;
      if (!text.empty())
        what = fmt::format("{}{}{}", printable(text), what.empty() ? "" : "   ", what);
    }
    line(step.seq, step.thread,
         what.empty() ? place.substr(0, place.find_last_not_of(' ') + 1)
                      : style_.name(place) + "  " + what);
  }

  void event(const Event& event) override {
    std::string text = "* " + describe(event, trace_, names_);
    line(event.seq, event.thread, is_alarming(event) ? style_.bad(text) : style_.warning(text));
  }

 private:
  static constexpr std::size_t kPlaceWidth = 32;

  void line(Seq seq, ThreadId thread, std::string_view rest) {
    output_.write(fmt::format("{}  {:<{}}  {}\n",
                              style_.faint(fmt::format("{:>{}}", seq.value, seq_width_)),
                              names_.thread(thread), thread_width_, rest));
  }

  const TraceReader& trace_;
  const Names& names_;
  Style style_;
  Output& output_;
  std::size_t seq_width_ = 3;
  std::size_t thread_width_ = 6;
};

}  // namespace

std::unique_ptr<Listing> make_text_listing(const TraceReader& trace, const Names& names,
                                           const Style& style, Output& output) {
  return std::make_unique<TextListing>(trace, names, style, output);
}

}  // namespace svd::cli
