// SPDX-License-Identifier: Apache-2.0
//
// The walk over the records, and executions. What other records mean: events.cc.

#include "translator.h"

#include <algorithm>
#include <csignal>
#include <cstring>
#include <utility>

namespace svd {
namespace {

template <class T>
T load(const std::uint8_t* bytes) {
  T record;
  std::memcpy(&record, bytes, sizeof record);
  return record;
}

std::uint32_t word_at(const std::uint8_t* bytes) { return load<std::uint32_t>(bytes); }

// Two positions, one for the bytes and one in the stream, that move together over the end of a lap.
class Cursor {
 public:
  Cursor(const Window& window, std::uint64_t position)
      : window_(window), position_(position), bytes_(window.data + position % window.lap) {
    wrap();
  }
  void advance(std::uint64_t size) {
    bytes_ += size;
    position_ += size;
    wrap();
  }
  bool at_end() const { return position_ >= window_.end; }
  const std::uint8_t* bytes() const { return bytes_; }
  std::uint64_t position() const { return position_; }
  // The record behind the one of `size` bytes that starts here; null when there is none yet.
  const std::uint8_t* behind(std::uint64_t size) const {
    Cursor next = *this;
    next.advance(size);
    return next.at_end() ? nullptr : next.bytes_;
  }

 private:
  void wrap() {
    auto offset = static_cast<std::uint64_t>(bytes_ - window_.data);
    if (offset < window_.capacity) return;
    position_ += window_.lap - offset;
    bytes_ = window_.data;
  }
  const Window& window_;
  std::uint64_t position_;
  const std::uint8_t* bytes_;
};

}  // namespace

Translator::Translator(TraceFeed& feed, bool values, std::string name,
                       std::function<std::string(std::uint32_t)> child_trace)
    : feed_(feed),
      values_(values),
      name_(std::move(name)),
      child_trace_(std::move(child_trace)),
      calls_(feed, threads_),
      modules_(feed),
      logged_(2 * kMaxBlockSlots),
      value_words_(kMaxBlockSlots) {}

std::uint64_t Translator::take(const Window& window, std::uint64_t position, std::uint64_t batch) {
  Cursor cursor(window, position);
  std::uint64_t stop = position + batch;
  while (!damaged_ && !cursor.at_end() && cursor.position() < stop) {
    const std::uint8_t* bytes = cursor.bytes();
    std::uint32_t word = word_at(bytes);
    if (word < 256) {
      std::uint64_t size = word_at(bytes + 4);
      if (word == SVD_WIRE_NONE || word > SVD_WIRE_END || size < sizeof(SvdWireRecord) ||
          size % 8 != 0 || size > SVD_WIRE_SLACK) {
        damaged_ = true;
        break;
      }
      const std::uint8_t* next = cursor.behind(size);
      if (word == SVD_WIRE_SIGNAL && next == nullptr && !window.last) break;
      if (!record(bytes, next)) damaged_ = true;
      cursor.advance(size);
      continue;
    }
    std::uint32_t id = word >> 8U;
    std::uint32_t way = word & 0xffU;
    if (id >= blocks_.size() || !blocks_[id] || way >= blocks_[id]->exits.size()) {
      damaged_ = true;
      break;
    }
    CodeBlock& code = *blocks_[id];
    const CodeExit& exit = code.exits[way];
    const std::uint8_t* next = cursor.behind(exit.record_size);
    if (next == nullptr && !window.last) break;
    std::uint32_t type_behind = next != nullptr ? word_at(next) : 0;
    if (type_behind == SVD_WIRE_PAUSE) {
      pause(code, exit, bytes, load<SvdWirePause>(next).slot);
    } else if (type_behind == SVD_WIRE_CUT) {
      Cursor behind = cursor;
      behind.advance(exit.record_size);
      const std::uint8_t* signal = behind.behind(sizeof(SvdWireCut));
      if (signal == nullptr && !window.last) break;
      Cut cut;
      cut.pc = load<SvdWireCut>(next).pc;
      if (signal != nullptr && word_at(signal) == SVD_WIRE_SIGNAL)
        cut.signal = load<SvdWireSignal>(signal);
      execute_slowly(code, exit, bytes, &cut);
    } else {
      execute(code, exit, bytes);
    }
    cursor.advance(exit.record_size);
  }
  return cursor.position();
}

void Translator::define(const std::uint8_t* record) {
  auto head = load<SvdWireBlock>(record);
  auto block = read_block({record, head.record.size}, values_);
  if (!block) {
    damaged_ = true;
    return;
  }
  block->id = feed_.add(Block(block->block));
  for (CodeExit& exit : block->exits) exit.part_id = part_id(*block, exit.part);
  if (head.id >= blocks_.size())
    blocks_.resize(std::max<std::size_t>(head.id + 1, 2 * blocks_.size()));
  blocks_[head.id] = std::make_unique<CodeBlock>(std::move(*block));
}

PartId Translator::part_id(CodeBlock& code, const Part& part) {
  for (const auto& [known, id] : code.parts) {
    if (known == part) return id;
  }
  PartId id = feed_.add(code.id, part);
  code.parts.emplace_back(part, id);
  return id;
}

void Translator::execute(CodeBlock& code, const CodeExit& exit, const std::uint8_t* record) {
  if (exit.mail || current_->paused != nullptr) return execute_slowly(code, exit, record, nullptr);
  std::size_t values = values_ ? exit.values : 0;
  TraceFeed::Words words = feed_.exec(exit.part_id, exit.logged, values);
  const Term* term = code.logged.data();
  for (std::size_t i = 0; i < exit.logged; ++i) words.logged[i] = term[i].of(record);
  for (std::size_t i = 0; i < exit.optionals; ++i) {
    if (record[code.optionals[i].present_at] == 0)
      words.logged[code.optionals[i].logged] = kAbsent.value;
  }
  term = code.values.data();
  for (std::size_t i = 0; i < values; ++i) words.values[i] = term[i].of(record);
  if (exit.jump == SVD_WIRE_CALL)
    current_->stack.call(code.slots[exit.stack_slot].address.of(record), exit.return_address);
  else if (exit.jump == SVD_WIRE_RETURN)
    current_->stack.returned(code.slots[exit.stack_slot].address.of(record));
}

// With mailbox stores in it, cut by a fault, or the rest of a paused one: in parts, between which
// events stand.
void Translator::execute_slowly(CodeBlock& code, const CodeExit& exit, const std::uint8_t* record,
                                const Cut* cut) {
  Part part = exit.part;
  std::size_t slots = exit.slots;
  std::size_t known = slots;
  if (cut != nullptr) {
    // The exit that was passed last bounds where it can have been; the code before it is done.
    std::size_t way = static_cast<std::size_t>(&exit - code.exits.data());
    auto first = way == 0 ? 0 : static_cast<std::uint16_t>(code.exits[way - 1].part.end - 1);
    for (auto i = static_cast<std::uint16_t>(first); i < part.end; ++i) {
      if (code.block.instructions[i].pc.value != cut->pc) continue;
      slots = cut_slots(code, exit, record, i, cut->signal);
      known = slots == 0 ? 0 : slots - 1;
      part.end = static_cast<std::uint16_t>(i + 1);
      break;
    }
  }
  std::size_t trace_slots =
      slots < code.slots.size() ? code.slots[slots].trace_slot : code.block.slots.size();
  std::size_t known_slots =
      known < code.slots.size() ? code.slots[known].trace_slot : code.block.slots.size();
  part.end_slot = static_cast<std::uint16_t>(trace_slots);
  run_part(code, part, record, slots, known_slots);
  if (cut != nullptr) return;
  CallStack& stack = current_->stack;
  if (exit.jump == SVD_WIRE_CALL)
    stack.call(code.slots[exit.stack_slot].address.of(record), exit.return_address);
  else if (exit.jump == SVD_WIRE_RETURN)
    stack.returned(code.slots[exit.stack_slot].address.of(record));
}

// Up to the access `slot`; another thread comes next.
void Translator::pause(CodeBlock& code, const CodeExit& exit, const std::uint8_t* record,
                       std::size_t slot) {
  if (slot >= exit.slots) {
    damaged_ = true;
    return;
  }
  const CodeSlot& next = code.slots[slot];
  bool inside = next.trace_slot != code.slot_at(next.instruction);
  Part part{0, static_cast<std::uint16_t>(next.instruction + (inside ? 1 : 0)), 0, next.trace_slot};
  run_part(code, part, record, slot, next.trace_slot);
  current_->paused = &code;
  current_->paused_slot = static_cast<std::uint16_t>(slot);
}

// What of `part` has not run yet, which ends before the slot `slots` of the wire.
void Translator::run_part(CodeBlock& code, Part part, const std::uint8_t* record, std::size_t slots,
                          std::size_t known_slots) {
  ThreadState& thread = *current_;
  std::size_t from = 0;
  if (thread.paused != nullptr) {
    from = thread.paused_slot;
    if (thread.paused != &code || from > slots) {
      damaged_ = true;
      return;
    }
    thread.paused = nullptr;
    part.first = code.slots[from].instruction;
    part.first_slot = code.slots[from].trace_slot;
  }
  for (std::size_t i = from; i < slots; ++i) {
    const CodeSlot& slot = code.slots[i];
    if (slot.mailbox < 0) continue;
    auto word = static_cast<std::size_t>(slot.mailbox);
    thread.mailbox[word] = slot.value.of(record);
    if (word != 0) continue;
    // What stands before the instruction, then the call.
    if (slot.instruction > part.first) {
      Part before = part;
      before.end = slot.instruction;
      before.end_slot = code.slot_at(slot.instruction);
      emit(code, before, record, known_slots);
      part.first = before.end;
      part.first_slot = before.end_slot;
    }
    calls_.ring(thread, thread.mailbox[0]);
  }
  if (part.end > part.first) emit(code, part, record, known_slots);
}

void Translator::emit(CodeBlock& code, const Part& part, const std::uint8_t* record,
                      std::size_t known_slots) {
  std::size_t logged = 0;
  std::size_t values = 0;
  for (const CodeSlot& slot : code.slots) {
    if (slot.mailbox >= 0 || slot.trace_slot < part.first_slot) continue;
    if (slot.trace_slot >= part.end_slot) break;
    const Slot& in_trace = code.block.slots[slot.trace_slot];
    if (is_logged(in_trace, part))
      logged_[logged++] = slot.present(record) ? slot.address.of(record) : kAbsent.value;
    if (in_trace.is_range()) logged_[logged++] = slot.size;
    if (in_trace.has_value()) {
      bool known = slot.write || slot.trace_slot < known_slots;
      value_words_[values++] = known ? slot.value.of(record) : 0;
    }
  }
  if (!values_) values = 0;
  TraceFeed::Words words = feed_.exec(part_id(code, part), logged, values);
  std::copy_n(logged_.data(), logged, words.logged);
  std::copy_n(value_words_.data(), values, words.values);
}

// How many slots of the wire an execution that faulted in `instruction` has come to, the faulting
// access the last one. What is behind it in the record was never written.
std::size_t Translator::cut_slots(const CodeBlock& code, const CodeExit& exit,
                                  const std::uint8_t* record, std::uint16_t instruction,
                                  const std::optional<SvdWireSignal>& signal) const {
  std::size_t first = 0;
  while (first < exit.slots && code.slots[first].instruction < instruction) ++first;
  std::size_t end = first;
  while (end < exit.slots && code.slots[end].instruction == instruction) ++end;
  bool access = signal && (signal->number == SIGSEGV || signal->number == SIGBUS);
  if (!access) {
    // A division or a trap: what it reads, it has read.
    while (end > first && code.slots[end - 1].write) --end;
    return end;
  }
  for (std::size_t i = first; i < end; ++i) {
    std::uint64_t address = code.slots[i].address.of(record);
    // Of an address that no page can have the kernel tells nothing.
    bool canonical = (address >> 47U) == 0;
    if (signal->address - address < code.slots[i].size || !canonical) return i + 1;
  }
  return first;
}

}  // namespace svd
