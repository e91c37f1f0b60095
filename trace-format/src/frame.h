// SPDX-License-Identifier: Apache-2.0
//
// How chunks lie in the file, and how bytes become columns.
//
//   file    = FileHeader, chunk…, [index chunk, Trailer]
//   chunk   = ChunkHeader, size-prefixed FlatBuffer (schema/trace.fbs), zeros up to a multiple of 8
//             or, in a file that keeps the newest only, FreeHeader and what was there before
//
// Every header carries the trace's id (a hash of its process record) and every checksum covers its
// header too, so that a chunk is known for what it is without any other part of the file. All
// integers are little endian.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "bytes.h"
#include "svd/trace/result.h"
#include "trace_generated.h"

namespace svd {

inline constexpr std::uint16_t kMajorVersion = 2;  // another one cannot be read
inline constexpr std::uint16_t kMinorVersion =
    0;  // a higher one has fields and event kinds that we skip

inline constexpr std::array<char, 8> kFileMagic = {'S', 'V', 'D', 'T', 'R', 'A', 'C', 'E'};
inline constexpr std::array<char, 8> kTrailerMagic = {'S', 'V', 'D', 'I', 'N', 'D', 'E', 'X'};
inline constexpr std::uint32_t kChunkMagic = 0x43445653;  // "SVDC"
inline constexpr std::uint32_t kFreeMagic = 0x46445653;   // "SVDF"

struct FileHeader {
  std::array<char, 8> magic = kFileMagic;
  std::uint16_t major = kMajorVersion;
  std::uint16_t minor = kMinorVersion;
  std::uint32_t reserved = 0;
  std::uint64_t trace_id = 0;
  std::uint64_t checksum = 0;  // of the 24 bytes before
};

struct ChunkHeader {
  std::uint32_t magic = kChunkMagic;
  std::uint32_t size = 0;  // of the body, padding included
  std::uint64_t trace_id = 0;
  std::uint32_t ordinal = 0;
  std::uint32_t kind = 0;      // fb::Body
  std::uint64_t checksum = 0;  // of the body, seeded with that of the 24 bytes before
};

// Space that is free.
struct FreeHeader {
  std::uint32_t magic = kFreeMagic;
  std::uint32_t reserved = 0;
  std::uint64_t trace_id = 0;
  std::uint64_t size = 0;      // with this header
  std::uint64_t checksum = 0;  // of the 24 bytes before
};

struct Trailer {
  std::uint64_t index_offset = 0;
  std::uint64_t trace_id = 0;
  std::uint64_t checksum = 0;  // of the 16 bytes before
  std::array<char, 8> magic = kTrailerMagic;
};

static_assert(sizeof(FileHeader) == 32 && sizeof(ChunkHeader) == 32 && sizeof(FreeHeader) == 32 &&
              sizeof(Trailer) == 32);

std::uint64_t checksum_of(const FileHeader& header);
std::uint64_t checksum_of(const ChunkHeader& header, const std::uint8_t* body);
std::uint64_t checksum_of(const FreeHeader& header);
std::uint64_t checksum_of(const Trailer& trailer);

// Header, body and padding of a finished builder (FinishSizePrefixed), ready to be written.
Bytes frame_chunk(const flatbuffers::FlatBufferBuilder& builder, std::uint64_t trace_id,
                  std::uint32_t ordinal, fb::Body kind);

// A column, compressed if that makes it smaller. Empty columns are not stored: offset 0.
flatbuffers::Offset<fb::Column> pack_column(flatbuffers::FlatBufferBuilder& builder,
                                            const Bytes& raw, Bytes& scratch);

// Appends the column's bytes and kMissPadding zeros to `out` and returns where they start; null and
// empty columns are empty. Nothing when the column is not what a writer produces.
std::optional<std::size_t> unpack_column(const fb::Column* column, Bytes& out);

// The checked FlatBuffer in a chunk body: null unless the verifier accepts it and it is of the kind
// that the header says.
const fb::ChunkBody* chunk_body(std::span<const std::uint8_t> body, std::uint32_t kind);

}  // namespace svd
