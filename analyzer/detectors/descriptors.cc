// SPDX-License-Identifier: Apache-2.0

#include "detectors/descriptors.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <variant>

namespace svd {
namespace {

// System calls of Linux on x86-64.
constexpr std::uint32_t kClose = 3, kPipe = 22, kSocketpair = 53, kPipe2 = 293, kEpollCtl = 233;
constexpr std::array<std::uint32_t, 5> kWrites{1, 20, 44, 46, 307};
constexpr std::array<std::uint32_t, 5> kReads{0, 19, 45, 47, 299};
constexpr std::array<std::uint32_t, 3> kEpollWaits{232, 281, 441};
constexpr std::array<std::uint32_t, 4> kEvents{213, 284, 290, 291};  // epoll, eventfd
constexpr std::array<std::uint32_t, 8> kOpens{2, 32, 41, 43, 85, 257, 288, 319};

bool is_one_of(const auto& numbers, std::uint32_t number) {
  return std::find(numbers.begin(), numbers.end(), number) != numbers.end();
}

// No object of the program lies there.
constexpr std::uint64_t kNumbers = std::uint64_t{1} << 63, kChannels = kNumbers | 1ULL << 62;

Sync operation(SyncOp op, std::uint64_t object) {
  return {.op = op, .object = Addr(object), .phase = Phase::kWhole};
}

}  // namespace

std::vector<Sync> Descriptors::operations(const Event& event) {
  std::vector<Sync> found;
  if (const auto* enters = std::get_if<SyscallEnter>(&event.body)) {
    calls_[event.thread] = {*enters, {}};
    enter(*enters, found);
  } else if (const auto* written = std::get_if<KernelAccess>(&event.body)) {
    Call& call = calls_[event.thread];
    std::uint32_t number = call.call.number;
    bool pair = number == kPipe || number == kPipe2 || number == kSocketpair;
    if (!pair || written->access != Access::kWrite || written->data.size() != 8) return found;
    call.made.resize(2);
    std::memcpy(call.made.data(), written->data.data(), 8);
  } else if (const auto* exits = std::get_if<SyscallExit>(&event.body)) {
    exit(calls_[event.thread], exits->result, found);
  }
  return found;
}

void Descriptors::enter(const SyscallEnter& call, std::vector<Sync>& found) {
  auto descriptor = static_cast<std::int32_t>(call.arguments[0]);
  if (call.number == kClose) {
    channels_.erase(descriptor);
    found.push_back(operation(SyncOp::kSemPost, kNumbers | static_cast<std::uint32_t>(descriptor)));
  } else if (is_one_of(kWrites, call.number) || call.number == kEpollCtl) {
    auto channel = channels_.find(descriptor);
    if (channel != channels_.end())
      found.push_back(operation(SyncOp::kSemPost, kChannels | channel->second));
  }
}

void Descriptors::exit(const Call& call, std::int64_t result, std::vector<Sync>& found) {
  if (result < 0) return;
  std::uint32_t number = call.call.number;
  auto descriptor = static_cast<std::int32_t>(call.call.arguments[0]);
  if (is_one_of(kReads, number) || is_one_of(kEpollWaits, number)) {
    auto channel = channels_.find(descriptor);
    if (result > 0 && channel != channels_.end())
      found.push_back(operation(SyncOp::kSemWait, kChannels | channel->second));
  } else if (is_one_of(kOpens, number)) {
    made(static_cast<std::int32_t>(result), 0, found);
  } else if (is_one_of(kEvents, number)) {
    made(static_cast<std::int32_t>(result), next_channel_++, found);
  } else if (!call.made.empty()) {
    std::uint64_t channel = next_channel_++;
    for (std::int32_t end : call.made) made(end, channel, found);
  }
}

void Descriptors::made(std::int32_t descriptor, std::uint64_t channel, std::vector<Sync>& found) {
  if (channel != 0) channels_[descriptor] = channel;
  found.push_back(operation(SyncOp::kSemWait, kNumbers | static_cast<std::uint32_t>(descriptor)));
}

}  // namespace svd
