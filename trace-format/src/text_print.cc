// SPDX-License-Identifier: Apache-2.0
//
// The printer of textual traces. Tables come first, blocks just before their first execution: then
// an execution line that makes its block by itself makes it with the right number. For that the
// printer follows what the parser will have declared so far.

#include <algorithm>
#include <ostream>
#include <utility>
#include <vector>

#include "svd/trace/text.h"
#include "text_code.h"
#include "text_events.h"
#include "text_fields.h"

namespace svd {
namespace {

using namespace text;  // NOLINT(google-build-using-namespace): this file is the rest of that
                       // namespace

class Printer {
 public:
  Printer(const TraceReader& reader, const TextSelection& selection, std::ostream& out)
      : reader_(reader),
        selection_(selection),
        out_(out),
        blocks_(reader.blocks().size(), Known::kNo) {
    everything_ = selection.first == Seq(0) && selection.end == TextSelection{}.end &&
                  !selection.exec && !selection.event;
    context_.has_values = reader.process().has_values;
  }

  Status run(Diagnostics& diagnostics, const ProgressFunction& progress) {
    tables();
    body(diagnostics, progress);
    if (everything_) declare_before(blocks_.size());
    if (!write())
      return Error{ErrorKind::kIo,
                   {},
                   std::nullopt,
                   std::nullopt,
                   "cannot write the text: the disk may be full"};
    return Done{};
  }

  void exec(const Exec& exec) {
    if (exec.end() <= selection_.first || exec.seq >= selection_.end) return;
    if (selection_.exec && !selection_.exec(exec)) return;
    BlockId id = exec.shape->id;
    if (blocks_[id.value] == Known::kNo) declare(id);
    fmt::format_to(std::back_inserter(text_), "T{} ", exec.thread.value);
    if (blocks_[id.value] == Known::kShared) {
      print_statement_exec(text_, exec, context_);
    } else {
      fmt::format_to(std::back_inserter(text_), "block {}", id.value);
      print_block_exec(text_, exec, context_);
    }
    text_ += '\n';
  }

  void event(const Event& event) {
    if (event.seq < selection_.first || event.seq > selection_.end) return;
    if (selection_.event && !selection_.event(event)) return;
    fmt::format_to(std::back_inserter(text_), "T{} ", event.thread.value);
    print_event(text_, event.body, context_.symbols);
    text_ += '\n';
  }

 private:
  enum class Known : std::uint8_t { kNo, kDeclared, kShared };

  void tables() {
    text_ += "svd-trace 1\nprocess";
    print_fields(text_, reader_.process(), context_.symbols);
    text_ += '\n';
    for (const Module& module : reader_.modules()) record("module", module);
    for (const Stack& stack : reader_.stacks()) record("stack", stack);
    for (const Symbol& symbol : reader_.symbols()) this->symbol(symbol);
    for (const Statement& statement : reader_.statements())
      context_.statements.add(statement.label);
    for (std::size_t i = 0; i < reader_.statements().size(); ++i) {
      print_statement(text_, StatementId(static_cast<std::uint32_t>(i)), reader_.statements()[i],
                      context_);
    }
  }

  void body(Diagnostics& diagnostics, const ProgressFunction& progress) {
    Chunk chunk;
    auto chunks = reader_.chunks();
    for (std::size_t i = reader_.chunk_at(selection_.first); i < chunks.size(); ++i) {
      if (chunks[i].first_seq > selection_.end) return;
      if (auto decoded = reader_.decode(i, chunk); !decoded) {
        add_lost_chunk(diagnostics, chunks[i], decoded.error());
        continue;
      }
      chunk.walk(*this);
      progress(chunk.end_seq() - reader_.first_seq());
      if (!write()) return;
    }
  }

  template <class S>
  void record(std::string_view keyword, const S& record) {
    text_ += keyword;
    print_fields(text_, record, context_.symbols);
    text_ += '\n';
  }

  void symbol(const Symbol& symbol) {
    if (!context_.symbols.can_add(symbol)) return record("symbol", symbol);
    text_ += (symbol.size == 0 ? "lock " : "var ") + symbol.name;
    if (symbol.size != 0) fmt::format_to(std::back_inserter(text_), " {}", symbol.size);
    if (symbol.address == context_.symbols.automatic_address()) {
      context_.symbols.placed_automatically(symbol);
    } else {
      fmt::format_to(std::back_inserter(text_), " @{:#x}", symbol.address);
    }
    context_.symbols.add(symbol);
    text_ += '\n';
  }

  // Makes the block known, by words or so that the line that follows makes it.
  void declare(BlockId id) {
    if (everything_) declare_before(id.value);
    const Block& block = reader_.blocks()[id.value];
    if (SharedBlocks::possible(block) && (shared_.find(block) == nullptr || !everything_)) {
      shared_.add(block, id);
      blocks_[id.value] = Known::kShared;
    } else {
      declare_in_words(id);
    }
  }

  // All blocks below `end`, executed or not, so that the next one gets the number `end`.
  void declare_before(std::size_t end) {
    for (; next_ < end; ++next_) {
      if (blocks_[next_] == Known::kNo)
        declare_in_words(BlockId(static_cast<std::uint32_t>(next_)));
    }
  }

  void declare_in_words(BlockId id) {
    const Block& block = reader_.blocks()[id.value];
    if (block.size() == 0) return;  // lost, as the diagnostics say
    fmt::format_to(std::back_inserter(text_), "block {}\n", id.value);
    print_block(text_, block, context_);
    blocks_[id.value] = Known::kDeclared;
  }

  bool write() {
    out_.write(text_.data(), static_cast<std::streamsize>(text_.size()));
    text_.clear();
    return out_.good();
  }

  const TraceReader& reader_;
  const TextSelection& selection_;
  std::ostream& out_;
  bool everything_;
  Context context_;
  SharedBlocks shared_;
  std::vector<Known> blocks_;
  std::size_t next_ = 0;  // all blocks below are known
  std::string text_;
};

}  // namespace

Status print_text(const TraceReader& reader, const TextSelection& selection, std::ostream& out,
                  Diagnostics& diagnostics, const ProgressFunction& progress) {
  return Printer(reader, selection, out).run(diagnostics, progress);
}

}  // namespace svd
