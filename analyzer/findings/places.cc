// SPDX-License-Identifier: Apache-2.0

#include "findings/places.h"

#include <fmt/format.h>

#include <algorithm>

namespace svd {
namespace {

std::string file_name(std::string_view path) {
  return std::string(path.substr(path.rfind('/') + 1));
}

// Of a function that was linked statically: what rules call its library.
std::string_view library_of(std::string_view function) {
  bool cxx = function.starts_with("std::") || function.starts_with("__gnu_cxx::") ||
             function.starts_with("operator ");
  return cxx ? "libstdc++.so, linked in" : "libc.so, linked in";
}

}  // namespace

CodeName Places::code(Pc pc) {
  const Place& place = map_.at(pc);
  std::string_view function = place.frames.back().function;
  bool system = !map_.is_user(pc);
  bool linked_in = system && place.module == trace_.process().executable;
  std::string_view module = linked_in ? library_of(function) : place.module;
  return {std::string(module), std::string(function), system};
}

std::vector<std::string_view> Places::functions(Pc pc) {
  std::vector<std::string_view> names;
  for (const Frame& frame : map_.at(pc).frames) names.push_back(frame.function);
  return names;
}

CodePlace Places::place(Pc pc) { return place(pc, map_.at(pc).own_frame()); }

CodePlace Places::place(Pc pc, const Frame& frame) {
  const Place& found = map_.at(pc);
  CodePlace place;
  place.pc = pc;
  place.module = file_name(found.module);
  place.offset = found.offset;
  place.file = frame.file;
  place.line = frame.line;
  place.function = frame.function;
  place.text = map_.source_line(frame.file, frame.line);
  return place;
}

std::vector<StackFrame> Places::frames(Pc pc) {
  std::vector<StackFrame> frames;
  for (const Frame& frame : map_.at(pc).frames)
    frames.push_back({place(pc, frame), map_.is_own(pc, frame)});
  return frames;
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
