// SPDX-License-Identifier: Apache-2.0

#include "tables.h"

#include <algorithm>
#include <utility>

#include "chunk_columns.h"
#include "record.h"

namespace svd {

namespace {

// Appends the records of `column`, the first of which has id `first`. Ids that were lost before it
// stay empty. A table with more rows than the file has bytes is a lie, refused before memory is
// taken for it.
template <class T, class Get>
bool load_table(const fb::Column* column, std::uint32_t first, std::uint64_t file_bytes,
                std::vector<T>& table, Get&& get) {
  if (column == nullptr) return true;
  Bytes raw;
  if (!unpack_column(column, raw)) return false;
  ByteReader in(std::span<const std::uint8_t>(raw.data(), column->raw_size()));
  if (first < table.size() || first > file_bytes) return false;
  table.resize(first);
  while (in.left() > 0) {
    if (table.size() >= file_bytes || !get(in, table.emplace_back())) {
      table.resize(first);
      return false;
    }
  }
  return true;
}

constexpr auto kGetRecord = [](ByteReader& in, auto& record) { return get_record(in, record); };

}  // namespace

Status load_definitions(const LoadedChunk& chunk, const InputFile& file, std::uint64_t offset,
                        Tables& tables) {
  const fb::Definitions* body = chunk.body->body_as_Definitions();
  std::vector<Process> process;
  bool good =
      load_table(body->process(), 0, file.size(), process, kGetRecord) &&
      load_table(body->modules(), body->first_module(), file.size(), tables.modules, kGetRecord) &&
      load_table(body->symbols(), static_cast<std::uint32_t>(tables.symbols.size()), file.size(),
                 tables.symbols, kGetRecord) &&
      load_table(body->stacks(), body->first_stack(), file.size(), tables.stacks, kGetRecord) &&
      load_table(body->statements(), body->first_statement(), file.size(), tables.statements,
                 kGetRecord) &&
      load_table(body->blocks(), body->first_block(), file.size(), tables.blocks, get_block);
  if (!process.empty()) {
    tables.process = std::move(process.front());
    tables.has_process = true;
  }
  if (!good)
    return Error{ErrorKind::kDamaged, file.path(), chunk.header.ordinal, offset,
                 "its definitions do not parse"};
  return Done{};
}

bool load_threads(const fb::Column* column, std::uint64_t file_bytes,
                  std::vector<ThreadInfo>& threads) {
  return load_table(column, 0, file_bytes, threads, kGetRecord);
}

std::uint64_t drop_dangling(Tables& tables) {
  std::uint64_t dropped = 0;
  auto dangles = [&](StatementId id) { return id.value >= tables.statements.size(); };
  for (Block& block : tables.blocks) {
    if (!std::any_of(block.statements.begin(), block.statements.end(), dangles)) continue;
    block = Block();
    ++dropped;
  }
  for (Statement& statement : tables.statements) {
    dropped += std::erase_if(statement.controlled_by, dangles);
  }
  return dropped;
}

}  // namespace svd
