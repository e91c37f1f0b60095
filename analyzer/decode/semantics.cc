// SPDX-License-Identifier: Apache-2.0
#include "decode/semantics.h"

#include <algorithm>
#include <string>
#include <unordered_map>

#include "decode/semantics_rows.h"

namespace svd {
namespace {

// Calls `f` with each word of `names`.
template <typename F>
void for_each_word(std::string_view names, F f) {
  while (!names.empty()) {
    std::size_t end = std::min(names.find(' '), names.size());
    if (end != 0) f(names.substr(0, end));
    names.remove_prefix(std::min(end + 1, names.size()));
  }
}

using ByName = std::unordered_map<std::string_view, Semantics>;

// The flags that a condition looks at; 0: no condition of that name.
Lanes condition_flags(std::string_view condition) {
  for (const ConditionRow& row : kConditions)
    if (row.name == condition) return row.flags;
  return 0;
}

ByName make_rows() {
  ByName rows;
  for (const AccessRow& row : access_rows()) {
    for_each_word(row.names, [&](std::string_view name) {
      Semantics& entry = rows[name];
      entry.listed = true;
      entry.access = row.access;
      entry.special = row.special;
      entry.flags_read = row.flags_read;
      entry.flags_written = row.flags_written;
    });
  }
  for (const VectorRow& row : vector_rows())
    for_each_word(row.names, [&](std::string_view name) { rows[name].lanes = &row; });
  for_each_word(rounding_names(), [&](std::string_view name) { rows[name].rounds = true; });
  for (const SizeRow& row : size_rows())
    for_each_word(row.names, [&](std::string_view name) { rows[name].memory = row.bytes; });
  for (const ImplicitRow& row : implicit_rows())
    for_each_word(row.names, [&](std::string_view name) { rows[name].implicit = &row; });
  return rows;
}

// "vcmpnlt_uqss" is vcmpss, "vfmadd213sd" is vfmaddsd.
std::string family(std::string_view name) {
  bool v = name.starts_with("v");
  std::string_view bare = name.substr(v ? 1 : 0);
  if (name.size() < 5) return std::string(name);
  std::string_view type = name.substr(name.size() - 2);
  bool floating = type == "ss" || type == "sd" || type == "ps" || type == "pd";
  if (bare.starts_with("cmp") && floating) return (v ? "vcmp" : "cmp") + std::string(type);
  if (v && floating && (bare.starts_with("fm") || bare.starts_with("fnm")))
    return "vfma" + std::string(type);
  return std::string(name);
}

// jcc, setcc, cmovcc and fcmovcc.
bool conditional(std::string_view name, Semantics& entry) {
  struct Kind {
    std::string_view prefix;
    Access access;
    Special special;
  };
  static constexpr Kind kKinds[] = {
      {"j", Access::kRead, Special::kBranch},
      {"set", Access::kWrite, Special::kNone},
      {"cmov", Access::kUpdate, Special::kConditionalMove},
      {"fcmov", Access::kRead, Special::kX87},
  };
  for (const Kind& kind : kKinds) {
    if (!name.starts_with(kind.prefix)) continue;
    Lanes flags = condition_flags(name.substr(kind.prefix.size()));
    if (flags == 0) continue;
    entry = {.listed = true, .access = kind.access, .special = kind.special, .flags_read = flags};
    return true;
  }
  return false;
}

Semantics find(const ByName& rows, std::string_view name) {
  Semantics entry;
  if (auto row = rows.find(name); row != rows.end()) return row->second;
  if (conditional(name, entry)) return entry;
  std::string general = family(name);
  if (auto row = rows.find(general); row != rows.end()) return row->second;
  if (general.starts_with("v")) {
    auto row = rows.find(std::string_view(general).substr(1));
    if (row != rows.end()) {
      entry = row->second;
      entry.vex = true;
    } else {
      entry.access = Access::kWrite;
    }
  } else if (general.starts_with("f")) {
    entry = {.listed = true, .access = Access::kRead, .special = Special::kX87};
  }
  return entry;
}

SemanticsTable make_table(csh handle) {
  const ByName rows = make_rows();
  SemanticsTable table{};
  for (unsigned id = 1; id < table.size(); ++id)
    if (const char* name = cs_insn_name(handle, id)) table[id] = find(rows, name);
  return table;
}

}  // namespace

const SemanticsTable& semantics_table(csh handle) {
  static const SemanticsTable kTable = make_table(handle);
  return kTable;
}

}  // namespace svd
