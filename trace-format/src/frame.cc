// SPDX-License-Identifier: Apache-2.0

#include "frame.h"

#include <lz4.h>
#include <xxhash.h>

#include "predict.h"
#include "svd/trace/limits.h"

namespace svd {

namespace {

// Fixed part of what LZ4 can gain: a match length grows by 255 per byte.
constexpr std::size_t kMaxLz4Ratio = 256;

}  // namespace

std::uint64_t checksum_of(const FileHeader& header) {
  return XXH3_64bits(&header, sizeof header - sizeof header.checksum);
}

std::uint64_t checksum_of(const ChunkHeader& header, const std::uint8_t* body) {
  return XXH3_64bits_withSeed(body, header.size,
                              XXH3_64bits(&header, sizeof header - sizeof header.checksum));
}

std::uint64_t checksum_of(const FreeHeader& header) {
  return XXH3_64bits(&header, sizeof header - sizeof header.checksum);
}

std::uint64_t checksum_of(const Trailer& trailer) {
  return XXH3_64bits(&trailer, offsetof(Trailer, checksum));
}

Bytes frame_chunk(const flatbuffers::FlatBufferBuilder& builder, std::uint64_t trace_id,
                  std::uint32_t ordinal, fb::Body kind) {
  std::size_t padded = (builder.GetSize() + 7) / 8 * 8;
  SVD_CHECK(sizeof(ChunkHeader) + padded <= kMaxChunkBytes);
  ChunkHeader header;
  header.size = static_cast<std::uint32_t>(padded);
  header.trace_id = trace_id;
  header.ordinal = ordinal;
  header.kind = static_cast<std::uint32_t>(kind);
  Bytes chunk(sizeof header + padded);
  std::memcpy(chunk.data() + sizeof header, builder.GetBufferPointer(), builder.GetSize());
  header.checksum = checksum_of(header, chunk.data() + sizeof header);
  std::memcpy(chunk.data(), &header, sizeof header);
  return chunk;
}

flatbuffers::Offset<fb::Column> pack_column(flatbuffers::FlatBufferBuilder& builder,
                                            const Bytes& raw, Bytes& scratch) {
  if (raw.empty()) return 0;
  SVD_CHECK(raw.size() <= kMaxColumnBytes);
  scratch.resize(static_cast<std::size_t>(LZ4_compressBound(static_cast<int>(raw.size()))));
  int packed = LZ4_compress_default(reinterpret_cast<const char*>(raw.data()),
                                    reinterpret_cast<char*>(scratch.data()),
                                    static_cast<int>(raw.size()), static_cast<int>(scratch.size()));
  bool smaller = packed > 0 && static_cast<std::size_t>(packed) < raw.size();
  auto data = smaller ? builder.CreateVector(scratch.data(), static_cast<std::size_t>(packed))
                      : builder.CreateVector(raw.data(), raw.size());
  return fb::CreateColumn(builder, smaller ? fb::Codec::Lz4 : fb::Codec::Raw,
                          static_cast<std::uint32_t>(raw.size()), data);
}

std::optional<std::size_t> unpack_column(const fb::Column* column, Bytes& out) {
  std::size_t start = out.size();
  if (column == nullptr) {
    out.resize(start + kMissPadding);
    return start;
  }
  const auto* data = column->data();
  std::size_t raw = column->raw_size();
  if (raw > kMaxColumnBytes || raw > data->size() * kMaxLz4Ratio) return std::nullopt;
  out.resize(start + raw + kMissPadding);
  if (column->codec() == fb::Codec::Raw) {
    if (raw != data->size()) return std::nullopt;
    std::memcpy(out.data() + start, data->data(), raw);
    return start;
  }
  if (column->codec() != fb::Codec::Lz4) return std::nullopt;
  int unpacked = LZ4_decompress_safe(reinterpret_cast<const char*>(data->data()),
                                     reinterpret_cast<char*>(out.data() + start),
                                     static_cast<int>(data->size()), static_cast<int>(raw));
  if (unpacked < 0 || static_cast<std::size_t>(unpacked) != raw) return std::nullopt;
  return start;
}

const fb::ChunkBody* chunk_body(std::span<const std::uint8_t> body, std::uint32_t kind) {
  // The verifier wants the exact size, without our padding.
  std::uint32_t size;
  if (body.size() < sizeof size) return nullptr;
  std::memcpy(&size, body.data(), sizeof size);
  if (size > body.size() - sizeof size || body.size() - sizeof size - size >= 8) return nullptr;
  flatbuffers::Verifier verifier(body.data(), sizeof size + size);
  if (!fb::VerifySizePrefixedChunkBodyBuffer(verifier)) return nullptr;
  const fb::ChunkBody* root = fb::GetSizePrefixedChunkBody(body.data());
  return static_cast<std::uint32_t>(root->body_type()) == kind ? root : nullptr;
}

}  // namespace svd
