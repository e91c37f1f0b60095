// SPDX-License-Identifier: Apache-2.0
//
// The formats are those of the Linux Standard Base, "Exception Frames", and of the Itanium C++ ABI.
#include "cfg/eh_frame.h"

#include <cstring>
#include <optional>

namespace svd {

namespace {

constexpr std::uint8_t kPcRelative = 0x10;
constexpr std::uint8_t kOmitted = 0xff;

// Reads numbers one after the other; past the end they are 0 and `ok` is false.
struct Cursor {
  std::span<const std::uint8_t> bytes;
  Address address = 0;  // of the first of them
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

  // Unsigned; of signed ones only the length is needed.
  std::uint64_t leb() {
    std::uint64_t value = 0;
    for (unsigned shift = 0;; shift += 7) {
      auto byte = number<std::uint8_t>();
      if (shift < 64) value |= static_cast<std::uint64_t>(byte & 0x7f) << shift;
      if ((byte & 0x80) == 0 || !ok) return value;
    }
  }

  std::uint64_t raw(std::uint8_t encoding) {
    switch (encoding & 0x0f) {
      case 0x00:
      case 0x04:
      case 0x0c:
        return number<std::uint64_t>();
      case 0x01:
        return leb();
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

  // An address, absolute or relative to where it stands; 0 is none.
  Address pointer(std::uint8_t encoding) {
    Address here = address + at;
    std::uint64_t value = raw(encoding);
    if ((encoding & 0x70 & ~kPcRelative) != 0) ok = false;
    return value != 0 && (encoding & kPcRelative) != 0 ? here + value : value;
  }
};

// What the common part of frame descriptions says about them.
struct CommonPart {
  bool augmented = false;
  std::uint8_t addresses = 0;  // encodings
  std::uint8_t handlers = kOmitted;
};

std::optional<CommonPart> common_part(Cursor c) {
  CommonPart part;
  c.number<std::uint32_t>();                      // length
  if (c.number<std::uint32_t>() != 0) return {};  // not a common part
  auto version = c.number<std::uint8_t>();
  std::vector<char> augmentation;
  while (char letter = c.number<char>()) augmentation.push_back(letter);
  c.leb();  // alignment of code
  c.leb();  // and of data
  version == 1 ? c.number<std::uint8_t>() : c.leb();
  for (char letter : augmentation) {
    if (letter == 'z') c.leb(), part.augmented = true;
    if (letter == 'L') part.handlers = c.number<std::uint8_t>();
    if (letter == 'P') c.raw(c.number<std::uint8_t>());
    if (letter == 'R') part.addresses = c.number<std::uint8_t>();
  }
  if (!c.ok) return {};
  return part;
}

FrameDescription description(Cursor c, const CommonPart& part) {
  FrameDescription result;
  result.range.begin = c.pointer(part.addresses);
  result.range.end = result.range.begin + c.raw(part.addresses);
  if (!c.ok) return {};
  if (!part.augmented || part.handlers == kOmitted) return result;
  c.leb();
  result.handlers = c.pointer(part.handlers);
  if (!c.ok) result.handlers = 0;
  return result;
}

}  // namespace

std::vector<FrameDescription> frame_descriptions(std::span<const std::uint8_t> section,
                                                 Address address) {
  std::vector<FrameDescription> descriptions;
  std::size_t known = section.size();  // where the common part begins that was read last
  std::optional<CommonPart> part;
  Cursor c{section, address};
  while (c.at < section.size()) {
    std::size_t begin = c.at + sizeof(std::uint32_t);
    auto length = c.number<std::uint32_t>();
    if (length == 0) continue;  // the end of one linked file's part
    if (!c.ok || length > section.size() - begin) break;
    auto id = c.number<std::uint32_t>();
    if (id != 0 && id <= begin) {
      if (begin - id != known) {
        known = begin - id;
        part = common_part({section, address, known});
      }
      FrameDescription found = part ? description(c, *part) : FrameDescription{};
      if (found.range.end > found.range.begin) descriptions.push_back(found);
    }
    c = Cursor{section, address, begin + length};
  }
  return descriptions;
}

std::vector<Address> landing_pads(std::span<const std::uint8_t> table, Address address,
                                  Address code) {
  std::vector<Address> pads;
  Cursor c{table, address};
  auto encoding = c.number<std::uint8_t>();
  Address origin = encoding == kOmitted ? code : c.pointer(encoding);
  if (c.number<std::uint8_t>() != kOmitted) c.leb();  // the table of types
  encoding = c.number<std::uint8_t>();
  std::uint64_t size = c.leb();
  for (std::size_t end = c.at + size; c.ok && c.at < end;) {
    c.raw(encoding);  // the calls: where they begin, and how many bytes of code
    c.raw(encoding);
    std::uint64_t pad = c.raw(encoding);
    c.leb();  // what to do there
    if (c.ok && pad != 0) pads.push_back(origin + pad);
  }
  return pads;
}

}  // namespace svd
