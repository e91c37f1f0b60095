// SPDX-License-Identifier: Apache-2.0

#include "support/trace_difference.h"

#include <fmt/format.h>

#include <algorithm>
#include <concepts>
#include <deque>
#include <optional>

namespace svd::test {
namespace {

template <class T>
std::string described(const T& value) {
  if constexpr (std::convertible_to<T, std::string_view>) {
    return fmt::format("{:?}", std::string_view(value));
  } else if constexpr (std::is_enum_v<T>) {
    return std::string(to_string(value));
  } else if constexpr (requires { typename T::rep; }) {
    return fmt::format("{}", value.value);
  } else if constexpr (requires { value.begin(); }) {
    return fmt::format("{}", fmt::join(value, " "));
  } else {
    return fmt::format("{}", value);
  }
}

// What happened, one line an execution or event.
class Happenings {
 public:
  explicit Happenings(const TraceReader& trace) : trace_(trace) {}

  std::optional<std::string> next() {
    while (lines_.empty() && chunk_ < trace_.chunks().size()) {
      Chunk chunk;
      if (auto decoded = trace_.decode(chunk_++, chunk); !decoded) {
        lines_.push_back("damaged: " + decoded.error().describe());
      } else {
        chunk.walk(*this);
      }
    }
    if (lines_.empty()) return std::nullopt;
    std::string line = std::move(lines_.front());
    lines_.pop_front();
    return line;
  }

  void exec(const Exec& exec) {
    const Part& part = exec.shape->part;
    std::string line =
        fmt::format("{} T{} block {} [{},{}) slots [{},{}):", exec.seq.value, exec.thread.value,
                    exec.shape->id.value, part.first, part.end, part.first_slot, part.end_slot);
    exec.accesses([&](const MemoryAccess& access) {
      line += fmt::format(" {}@{:#x}:{}", access.seq.value, access.address.value, access.size);
      if (access.has_value) line += fmt::format("={}", access.value);
    });
    lines_.push_back(line);
  }

  void event(const Event& event) {
    std::string line = fmt::format("{} T{} ", event.seq.value, event.thread.value);
    std::visit(
        [&](const auto& body) {
          line += body.kName;
          body.fields(body, [&](std::string_view key, const auto& field) {
            line += fmt::format(" {}={}", key, described(field));
          });
        },
        event.body);
    lines_.push_back(line);
  }

 private:
  const TraceReader& trace_;
  std::size_t chunk_ = 0;
  std::deque<std::string> lines_;
};

}  // namespace

std::string trace_difference(const TraceReader& a, const TraceReader& b) {
  if (a.process() != b.process()) return "the processes differ";
  if (!std::ranges::equal(a.modules(), b.modules())) return "the modules differ";
  if (!std::ranges::equal(a.symbols(), b.symbols())) return "the symbols differ";
  if (!std::ranges::equal(a.stacks(), b.stacks())) return "the stacks differ";
  if (!std::ranges::equal(a.statements(), b.statements())) return "the statements differ";
  if (!std::ranges::equal(a.blocks(), b.blocks())) {
    return fmt::format("the blocks differ: {} and {}", a.blocks().size(), b.blocks().size());
  }
  Happenings in_a(a);
  Happenings in_b(b);
  while (true) {
    auto line_a = in_a.next();
    auto line_b = in_b.next();
    if (line_a != line_b) {
      return fmt::format("first:  {}\nsecond: {}", line_a.value_or("the end"),
                         line_b.value_or("the end"));
    }
    if (!line_a) return {};
  }
}

}  // namespace svd::test
