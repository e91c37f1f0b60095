// SPDX-License-Identifier: Apache-2.0
//
// Types of DWARF: how large they are, and which part of a variable some of its bytes are.
#pragma once

#include <elfutils/libdw.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace svd {

// Of a variable, member, pointer or array, without typedefs and qualifiers; nothing when it has
// none, as a pointer to void.
std::optional<Dwarf_Die> type_of(Dwarf_Die entry);
std::uint64_t size_of(Dwarf_Die type);  // 0: not known

// ".hits", "[3].head", "" for the whole or where no single member is meant, as in a copy of all.
// Members that only the implementation of the C++ library knows are left out ("hits" of an atomic,
// "a[2]" of a std::array), those of the C library end the path.
struct MemberPath {
  std::string text;
  std::optional<Dwarf_Die> type;  // of what it leads to
};
MemberPath member_path(Dwarf_Die type, std::uint64_t offset, std::uint64_t size);

struct Member {
  std::uint64_t offset = 0;
  std::uint64_t size = 0;
};
// The way back; nothing when there is no such member.
std::optional<Member> find_member(Dwarf_Die type, std::string_view path);

}  // namespace svd
