// SPDX-License-Identifier: Apache-2.0

#include "support/value_checker.h"

#include <fmt/format.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#include <algorithm>
#include <cstring>

namespace svd::test {
namespace {

constexpr std::array<std::string_view, 6> kStateNames{
    "first touch",  "after a store too wide for a value", "after a kernel write without data",
    "fresh memory", "memory that others can write",       "forgotten by the checker"};

constexpr std::size_t kMostFindings = 100;  // between two calls of take_findings

std::array<std::uint8_t, 8> bytes_of(std::uint64_t value) {
  std::array<std::uint8_t, 8> bytes;
  std::memcpy(bytes.data(), &value, 8);
  return bytes;
}

bool is_fault(std::int32_t signal) {
  return signal == SIGSEGV || signal == SIGBUS || signal == SIGFPE || signal == SIGILL;
}

}  // namespace

std::map<std::string, std::uint64_t> ValueChecker::unknown() const {
  std::map<std::string, std::uint64_t> result;
  for (std::size_t i = 0; i < kStates; ++i) {
    if (unknown_[i] > 0) result[std::string(kStateNames[i])] = unknown_[i];
  }
  return result;
}

ValueChecker::Page& ValueChecker::page(std::uint64_t address) {
  std::uint64_t number = address / kPageSize;
  if (number == last_number_) return *last_page_;
  auto found = pages_.find(number);
  if (found == pages_.end()) {
    if (pages_.size() == most_pages_) {
      pages_.clear();
      fresh_ = State::kForgotten;
    }
    found = pages_.emplace(number, std::make_unique<Page>()).first;
    found->second->state.fill(fresh_);
  }
  last_number_ = number;
  last_page_ = found->second.get();
  return *last_page_;
}

void ValueChecker::store(std::uint64_t address, std::uint64_t size, const std::uint8_t* bytes) {
  for (std::uint64_t i = 0; i < size; ++i) {
    Page& at = page(address + i);
    std::size_t offset = (address + i) % kPageSize;
    at.value[offset] = bytes[i];
    at.state[offset] = State::kKnown;
  }
}

void ValueChecker::fill(std::uint64_t address, std::uint64_t size, State state) {
  for (std::uint64_t i = 0; i < size; ++i) {
    page(address + i).state[(address + i) % kPageSize] = state;
  }
}

// Only pages that are known of need to hear of it.
void ValueChecker::mapping(std::uint64_t address, std::uint64_t size) {
  std::uint64_t first = address / kPageSize;
  std::uint64_t end = (address + size + kPageSize - 1) / kPageSize;
  for (auto& [number, page] : pages_) {
    if (number >= first && number < end) page->state.fill(State::kMapped);
  }
}

bool ValueChecker::shared(std::uint64_t address) const {
  auto after = shared_.upper_bound(address);
  return after != shared_.begin() && address < std::prev(after)->second;
}

void ValueChecker::load(const MemoryAccess& access) {
  ++loads_;
  std::uint64_t address = access.address.value;
  std::array<std::uint8_t, 8> bytes = bytes_of(access.value);
  std::optional<State> not_known;
  bool differs = false;
  if (shared(address)) not_known = State::kShared;
  for (std::uint64_t i = 0; i < access.size; ++i) {
    Page& at = page(address + i);
    std::size_t offset = (address + i) % kPageSize;
    State state = at.state[offset];
    if (state < State::kKnown) {
      if (!not_known) not_known = state;
      at.state[offset] = State::kSeen;
    } else if (at.value[offset] != bytes[i] && not_known != State::kShared) {
      if (!differs && findings_.size() < kMostFindings) {
        findings_.push_back(
            fmt::format("{}: reads {:#x} ({} bytes) at {:#x}, but byte {} was {:#x} when last {}",
                        access.seq.value, access.value, access.size, address, i, at.value[offset],
                        state == State::kKnown ? "stored" : "loaded"));
      }
      differs = true;
    }
    at.value[offset] = bytes[i];
  }
  if (differs) {
    ++wrong_;
  } else if (not_known) {
    ++unknown_[static_cast<std::size_t>(*not_known)];
  } else {
    ++equal_;
  }
}

void ValueChecker::access(const MemoryAccess& access) {
  if (!access.slot->write) {
    if (access.has_value) load(access);
  } else if (access.has_value) {
    store(access.address.value, access.size, bytes_of(access.value).data());
  } else {
    fill(access.address.value, access.size, State::kWide);
  }
}

void ValueChecker::settle() {
  for (const MemoryAccess& a : pending_) access(a);
  pending_.clear();
}

void ValueChecker::exec(const Exec& exec) {
  settle();
  const Part& part = exec.shape->part;
  if (part.steps() == 0) return;
  Seq last = exec.end() - 1;
  pending_thread_ = exec.thread;
  if (!exec.block().abstract()) pending_pc_ = exec.block().instructions[part.end - 1U].pc;
  exec.accesses([&](const MemoryAccess& a) {
    if (a.seq == last) {
      pending_.push_back(a);
    } else {
      access(a);
    }
  });
}

void ValueChecker::call_done(ThreadId thread, const SyscallExit& exit) {
  const Call& call = calls_[thread];
  const auto& a = call.arguments;
  if (exit.number != call.number || exit.result < 0) return;
  if (exit.number == SYS_mmap) {
    auto start = static_cast<std::uint64_t>(exit.result);
    mapping(start, a[1]);
    shared_.erase(start);
    if ((a[3] & MAP_TYPE) != MAP_PRIVATE) shared_[start] = start + a[1];
  } else if (exit.number == SYS_munmap) {
    mapping(a[0], a[1]);
    shared_.erase(a[0]);
  } else if (exit.number == SYS_madvise &&
             (a[2] == MADV_DONTNEED || a[2] == MADV_FREE || a[2] == MADV_REMOVE)) {
    mapping(a[0], a[1]);
  }
}

void ValueChecker::event(const Event& event) {
  const auto* signal = std::get_if<Signal>(&event.body);
  if (signal != nullptr && is_fault(signal->number) && event.thread == pending_thread_ &&
      signal->pc == pending_pc_) {
    pending_.clear();
  }
  settle();
  if (const auto* kernel = std::get_if<KernelAccess>(&event.body)) {
    if (kernel->access != Access::kWrite) return;
    std::uint64_t with = std::min<std::uint64_t>(kernel->size, kernel->data.size());
    store(kernel->address.value, with, kernel->data.data());
    fill(kernel->address.value + with, kernel->size - with, State::kKernel);
  } else if (const auto* map = std::get_if<Mapping>(&event.body)) {
    if (map->op == MapOp::kProtect) return;
    mapping(map->address.value, map->size);
    mapping(map->old_address.value, map->old_size);
  } else if (const auto* enter = std::get_if<SyscallEnter>(&event.body)) {
    calls_[event.thread] = {enter->number, enter->arguments};
  } else if (const auto* exit = std::get_if<SyscallExit>(&event.body)) {
    call_done(event.thread, *exit);
  } else if (std::holds_alternative<Gap>(event.body)) {
    pages_.clear();
    last_number_ = ~std::uint64_t{0};
    fresh_ = State::kForgotten;
  }
}

}  // namespace svd::test
