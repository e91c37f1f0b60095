// SPDX-License-Identifier: Apache-2.0
//
// Builds the example's program bottom-up: leaf functions, functions that call them, then the few
// with a name that tell the story.

#include "support/example_trace_program.h"

#include <array>
#include <utility>
#include <vector>

#include "support/example_trace_assembler.h"

namespace svd::example {
namespace {

void compute(Assembler& a) {
  static const std::array<std::vector<std::uint8_t>, 8> kForms{{{0x48, 0x01, 0xd8},
                                                                {0x31, 0xc0},
                                                                {0x48, 0x8d, 0x47, 0x08},
                                                                {0x48, 0x39, 0xd8},
                                                                {0x85, 0xc0},
                                                                {0x48, 0x89, 0xd8},
                                                                {0x48, 0xc1, 0xe0, 0x03},
                                                                {0x83, 0xc1, 0x01}}};
  const auto& form = kForms[a.random.below(kForms.size())];
  switch (form.size()) {
    case 2:
      return a.op({form[0], form[1]});
    case 3:
      return a.op({form[0], form[1], form[2]});
    default:
      return a.op({form[0], form[1], form[2], form[3]});
  }
}

void array_access(Assembler& a, bool write) {
  static constexpr std::array<std::uint32_t, 4> kSteps{1, 1, 2, 8};
  auto size =
      static_cast<std::uint16_t>(1U << (2 * a.random.below(2) + a.random.below(2)));  // 1, 2, 4, 8
  Plan plan;
  plan.stride = size * kSteps[a.random.below(kSteps.size())];
  plan.constant = a.random.below(2);
  if (size == 2) a.op({0x66, static_cast<std::uint8_t>(write ? 0x89 : 0x8b), 0x04, 0x4e});
  if (size == 1) a.op({static_cast<std::uint8_t>(write ? 0x88 : 0x8a), 0x04, 0x0e});
  if (size == 4) a.op({static_cast<std::uint8_t>(write ? 0x89 : 0x8b), 0x04, 0x8e});
  if (size == 8) a.op({0x48, static_cast<std::uint8_t>(write ? 0x89 : 0x8b), 0x04, 0xce});
  a.access(Place::kArray, size, write, a.program.walks++, plan);
}

void global_access(Assembler& a, std::uint64_t address, bool write, Plan plan = {}) {
  a.op_relative({static_cast<std::uint8_t>(write ? 0x89 : 0x8b), 0x05}, address);
  a.access(Place::kGlobal, 4, write, static_cast<std::uint32_t>(address), plan);
}

void count_up_locked(Assembler& a, std::uint64_t address) {
  a.op_relative({0xf0, 0x0f, 0xc1, 0x05}, address);  // lock xadd [address], eax
  a.access(Place::kGlobal, 4, false, static_cast<std::uint32_t>(address)).atomic = true;
  a.access(Place::kGlobal, 4, true, static_cast<std::uint32_t>(address), {.constant = 1}).atomic =
      true;
}

void follow_chain(Assembler& a) {
  a.op({0x48, 0x8b, 0x43, 0x08});  // mov rax, [rbx+8]
  a.access(Place::kChain, 8, false, 8);
  auto root = static_cast<std::uint16_t>(a.program.code.back().plans.size() - 1);
  a.op({0x48, 0x8b, 0x1b});  // mov rbx, [rbx]
  Slot& slot = a.access(Place::kChain, 8, false, 0);
  slot.source = AddressSource::kSlot, slot.base = root, slot.offset = ~std::uint64_t{7};
}

void memory(Assembler& a) {
  std::uint32_t kind = a.random.below(100);
  bool write = a.random.below(3) == 0;
  auto offset = static_cast<std::uint8_t>(8 * a.random.below(8));
  if (kind < 48) {
    a.op({0x48, static_cast<std::uint8_t>(write ? 0x89 : 0x8b), 0x44, 0x24, offset});
    a.stack_access(offset, write, {.constant = 1});
  } else if (kind < 70) {
    array_access(a, write);
  } else if (kind < 80) {
    global_access(a, Layout::kCounters + 4 * a.random.below(Layout::kCounterCount), write,
                  {.constant = 1});
  } else if (kind < 90) {
    a.op({static_cast<std::uint8_t>(write ? 0x89 : 0x8b), 0x47,
          static_cast<std::uint8_t>(64 + offset)});
    a.session_access(64U + offset, write);
  } else if (kind < 99) {
    follow_chain(a);
  } else {
    count_up_locked(a, Layout::kCounters + 4 * a.random.below(Layout::kCounterCount));
  }
}

void body(Assembler& a, std::uint32_t least) {
  std::uint32_t count = least + a.random.below(5) + a.random.below(6);
  for (std::uint32_t i = 0; i < count; ++i) a.random.below(100) < 46 ? memory(a) : compute(a);
}

// A function of `blocks` blocks with loops, branches and side exits that calls each of `callees`
// once.
std::uint32_t function(Assembler& a, std::uint32_t blocks,
                       const std::vector<std::uint32_t>& callees, Action entry = Action::kNone,
                       Action exit = Action::kNone) {
  std::uint32_t first = a.open(entry);
  std::uint32_t last = first + blocks - 1;
  a.push_frame();
  body(a, 0);
  std::size_t called = 0;
  while (a.next() < last) {
    std::uint32_t here = a.open();
    std::uint32_t ahead = last - here;  // blocks after this one
    if (a.random.below(100) < 12 && ahead > 1) {
      body(a, 1);
      a.side_exit(here + 1 + a.random.below(ahead));
    }
    bool must_call = callees.size() - called >= ahead;
    std::uint32_t kind = a.random.below(100);
    if (called < callees.size() && (must_call || kind < 30)) {
      body(a, 0);
      a.call(callees[called++]);
    } else if (kind < 55) {
      body(a, 1);
      a.flow(Flow::kLoop, {0x0f, 0x85}, here, 2 + a.random.below(callees.empty() ? 14 : 4));
    } else if (kind < 85) {
      body(a, 1);
      a.flow(Flow::kBranch, {0x0f, 0x84}, here + 1 + a.random.below(ahead),
             a.random.below(4) == 0 ? 128 : 12);
    } else {
      body(a, 2);
    }
  }
  a.open(exit);
  body(a, 0);
  a.pop_frame_and_return();
  return first;
}

std::uint32_t copy_bytes(Assembler& a) {
  std::uint32_t first = a.open();
  a.op({0x48, 0x89, 0xd1});  // mov rcx, rdx
  a.op({0xf3, 0xa4});        // rep movsb
  a.access(Place::kSource, 0, false, 0);
  a.access(Place::kTarget, 0, true, 0);
  a.op({0xc3});
  a.stack_access(0, false);
  a.program.code.back().flow = Flow::kReturn;
  a.program.code.back().stack_change = 8;
  a.function_symbol("copy_bytes", first);
  return first;
}

std::uint32_t flush_log(Assembler& a) {
  std::uint32_t first = a.open(Action::kLock);
  a.push_frame();
  global_access(a, Layout::kOutcnt, false);
  a.open(Action::kSend);
  a.op_relative({0xc7, 0x05}, Layout::kOutcnt, {0, 0, 0, 0});
  a.access(Place::kGlobal, 4, true, Layout::kOutcnt, {.store = Store::kConstant});
  a.open(Action::kUnlock);
  a.pop_frame_and_return();
  a.function_symbol("flush_log", first);
  return first;
}

std::uint32_t close_log(Assembler& a) {
  std::uint32_t first = a.open(Action::kLock);
  a.push_frame();
  a.op_relative({0x48, 0xc7, 0x05}, Layout::kLogPtr, {0, 0, 0, 0});
  a.access(Place::kGlobal, 8, true, Layout::kLogPtr, {.store = Store::kConstant});
  a.open(Action::kUnlock);
  a.pop_frame_and_return();
  a.function_symbol("close_log", first);
  return first;
}

void load_log_ptr(Assembler& a) {
  a.op_relative({0x48, 0x8b, 0x05}, Layout::kLogPtr);
  a.access(Place::kGlobal, 8, false, Layout::kLogPtr);
}

// The bug: nothing holds log_mutex between the check of log_ptr and its use.
std::uint32_t append_log(Assembler& a, std::uint32_t flush) {
  std::uint32_t first = a.open();
  a.push_frame();
  a.program.append_check = a.open();
  load_log_ptr(a);
  a.op({0x48, 0x85, 0xc0});  // test rax, rax
  a.flow(Flow::kBranch, {0x0f, 0x84}, first + 4, 0);
  a.program.append_use = a.open();
  load_log_ptr(a);
  global_access(a, Layout::kOutcnt, false);
  a.op({0x89, 0x14, 0x08});  // mov [rax+rcx], edx
  a.access(Place::kLog, 4, true, 0);
  a.program.fault = static_cast<std::uint16_t>(a.program.code.back().block.size() - 1);
  a.op({0x83, 0xc1, 0x04});  // add ecx, 4
  global_access(a, Layout::kOutcnt, true, {.constant = 4});
  a.flow(Flow::kBranch, {0x0f, 0x8c}, first + 4, 250);
  a.open();
  a.call(flush);
  a.open();
  a.pop_frame_and_return();
  a.function_symbol("append_log", first);
  return first;
}

std::uint32_t handle_request(Assembler& a, const std::vector<std::uint32_t>& stages) {
  std::uint32_t first = a.open(Action::kOpenSession);
  a.push_frame();
  a.open(Action::kReceive);
  a.call(stages[0]);
  for (std::size_t i = 1; i < stages.size(); ++i) {
    a.open();
    body(a, 1);
    a.call(stages[i]);
  }
  a.open(Action::kSend);
  count_up_locked(a, Layout::kRequestsServed);
  a.open(Action::kCloseSession);
  a.pop_frame_and_return();
  a.function_symbol("handle_request", first);
  return first;
}

}  // namespace

Program make_program(std::uint64_t seed) {
  Assembler a(seed);
  std::vector<std::uint32_t> leaves(220);
  for (std::uint32_t& leaf : leaves) leaf = function(a, 6 + a.random.below(8), {});
  std::uint32_t copy = copy_bytes(a);
  auto some_leaves = [&](std::uint32_t count) {
    std::vector<std::uint32_t> chosen;
    while (chosen.size() < count)
      chosen.push_back(leaves[a.random.below(static_cast<std::uint32_t>(leaves.size()))]);
    return chosen;
  };
  auto named = [&](const char* name, std::uint32_t blocks, std::vector<std::uint32_t> callees) {
    std::uint32_t first = function(a, blocks, callees);
    a.function_symbol(name, first);
    return first;
  };
  std::vector<std::uint32_t> parse_calls = some_leaves(12);
  parse_calls.insert(parse_calls.begin() + 3, copy);
  std::uint32_t parse = named("parse_header", 30, parse_calls);
  std::uint32_t find = named("find_session", 20, some_leaves(8));
  std::uint32_t render = named("render_page", 120, some_leaves(50));
  std::uint32_t housekeeping = named("expire_sessions", 60, some_leaves(25));
  std::uint32_t append = append_log(a, flush_log(a));
  std::uint32_t request = handle_request(a, {parse, find, append, render, append});
  std::uint32_t close = close_log(a);

  a.program.worker = a.open();
  a.push_frame();
  std::uint32_t serve = a.open();
  a.call(request);
  a.open();
  a.flow(Flow::kJump, {0xe9}, serve);
  a.function_symbol("worker", a.program.worker);

  a.program.main = a.open();
  a.push_frame();
  std::uint32_t idle = a.open();
  a.call(housekeeping);
  a.program.main_test = a.open();
  compute(a);
  a.flow(Flow::kBranch, {0x0f, 0x84}, idle, 256);
  a.open();
  a.call(close);
  a.open();
  a.pop_frame_and_return();
  a.function_symbol("main", a.program.main);

  auto data = [&](const char* name, std::uint64_t address, std::uint64_t size) {
    a.program.symbols.push_back({name, SymbolKind::kData, address, size});
  };
  data("log_ptr", Layout::kLogPtr, 8);
  data("outcnt", Layout::kOutcnt, 4);
  data("requests_served", Layout::kRequestsServed, 4);
  data("log_mutex", Layout::kLogMutex, 40);
  data("log_buffer", Layout::kLogBuffer, Layout::kLogBufferSize);
  data("counters", Layout::kCounters, 4 * Layout::kCounterCount);
  return a.finish();
}

}  // namespace svd::example
