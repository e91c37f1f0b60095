// SPDX-License-Identifier: Apache-2.0

#include "findings/places.h"

#include <fmt/format.h>

#include <algorithm>

namespace svd {
namespace {

std::string file_name(std::string_view path) {
  return std::string(path.substr(path.rfind('/') + 1));
}

bool is_system_header(std::string_view file) {
  return file.starts_with("/usr/include/") || file.starts_with("/usr/lib/");
}

}  // namespace

CodeName Places::code(Pc pc) {
  const Place& place = map_.at(pc);
  return {std::string(place.module), std::string(place.frames.back().function), !map_.is_user(pc)};
}

std::vector<std::string_view> Places::functions(Pc pc) {
  std::vector<std::string_view> names;
  for (const Frame& frame : map_.at(pc).frames) names.push_back(frame.function);
  return names;
}

CodePlace Places::place(Pc pc) {
  const Place& found = map_.at(pc);
  auto frame = std::find_if(found.frames.begin(), found.frames.end(),
                            [](const Frame& f) { return !is_system_header(f.file); });
  if (frame == found.frames.end()) --frame;
  CodePlace place;
  place.pc = pc;
  place.module = file_name(found.module);
  place.offset = found.offset;
  place.file = frame->file;
  place.line = frame->line;
  place.function = frame->function;
  place.text = map_.source_line(frame->file, frame->line);
  return place;
}

CodePlace Places::place(StatementId id) {
  const Statement& statement = trace_.statements()[id.value];
  CodePlace place;
  place.file = statement.file;
  place.line = statement.line;
  place.function = statement.function;
  place.label = statement.label;
  place.text = statement.text;
  return place;
}

std::string Places::lock(Addr address) {
  std::string name = variable(address, 1);
  return name.empty() ? fmt::format("{:#x}", address.value) : name;
}

}  // namespace svd
