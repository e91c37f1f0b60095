// SPDX-License-Identifier: Apache-2.0
//
// What people name of the program's code, as the instructions of the run that are meant.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "shell/session.h"

namespace svd::cli {

struct CodePlaces {
  std::vector<bool> wanted{};           // by InstrId
  std::string what{};                   // "get()", "cache.c:44"
  std::optional<std::int64_t> count{};  // of @N
};

// FILE:LINE, FUNCTION, pc:ADDRESS, pc:MODULE+OFFSET, the label of a statement; @N behind it.
Result<CodePlaces> code_places(Session& session, std::string_view text);

// Functions that were executed and whose names have the pattern in them, in which * is anything.
std::vector<std::string> functions_like(Session& session, std::string_view pattern);

// FILE:LINE; nothing where it is something else.
struct FileLine {
  std::string file;
  std::uint32_t line = 0;
};
std::optional<FileLine> file_line(std::string_view text);

// The instructions that begin a line; none where it has no code.
std::vector<bool> instructions_of(Session& session, const FileLine& line);
bool any(const std::vector<bool>& wanted);
// The sentence about a line without code.
Error no_code(Session& session, const FileLine& line);

}  // namespace svd::cli
