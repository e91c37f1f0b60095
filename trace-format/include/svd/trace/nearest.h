// SPDX-License-Identifier: Apache-2.0
//
// "Did you mean …?": what every error about an unknown name ends with.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace svd {

// The candidate that `word` is most likely a misspelling of; empty when none is close.
std::string_view nearest(std::string_view word, std::span<const std::string_view> candidates);

// " (did you mean 'x'?)", or nothing.
std::string did_you_mean(std::string_view word, std::span<const std::string_view> candidates);

}  // namespace svd
