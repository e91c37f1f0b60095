// SPDX-License-Identifier: Apache-2.0
//
// What the source calls a piece of memory that no symbol names: the member expression, such as
// "buf->outcnt", that all the lines which access it have in common. A guess from the text of lines,
// made only where it is the only one possible.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace svd {

// Member expressions of a line of C or C++, without calls of member functions: "a->b", "x.y.z".
std::vector<std::string> member_expressions(std::string_view line);

// Of those whose last member stands in every line that has any at all; "" unless that is one.
std::string common_member(const std::vector<std::string_view>& lines);

}  // namespace svd
