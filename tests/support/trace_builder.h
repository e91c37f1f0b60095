// SPDX-License-Identifier: Apache-2.0
//
// A trace in a test, in a few lines:
//
//     TraceBuilder t;
//     Var x = t.var("x");
//     t.thread(1).exec("1.1", {r(x, 0)});
//     t.thread(2).exec("2.1", {w(x, 5)});
//     t.thread(1).exec("1.2", {w(x, 1)});
//     TraceReader trace = t.finish();
//
// The file lives as long as the builder. A failure of the writer stops the test program.
#pragma once

#include <initializer_list>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "svd/trace/reader.h"
#include "svd/trace/text.h"
#include "svd/trace/writer.h"

namespace svd::test {

// A fresh path in the temporary folder; the file is removed with the object.
class TempFile {
 public:
  TempFile();
  ~TempFile();
  TempFile(const TempFile&) = delete;
  TempFile& operator=(const TempFile&) = delete;
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

struct Var {
  Addr address;
  std::uint16_t size = 0;
};

// An access by a statement.
struct Operand {
  bool write = false;
  Var var;
  std::uint64_t value = 0;
  Role role = Role::kValue;
  bool atomic = false;
};
inline Operand r(Var var, std::uint64_t value = 0) { return {false, var, value}; }
inline Operand w(Var var, std::uint64_t value = 0) { return {true, var, value}; }
inline Operand address(Operand operand) { return operand.role = Role::kAddress, operand; }
inline Operand condition(Operand operand) { return operand.role = Role::kCondition, operand; }
inline Operand atomic(Operand operand) { return operand.atomic = true, operand; }

class TraceBuilder {
 public:
  explicit TraceBuilder(const Process& process = text_process(), const WriterOptions& options = {});
  static Process text_process();

  Var var(const std::string& name, std::uint16_t size = 4);
  Var lock(const std::string& name) { return var(name, 0); }
  // Statements are made when they are first executed; this is for those that need more than a
  // label.
  StatementId statement(const Statement& statement);

  // What follows happens in this thread.
  TraceBuilder& thread(std::uint32_t id);
  TraceBuilder& exec(const std::string& label, std::initializer_list<Operand> operands = {});
  TraceBuilder& event(const EventBody& body);
  TraceBuilder& lock(Var lock) {
    return event(Sync{.op = SyncOp::kMutexLock, .object = lock.address});
  }
  TraceBuilder& unlock(Var lock) {
    return event(Sync{.op = SyncOp::kMutexUnlock, .object = lock.address});
  }

  TraceWriter& writer() { return *writer_; }
  TraceReader finish();

 private:
  TempFile file_;
  std::unique_ptr<TraceWriter> writer_;
  ThreadId thread_{1};
  std::uint64_t next_address_ = 0x100000;
  std::map<std::string, StatementId> statements_;
  std::vector<std::pair<Block, BlockId>> blocks_;
};

// Writers and readers of one temporary file, for what turns text or logs into traces.
WriterFactory into(const TempFile& file, const WriterOptions& options = {});
TraceReader open_trace(const TempFile& file);
// `text` assembled into `file`, which must work.
TraceReader assembled(std::string_view text, const TempFile& file);
// The canonical text of a trace without losses.
std::string text_of(const TraceReader& trace);

}  // namespace svd::test
