// SPDX-License-Identifier: Apache-2.0
//
// Events in a textual trace. Every event can be written as its name and fields, `signal number=11
// fatal=true`. The frequent ones have a shorter form, which then is the only one that is printed: a
// verb, the fields that it always has by position, the others by name (`lock L`, `lock L
// phase=begin`, `alloc p 64`). The table of forms is the only code that knows single events.
#pragma once

#include <string>
#include <string_view>

#include "svd/trace/event.h"
#include "text_fields.h"

namespace svd::text {

// Whether a line `T1 word …` is an event; such words are no statements' names.
bool is_event_verb(std::string_view word);
// All of them, for "did you mean".
const std::vector<std::string_view>& event_verbs();

// The rest of a line after its verb. Strings of the result live in `arena`.
EventBody parse_event(std::string_view verb, Tokens& tokens, const SymbolNames& symbols,
                      Arena& arena);

// "lock L phase=begin"
void print_event(std::string& out, const EventBody& body, const SymbolNames& symbols);

}  // namespace svd::text
