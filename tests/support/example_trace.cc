// SPDX-License-Identifier: Apache-2.0
//
// Runs the example program: simulated memory, threads in time slices, one lock, and the crash that
// closes the story. The hot path is Machine::execute; everything it needs lies in flat arrays.

#include "support/example_trace.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <string>

#include "support/example_trace_program.h"
#include "support/example_trace_state.h"

namespace svd::example {
namespace {

constexpr std::uint64_t kHeap = 0x5a0000;
constexpr std::uint64_t kArrayBytes = 1U << 14;  // of one array; a thread has kArrays
constexpr std::uint64_t kArrays = 8;
constexpr std::uint64_t kNodes = 512;  // of one thread's list
constexpr std::uint64_t kNodeBytes = 32;
constexpr std::uint64_t kSessionBytes = 512;
constexpr std::uint64_t kStackBytes = 1U << 14;
constexpr std::uint64_t kSliceSteps = 20'000;  // on average; shorter in short traces
constexpr std::size_t kMostSlots = 64;         // of one block

class Machine {
 public:
  Machine(const Options& options, TraceWriter& writer);
  std::uint64_t run();

 private:
  void start();
  void run_slice(Thread& thread, std::uint64_t steps);
  void run_until(Thread& thread, std::uint32_t block);
  bool step(Thread& thread);  // false: it waits for the lock
  bool act(Thread& thread, Action action);
  void execute(Thread& thread, std::uint32_t block, const Part& part);
  void place(Thread& thread, const Slot& slot, const Plan& plan, std::uint64_t& address,
             std::uint8_t*& host);
  std::uint64_t new_value(const Thread& thread, const Slot& slot, const Plan& plan,
                          std::uint64_t address) const;
  void follow(Thread& thread, const Code& code);
  void switch_to(Thread& thread);
  void system_call(Thread& thread, std::uint32_t number, Access access, std::uint64_t size);
  void crash(Thread& victim);

  Options options_;
  TraceWriter& writer_;
  Program program_;
  Random random_;
  Digest digest_;
  std::vector<Part> whole_;
  Region globals_{Layout::kGlobals, Layout::kGlobalsSize};
  Region heap_;
  std::vector<Region> stacks_;
  std::vector<Thread> threads_;
  std::vector<std::uint64_t> free_sessions_;
  Thread* running_ = nullptr;
  Thread* holder_ = nullptr;
  bool closing_ = false;
};

std::uint64_t heap_bytes(std::uint32_t threads) {
  return threads * (kArrays * kArrayBytes + kNodes * kNodeBytes + 2 * kSessionBytes);
}

Machine::Machine(const Options& options, TraceWriter& writer)
    : options_(options),
      writer_(writer),
      program_(make_program(options.seed)),
      random_(options.seed + 1),
      heap_(kHeap, heap_bytes(options.threads)) {
  for (const Symbol& symbol : program_.symbols) writer.add(symbol);
  for (const Code& code : program_.code) {
    SVD_CHECK(code.block.slots.size() <= kMostSlots);
    writer.add(code.block);
    whole_.push_back(Part::whole(code.block));
  }
  std::uint64_t free = kHeap;
  threads_.resize(options.threads);
  for (std::uint32_t i = 0; i < options.threads; ++i) {
    Thread& thread = threads_[i];
    stacks_.emplace_back(i == 0 ? 0x7ffffffde000 : 0x7f2a00000000 + i * 0x801000, kStackBytes);
    thread.id = ThreadId(i + 1);
    thread.block = i == 0 ? program_.main : program_.worker;
    thread.stack_pointer = stacks_[i].address + kStackBytes - 64;
    thread.rounds.resize(program_.code.size());
    thread.positions.resize(program_.walks);
    for (std::uint32_t& position : thread.positions) position = random_.below(kArrayBytes);
    thread.arrays = free;
    free += kArrays * kArrayBytes;
    // The list's nodes lie in the order of one fixed shuffle: node k's successor is k * 5 + 1
    // modulo their number.
    thread.chain = free;
    for (std::uint64_t k = 0; k < kNodes; ++k) {
      store(heap_.host(free + k * kNodeBytes), 8, free + (k * 5 + 1) % kNodes * kNodeBytes);
      store(heap_.host(free + k * kNodeBytes + 8), 8, random_.below(1000));
    }
    free += kNodes * kNodeBytes;
    for (int k = 0; k < 2; ++k, free += kSessionBytes) free_sessions_.push_back(free);
  }
  for (Thread& thread : threads_) thread.session = free_sessions_[0];
  store(globals_.host(Layout::kLogPtr), 8, Layout::kLogBuffer);
}

void Machine::place(Thread& thread, const Slot& slot, const Plan& plan, std::uint64_t& address,
                    std::uint8_t*& host) {
  switch (plan.place) {
    case Place::kStack:
      address =
          thread.stack_pointer + static_cast<std::uint64_t>(static_cast<std::int32_t>(plan.where));
      host = stacks_[thread.id.value - 1].host(address);
      return;
    case Place::kGlobal:
      address = plan.where;
      host = globals_.host(address);
      return;
    case Place::kArray: {
      std::uint32_t& position = thread.positions[plan.where];
      position += plan.stride;
      std::uint64_t mask = (kArrayBytes - 1) & ~std::uint64_t{slot.size - 1U};
      address = thread.arrays + plan.where % kArrays * kArrayBytes + (position & mask);
      break;
    }
    case Place::kChain:
      address = thread.chain + plan.where;
      break;
    case Place::kSource:
    case Place::kSession:
      address = thread.session + plan.where;
      break;
    case Place::kTarget:
      address = thread.arrays;
      break;
    case Place::kLog:
      address = load(globals_.host(Layout::kLogPtr), 8) +
                (load(globals_.host(Layout::kOutcnt), 4) & 0xffcU);
      host = address < kHeap && address >= Layout::kGlobals ? globals_.host(address) : nullptr;
      return;
  }
  host = heap_.host(address);
}

std::uint64_t Machine::new_value(const Thread& thread, const Slot& slot, const Plan& plan,
                                 std::uint64_t address) const {
  std::uint64_t value = plan.store == Store::kFrame      ? address + 80
                        : plan.store == Store::kConstant ? plan.constant
                                                         : thread.last + plan.constant;
  return slot.size == 8 ? value : value & ((std::uint64_t{1} << (8 * slot.size)) - 1);
}

void Machine::execute(Thread& thread, std::uint32_t block, const Part& part) {
  const Code& code = program_.code[block];
  std::array<std::uint64_t, 2 * kMostSlots> logged;
  std::array<std::uint64_t, kMostSlots> values;
  std::size_t logs = 0;
  std::size_t kept = 0;
  digest_.add(thread.id.value), digest_.add(block), digest_.add(part.steps());
  for (std::size_t i = part.first_slot; i < part.end_slot; ++i) {
    const Slot& slot = code.block.slots[i];
    const Plan& plan = code.plans[i];
    std::uint64_t address = 0;
    std::uint8_t* host = nullptr;
    place(thread, slot, plan, address, host);
    if (slot.source == AddressSource::kLogged) logged[logs++] = address;
    digest_.add(address);
    if (slot.is_range()) {
      std::uint64_t size = 16 + (thread.last & 0xf0);
      logged[logs++] = size;
      digest_.add(size);
      if (slot.write) std::memmove(host, heap_.host(thread.session), size);
      continue;
    }
    std::uint64_t value;
    if (slot.write) {
      value = new_value(thread, slot, plan, address);
      if (host != nullptr) store(host, slot.size, value);
    } else {
      value = thread.last = load(host, slot.size);
      if (plan.place == Place::kChain && plan.where == 0) thread.chain = value;
    }
    values[kept++] = value;
    digest_.add(value);
  }
  writer_.exec(BlockId(block), part, logged.data(), values.data());
}

void Machine::follow(Thread& thread, const Code& code) {
  std::uint32_t next = thread.block + 1;
  thread.stack_pointer += static_cast<std::uint64_t>(std::int64_t{code.stack_change});
  switch (code.flow) {
    case Flow::kNext:
      thread.block = next;
      break;
    case Flow::kJump:
      thread.block = code.target;
      break;
    case Flow::kBranch:
      thread.block =
          random_.chance(code.chance) && !(closing_ && thread.block == program_.main_test)
              ? code.target
              : next;
      break;
    case Flow::kLoop: {
      std::uint16_t& rounds = thread.rounds[thread.block];
      bool again = ++rounds < code.chance;
      thread.block = again ? code.target : next;
      if (!again) rounds = 0;
      break;
    }
    case Flow::kCall:
      thread.returns.push_back(next);
      thread.block = code.target;
      break;
    case Flow::kReturn:
      thread.block = thread.returns.back();
      thread.returns.pop_back();
      break;
  }
}

void Machine::system_call(Thread& thread, std::uint32_t number, Access access, std::uint64_t size) {
  std::array<std::uint8_t, 64> data{};
  if (access == Access::kWrite) {
    for (std::uint8_t& byte : data) byte = static_cast<std::uint8_t>('a' + random_.below(26));
    std::memcpy(heap_.host(thread.session), data.data(), data.size());
  } else {
    std::memcpy(data.data(), heap_.host(thread.session), data.size());
  }
  SyscallEnter enter;
  enter.number = number;
  enter.arguments = {4 + thread.id.value, thread.session, size, 0, 0, 0};
  writer_.event(thread.id, enter);
  writer_.event(thread.id, KernelAccess{access, Addr(thread.session), data.size(), data});
  writer_.event(thread.id, SyscallExit{number, static_cast<std::int64_t>(data.size())});
}

bool Machine::act(Thread& thread, Action action) {
  Sync lock;
  lock.object = Addr(Layout::kLogMutex);
  switch (action) {
    case Action::kNone:
      break;
    case Action::kLock:
      lock.phase = Phase::kBegin;
      if (!thread.waits) writer_.event(thread.id, lock);
      thread.waits = holder_ != nullptr;
      if (thread.waits) return false;
      holder_ = &thread;
      lock.phase = Phase::kEnd;
      writer_.event(thread.id, lock);
      break;
    case Action::kUnlock:
      lock.op = SyncOp::kMutexUnlock;
      holder_ = nullptr;
      writer_.event(thread.id, lock);
      break;
    case Action::kReceive:
      system_call(thread, 0, Access::kWrite, kSessionBytes);
      break;
    case Action::kSend:
      system_call(thread, 1, Access::kRead, 64);
      break;
    case Action::kOpenSession:
      thread.session = free_sessions_.back();
      free_sessions_.pop_back();
      writer_.event(thread.id, Allocation{AllocFn::kMalloc, Addr(thread.session), kSessionBytes, 16,
                                          kNoStack});
      break;
    case Action::kCloseSession:
      free_sessions_.push_back(thread.session);
      writer_.event(thread.id, Release{AllocFn::kFree, Addr(thread.session), kNoStack});
      break;
  }
  return true;
}

bool Machine::step(Thread& thread) {
  const Code& code = program_.code[thread.block];
  if (code.action != Action::kNone && !act(thread, code.action)) return false;
  if (code.side_exit != 0 && random_.chance(10)) {
    execute(thread, thread.block, Part::of(code.block, 0, code.side_exit));
    thread.block = code.side_target;
    return true;
  }
  execute(thread, thread.block, whole_[thread.block]);
  follow(thread, code);
  return true;
}

void Machine::switch_to(Thread& thread) {
  if (running_ != &thread) writer_.run(thread.id);
  running_ = &thread;
}

void Machine::run_slice(Thread& thread, std::uint64_t steps) {
  switch_to(thread);
  Seq end = writer_.now() + steps;
  while (writer_.now() < end && step(thread)) {
  }
}

// Runs the thread up to a block; whoever holds the lock that it waits for goes first.
void Machine::run_until(Thread& thread, std::uint32_t block) {
  switch_to(thread);
  while (thread.block != block) {
    if (step(thread)) continue;
    switch_to(*holder_);
    for (Thread* holder = holder_; holder_ == holder;) step(*holder);
    switch_to(thread);
  }
}

void Machine::start() {
  for (Thread& thread : threads_) {
    const Region& stack = stacks_[thread.id.value - 1];
    std::string name =
        thread.id.value == 1 ? "main" : "worker-" + std::to_string(thread.id.value - 1);
    Pc routine = program_.code[thread.block].block.instructions[0].pc;
    if (thread.id.value > 1)
      writer_.event(threads_[0].id, ThreadCreate{thread.id, routine, Pc(Layout::kCode)});
    writer_.event(thread.id, ThreadStart{threads_[0].id, 4000 + thread.id.value,
                                         Addr(stack.address), kStackBytes, name});
  }
}

// The victim has checked log_ptr; main closes the log; the victim uses it.
void Machine::crash(Thread& victim) {
  Thread& main = threads_[0];
  run_until(main, program_.main_test);
  run_until(victim, program_.append_use);
  closing_ = true;
  run_until(main, program_.main_test + 2);
  switch_to(victim);
  const Block& block = program_.code[program_.append_use].block;
  execute(victim, program_.append_use,
          Part::of(block, 0, static_cast<std::uint16_t>(program_.fault + 1)));
  Signal signal;
  signal.number = 11;
  signal.code = 1;  // SEGV_MAPERR
  signal.address = Addr(load(globals_.host(Layout::kOutcnt), 4) & 0xffcU);
  signal.pc = block.instructions[program_.fault].pc;
  signal.fatal = true;
  writer_.event(victim.id, signal);
  writer_.event(victim.id, ProcessEnd{EndKind::kSignal, signal.number});
}

std::uint64_t Machine::run() {
  start();
  std::uint64_t slice = std::clamp<std::uint64_t>(options_.instructions / 50, 100, kSliceSteps);
  while (writer_.now().value < options_.instructions) {
    Thread& thread = threads_[random_.below(options_.threads)];
    if (!thread.waits || holder_ == nullptr)
      run_slice(thread, random_.below(static_cast<std::uint32_t>(2 * slice)));
  }
  crash(threads_[1 + random_.below(options_.threads - 1)]);
  return digest_.value();
}

}  // namespace

Process process(const Options& options) {
  Process process;
  process.executable = "/srv/example/server";
  process.arguments = {"./server", "--threads=" + std::to_string(options.threads)};
  process.working_directory = "/srv/example";
  process.engine = "example";
  process.engine_version = "1";
  process.engine_options = "seed=" + std::to_string(options.seed);
  process.start_time_ns = 1'700'000'000'000'000'000;
  process.pid = 4001;
  process.parent_pid = 4000;
  return process;
}

std::uint64_t write_trace(const Options& options, TraceWriter& writer) {
  SVD_CHECK(options.threads >= 2);
  return Machine(options, writer).run();
}

Status write_file(const Options& options, const std::string& path) {
  auto writer = TraceWriter::create(path, process(options));
  if (!writer) return writer.error();
  write_trace(options, **writer);
  return (*writer)->finish();
}

}  // namespace svd::example
