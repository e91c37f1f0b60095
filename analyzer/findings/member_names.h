// SPDX-License-Identifier: Apache-2.0
//
// What the source calls a piece of memory that no symbol names: the member expression, such as
// "buf->outcnt", that all the lines which access it have in common. A guess from the text of lines,
// made only where it is the only one possible, and where DWARF does not tell.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace svd {

// Member expressions of a line of C or C++: "a->b", "x.y.z". Of the call of a member function it is
// what it is called for: "a->b" of "a->b.size()".
std::vector<std::string> member_expressions(std::string_view line);

// "entries.value" of "entries[58].value".
std::string without_indexes(const std::string& name);

// "outcnt" of "buf->outcnt[2]".
std::string last_member(const std::string& name);

// How many pointers and arrays it leads through behind its last member: none in "q->slots", one in
// "q->slots[...]" and "*q->slots".
std::size_t depth_behind(const std::string& name);

// Whether a word in it is one of those that C and C++ both keep for their libraries: "_Head",
// "__begin_", not "_count". C++ also keeps "a__b", but programs in C may have it.
bool has_reserved(std::string_view name);

// Of two names of one thing the one that says more; the first if neither does.
std::string better_name(const std::string& one, const std::string& other);

// Of those whose last member stands in every line that has any at all; "" unless that is one.
std::string common_member(const std::vector<std::string_view>& lines);

// What a line calls a member that has a name already: "s->cart" for "this->cart"; "" where none
// tells, or several objects' in one line, or the name is of what lies behind the member.
std::string other_spelling(const std::string& name, const std::vector<std::string_view>& lines);

}  // namespace svd
