// SPDX-License-Identifier: Apache-2.0

#include "symbols/source_map.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <set>
#include <unordered_map>

#include "svd/trace/nearest.h"
#include "symbols/function_name.h"
#include "symbols/module_source.h"
#include "symbols/operand_names.h"
#include "symbols/source_text.h"

namespace svd {
namespace {

constexpr std::size_t kMaxSuggestions = 4;

struct Mapped {
  std::uint64_t begin;
  std::uint64_t end;
  ModuleSource* module;
};

std::string_view base_name(std::string_view path) { return path.substr(path.rfind('/') + 1); }

// Of the C and C++ libraries and the like. Compilers that are installed elsewhere bring theirs in a
// folder of their own.
bool is_system_header(std::string_view file) {
  return file.starts_with("/usr/include/") || file.starts_with("/usr/lib/") ||
         file.find("/include/c++/") != std::string_view::npos;
}

std::vector<Pc> ascending(std::vector<Pc> pcs) {
  std::sort(pcs.begin(), pcs.end());
  pcs.erase(std::unique(pcs.begin(), pcs.end()), pcs.end());
  return pcs;
}

}  // namespace

struct SourceMap::Impl {
  Impl(const TraceReader& trace, Diagnostics& diagnostics);

  ModuleSource* module_of(std::uint64_t address) const;
  std::string_view function_of(const Symbol& symbol);
  Place place_of(Pc pc);

  // Calls f(module) for the program's own modules, and for the system's when that was in vain.
  template <class F>
  auto own_first(F&& f) {
    decltype(f(*modules.front())) found;
    for (Owner owner : {Owner::kProgram, Owner::kSystem}) {
      for (const auto& module : modules) {
        if (module->owner() != owner) continue;
        auto more = f(*module);
        found.insert(found.end(), more.begin(), more.end());
      }
      if (!found.empty()) break;
    }
    return found;
  }

  std::vector<std::unique_ptr<ModuleSource>> modules;
  bool dynamic = false;            // the system's libraries are modules of their own
  std::vector<Mapped> mapped;      // by address
  SymbolTable recorded_functions;  // those that the trace itself names
  SymbolTable recorded_data;
  std::unordered_map<Pc, Place> places;
  std::unordered_map<const Symbol*, std::string> function_names;
  std::span<const Block> blocks;
  std::optional<OperandNames> operands;
  std::optional<SourceText> text;
};

SourceMap::Impl::Impl(const TraceReader& trace, Diagnostics& diagnostics) : blocks(trace.blocks()) {
  auto built = std::filesystem::file_time_type::min();
  for (const Module& module : trace.modules()) {
    bool executable = module.path == trace.process().executable;
    modules.push_back(std::make_unique<ModuleSource>(module, executable, diagnostics));
    for (const Segment& segment : module.segments)
      mapped.push_back(
          {segment.address.value, segment.address.value + segment.size, modules.back().get()});
    std::error_code error;
    dynamic =
        dynamic || (modules.back()->owner() == Owner::kSystem && module.path.starts_with('/'));
    if (modules.back()->owner() != Owner::kProgram) continue;
    auto time = std::filesystem::last_write_time(module.path, error);
    if (!error) built = std::max(built, time);
  }
  std::sort(mapped.begin(), mapped.end(),
            [](const Mapped& a, const Mapped& b) { return a.begin < b.begin; });
  for (const Symbol& symbol : trace.symbols())
    (symbol.kind == SymbolKind::kData ? recorded_data : recorded_functions).add(symbol);
  recorded_functions.finish();
  recorded_data.finish();
  text.emplace(built);
}

ModuleSource* SourceMap::Impl::module_of(std::uint64_t address) const {
  auto after = std::upper_bound(
      mapped.begin(), mapped.end(), address,
      [](std::uint64_t wanted, const Mapped& piece) { return wanted < piece.begin; });
  return after == mapped.begin() || after[-1].end <= address ? nullptr : after[-1].module;
}

std::string_view SourceMap::Impl::function_of(const Symbol& symbol) {
  auto [at, is_new] = function_names.try_emplace(&symbol);
  if (is_new) at->second = without_parameters(symbol.name);
  return at->second;
}

Place SourceMap::Impl::place_of(Pc pc) {
  Place place;
  place.offset = pc.value;
  ModuleSource* module = module_of(pc.value);
  SourceLine line;
  if (module != nullptr) {
    place.module = module->path();
    place.offset = pc.value - module->bias();
    if (DebugInfo* debug = module->debug()) {
      debug->frames_at(place.offset, [&](std::string_view function, SourceLine at) {
        place.frames.push_back({function, at.file, at.line});
      });
      line = debug->line_at(place.offset);
    }
  }
  if (place.frames.empty()) place.frames.push_back({{}, line.file, line.line});
  // Inside of the system's libraries functions have other names than those that programs call.
  bool own = module == nullptr || module->owner() == Owner::kProgram;
  if (!own || place.frames.back().function.empty()) {
    const Symbol* symbol = module == nullptr ? nullptr : module->functions().find(pc.value);
    if (symbol == nullptr) symbol = recorded_functions.find(pc.value);
    if (symbol != nullptr) place.frames.back().function = function_of(*symbol);
  }
  return place;
}

const Frame& Place::own_frame() const {
  for (const Frame& frame : frames)
    if (!is_system_header(frame.file)) return frame;
  return frames.back();
}

SourceMap::SourceMap(const TraceReader& trace, Diagnostics& diagnostics)
    : impl_(std::make_unique<Impl>(trace, diagnostics)) {}
SourceMap::SourceMap(SourceMap&&) noexcept = default;
SourceMap& SourceMap::operator=(SourceMap&&) noexcept = default;
SourceMap::~SourceMap() = default;

const Place& SourceMap::at(Pc pc) {
  auto [at, is_new] = impl_->places.try_emplace(pc);
  if (is_new) at->second = impl_->place_of(pc);
  return at->second;
}

bool SourceMap::is_user(Pc pc) {
  ModuleSource* module = impl_->module_of(pc.value);
  if (module == nullptr) return true;
  if (module->owner() != Owner::kProgram) return false;
  // The C library as distributions have it is without debug information.
  return impl_->dynamic || module->debug() == nullptr || at(pc).frames.back().line != 0;
}

bool SourceMap::is_own(Pc pc, const Frame& frame) {
  if (!is_user(pc) || is_system_header(frame.file)) return false;
  ModuleSource* module = impl_->module_of(pc.value);
  return module == nullptr || module->debug() == nullptr || at(pc).frames.back().line != 0;
}

std::vector<Pc> SourceMap::pcs_of_line(std::string_view file, std::uint32_t line) {
  return ascending(impl_->own_first([&](ModuleSource& module) {
    // A statement of which the optimiser left nothing shares its address with the next one: it
    // counts only where the line has no code at all.
    std::vector<Pc> pcs;
    std::vector<Pc> without_code;
    if (DebugInfo* debug = module.debug()) {
      debug->each_line([&](std::string_view path) { return means_file(file, path); },
                       [&](const DwarfLine& row) {
                         if (row.line == line && row.statement)
                           (row.end > row.address ? pcs : without_code)
                               .push_back(Pc(row.address + module.bias()));
                       });
    }
    return pcs.empty() ? without_code : pcs;
  }));
}

std::vector<std::uint32_t> SourceMap::lines_near(std::string_view file, std::uint32_t line) {
  std::vector<std::uint32_t> lines = impl_->own_first([&](ModuleSource& module) {
    std::set<std::uint32_t> with_code;
    if (DebugInfo* debug = module.debug()) {
      debug->each_line([&](std::string_view path) { return means_file(file, path); },
                       [&](const DwarfLine& row) {
                         if (row.statement) with_code.insert(row.line);
                       });
    }
    return std::vector<std::uint32_t>(with_code.begin(), with_code.end());
  });
  auto distance = [line](std::uint32_t other) {
    return std::max(line, other) - std::min(line, other);
  };
  std::sort(lines.begin(), lines.end(), [&](std::uint32_t a, std::uint32_t b) {
    return std::pair(distance(a), a) < std::pair(distance(b), b);
  });
  lines.erase(std::unique(lines.begin(), lines.end()), lines.end());
  if (lines.size() > kMaxSuggestions) lines.resize(kMaxSuggestions);
  return lines;
}

std::vector<std::string> SourceMap::files_like(std::string_view file) {
  std::set<std::string_view> files;
  for (const auto& module : impl_->modules)
    if (DebugInfo* debug = module->owner() == Owner::kProgram ? module->debug() : nullptr)
      debug->each_file([&](std::string_view path) { files.insert(path); });
  std::vector<std::string_view> names;
  names.reserve(files.size());
  for (std::string_view path : files) names.push_back(base_name(path));
  std::string_view meant = nearest(base_name(file), names);
  std::vector<std::string> found;
  for (std::string_view path : files)
    if (!meant.empty() && base_name(path) == meant && found.size() < kMaxSuggestions)
      found.emplace_back(path);
  return found;
}

std::vector<Pc> SourceMap::entries_of_function(std::string_view name) {
  NameQuery query(name);
  return ascending(impl_->own_first([&](ModuleSource& module) {
    std::vector<Pc> pcs;
    for (const Symbol* symbol : module.functions().symbols()) {
      if (query.means(query.has_parameters() ? symbol->name : without_parameters(symbol->name)))
        pcs.push_back(Pc(symbol->address));
    }
    if (DebugInfo* debug = module.owner() == Owner::kProgram ? module.debug() : nullptr) {
      debug->each_entry(
          query.last(),
          [&](std::string_view full, std::string_view linkage) {
            return query.means(query.has_parameters() ? readable(std::string(linkage).c_str())
                                                      : std::string(full));
          },
          [&](std::uint64_t address) { pcs.push_back(Pc(address + module.bias())); });
    }
    return pcs;
  }));
}

std::string SourceMap::variable_at(Addr address, std::uint64_t size) {
  ModuleSource* module = impl_->module_of(address.value);
  if (module != nullptr) {
    if (std::string name = module->variable_at(address.value, size); !name.empty()) return name;
  }
  const Symbol* symbol = module == nullptr ? nullptr : module->data().find(address.value);
  if (symbol == nullptr) symbol = impl_->recorded_data.find(address.value);
  if (symbol == nullptr) return {};
  std::uint64_t offset = address.value - symbol->address;
  return offset == 0 ? symbol->name : fmt::format("{}+{}", symbol->name, offset);
}

std::string SourceMap::operand_name(Pc pc) {
  ModuleSource* module = impl_->module_of(pc.value);
  DebugInfo* debug = module == nullptr ? nullptr : module->debug();
  if (debug == nullptr) return {};
  if (!impl_->operands) impl_->operands.emplace(impl_->blocks);
  return impl_->operands->name_at(pc, *debug, module->bias());
}

std::vector<Variable> SourceMap::find_variables(std::string_view name) {
  return impl_->own_first([&](ModuleSource& module) { return module.find_variables(name); });
}

std::vector<Variable> SourceMap::variables() {
  std::vector<Variable> found;
  auto add = [&found](const SymbolTable& symbols) {
    for (const Symbol* symbol : symbols.symbols())
      found.push_back({symbol->name, Addr(symbol->address), symbol->size});
  };
  for (const auto& module : impl_->modules) {
    if (module->owner() != Owner::kProgram) continue;
    if (DebugInfo* debug = module->debug()) {
      for (const DwarfVariable& variable : debug->variables()) {
        found.push_back({std::string(debug->name_of(variable.entry)),
                         Addr(variable.address + module->bias()), variable.size});
      }
    }
    add(module->data());
  }
  add(impl_->recorded_data);
  return found;
}

std::string_view SourceMap::variable_like(std::string_view name) {
  std::vector<std::string_view> names;
  for (const auto& module : impl_->modules)
    if (module->owner() == Owner::kProgram)
      for (const Symbol* symbol : module->data().symbols()) names.push_back(symbol->name);
  return nearest(name, names);
}

std::string_view SourceMap::source_line(std::string_view file, std::uint32_t line) {
  return impl_->text->line(file, line);
}

}  // namespace svd
