// SPDX-License-Identifier: Apache-2.0
//
// The names of enumerators, in the order of their values: what a person reads in dumps and writes
// in textual traces.

#include "svd/trace/diagnostic.h"
#include "svd/trace/event.h"
#include "svd/trace/process.h"

namespace svd {

using std::string_view;

std::span<const string_view> names(Phase) {
  static constexpr string_view kTable[] = {"whole", "begin", "end"};
  return kTable;
}

std::span<const string_view> names(SyncOp) {
  static constexpr string_view kTable[] = {
      "mutex-init",    "mutex-destroy",    "mutex-lock",
      "mutex-trylock", "mutex-timedlock",  "mutex-unlock",
      "rwlock-rdlock", "rwlock-tryrdlock", "rwlock-timedrdlock",
      "rwlock-wrlock", "rwlock-trywrlock", "rwlock-timedwrlock",
      "rwlock-unlock", "spin-lock",        "spin-trylock",
      "spin-unlock",   "cond-wait",        "cond-timedwait",
      "cond-signal",   "cond-broadcast",   "sem-wait",
      "sem-trywait",   "sem-timedwait",    "sem-post",
      "barrier-init",  "barrier-wait",     "once",
      "futex-wait",    "futex-wake",       "mutex-consistent",
      "rwlock-init",   "rwlock-destroy",   "spin-init",
      "spin-destroy",  "cond-init",        "cond-destroy",
      "sem-init",      "sem-destroy",      "barrier-destroy"};
  return kTable;
}

std::span<const string_view> names(AllocFn) {
  static constexpr string_view kTable[] = {"malloc", "calloc", "realloc", "aligned", "new",
                                           "new[]",  "free",   "delete",  "delete[]"};
  return kTable;
}

std::span<const string_view> names(MapOp) {
  static constexpr string_view kTable[] = {"map", "unmap", "protect", "remap", "break"};
  return kTable;
}

std::span<const string_view> names(EndKind) {
  static constexpr string_view kTable[] = {"unknown", "exit", "signal", "exec"};
  return kTable;
}

std::span<const string_view> names(Access) {
  static constexpr string_view kTable[] = {"read", "write"};
  return kTable;
}

std::span<const string_view> names(Edge) {
  static constexpr string_view kTable[] = {"begin", "end"};
  return kTable;
}

std::span<const string_view> names(GapCause) {
  static constexpr string_view kTable[] = {"loss", "before-window", "after-window", "left-out"};
  return kTable;
}

std::span<const string_view> names(Role) {
  static constexpr string_view kTable[] = {"value", "address", "condition"};
  return kTable;
}

std::span<const string_view> names(SymbolKind) {
  static constexpr string_view kTable[] = {"data", "function"};
  return kTable;
}

string_view to_string(Severity severity) {
  static constexpr string_view kTable[] = {"info", "notice", "loss", "error"};
  return kTable[static_cast<std::size_t>(severity)];
}

}  // namespace svd
