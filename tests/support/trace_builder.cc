// SPDX-License-Identifier: Apache-2.0

#include "support/trace_builder.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <filesystem>
#include <sstream>

namespace svd::test {
namespace {

// The value, or the error on stderr and the end.
template <class T>
T expect(Result<T> result) {
  if (!result) {
    std::fprintf(stderr, "%s\n", result.error().describe().c_str());
    std::abort();
  }
  return *std::move(result);
}

}  // namespace

TempFile::TempFile() {
  static std::atomic<int> count = 0;
  path_ =
      std::filesystem::temp_directory_path() / fmt::format("svd-test-{}-{}.fb", getpid(), count++);
}

TempFile::~TempFile() {
  std::error_code ignored;  // it may never have been made
  std::filesystem::remove(path_, ignored);
}

Process TraceBuilder::text_process() {
  Process process;
  process.engine = "text";
  return process;
}

TraceBuilder::TraceBuilder(const Process& process, const WriterOptions& options)
    : writer_(expect(TraceWriter::create(file_.path(), process, options))) {}

Var TraceBuilder::var(const std::string& name, std::uint16_t size) {
  Var var{Addr(next_address_), size};
  next_address_ += (std::max<std::uint64_t>(size, 1) + 15) / 16 * 16;
  writer_->add(Symbol{name, SymbolKind::kData, var.address.value, size});
  return var;
}

StatementId TraceBuilder::statement(const Statement& statement) {
  return statements_.insert_or_assign(statement.label, writer_->add(statement)).first->second;
}

TraceBuilder& TraceBuilder::thread(std::uint32_t id) {
  thread_ = ThreadId(id);
  return *this;
}

TraceBuilder& TraceBuilder::exec(const std::string& label,
                                 std::initializer_list<Operand> operands) {
  auto known = statements_.find(label);
  Block block;
  block.statements.push_back(known != statements_.end() ? known->second
                                                        : statement(Statement{.label = label}));
  std::vector<std::uint64_t> addresses;
  std::vector<std::uint64_t> values;
  for (const Operand& operand : operands) {
    block.slots.push_back(Slot{.size = operand.var.size,
                               .write = operand.write,
                               .atomic = operand.atomic,
                               .role = operand.role});
    addresses.push_back(operand.var.address.value);
    if (block.slots.back().has_value()) values.push_back(operand.value);
  }
  auto shared =
      std::find_if(blocks_.begin(), blocks_.end(), [&](const auto& b) { return b.first == block; });
  if (shared == blocks_.end()) shared = blocks_.insert(blocks_.end(), {block, writer_->add(block)});
  writer_->run(thread_);
  writer_->exec(shared->second, addresses.data(), values.data());
  return *this;
}

TraceBuilder& TraceBuilder::event(const EventBody& body) {
  writer_->event(thread_, body);
  return *this;
}

TraceReader TraceBuilder::finish() {
  expect(writer_->finish());
  return open_trace(file_);
}

WriterFactory into(const TempFile& file, const WriterOptions& options) {
  return [path = file.path(), options](const Process& process) {
    return TraceWriter::create(path, process, options);
  };
}

TraceReader open_trace(const TempFile& file) { return expect(TraceReader::open(file.path())); }

TraceReader assembled(std::string_view text, const TempFile& file) {
  expect(assemble(text, "text", into(file)));
  return open_trace(file);
}

std::string text_of(const TraceReader& trace) {
  std::ostringstream out;
  Diagnostics diagnostics;
  expect(print_text(trace, {}, out, diagnostics));
  SVD_CHECK(diagnostics.list().empty());
  return out.str();
}

}  // namespace svd::test
