// SPDX-License-Identifier: Apache-2.0

#include "collector_wire.h"

#include <fmt/format.h>

#include <stdexcept>

#include "support/trace_builder.h"
#include "svd/trace/reader.h"
#include "translator.h"

namespace svd::test {
namespace {

struct Printer {
  std::vector<std::string>& lines;

  void exec(const Exec& exec) {
    lines.push_back(fmt::format("{} run {:#x} {}", exec.thread.value,
                                exec.block().instructions[exec.shape->part.first].pc.value,
                                exec.shape->part.steps()));
    exec.accesses([&](const MemoryAccess& access) {
      std::uint64_t pc = exec.block().instructions[access.slot->instruction].pc.value;
      std::string value = access.has_value ? fmt::format(" = {:#x}", access.value) : "";
      lines.push_back(fmt::format("{} {:#x} {} {:#x}:{}{}", exec.thread.value, pc,
                                  access.slot->write ? 'w' : 'r', access.address.value, access.size,
                                  value));
    });
  }
  void event(const Event& event) {
    lines.push_back(fmt::format("{} {}", event.thread.value, std::visit(*this, event.body)));
  }
  std::string operator()(const Sync& e) const {
    return fmt::format("{} {:#x} {} {}", to_string(e.op), e.object.value, to_string(e.phase),
                       e.result);
  }
  std::string operator()(const Allocation& e) const {
    return fmt::format("{} {:#x}:{}", to_string(e.function), e.address.value, e.size);
  }
  std::string operator()(const Release& e) const {
    return fmt::format("release {:#x}", e.address.value);
  }
  std::string operator()(const ThreadCreate& e) const {
    return fmt::format("creates {} {:#x}", e.child.value, e.routine.value);
  }
  std::string operator()(const ThreadJoin& e) const {
    return fmt::format("joins {} {}", e.child.value, to_string(e.phase));
  }
  std::string operator()(const Signal& e) const {
    return fmt::format("signal {} at {:#x} of {:#x} handler {:#x}{}", e.number, e.pc.value,
                       e.address.value, e.handler.value, e.fatal ? " fatal" : "");
  }
  std::string operator()(const KernelAccess& e) const {
    return fmt::format("kernel {:#x}:{} {}", e.address.value, e.size, e.data.size());
  }
  std::string operator()(const Transfer& e) const {
    return fmt::format("transfer {} {}@{} {:#x}:{} {}", to_string(e.access), e.channel, e.position,
                       e.address.value, e.size, e.name);
  }
  template <class T>
  std::string operator()(const T&) const {
    return std::string(T::kName);
  }
};

SvdWireSlot slot(std::uint16_t instruction, SvdWireQuantity address, SvdWireQuantity value,
                 std::uint16_t size, std::uint16_t flags) {
  return SvdWireSlot{instruction, size, flags, 0, address, value};
}

}  // namespace

SvdWireQuantity logged(std::uint32_t at) { return {SVD_WIRE_LOGGED, 0, 0, at, 0}; }
SvdWireQuantity constant(std::uint64_t value) { return {SVD_WIRE_CONSTANT, 0, 0, 0, value}; }
SvdWireQuantity address_of(std::uint16_t slot, std::uint64_t plus) {
  return {SVD_WIRE_ADDRESS_OF, 0, slot, 0, plus};
}
SvdWireQuantity value_of(std::uint16_t slot, std::uint64_t plus) {
  return {SVD_WIRE_VALUE_OF, 0, slot, 0, plus};
}
SvdWireSlot reads(std::uint16_t instruction, SvdWireQuantity address, SvdWireQuantity value,
                  std::uint16_t size) {
  return slot(instruction, address, value, size, 0);
}
SvdWireSlot writes(std::uint16_t instruction, SvdWireQuantity address, SvdWireQuantity value,
                   std::uint16_t size) {
  return slot(instruction, address, value, size, SVD_WIRE_WRITE);
}
SvdWireExit leaves(std::uint16_t instructions, std::uint16_t slots, std::uint32_t record_size,
                   std::uint32_t jump) {
  return SvdWireExit{instructions, slots, record_size, jump, 0, 0};
}

WireCode mailbox_code(std::uint32_t id, std::vector<std::pair<unsigned, std::uint64_t>> words) {
  WireCode code{id, 0x100U * id, static_cast<std::uint32_t>(words.size() + 2), {}, {}};
  for (const auto& [word, value] : words)
    code.slots.push_back(writes(static_cast<std::uint16_t>(code.slots.size() + 1),
                                constant(SVD_WIRE_MAILBOX + 8 * word), constant(value)));
  code.exits = {leaves(static_cast<std::uint16_t>(code.instructions),
                       static_cast<std::uint16_t>(code.slots.size()), 4)};
  return code;
}

WireLog& WireLog::put(const void* data, std::size_t size, const std::string& text,
                      std::size_t total) {
  constexpr std::uint64_t kLap = kCapacity + kSlack;
  if (end_ % kLap >= kCapacity) end_ = (end_ / kLap + 1) * kLap;
  std::uint64_t at = end_ % kLap;
  if (bytes_.size() < at + total + 8) bytes_.resize(at + total + 8);
  std::memcpy(bytes_.data() + at, data, size);
  if (!text.empty()) std::memcpy(bytes_.data() + at + size, text.data(), text.size());
  end_ += total;
  return *this;
}

WireLog& WireLog::head(std::uint32_t type, std::uint32_t tid, const std::string& text) {
  auto size = static_cast<std::uint32_t>((sizeof(SvdWireRecord) + text.size() + 7) & ~7U);
  SvdWireRecord record{type, size, tid, static_cast<std::uint32_t>(text.size())};
  return put(&record, sizeof record, text, size);
}

WireLog& WireLog::first_thread() {
  record(SvdWireThreadCreate{{SVD_WIRE_THREAD_CREATE, 0, 0, 0}, 1, 0, 0});
  record(SvdWireThreadStart{{SVD_WIRE_THREAD_START, 0, 1, 0}, 100, 0, 0, 0, 0, 0});
  return run(1);
}

WireLog& WireLog::block(const WireCode& code) {
  std::string tail;
  auto add = [&tail](const void* data, std::size_t size) {
    tail.append(static_cast<const char*>(data), size);
  };
  for (std::uint32_t i = 0; i < code.instructions; ++i) {
    SvdWireInstruction instruction{code.pc + 4 * i, 4, 0};
    add(&instruction, sizeof instruction);
  }
  for (const SvdWireSlot& slot : code.slots) add(&slot, sizeof slot);
  for (const SvdWireExit& exit : code.exits) add(&exit, sizeof exit);
  tail.append(4 * code.instructions, '\x90');
  SvdWireBlock block{{SVD_WIRE_BLOCK, 0, 0, 0},
                     code.id,
                     code.instructions,
                     static_cast<std::uint32_t>(code.slots.size()),
                     static_cast<std::uint32_t>(code.exits.size()),
                     4 * code.instructions,
                     0};
  return record(block, tail);
}

WireLog& WireLog::exec(std::uint32_t block, std::uint32_t exit,
                       const std::vector<std::uint64_t>& words, std::uint32_t record_size) {
  std::string record(4, '\0');
  std::uint32_t word = block << 8U | exit;
  std::memcpy(record.data(), &word, 4);
  for (std::uint64_t value : words) {
    record.append(8, '\0');
    std::memcpy(record.data() + record.size() - 8, &value, 8);
  }
  if (record_size != 0) record.resize(record_size);
  return put(record.data(), record.size(), "", record.size());
}

Translated translate(const WireLog& log, bool last, bool values) {
  TempFile file;
  Process process;
  process.has_values = values;
  auto writer = TraceWriter::create(file.path(), process);
  if (!writer) throw std::runtime_error(writer.error().describe());
  Translated result;
  {
    TraceFeed feed(std::move(*writer));
    Translator translator(feed, values, "test", [](std::uint32_t) { return std::string(); });
    Window window{log.bytes().data(), WireLog::kCapacity, WireLog::kCapacity + WireLog::kSlack,
                  log.end(), last};
    result.consumed = translator.take(window, log.start(), ~std::uint64_t{0} >> 1U);
    result.damaged = translator.damaged();
    if (auto finished = feed.finish(); !finished)
      throw std::runtime_error(finished.error().describe());
  }
  auto trace = TraceReader::open(file.path());
  if (!trace) throw std::runtime_error(trace.error().describe());
  Diagnostics diagnostics;
  Printer printer{result.lines};
  trace->scan(TraceReader::Order::kForward, {}, diagnostics, [&printer](const Chunk& chunk) {
    chunk.walk(printer);
    return true;
  });
  return result;
}

}  // namespace svd::test
