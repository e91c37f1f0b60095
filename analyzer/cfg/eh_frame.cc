// SPDX-License-Identifier: Apache-2.0
//
// The format is that of the Linux Standard Base, "Exception Frames".
#include "cfg/eh_frame.h"

#include <cstring>
#include <optional>

namespace svd {

namespace {

constexpr std::uint8_t kPcRelative = 0x10;

// Reads numbers one after the other; past the end they are 0 and `ok` is false.
struct Cursor {
  std::span<const std::uint8_t> bytes;
  std::size_t at = 0;
  bool ok = true;

  template <class T>
  T number() {
    T value{};
    if (bytes.size() - at < sizeof value) return ok = false, T{};
    std::memcpy(&value, bytes.data() + at, sizeof value);
    at += sizeof value;
    return value;
  }

  // Signed or unsigned alike: what is skipped does not matter.
  std::uint64_t leb() {
    std::uint64_t value = 0;
    for (unsigned shift = 0;; shift += 7) {
      auto byte = number<std::uint8_t>();
      if (shift < 64) value |= static_cast<std::uint64_t>(byte & 0x7f) << shift;
      if ((byte & 0x80) == 0 || !ok) return value;
    }
  }

  std::uint64_t encoded(std::uint8_t format) {
    switch (format & 0x0f) {
      case 0x00:
      case 0x04:
      case 0x0c:
        return number<std::uint64_t>();
      case 0x02:
        return number<std::uint16_t>();
      case 0x03:
        return number<std::uint32_t>();
      case 0x0a:
        return static_cast<std::uint64_t>(number<std::int16_t>());
      case 0x0b:
        return static_cast<std::uint64_t>(number<std::int32_t>());
      default:
        return ok = false, 0;
    }
  }
};

// How the common part at `offset` says that addresses are encoded.
std::optional<std::uint8_t> address_encoding(std::span<const std::uint8_t> section,
                                             std::size_t offset) {
  Cursor c{section, offset};
  c.number<std::uint32_t>();                      // length
  if (c.number<std::uint32_t>() != 0) return {};  // not a common part
  auto version = c.number<std::uint8_t>();
  std::vector<char> augmentation;
  while (char letter = c.number<char>()) augmentation.push_back(letter);
  c.leb();  // alignment of code
  c.leb();  // and of data
  version == 1 ? c.number<std::uint8_t>() : c.leb();
  std::uint8_t encoding = 0;
  for (char letter : augmentation) {
    if (letter == 'z') c.leb();
    if (letter == 'L') c.number<std::uint8_t>();
    if (letter == 'P') c.encoded(c.number<std::uint8_t>());
    if (letter == 'R') encoding = c.number<std::uint8_t>();
  }
  if (!c.ok || (encoding & 0xf0 & ~kPcRelative) != 0) return {};
  return encoding;
}

}  // namespace

std::vector<AddressRange> eh_frame_ranges(std::span<const std::uint8_t> section, Address address) {
  std::vector<AddressRange> ranges;
  std::size_t known_offset = section.size();  // of the common part that was read last
  std::optional<std::uint8_t> encoding;
  Cursor c{section};
  while (c.at < section.size()) {
    std::size_t begin = c.at + sizeof(std::uint32_t);
    auto length = c.number<std::uint32_t>();
    if (length == 0) continue;  // the end of one linked file's part
    if (!c.ok || length > section.size() - begin) break;
    auto id = c.number<std::uint32_t>();
    if (id != 0 && id <= begin) {
      if (begin - id != known_offset) {
        known_offset = begin - id;
        encoding = address_encoding(section, known_offset);
      }
      if (encoding) {
        std::uint64_t origin = *encoding & kPcRelative ? address + c.at : 0;
        std::uint64_t first = origin + c.encoded(*encoding);
        std::uint64_t size = c.encoded(*encoding & 0x0f);
        if (c.ok && size != 0) ranges.push_back({first, first + size});
      }
    }
    c = Cursor{section, begin + length};
  }
  return ranges;
}

}  // namespace svd
