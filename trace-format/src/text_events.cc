// SPDX-License-Identifier: Apache-2.0

#include "text_events.h"

#include <algorithm>
#include <utility>

namespace svd::text {
namespace {

struct Form {
  std::string_view verb;
  std::string_view event;
  std::vector<std::string_view> positional = {};
  std::string_view fixed_key = {};  // the form is for events with this value in this field
  std::string_view fixed_value = {};
};

// Calls f with a default-constructed event of each kind.
template <class F>
void for_each_event(F&& f) {
  [&]<std::size_t... I>(std::index_sequence<I...>) {
    (f(std::variant_alternative_t<I, EventBody>{}), ...);
  }
  (std::make_index_sequence<std::variant_size_v<EventBody>>{});
}

// Those below, a verb for each SyncOp (its name, without "mutex-"), and the name of every other
// event.
std::vector<Form> make_forms() {
  std::vector<Form> forms = {
      {"create", ThreadCreate::kName, {"child"}},
      {"join", ThreadJoin::kName, {"child"}},
      {"detach", ThreadDetach::kName, {"child"}},
      {Atomic::kName, Atomic::kName, {"edge"}},
      {Allocation::kName, Allocation::kName, {"address", "size"}},
      {Release::kName, Release::kName, {"address"}},
      {Mapping::kName, Mapping::kName, {"op", "address", "size"}},
      {SyscallEnter::kName, SyscallEnter::kName, {"number"}},
      {SyscallExit::kName, SyscallExit::kName, {"number", "result"}},
      {KernelAccess::kName, KernelAccess::kName, {"access", "address", "size"}},
      {Signal::kName, Signal::kName, {"number"}},
      {SignalReturn::kName, SignalReturn::kName, {"number"}},
      {ModuleLoad::kName, ModuleLoad::kName, {"module"}},
      {ModuleUnload::kName, ModuleUnload::kName, {"module"}},
      {ProcessEnd::kName, ProcessEnd::kName, {"kind", "value"}},
      {Gap::kName, Gap::kName, {"reason"}},
      {Note::kName, Note::kName, {"text"}},
      {ThreadName::kName, ThreadName::kName, {"name"}},
      {Transfer::kName, Transfer::kName, {"access", "channel", "position", "address", "size"}},
  };
  for (std::string_view op : names(SyncOp{})) {
    constexpr std::string_view kMutex = "mutex-";
    std::string_view verb = op.starts_with(kMutex) ? op.substr(kMutex.size()) : op;
    forms.push_back({verb, Sync::kName, {"object"}, "op", op});
  }
  for_each_event([&](auto body) {
    auto is_its_form = [&](const Form& form) { return form.event == body.kName; };
    if (std::none_of(forms.begin(), forms.end(), is_its_form))
      forms.push_back({body.kName, body.kName});
  });
  return forms;
}

const std::vector<Form>& forms() {
  static const std::vector<Form> kForms = make_forms();
  return kForms;
}

}  // namespace

const std::vector<std::string_view>& event_verbs() {
  static const std::vector<std::string_view> kVerbs = [] {
    std::vector<std::string_view> verbs;
    for (const Form& form : forms()) verbs.push_back(form.verb);
    std::sort(verbs.begin(), verbs.end());
    return verbs;
  }();
  return kVerbs;
}

bool is_event_verb(std::string_view word) {
  return std::binary_search(event_verbs().begin(), event_verbs().end(), word);
}

EventBody parse_event(std::string_view verb, Tokens& tokens, const SymbolNames& symbols,
                      Arena& arena) {
  auto form =
      std::find_if(forms().begin(), forms().end(), [&](const Form& f) { return f.verb == verb; });
  std::vector<Assignment> assignments;
  if (!form->fixed_key.empty()) assignments.push_back({form->fixed_key, form->fixed_value});
  for (std::string_view key : form->positional) {
    assignments.push_back({key, tokens.take(fmt::format("{} after {}", key, verb))});
  }
  while (!tokens.empty()) assignments.push_back(parse_assignment(tokens.take("KEY=VALUE")));
  for (std::size_t i = 0; i < assignments.size(); ++i) {
    for (std::size_t j = 0; j < i; ++j) {
      if (assignments[i].key == assignments[j].key) fail("{} is given twice", assignments[i].key);
    }
  }
  EventBody result;
  for_each_event([&](auto body) {
    if (body.kName != form->event) return;
    for (const Assignment& assignment : assignments) parse_field(body, assignment, symbols, arena);
    result = body;
  });
  return result;
}

void print_event(std::string& out, const EventBody& body, const SymbolNames& symbols) {
  std::vector<FieldText> fields;
  std::string_view name;
  std::visit(
      [&](const auto& event) {
        name = event.kName;
        fields = field_texts(event, symbols);
      },
      body);
  auto value_of = [&](std::string_view key) -> FieldText& {
    return *std::find_if(fields.begin(), fields.end(),
                         [&](const FieldText& f) { return f.key == key; });
  };
  auto form = std::find_if(forms().begin(), forms().end(), [&](const Form& f) {
    return f.event == name && (f.fixed_key.empty() || value_of(f.fixed_key).value == f.fixed_value);
  });
  out += form->verb;
  if (!form->fixed_key.empty()) value_of(form->fixed_key).is_default = true;
  for (std::string_view key : form->positional) {
    FieldText& field = value_of(key);
    out += ' ';
    out += field.value;
    field.is_default = true;
  }
  for (const FieldText& field : fields) {
    if (!field.is_default)
      fmt::format_to(std::back_inserter(out), " {}={}", field.key, field.value);
  }
}

}  // namespace svd::text
