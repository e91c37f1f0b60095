// SPDX-License-Identifier: Apache-2.0
//
// What is known about the recorded process as a whole: the run, the files mapped into it, names for
// its addresses, call stacks. Like events, each struct lists its fields once, and every form in
// which it is stored or shown is made from that list.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "svd/trace/types.h"

namespace svd {

struct Process {
  std::string executable{};
  std::vector<std::string> arguments{};    // argv, the program's name included
  std::vector<std::string> environment{};  // empty unless asked for: it holds secrets
  std::string working_directory{};
  std::string engine{};  // "valgrind", "rr", "text", "std"
  std::string engine_version{};
  std::string engine_options{};     // as given, the scheduling seed included
  std::uint64_t start_time_ns = 0;  // since 1970, UTC
  std::uint32_t pid = 0;
  std::uint32_t parent_pid = 0;
  std::string parent_trace{};     // of the process that forked or exec'ed this one
  bool has_values = true;         // values of accesses were recorded
  std::uint64_t keep_newest = 0;  // so many bytes of the run were to be kept; 0: all of it
  static constexpr void fields(auto& s, auto&& f) {
    f("executable", s.executable), f("arguments", s.arguments), f("environment", s.environment),
        f("cwd", s.working_directory), f("engine", s.engine), f("engine-version", s.engine_version),
        f("engine-options", s.engine_options), f("start-time-ns", s.start_time_ns), f("pid", s.pid),
        f("parent-pid", s.parent_pid), f("parent-trace", s.parent_trace),
        f("has-values", s.has_values), f("keep-newest", s.keep_newest);
  }
  friend bool operator==(const Process&, const Process&) = default;
};

// A mapped piece of a module.
struct Segment {
  Addr address{};
  std::uint64_t size = 0;
  std::uint64_t file_offset = 0;
  std::uint32_t protection = 0;  // PROT_*
  static constexpr void fields(auto& s, auto&& f) {
    f("address", s.address), f("size", s.size), f("file-offset", s.file_offset),
        f("protection", s.protection);
  }
  friend bool operator==(const Segment&, const Segment&) = default;
};

struct Module {
  std::string path{};
  std::vector<std::uint8_t> build_id{};
  std::uint64_t bias = 0;  // run-time address minus address in the file's symbol table
  std::vector<Segment> segments{};
  static constexpr void fields(auto& s, auto&& f) {
    f("path", s.path), f("build-id", s.build_id), f("bias", s.bias), f("segments", s.segments);
  }
  friend bool operator==(const Module&, const Module&) = default;
};

enum class SymbolKind : std::uint8_t { kData, kFunction };
std::span<const std::string_view> names(SymbolKind);

// A name for [address, address + size): of a variable or lock in a textual trace, of a function
// where it was embedded.
struct Symbol {
  std::string name{};
  SymbolKind kind = SymbolKind::kData;
  std::uint64_t address = 0;
  std::uint64_t size = 0;
  static constexpr void fields(auto& s, auto&& f) {
    f("name", s.name), f("kind", s.kind), f("address", s.address), f("size", s.size);
  }
  friend bool operator==(const Symbol&, const Symbol&) = default;
};

// Return addresses, innermost first.
struct Stack {
  std::vector<Pc> frames{};
  static constexpr void fields(auto& s, auto&& f) { f("frames", s.frames); }
  friend bool operator==(const Stack&, const Stack&) = default;
};

}  // namespace svd
