// SPDX-License-Identifier: Apache-2.0
//
// The passes over a chunk's executions. Each is written once, as a template over MissEncoder and MissDecoder: code() returns the actual
// value in both, so a pass that encodes writes back what it read.

#include "chunk_code.h"

#include <fmt/format.h>

#include <unordered_map>

#include "svd/trace/limits.h"
#include "svd/trace/result.h"

namespace svd {

namespace {

// A slot as the address and value passes see it.
struct SlotOp {
  enum Kind : std::uint8_t { kPredict, kConstant, kDerive };
  std::uint64_t offset = 0;
  std::uint32_t predictor = 0;  // of the static slot, within the chunk
  std::uint16_t base = 0;       // kDerive: index into the same execution's addresses
  Kind kind : 2 = kPredict;
  std::uint8_t write : 1 = 0;
  std::uint8_t range : 1 = 0;
  std::uint8_t value_bytes : 4 = 0;  // 0: no value
};
static_assert(sizeof(SlotOp) == 16);

struct ShapeOps {
  std::uint32_t first = 0;
  std::uint32_t count = 0;
};

// The difference of two values that leave `unused` high bits free, as a signed number.
std::uint64_t sign_extend(std::uint64_t value, unsigned unused) {
  return static_cast<std::uint64_t>(static_cast<std::int64_t>(value << unused) >> unused);
}

}  // namespace

struct CodecState {
  std::vector<SlotOp> ops;
  std::vector<ShapeOps> shapes;
  std::vector<StridePredictor> addresses;
  std::vector<StridePredictor> lengths;
  std::vector<StridePredictor> values;
  SuccessorPredictor successors;
  ValueCache cache;
  std::unordered_map<std::uint32_t, std::uint32_t> histories;  // by thread
  std::vector<std::uint32_t> block_slots;                      // first predictor of a block in this chunk, plus 1
  std::vector<std::uint32_t> used_blocks;

  // Lays out predictors and operations for the chunk's shapes.
  void prepare(std::span<const Shape> shape_list, std::size_t block_count) {
    for (std::uint32_t block : used_blocks) block_slots[block] = 0;
    used_blocks.clear();
    if (block_slots.size() < block_count) block_slots.resize(block_count);
    ops.clear();
    shapes.clear();
    std::uint32_t predictors = 0;
    for (const Shape& shape : shape_list) {
      std::uint32_t& first = block_slots[shape.id.value];
      if (first == 0) {
        first = predictors + 1;
        predictors += static_cast<std::uint32_t>(shape.block->slots.size());
        used_blocks.push_back(shape.id.value);
      }
      shapes.push_back({static_cast<std::uint32_t>(ops.size()), shape.accesses});
      for (std::uint16_t i = shape.part.first_slot; i < shape.part.end_slot; ++i) {
        const Slot& slot = shape.block->slots[i];
        SlotOp op;
        op.write = slot.write;
        op.range = slot.is_range();
        op.value_bytes = slot.has_value() ? static_cast<std::uint8_t>(slot.size & 15) : std::uint8_t{0};
        op.predictor = first - 1 + i;
        op.offset = slot.offset;
        if (is_logged(slot, shape.part)) {
          op.kind = SlotOp::kPredict;
        } else if (slot.source == AddressSource::kConstant) {
          op.kind = SlotOp::kConstant;
        } else {
          op.kind = SlotOp::kDerive;
          op.base = static_cast<std::uint16_t>(slot.base - shape.part.first_slot);
        }
        ops.push_back(op);
      }
    }
    addresses.assign(predictors, {});
    lengths.assign(predictors, {});
  }

  // Which shape follows which. Returns false when the stream names a shape that does not exist.
  template <class Coder>
  bool code_successors(Coder& stream, std::span<const Run> runs, std::vector<std::uint32_t>& execs, std::size_t shape_count) {
    Coder coder = stream;
    successors.reset();
    histories.clear();
    std::uint32_t seen = 0;
    for (const Run& run : runs) {
      std::uint32_t& kept = histories[run.thread.value];
      std::uint32_t history = kept;
      for (std::uint32_t i = run.first_exec; i < run.first_exec + run.exec_count; ++i) {
        std::uint32_t& entry = successors.entry(history);
        std::uint64_t shape = coder.hit(entry == execs[i]) ? entry : seen - coder.residual(std::uint64_t{seen} - execs[i]);
        if (shape >= seen) {
          if (shape != seen || seen == shape_count) return false;
          ++seen;
        }
        execs[i] = static_cast<std::uint32_t>(shape);
        entry = execs[i];
        history = SuccessorPredictor::extend(history, execs[i]);
      }
      kept = history;
    }
    stream = coder;
    return true;
  }

  template <class Coder>
  void code_addresses(Coder& stream, Coder& length_coder, std::span<const std::uint32_t> execs, std::uint64_t* address,
                      std::uint64_t* length) {
    Coder coder = stream;
    StridePredictor* predictors = addresses.data();
    for (std::uint32_t shape : execs) {
      const ShapeOps& list = shapes[shape];
      const SlotOp* op = ops.data() + list.first;
      for (std::uint32_t i = 0; i < list.count; ++i, ++op) {
        switch (op->kind) {
          case SlotOp::kPredict: {
            address[i] = code_stride(coder, predictors[op->predictor], address[i]);
            break;
          }
          case SlotOp::kConstant:
            address[i] = op->offset;
            break;
          case SlotOp::kDerive:
            address[i] = address[op->base] + op->offset;
            break;
        }
        if (op->range) {
          *length = code_stride(length_coder, lengths[op->predictor], *length);
          ++length;
        }
      }
      address += list.count;
    }
    stream = coder;
  }

  template <class Coder>
  static std::uint64_t code_stride(Coder& coder, StridePredictor& predictor, std::uint64_t actual) {
    std::uint64_t predicted = predictor.predict();
    actual = coder.hit(predicted == actual) ? predicted : predictor.last + unzigzag(coder.residual(zigzag(actual - predictor.last)));
    predictor.update(actual);
    return actual;
  }

  // A load is predicted to return what was last seen at its address; when it does, nothing has to be learned. A store, and what crosses a
  // word, is predicted as the slot's last value plus stride. A miss is coded as the signed distance to the slot's last value, so that
  // small changes stay small in any width.
  template <class Coder>
  std::uint64_t code_value(Coder& coder, const SlotOp& op, StridePredictor& predictor, std::uint64_t address, std::uint64_t actual) {
    unsigned unused = 64 - 8 * op.value_bytes;
    std::uint64_t mask = ~std::uint64_t{0} >> unused;
    unsigned shift = 8 * (address & 7);
    bool within = shift <= unused;
    std::uint64_t& word = cache.word(address >> 3);
    bool by_cache = within && !op.write;
    std::uint64_t predicted = by_cache ? word >> shift & mask : predictor.predict() & mask;
    if (coder.hit(predicted == actual)) {
      actual = predicted;
      if (by_cache) return actual;
    } else {
      std::uint64_t distance = coder.residual(zigzag(sign_extend(actual - predictor.last, unused)));
      actual = (predictor.last + unzigzag(distance)) & mask;
    }
    predictor.update(actual);
    if (within) word = (word & ~(mask << shift)) | actual << shift;
    return actual;
  }

  template <class Coder>
  void code_values(Coder& stream, std::span<const std::uint32_t> execs, const std::uint64_t* address, std::uint64_t* value) {
    values.assign(addresses.size(), {});
    cache.reset();
    Coder coder = stream;
    StridePredictor* predictors = values.data();
    for (std::uint32_t shape : execs) {
      const ShapeOps& list = shapes[shape];
      const SlotOp* op = ops.data() + list.first;
      for (std::uint32_t i = 0; i < list.count; ++i, ++op) {
        if (op->value_bytes == 0 || address[i] == kAbsent.value) {
          value[i] = 0;
          continue;
        }
        value[i] = code_value(coder, *op, predictors[op->predictor], address[i], value[i]);
      }
      address += list.count;
      value += list.count;
    }
    stream = coder;
  }
};

namespace {

void put_runs(std::span<const Run> runs, Bytes& out) {
  std::uint32_t last = 0;
  for (const Run& run : runs) {
    put_varint(out, zigzag(std::uint64_t{run.thread.value} - last));
    put_varint(out, run.exec_count);
    last = run.thread.value;
  }
}

bool get_runs(std::span<const std::uint8_t> column, std::uint32_t execs, std::vector<Run>& out) {
  ByteReader in(column);
  std::uint64_t thread = 0;
  std::uint64_t total = 0;
  out.clear();
  while (in.left() > 0) {
    thread += unzigzag(in.varint());
    std::uint64_t count = in.varint();
    if (in.failed() || thread > std::numeric_limits<std::uint32_t>::max() || count == 0 || count > execs - total) return false;
    Run run;
    run.thread = ThreadId(static_cast<std::uint32_t>(thread));
    run.first_exec = static_cast<std::uint32_t>(total);
    run.exec_count = static_cast<std::uint32_t>(count);
    out.push_back(run);
    total += count;
  }
  return total == execs;
}

void put_shapes(std::span<const Shape> shapes, Bytes& out) {
  std::uint32_t last = 0;
  for (const Shape& shape : shapes) {
    bool whole = shape.part == Part::whole(*shape.block);
    put_varint(out, zigzag(std::uint64_t{shape.id.value} - last) << 1 | (whole ? 0 : 1));
    if (!whole) {
      for (std::uint16_t field : {shape.part.first, shape.part.end, shape.part.first_slot, shape.part.end_slot}) {
        put_varint(out, field);
      }
    }
    last = shape.id.value;
  }
}

void count_slots(Shape& shape) {
  shape.accesses = shape.part.end_slot - shape.part.first_slot;
  shape.ranges = 0;
  for (std::uint16_t i = shape.part.first_slot; i < shape.part.end_slot; ++i) shape.ranges += shape.block->slots[i].is_range();
}

std::string get_shapes(std::span<const std::uint8_t> column, std::span<const Block> blocks, std::vector<Shape>& out) {
  ByteReader in(column);
  std::uint64_t id = 0;
  out.clear();
  while (in.left() > 0) {
    std::uint64_t head = in.varint();
    id += unzigzag(head >> 1);
    std::uint64_t part[4] = {};
    if (head & 1) {
      for (std::uint64_t& field : part) field = in.varint();
    }
    if (in.failed()) return "its table of shapes ends early";
    if (id >= blocks.size() || blocks[id].size() == 0) return fmt::format("it executes block {}, whose definition is lost", id);
    const Block& block = blocks[id];
    Shape shape;
    shape.id = BlockId(static_cast<std::uint32_t>(id));
    shape.block = &block;
    if (head & 1) {
      if (part[0] >= part[1] || part[1] > block.size() || part[2] > part[3] || part[3] > block.slots.size()) {
        return fmt::format("it executes a part of block {} that does not exist", id);
      }
      shape.part = Part{static_cast<std::uint16_t>(part[0]), static_cast<std::uint16_t>(part[1]),
                        static_cast<std::uint16_t>(part[2]), static_cast<std::uint16_t>(part[3])};
      for (std::size_t i = part[2]; i < part[3]; ++i) {
        if (block.slots[i].instruction < part[0] || block.slots[i].instruction >= part[1]) {
          return fmt::format("it executes accesses of block {} outside their instructions", id);
        }
      }
    } else {
      shape.part = Part::whole(block);
    }
    count_slots(shape);
    out.push_back(shape);
  }
  return {};
}

// Fills in the runs' first seq, access and range. Returns the totals in `counts`' terms, or false on more than was promised.
bool place_runs(const ChunkCounts& counts, Chunk& chunk) {
  std::uint64_t steps = 0;
  std::uint64_t accesses = 0;
  std::uint64_t ranges = 0;
  for (Run& run : chunk.runs) {
    run.first_seq = counts.first_seq + steps;
    run.first_access = static_cast<std::uint32_t>(accesses);
    run.first_range = static_cast<std::uint32_t>(ranges);
    for (std::uint32_t i = run.first_exec; i < run.first_exec + run.exec_count; ++i) {
      const Shape& shape = chunk.shapes[chunk.execs[i]];
      steps += shape.part.steps();
      accesses += shape.accesses;
      ranges += shape.ranges;
    }
    if (accesses > counts.accesses || ranges > counts.ranges) return false;
  }
  return steps == counts.steps && accesses == counts.accesses && ranges == counts.ranges;
}

}  // namespace

ChunkCodec::ChunkCodec() : state_(std::make_unique<CodecState>()) {}
ChunkCodec::~ChunkCodec() = default;

void ChunkCodec::encode(Chunk& chunk, ChunkCounts& counts, std::size_t block_count, ColumnSet<Bytes>& out) {
  ColumnSet<Bytes>::each(out, [&](std::string_view, Bytes& column) {
    if (&column != &out.events) column.clear();
  });
  put_runs(chunk.runs, out.runs);
  put_shapes(chunk.shapes, out.shapes);
  state_->prepare(chunk.shapes, block_count);
  MissEncoder successors(out.successors);
  SVD_CHECK(state_->code_successors(successors, chunk.runs, chunk.execs, chunk.shapes.size()));
  successors.finish();
  MissEncoder addresses(out.addresses);
  MissEncoder lengths(out.lengths);
  state_->code_addresses(addresses, lengths, chunk.execs, chunk.addresses.data(), chunk.lengths.data());
  addresses.finish();
  lengths.finish();
  if (chunk.has_values) {
    MissEncoder values(out.values);
    state_->code_values(values, chunk.execs, chunk.addresses.data(), chunk.values.data());
    values.finish();
  }
  put_pages(chunk, out.pages, counts.page_shift);
}

std::string ChunkCodec::decode(const ChunkCounts& counts, const ColumnSet<std::span<const std::uint8_t>>& columns,
                               std::span<const Block> blocks, const Columns& wanted, Chunk& out) {
  if (counts.steps > kMaxChunkSteps + kMaxBlockInstructions || counts.accesses > kMaxChunkSteps + kMaxBlockSlots ||
      counts.execs > counts.steps || counts.ranges > counts.accesses) {
    return "it claims more than a chunk can hold";
  }
  out.first_seq = counts.first_seq;
  out.steps = counts.steps;
  out.events.clear();
  out.addresses.clear();
  out.lengths.clear();
  out.values.clear();
  if (!get_runs(columns.runs, counts.execs, out.runs)) return "its thread runs do not add up";
  if (auto problem = get_shapes(columns.shapes, blocks, out.shapes); !problem.empty()) return problem;
  out.execs.resize(counts.execs);
  MissDecoder successors(columns.successors);
  if (!state_->code_successors(successors, out.runs, out.execs, out.shapes.size()) || !successors.clean()) {
    return "its executions name shapes that do not exist";
  }
  if (!place_runs(counts, out)) return "its executions do not add up";

  out.has_addresses = wanted.addresses || wanted.values;
  out.has_values = false;
  if (out.has_addresses) {
    state_->prepare(out.shapes, blocks.size());
    out.addresses.resize(counts.accesses);
    out.lengths.resize(counts.ranges);
    MissDecoder addresses(columns.addresses);
    MissDecoder lengths(columns.lengths);
    state_->code_addresses(addresses, lengths, out.execs, out.addresses.data(), out.lengths.data());
    if (!addresses.clean() || !lengths.clean()) return "its addresses do not add up";
  }
  if (wanted.values && columns.values.data() != nullptr) {
    out.values.resize(counts.accesses);
    MissDecoder values(columns.values);
    state_->code_values(values, out.execs, out.addresses.data(), out.values.data());
    if (!values.clean()) return "its values do not add up";
    out.has_values = true;
  }
  return wanted.events ? get_events(columns.events, counts, out) : std::string();
}

}  // namespace svd
