// SPDX-License-Identifier: Apache-2.0
//
// The parser of textual traces: one pass over the names of statements, because `by` may look ahead,
// then one over everything, line by line, straight into the writer.

#include <optional>
#include <unordered_map>
#include <vector>

#include "svd/trace/limits.h"
#include "svd/trace/nearest.h"
#include "svd/trace/text.h"
#include "text_code.h"
#include "text_events.h"
#include "text_fields.h"

namespace svd {
namespace {

using namespace text;  // NOLINT(google-build-using-namespace): this file is the rest of that
                       // namespace

// Enough for the largest event, whose bytes are two digits each.
constexpr std::size_t kMaxLine = 3 * kMaxEventBytes;

// The strings and bytes of an event.
struct PayloadSize {
  std::size_t bytes = 0;
  template <class T>
  void operator()(std::string_view, const T& field) {
    if constexpr (requires { field.data(); }) bytes += field.size();
  }
};

// Calls f(line) for each line and keeps count.
template <class F>
void for_each_line(std::string_view text, std::size_t& number, F&& f) {
  for (number = 1; !text.empty(); ++number) {
    std::size_t end = text.find('\n');
    if (std::min(end, text.size()) > kMaxLine) fail("the line is longer than {} bytes", kMaxLine);
    f(text.substr(0, end));
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  }
}

constexpr std::size_t kProgressStride = 1U << 12;

class Assembler {
 public:
  Assembler(std::string_view text, std::string name, const WriterFactory& make_writer)
      : text_(text), name_(std::move(name)), make_writer_(make_writer) {}

  Status run(const ProgressFunction& progress) {
    try {
      for_each_line(text_, line_, [&](std::string_view line) { collect_statement(line); });
      for_each_line(text_, line_, [&](std::string_view line) {
        assemble_line(line);
        if (line_ % kProgressStride == 0) progress(line_);
      });
      if (!seen_header_) fail("expected 'svd-trace 1' in the first line");
      finish_block();
      writer();
    } catch (const ParseError& error) {
      return Error{ErrorKind::kText, name_, std::nullopt, line_, error.what};
    } catch (const Error& error) {
      return error;
    }
    return writer_->finish();
  }

 private:
  // A block being declared.
  struct OpenBlock {
    std::string label;
    Block block;
  };
  struct DeclaredBlock {
    BlockId id;
    Block block;
  };

  void collect_statement(std::string_view line) {
    tokens_.split(line);
    if (!tokens_.skip("stmt")) return;
    std::string token(tokens_.take("the statement's name"));
    bool numbered = token == StatementNames::numbered(context_.statements.size());
    if (!numbered && context_.statements.find(token) != nullptr)
      fail("there is a statement {} already", token);
    if (!numbered && !context_.statements.can_name(token)) {
      fail("'{}' cannot name a statement: write {} label={}", token,
           StatementNames::numbered(context_.statements.size()), word(token));
    }
    context_.statements.add(token);
  }

  void assemble_line(std::string_view line) {
    tokens_.split(line);
    if (tokens_.empty()) return;
    std::string_view keyword = tokens_.take("a line");
    if (!seen_header_) return header(keyword);
    if (keyword == "insn" || keyword == "step") return block_line(keyword);
    finish_block();
    if (keyword.size() > 1 && keyword[0] == 'T' && keyword[1] >= '0' && keyword[1] <= '9') {
      return thread_line(parse_thread(keyword));
    }
    declaration(keyword);
    tokens_.finish();
  }

  void header(std::string_view keyword) {
    if (keyword != "svd-trace") fail("expected 'svd-trace 1' instead of '{}'", keyword);
    std::string_view version = tokens_.take("the version, 1");
    if (version != "1")
      fail("this is version {} of the textual form, but only 1 is known here", version);
    tokens_.finish();
    seen_header_ = true;
  }

  void declaration(std::string_view keyword) {
    if (keyword == "process") {
      process();
    } else if (keyword == "module") {
      writer().add(parse_fields<Module>(tokens_, context_.symbols, arena_));
    } else if (keyword == "stack") {
      writer().add(parse_fields<Stack>(tokens_, context_.symbols, arena_));
    } else if (keyword == "symbol") {
      writer().add(parse_fields<Symbol>(tokens_, context_.symbols, arena_));
    } else if (keyword == "var" || keyword == "lock") {
      variable(keyword == "var");
    } else if (keyword == "stmt") {
      std::string_view name = tokens_.take("the statement's name");
      writer().add(parse_statement(name, tokens_, context_));
      ++declared_statements_;
    } else if (keyword == "block") {
      std::string label(tokens_.take("the block's label"));
      if (blocks_.contains(label)) fail("there is a block {} already", label);
      open_block_ = OpenBlock{label, {}};
    } else {
      static constexpr std::string_view kKeywords[] = {
          "process", "module", "stack", "var", "lock", "symbol", "stmt", "block", "insn", "step"};
      fail("expected one of {}, or a thread such as T1, instead of '{}'{}",
           fmt::join(kKeywords, ", "), keyword, did_you_mean(keyword, kKeywords));
    }
  }

  void process() {
    if (writer_) fail("expected the process line before all others");
    make_writer(parse_fields<Process>(tokens_, context_.symbols, arena_));
  }

  void variable(bool has_size) {
    Symbol symbol;
    symbol.name = tokens_.take("a name");
    if (has_size)
      symbol.size = number<std::uint64_t>(tokens_.take("the variable's size"),
                                          "the variable's size in bytes");
    if (has_size && symbol.size == 0) fail("a variable has at least one byte");
    if (!context_.symbols.can_add(symbol)) {
      fail("'{}' is declared already, or is no name: write symbol name={} address=…", symbol.name,
           word(symbol.name));
    }
    symbol.address = context_.symbols.automatic_address();
    bool automatic = tokens_.empty();
    if (!automatic) {
      std::string_view address = tokens_.take("@ADDRESS");
      if (!address.starts_with('@')) fail("expected @ADDRESS instead of '{}'", address);
      symbol.address = number<std::uint64_t>(address.substr(1), "an address");
    }
    if (symbol.address + symbol.size < symbol.address)
      fail("{} reaches beyond the last address", symbol.name);
    if (automatic) context_.symbols.placed_automatically(symbol);
    context_.symbols.add(symbol);
    writer().add(symbol);
  }

  void block_line(std::string_view keyword) {
    if (!open_block_) fail("expected {} only after a block line", keyword);
    Block& block = open_block_->block;
    if (block.size() > 0 && block.abstract() != (keyword == "step"))
      fail("a block has either insn or step lines");
    parse_block_line(keyword, tokens_, context_, block);
    if (keyword == "step") require_declared(block.statements.back());
  }

  void finish_block() {
    if (!open_block_) return;
    std::string problem = block_problem(open_block_->block);
    if (!problem.empty()) fail("block {} above cannot be: {}", open_block_->label, problem);
    BlockId id = writer().add(open_block_->block);
    blocks_.emplace(std::move(open_block_->label),
                    DeclaredBlock{id, std::move(open_block_->block)});
    open_block_.reset();
  }

  void thread_line(ThreadId thread) {
    std::string_view verb = tokens_.take("a statement, block or event");
    if (is_event_verb(verb)) {
      arena_.clear();
      EventBody event = parse_event(verb, tokens_, context_.symbols, arena_);
      PayloadSize payload;
      std::visit([&](auto& body) { body.fields(body, payload); }, event);
      if (payload.bytes > kMaxEventBytes / 2)
        fail("an event holds at most {} bytes", kMaxEventBytes / 2);
      writer().event(thread, event);
      return;
    }
    writer();  // from here on it is known whether there are values
    if (verb == "block") return block_exec(thread, tokens_.take("a block's label"));
    const StatementId* statement = context_.statements.find(verb);
    if (statement == nullptr) unknown_verb(verb);
    require_declared(*statement);
    parse_statement_exec(*statement, tokens_, context_, made_, exec_);
    BlockId block;
    if (const BlockId* known = shared_.find(made_)) {
      block = *known;
    } else {
      block = writer().add(made_);
      shared_.add(made_, block);
    }
    execute(thread, block);
  }

  void block_exec(ThreadId thread, std::string_view label) {
    auto at = blocks_.find(std::string(label));
    if (at == blocks_.end()) fail("no block is called '{}': expected its declaration above", label);
    parse_block_exec(at->second.block, tokens_, context_, exec_);
    execute(thread, at->second.id);
  }

  void execute(ThreadId thread, BlockId block) {
    writer().run(thread);
    writer().exec(block, exec_.part, exec_.logged.data(), exec_.values.data());
  }

  void require_declared(StatementId statement) const {
    if (statement.value >= declared_statements_) {
      fail("statement {} is declared further down: move its stmt line up",
           context_.statements.name(statement));
    }
  }

  [[noreturn]] void unknown_verb(std::string_view verb) const {
    std::vector<std::string_view> candidates = event_verbs();
    for (std::size_t i = 0; i < context_.statements.size(); ++i) {
      candidates.push_back(context_.statements.name(StatementId(static_cast<std::uint32_t>(i))));
    }
    fail("no statement or event is called '{}'{}", verb, did_you_mean(verb, candidates));
  }

  TraceWriter& writer() {
    if (!writer_) {
      Process process;
      process.engine = "text";
      process.has_values = false;
      make_writer(process);
    }
    return *writer_;
  }

  void make_writer(const Process& process) {
    context_.has_values = process.has_values;
    auto made = make_writer_(process);
    if (!made) throw made.error();
    writer_ = *std::move(made);
  }

  std::string_view text_;
  std::string name_;
  const WriterFactory& make_writer_;
  std::unique_ptr<TraceWriter> writer_;
  std::size_t line_ = 0;
  bool seen_header_ = false;

  Tokens tokens_;
  Arena arena_;
  Context context_;
  std::uint32_t declared_statements_ = 0;
  std::optional<OpenBlock> open_block_;
  std::unordered_map<std::string, DeclaredBlock> blocks_;
  SharedBlocks shared_;
  Block made_;
  ExecLine exec_;
};

}  // namespace

Status assemble(std::string_view text, const std::string& name, const WriterFactory& make_writer,
                const ProgressFunction& progress) {
  return Assembler(text, name, make_writer).run(progress);
}

}  // namespace svd
