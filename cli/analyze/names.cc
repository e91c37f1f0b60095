// SPDX-License-Identifier: Apache-2.0

#include "analyze/names.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <optional>

#include "common/options.h"
#include "common/terminal.h"
#include "svd/trace/nearest.h"
#include "symbols/elf_symbols.h"

namespace svd::cli {
namespace {

std::optional<std::uint64_t> number(std::string_view text) {
  if (!text.starts_with("0x")) return parse_count(text, 1024);
  std::uint64_t value = 0;
  auto [end, error] = std::from_chars(text.data() + 2, text.data() + text.size(), value, 16);
  if (text.size() == 2 || error != std::errc() || end != text.data() + text.size())
    return std::nullopt;
  return value;
}

// A symbol without a size, such as a lock, names its address.
std::uint64_t extent(const Symbol& symbol) { return std::max<std::uint64_t>(symbol.size, 1); }

Error wrong(std::string what) {
  Error error;
  error.kind = ErrorKind::kUsage;
  error.what = std::move(what);
  return error;
}

}  // namespace

Names::Names(const TraceReader& trace, Diagnostics& diagnostics)
    : trace_(trace), loaded_(load_elf_symbols(trace, diagnostics)) {
  auto add = [&](const Symbol& symbol) {
    (symbol.kind == SymbolKind::kData ? data_ : functions_).add(symbol);
  };
  std::for_each(loaded_.begin(), loaded_.end(), add);
  std::for_each(trace.symbols().begin(), trace.symbols().end(), add);
  data_.finish();
  functions_.finish();
}

std::string Names::address(Addr address) const {
  const Symbol* symbol = data(address);
  if (symbol == nullptr) return fmt::format("{:#x}", address.value);
  std::uint64_t offset = address.value - symbol->address;
  return offset == 0 ? printable(symbol->name)
                     : fmt::format("{}+{}", printable(symbol->name), offset);
}

std::string Names::access(Addr address, std::uint64_t size) const {
  const Symbol* symbol = data(address);
  bool whole = symbol != nullptr && symbol->address == address.value && symbol->size == size;
  return whole ? printable(symbol->name) : fmt::format("{}:{}", this->address(address), size);
}

std::string Names::code(Pc pc) const {
  if (const Symbol* symbol = function(pc)) {
    return fmt::format("{}+{:#x}", printable(symbol->name), pc.value - symbol->address);
  }
  for (const Module& module : trace_.modules()) {
    for (const Segment& segment : module.segments) {
      if (pc.value - segment.address.value >= segment.size) continue;
      return fmt::format("{}+{:#x}", printable(module.path.substr(module.path.rfind('/') + 1)),
                         pc.value - module.bias);
    }
  }
  return "";
}

std::string Names::thread(ThreadId id) const {
  std::span<const ThreadInfo> threads = trace_.threads();
  auto at =
      std::lower_bound(threads.begin(), threads.end(), id,
                       [](const ThreadInfo& info, ThreadId wanted) { return info.id < wanted; });
  if (at == threads.end() || at->id != id || at->name.empty()) return std::to_string(id.value);
  return fmt::format("{} {}", id.value, printable(at->name));
}

Result<AddressRange> Names::range(std::string_view text) const {
  std::size_t comma = text.rfind(',');
  std::string_view place = text.substr(0, comma);
  std::optional<std::uint64_t> size;
  if (comma != std::string_view::npos) {
    size = number(text.substr(comma + 1));
    if (!size || *size == 0)
      return wrong(fmt::format("'{}' is no size in bytes", text.substr(comma + 1)));
  }
  if (auto address = number(place)) return AddressRange::of(*address, size.value_or(1));
  std::size_t plus = place.rfind('+');
  std::string_view name = place.substr(0, plus);
  std::uint64_t offset = 0;
  if (plus != std::string_view::npos) {
    auto given = number(place.substr(plus + 1));
    if (!given) return wrong(fmt::format("'{}' is no offset in bytes", place.substr(plus + 1)));
    offset = *given;
  }
  std::vector<std::string_view> known;
  for (const Symbol* symbol : data_.symbols()) {
    known.push_back(symbol->name);
    if (symbol->name != name) continue;
    std::uint64_t rest = offset < extent(*symbol) ? extent(*symbol) - offset : 1;
    return AddressRange::of(symbol->address + offset,
                            size.value_or(plus == std::string_view::npos ? rest : 1));
  }
  return wrong(fmt::format("the trace has no variable '{}'{}", name, did_you_mean(name, known)));
}

}  // namespace svd::cli
