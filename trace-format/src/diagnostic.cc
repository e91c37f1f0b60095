// SPDX-License-Identifier: Apache-2.0

#include "svd/trace/diagnostic.h"

#include <algorithm>
#include <utility>

namespace svd {

void Diagnostics::add(std::string_view name, Severity severity, std::uint64_t count,
                      std::string text) {
  auto known =
      std::find_if(list_.begin(), list_.end(), [&](const Diagnostic& d) { return d.name == name; });
  if (known != list_.end()) {
    known->count += count;
  } else {
    list_.push_back(Diagnostic{std::string(name), severity, count, std::move(text)});
  }
}

bool Diagnostics::first(std::string_view name, std::uint64_t item) {
  return told_.emplace(name, item).second;
}

bool Diagnostics::any_loss() const {
  return std::any_of(list_.begin(), list_.end(),
                     [](const Diagnostic& d) { return d.severity >= Severity::kLoss; });
}

}  // namespace svd
