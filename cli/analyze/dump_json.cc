// SPDX-License-Identifier: Apache-2.0
//
// Lines of JSON. Events are written from their fields(), so a new kind or field appears here by
// itself.

#include <string>
#include <variant>

#include "analyze/dump_listings.h"
#include "analyze/json_object.h"

namespace svd::cli {
namespace {

class JsonListing : public Listing {
 public:
  JsonListing(const TraceReader& trace, const Names& names, Output& output)
      : trace_(trace), names_(names), output_(output) {}

  void step(const Step& step) override {
    line_.clear();
    JsonObject object(line_);
    object("seq", step.seq);
    object("thread", step.thread);
    if (step.abstract()) {
      const Statement& statement = step.statement(trace_);
      object("label", statement.label);
      object("text", statement.text);
      object("file", statement.file);
      object("line", statement.line);
      object("function", statement.function);
    } else {
      const Symbol* function = names_.function(step.pc());
      object("pc", step.pc());
      object("function", function == nullptr ? std::string() : function->name);
    }
    object.begin("accesses");
    char separator = '[';
    for (const MemoryAccess& access : step.accesses) {
      line_ += separator;
      put(access);
      separator = ',';
    }
    line_ += separator == '[' ? "[]" : "]";
    object.close();
    finish_line();
  }

  void event(const Event& event) override {
    line_.clear();
    JsonObject object(line_);
    object("seq", event.seq);
    object("thread", event.thread);
    std::visit(
        [&object](const auto& body) {
          object("event", body.kName);
          body.fields(body, object);
        },
        event.body);
    object.close();
    finish_line();
  }

 private:
  void put(const MemoryAccess& access) {
    JsonObject object(line_);
    object("kind", access.slot->write ? "write" : "read");
    object("address", access.address);
    object("size", access.size);
    if (access.has_value) object("value", Addr(access.value));
    if (access.slot->atomic) object("atomic", true);
    if (access.slot->role != Role::kValue) object("role", access.slot->role);
    if (const Symbol* symbol = names_.data(access.address)) {
      object("variable", symbol->name);
      object("offset", access.address.value - symbol->address);
    }
    object.close();
  }

  void finish_line() {
    line_ += '\n';
    output_.write(line_);
  }

  const TraceReader& trace_;
  const Names& names_;
  Output& output_;
  std::string line_;
};

}  // namespace

std::unique_ptr<Listing> make_json_listing(const TraceReader& trace, const Names& names,
                                           Output& output) {
  return std::make_unique<JsonListing>(trace, names, output);
}

}  // namespace svd::cli
