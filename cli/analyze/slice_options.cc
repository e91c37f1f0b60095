// SPDX-License-Identifier: Apache-2.0
#include "analyze/slice_options.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "svd/trace/nearest.h"

namespace svd::cli {
namespace {

void set_order(const std::string& text, SliceOptions& options) {
  for (std::size_t at = 0; at <= text.size();) {
    std::size_t comma = std::min(text.find(',', at), text.size());
    std::string word = text.substr(at, comma - at);
    at = comma + 1;
    if (word == "none") {
      options.races = false;
    } else if (word == "all") {
      options.restored = true;
    } else if (word == "unordered") {
      options.unordered = true;
    } else if (word != "adjacent") {
      throw CLI::ValidationError(
          "--order", fmt::format("takes adjacent, all, unordered, none, not '{}'", word));
    }
  }
}

std::string_view file_name(std::string_view path) { return path.substr(path.rfind('/') + 1); }

// By its path or the end of it.
Result<std::vector<AddressRange>> code_of_module(std::string_view name, const TraceReader& trace) {
  std::vector<AddressRange> code;
  std::vector<std::string_view> known;
  for (const Module& module : trace.modules()) {
    known.push_back(file_name(module.path));
    if (module.path != name && !module.path.ends_with(fmt::format("/{}", name))) continue;
    for (const Segment& segment : module.segments)
      code.push_back(AddressRange::of(segment.address.value, segment.size));
  }
  if (!code.empty()) return code;
  return Error{ErrorKind::kUsage,
               {},
               {},
               {},
               fmt::format("the trace has no module '{}'{}", name, did_you_mean(name, known))};
}

}  // namespace

void explain_criteria(Command& command) {
  command.remark(
      "Criteria:\n"
      "  fault                     how the run ended (the default)\n"
      "  FILE:LINE[@N]             an execution of a line\n"
      "  FUNCTION[@N]              a call of a function\n"
      "  pc:ADDRESS[@N]            of an instruction; pc:MODULE+OFFSET[@N]\n"
      "  seq:N                     the N-th instruction of the run\n"
      "  addr:ADDRESS[,SIZE][@SEQ] what is in memory, at the end or before an instruction\n"
      "  var:NAME[@SEQ]            the same for a variable of static storage\n"
      "  reg:NAME@SEQ              what is in a register before an instruction\n"
      "  output:N                  the bytes of the N-th write\n"
      "N counts executions from 1, from the last one back when negative; the last one is meant\n"
      "without it.");
}

void add_kinds(Command& command, SliceWords& words) {
  SliceOptions& options = words.options;
  command.app().add_flag_callback(
      "--thin", [&options] { options.addresses = false; }, "leave out what only formed addresses");
  command.app().add_flag_callback(
      "--data", [&options] { options.control = false; }, "leave out what only decided");
  command.app().add_flag_callback(
      "--control", [&options] { options.data = false; }, "only what decided");
  command.app().add_flag_callback(
      "--saves", [&options] { options.save_restore = false; },
      "also where registers were saved to and restored from");
}

void add_order(Command& command, SliceWords& words) {
  SliceOptions& options = words.options;
  command.app()
      .add_option_function<std::string>(
          "--order", [&options](const std::string& text) { set_order(text, options); },
          "what could have come in the other order: adjacent accesses (the default), all, "
          "unordered by synchronisation, all,unordered, or none")
      ->type_name("WHICH");
}

void add_limits(Command& command, SliceWords& words) {
  words.has_depth = add_count(command.app(), "--depth", words.depth,
                              "not farther from the criterion than N steps");
  auto add = [&command](const char* name, std::string& value, const char* type, const char* what) {
    command.app().add_option(name, value, what)->type_name(type);
  };
  add("--seq", words.limits.seq, "A..B",
      "only through instructions A to B; either may be left out");
  add("--thread", words.limits.threads, "THREAD,...",
      "only through these threads, by number or name");
  add("--function", words.limits.function, "NAME", "only through this function");
  add("--module", words.module, "NAME", "only through the program or library of this name");
}

Result<SliceOptions> slice_options(const SliceWords& words, const TraceReader& trace,
                                   const ProgramModel& model, Diagnostics& diagnostics) {
  SliceOptions options = words.options;
  Scope& scope = options.scope;
  if (words.has_depth != nullptr && words.has_depth->count() > 0)
    scope.depth = static_cast<float>(words.depth);
  if (words.limits.empty() && words.module.empty()) return options;
  Names names(trace, diagnostics);
  auto selection = Selection::parse(words.limits, trace, names);
  if (!selection) return selection.error();
  scope.first = selection->first;
  scope.last = selection->last;
  scope.threads = selection->threads;
  if (words.limits.function.empty() && words.module.empty()) return options;
  std::vector<AddressRange> module;
  if (!words.module.empty()) {
    auto code = code_of_module(words.module, trace);
    if (!code) return code.error();
    module = std::move(*code);
  }
  Matcher matcher(trace, *selection);
  for (std::uint32_t i = 0; i < model.code.instr_count(); ++i) {
    const CodeTable::Home& home = model.code.home_of(InstrId(i));
    const Block& block = trace.blocks()[home.block.value];
    AddressRange pc = AddressRange::of(model.code.pc_of(InstrId(i)).value, 1);
    bool in_module = words.module.empty() ||
                     std::any_of(module.begin(), module.end(),
                                 [&pc](const AddressRange& code) { return code.overlaps(pc); });
    bool in_function = words.limits.function.empty() || matcher.in_function(block, home.step);
    scope.code.push_back(in_module && in_function);
  }
  return options;
}

}  // namespace svd::cli
