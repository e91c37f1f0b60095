// SPDX-License-Identifier: Apache-2.0
//
// Where in its source a recorded program was: functions with inlined frames and lines for
// addresses of code, names with member paths for addresses of static data, and the way back from
// lines and names to addresses. From DWARF, where the module's file or its separate debug file has
// it, else from symbol tables. A file is believed only when its build-id is the recorded one.
//
// Lazy: a compilation unit is read when something in it is asked for, the whole of a module's debug
// information when lines, functions or variables are looked for by name. All views that are handed
// out live as long as the SourceMap. Not for several threads at once.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "svd/trace/diagnostic.h"
#include "svd/trace/reader.h"
#include "svd/trace/types.h"

namespace svd {

// A function, without its parameters, and a place in it; "" where it is not known.
struct Frame {
  std::string_view function;
  std::string_view file;   // as the compiler was told, made absolute by its working directory
  std::uint32_t line = 0;  // 0: no debug information, or code that belongs to no line
};

struct Place {
  std::string_view module;    // path of the file; "" for generated code
  std::uint64_t offset = 0;   // address in the file's own symbol table
  std::vector<Frame> frames;  // innermost inlined one first, the real function last; never empty

  // The innermost frame that is not in a header of the system: atomics and containers are inlined
  // from there; the real function when all are.
  const Frame& own_frame() const;
};

// A variable of static storage.
struct Variable {
  std::string name;
  Addr address{};
  std::uint64_t size = 0;  // 0: not known
};

class SourceMap {
 public:
  // Both must outlive it: what is found out later is added to `diagnostics`, too.
  SourceMap(const TraceReader& trace, Diagnostics& diagnostics);
  SourceMap(SourceMap&&) noexcept;
  SourceMap& operator=(SourceMap&&) noexcept;
  ~SourceMap();

  const Place& at(Pc pc);

  // Whether the code is the program's own: not in a library of the system (the C and C++ runtimes,
  // whatever lies directly in the loader's folders) nor in the vdso. Servers in /usr/sbin, plugins
  // in folders of their own and generated code are the program's own. In a program that was linked
  // statically and has debug information, code without any is a library's.
  bool is_user(Pc pc);

  // The same, and its source is: what headers of the system define becomes a part of programs, too,
  // and code that has no lines where its module has some is the linker's or begins and ends the
  // program. Also of one of the functions that were inlined there.
  bool is_own(Pc pc) { return is_own(pc, at(pc).own_frame()); }
  bool is_own(Pc pc, const Frame& frame);

  // Where statements begin in this line, ascending. A file is meant by its name or by its last
  // folders and name: "log.c", "server/log.c".
  std::vector<Pc> pcs_of_line(std::string_view file, std::uint32_t line);
  // For a message when there are none: the lines with code next to it, nearest first, at most four…
  std::vector<std::uint32_t> lines_near(std::string_view file, std::uint32_t line);
  // … and the files that may have been meant by a name that is none, best first.
  std::vector<std::string> files_like(std::string_view file);

  // Where the function begins: by name with or without namespaces and classes, with or without
  // parameters; also the places into which it was inlined. Ascending.
  std::vector<Pc> entries_of_function(std::string_view name);

  // "stats.hits", "table[3].head", "next_id::counter": the variable of static storage (global,
  // static in a function or class) that contains the bytes, and which part of it they are; by its
  // symbol ("table+24") where there is no debug information; empty when it is not known.
  std::string variable_at(Addr address, std::uint64_t size);
  // What the source calls the memory that the instruction accesses, for what has no name of its
  // own: "buf->outcnt", "queue->slots[...].owner", "*counter"; empty when it is not known.
  std::string operand_name(Pc pc);
  // Those of this name, with or without namespaces and classes, by address.
  std::vector<Variable> find_variables(std::string_view name);
  // All of the program's own, without their parts; by debug information and by symbol, so that one
  // can be there twice.
  std::vector<Variable> variables();
  // For a message when there are none: the program's variable that may have been meant, or "".
  std::string_view variable_like(std::string_view name);

  // Text of the line without its indentation; empty when the file cannot be read on this machine
  // or is newer than the program. `file` is that of a Frame.
  std::string_view source_line(std::string_view file, std::uint32_t line);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace svd
