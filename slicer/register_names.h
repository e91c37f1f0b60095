// SPDX-License-Identifier: Apache-2.0
//
// Registers as people call them.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <string_view>

#include "decode/effects.h"

namespace svd {

// The general ones, as the hardware numbers them.
inline constexpr std::array<std::string_view, 16> kGeneralNames{
    "rax", "rcx", "rdx", "rbx", "rsp", "rbp", "rsi", "rdi",
    "r8",  "r9",  "r10", "r11", "r12", "r13", "r14", "r15"};

// "rax", "flags", "ymm3".
std::string register_name(Reg reg);

// A general one, by its name.
std::optional<Reg> register_of(std::string_view name);

}  // namespace svd
