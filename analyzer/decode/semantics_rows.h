// SPDX-License-Identifier: Apache-2.0
//
// The rows that semantics_table() is made of.
#pragma once

#include <span>

#include "decode/semantics.h"

namespace svd {

struct AccessRow {
  std::string_view names;
  Access access;
  Lanes flags_read = 0;
  Lanes flags_written = 0;
  Special special = Special::kNone;
};

struct ConditionRow {
  std::string_view name;
  Lanes flags;
};

struct SizeRow {
  std::string_view names;
  std::uint8_t bytes;
};

inline constexpr Lanes kArithmeticFlags = kCf | kPf | kAf | kZf | kSf | kOf;

inline constexpr ConditionRow kConditions[] = {
    {"o", kOf},
    {"no", kOf},
    {"b", kCf},
    {"ae", kCf},
    {"e", kZf},
    {"ne", kZf},
    {"be", kCf | kZf},
    {"a", kCf | kZf},
    {"s", kSf},
    {"ns", kSf},
    {"p", kPf},
    {"np", kPf},
    {"l", kSf | kOf},
    {"ge", kSf | kOf},
    {"le", kSf | kOf | kZf},
    {"g", kSf | kOf | kZf},
    {"u", kPf},   // of fcmov
    {"nu", kPf},  // of fcmov
    {"nb", kCf},  // of fcmov
    {"nbe", kCf | kZf},
};

std::span<const AccessRow> access_rows();
std::span<const VectorRow> vector_rows();
std::span<const ImplicitRow> implicit_rows();
std::span<const SizeRow> size_rows();
std::string_view rounding_names();

}  // namespace svd
