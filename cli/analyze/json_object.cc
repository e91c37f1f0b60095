// SPDX-License-Identifier: Apache-2.0
//
// Strings of a trace are bytes of a program's choosing: what is not UTF-8 is replaced, so that the
// output always parses.

#include "analyze/json_object.h"

#include <nlohmann/json.hpp>

namespace svd::cli {

void JsonObject::put(std::string_view text) {
  out_ += nlohmann::json(text).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

void JsonObject::put(std::span<const std::uint8_t> bytes) {
  out_ += '"';
  for (std::uint8_t byte : bytes) fmt::format_to(std::back_inserter(out_), "{:02x}", byte);
  out_ += '"';
}

}  // namespace svd::cli
