// SPDX-License-Identifier: Apache-2.0
//
// How large a variable is and which part of it some of its bytes are, by its DWARF type.
#pragma once

#include <elfutils/libdw.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace svd {

std::uint64_t size_of_variable(Dwarf_Die variable);  // 0: not known

// ".hits", "[3].head", "" for the whole or where no single member is meant, as in a copy of all.
// Members that only the implementation of the C++ library knows are left out ("hits" of an atomic,
// "a[2]" of a std::array), those of the C library end the path.
std::string member_path(Dwarf_Die variable, std::uint64_t offset, std::uint64_t size);

struct Member {
  std::uint64_t offset = 0;
  std::uint64_t size = 0;
};
// The way back; nothing when there is no such member.
std::optional<Member> find_member(Dwarf_Die variable, std::string_view path);

}  // namespace svd
