// SPDX-License-Identifier: Apache-2.0
//
// Contents of a ring, written in a test record by record, and what the collector makes of them: the
// trace as lines of text, an access or an event each.
#pragma once

#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "svd/wire/ring.h"

namespace svd::test {

// One block: instructions of four bytes from `pc` on. The record of an execution is laid out by
// the caller.
struct WireCode {
  std::uint32_t id = 1;
  std::uint64_t pc = 0x1000;
  std::uint32_t instructions = 1;
  std::vector<SvdWireSlot> slots{};
  std::vector<SvdWireExit> exits{};
};

SvdWireQuantity logged(std::uint32_t at);
SvdWireQuantity constant(std::uint64_t value);
SvdWireQuantity address_of(std::uint16_t slot, std::uint64_t plus);
SvdWireQuantity value_of(std::uint16_t slot, std::uint64_t plus);
SvdWireSlot reads(std::uint16_t instruction, SvdWireQuantity address, SvdWireQuantity value,
                  std::uint16_t size = 8);
SvdWireSlot writes(std::uint16_t instruction, SvdWireQuantity address, SvdWireQuantity value,
                   std::uint16_t size = 8);
SvdWireExit leaves(std::uint16_t instructions, std::uint16_t slots, std::uint32_t record_size,
                   std::uint32_t jump = SVD_WIRE_JUMP);
// A block that stores `words` (number and value, the bell last) to the mailbox, an instruction
// each, between two instructions that store nothing.
WireCode mailbox_code(std::uint32_t id, std::vector<std::pair<unsigned, std::uint64_t>> words);

class WireLog {
 public:
  // From position `start` of a ring on.
  explicit WireLog(std::uint64_t start = 0) : start_(start), end_(start) {}

  WireLog& block(const WireCode& code);
  WireLog& exec(std::uint32_t block, std::uint32_t exit, const std::vector<std::uint64_t>& words,
                std::uint32_t record_size = 0);
  template <class T>
  WireLog& record(T record, const std::string& text = "") {
    record.record.size = static_cast<std::uint32_t>((sizeof record + text.size() + 7) & ~7U);
    record.record.text_size = static_cast<std::uint32_t>(text.size());
    return put(&record, sizeof record, text, record.record.size);
  }
  WireLog& head(std::uint32_t type, std::uint32_t tid = 0, const std::string& text = "");
  WireLog& first_thread();
  WireLog& run(std::uint32_t tid) { return head(SVD_WIRE_SWITCH, tid); }

  const std::vector<std::uint8_t>& bytes() const { return bytes_; }
  std::uint64_t end() const { return end_; }
  std::uint64_t start() const { return start_; }

  static constexpr std::uint64_t kCapacity = 1U << 20;
  static constexpr std::uint64_t kSlack = 1U << 16;

 private:
  WireLog& put(const void* data, std::size_t size, const std::string& text, std::size_t total);
  std::uint64_t start_;
  std::uint64_t end_;
  std::vector<std::uint8_t> bytes_;
};

struct Translated {
  std::vector<std::string> lines;  // "2 0x1004 w 0x50:8 = 7", "2 mutex-lock 0x40 begin"
  std::uint64_t consumed = 0;
  bool damaged = false;
};

// `last`: nothing will follow the log.
Translated translate(const WireLog& log, bool last = true, bool values = true);

}  // namespace svd::test
