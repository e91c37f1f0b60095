// SPDX-License-Identifier: Apache-2.0

#include "svd/trace/reader.h"

#include <algorithm>
#include <utility>

#include "catalog.h"
#include "input_file.h"
#include "std_run.h"
#include "svd/trace/chunk_stream.h"

namespace svd {

// A trace in a file, or a log in memory.
struct TraceReader::Impl {
  std::string path;
  std::uint64_t bytes = 0;
  Catalog catalog{};
  std::optional<InputFile> file{};
  std::optional<StdRun> log{};
  FileMapping text{};  // of a log that is a file
};

void add_lost_chunk(Diagnostics& diagnostics, const ChunkInfo& chunk, const Error& error) {
  if (!diagnostics.first("damaged-chunk", chunk.ordinal)) return;
  diagnostics.add("damaged-chunk", Severity::kLoss, 1, error.describe());
  diagnostics.add("lost-instructions", Severity::kLoss, chunk.steps,
                  "instructions in damaged chunks are missing");
}

Result<TraceReader> TraceReader::open(const std::string& path) {
  auto file = InputFile::open(path);
  if (!file) return file.error();
  auto catalog = load_catalog(*file);
  if (!catalog && catalog.error().kind == ErrorKind::kNotATrace) {
    auto text = file->map(0, file->size());
    if (!text) return text.error();
    std::string_view log(reinterpret_cast<const char*>(text->bytes().data()), file->size());
    if (!is_std(log)) return catalog.error();
    auto reader = of_std(log, path);
    if (reader) reader->impl_->text = std::move(*text);
    return reader;
  }
  if (!catalog) return catalog.error();
  auto impl = std::make_unique<Impl>(Impl{path, file->size(), std::move(*catalog)});
  impl->file.emplace(std::move(*file));
  return TraceReader(std::move(impl));
}

Result<TraceReader> TraceReader::of_std(std::string_view log, const std::string& name) {
  auto impl = std::make_unique<Impl>(Impl{name, log.size()});
  auto run = StdRun::read(log, name, impl->catalog);
  if (!run) return run.error();
  impl->log = std::move(*run);
  return TraceReader(std::move(impl));
}

TraceReader::TraceReader(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
TraceReader::TraceReader(TraceReader&&) noexcept = default;
TraceReader& TraceReader::operator=(TraceReader&&) noexcept = default;
TraceReader::~TraceReader() = default;

const std::string& TraceReader::path() const { return impl_->path; }
std::uint64_t TraceReader::file_bytes() const { return impl_->bytes; }
const Process& TraceReader::process() const { return impl_->catalog.tables.process; }
std::span<const Module> TraceReader::modules() const { return impl_->catalog.tables.modules; }
std::span<const Symbol> TraceReader::symbols() const { return impl_->catalog.tables.symbols; }
std::span<const Stack> TraceReader::stacks() const { return impl_->catalog.tables.stacks; }
std::span<const Statement> TraceReader::statements() const {
  return impl_->catalog.tables.statements;
}
std::span<const Block> TraceReader::blocks() const { return impl_->catalog.tables.blocks; }
std::span<const ChunkInfo> TraceReader::chunks() const { return impl_->catalog.chunks; }
std::span<const ThreadInfo> TraceReader::threads() const { return impl_->catalog.threads; }
const Ending& TraceReader::ending() const { return impl_->catalog.ending; }
const Diagnostics& TraceReader::diagnostics() const { return impl_->catalog.diagnostics; }

bool TraceReader::finished() const { return impl_->catalog.finished; }

bool TraceReader::complete() const { return impl_->catalog.finished && !diagnostics().any_loss(); }

Seq TraceReader::first_seq() const { return impl_->catalog.first_seq; }

std::uint64_t TraceReader::steps() const {
  std::uint64_t steps = 0;
  for (const ChunkInfo& chunk : chunks()) steps += chunk.steps;
  return steps;
}

std::size_t TraceReader::chunk_at(Seq seq) const {
  auto list = chunks();
  auto at = std::partition_point(list.begin(), list.end(),
                                 [&](const ChunkInfo& chunk) { return chunk.end_seq() < seq; });
  return static_cast<std::size_t>(at - list.begin());
}

Status TraceReader::decode(std::size_t index, Chunk& out, const Columns& columns) const {
  SVD_CHECK(index < chunks().size());
  if (!impl_->log) {
    thread_local ChunkDecoder decoder;  // kept between calls: the predictors' tables are large
    return decode_data(*impl_->file, impl_->catalog, chunks()[index], columns, decoder, out);
  }
  impl_->log->decode(index, impl_->catalog, columns, out);
  return Done{};
}

Result<bool> TraceReader::may_touch(std::size_t index, Addr address, std::uint64_t size) const {
  SVD_CHECK(index < chunks().size());
  if (impl_->log) return true;
  const ChunkInfo& info = chunks()[index];
  auto chunk = impl_->file->load_chunk(info.offset, impl_->catalog.trace_id);
  if (!chunk) return chunk.error();
  const fb::Data* data = chunk->body->body_as_Data();
  Bytes raw;
  if (data != nullptr && unpack_column(data->pages(), raw)) {
    std::size_t bytes = data->pages() == nullptr ? 0 : data->pages()->raw_size();
    if (auto contain = pages_contain({raw.data(), bytes}, data->page_shift(), address, size))
      return *contain;
  }
  return Error{ErrorKind::kDamaged, path(), info.ordinal, info.offset,
               "its table of pages is damaged"};
}

void TraceReader::scan(Order order, const Columns& columns, Diagnostics& diagnostics,
                       const std::function<bool(const Chunk&)>& f) const {
  ChunkStream stream(*this, order, columns);
  while (const ChunkStream::Decoded* next = stream.next(diagnostics))
    if (!f(next->chunk)) return;
}

std::vector<ColumnSize> TraceReader::column_sizes() const {
  std::vector<ColumnSize> sizes;
  if (impl_->log) return sizes;
  for (const ChunkInfo& info : chunks()) {
    auto chunk = impl_->file->load_chunk(info.offset, impl_->catalog.trace_id);
    if (!chunk || chunk->body->body_type() != fb::Body::Data) continue;
    auto packed = columns_of(*chunk->body->body_as_Data());
    std::size_t i = 0;
    ColumnSet<const fb::Column*>::each(packed,
                                       [&](std::string_view name, const fb::Column* column) {
                                         if (i == sizes.size())
                                           sizes.push_back({std::string(name), 0, 0});
                                         ColumnSize& size = sizes[i++];
                                         if (column == nullptr) return;
                                         size.raw += column->raw_size();
                                         size.packed += column->data()->size();
                                       });
  }
  return sizes;
}

}  // namespace svd
