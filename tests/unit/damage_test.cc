// SPDX-License-Identifier: Apache-2.0
//
// A damaged file is either refused, or read with every difference announced: what is shown of it is
// what was written, and what is not shown is counted. Tried for every byte of a small trace that
// has every kind of chunk.

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <map>

#include "frame.h"
#include "support/content.h"
#include "support/small_trace.h"
#include "support/trace_builder.h"
#include "svd/trace/reader.h"
#include "svd/trace/writer.h"

namespace svd::test {
namespace {

class Damage : public testing::TestWithParam<bool> {
 protected:
  void SetUp() override {
    std::string written = temp_path("damage.fb");
    write_small_trace(written, GetParam());
    bytes_ = read_file(written);
    std::filesystem::remove(written);
    // Thousands of variants follow: in memory, not on disk.
    file_ = memfd_create("damage", MFD_CLOEXEC);
    path_ = fmt::format("/proc/self/fd/{}", file_);
    fill(bytes_);
    auto reader = TraceReader::open(path_);
    ASSERT_TRUE(reader) << reader.error().describe();
    original_ = read_content(*reader);
    for (const Diagnostic& diagnostic : original_.diagnostics.list()) {
      ASSERT_LT(diagnostic.severity, Severity::kLoss) << diagnostic.text;
    }
    ASSERT_GT(original_.chunks.size(), 3U);
  }
  void TearDown() override { close(file_); }

  void fill(const std::string& bytes) const {
    ASSERT_EQ(ftruncate(file_, static_cast<off_t>(bytes.size())), 0);
    ASSERT_EQ(pwrite(file_, bytes.data(), bytes.size(), 0), static_cast<ssize_t>(bytes.size()));
  }

  // Reads `bytes` and proves the outcome; returns its name.
  std::string outcome(const std::string& bytes) {
    fill(bytes);
    auto reader = TraceReader::open(path_);
    if (!reader) {
      EXPECT_FALSE(reader.error().what.empty());
      EXPECT_EQ(reader.error().file, path_);
      EXPECT_TRUE(reader.error().kind == ErrorKind::kNotATrace ||
                  reader.error().kind == ErrorKind::kDamaged);
      return "refused";
    }
    Content content = read_content(*reader);
    if (content == original_ && content.diagnostics.list().empty()) return "same, silent";
    if (content == original_) return "same, announced";
    EXPECT_TRUE(content.diagnostics.any_loss()) << "a silent difference";
    EXPECT_FALSE(reader->complete() && !content.diagnostics.any_loss());
    for (const auto& [seq, digest] : content.chunks) {
      auto as_written = original_.chunks.find(seq);
      // A chunk whose definitions were lost is not readable; one that is must be what was written.
      EXPECT_TRUE(as_written != original_.chunks.end() && as_written->second == digest)
          << "chunk at " << seq << " reads differently";
    }
    return "partial, announced";
  }

  int file_ = -1;
  std::string path_;
  std::string bytes_;
  Content original_;
};

// A fuzzer that starts from a layout of yesterday gets nowhere. New ones: what the test wrote.
TEST_P(Damage, FuzzingStartsFromTodaysLayout) {
  std::string name = GetParam() ? "finished" : "unfinished";
  std::string fresh = temp_path(name);
  write_file(fresh, bytes_);
  EXPECT_EQ(read_file(SVD_FUZZ_CORPUS + ("/" + name)), bytes_) << "it is now like " << fresh;
  if (!HasFailure()) std::filesystem::remove(fresh);
}

TEST_P(Damage, FlippingAnyByteIsDetectedOrHarmless) {
  std::map<std::string, int> outcomes;
  for (std::size_t i = 0; i < bytes_.size(); ++i) {
    for (unsigned flip : {0x01U, 0x80U, 0xFFU}) {
      std::string bytes = bytes_;
      bytes[i] = static_cast<char>(static_cast<unsigned char>(bytes[i]) ^ flip);
      std::string result = outcome(bytes);
      ++outcomes[result];
      ASSERT_NE(result, "same, silent") << "byte " << i << " is not covered by any check";
      if (HasFailure()) FAIL() << "byte " << i << " flipped by " << flip;
    }
  }
  EXPECT_GT(outcomes["partial, announced"], 0);
  for (const auto& [name, count] : outcomes) RecordProperty(name, count);
}

TEST_P(Damage, TruncationAnywhereIsDetected) {
  for (std::size_t size = 0; size < bytes_.size(); ++size) {
    std::string result = outcome(bytes_.substr(0, size));
    // Cut exactly where a chunk ended, a file without an index is merely one that was written for
    // less long.
    if (HasFailure()) FAIL() << "cut to " << size << " bytes";
    ASSERT_NE(result, "same, silent") << "cut to " << size << " bytes";
    if (size < 32) {
      ASSERT_EQ(result, "refused");
    }
  }
}

TEST_P(Damage, GarbageAfterTheEndIsHarmless) {
  for (std::size_t extra : {1U, 7U, 8U, 100U, 5000U}) {
    EXPECT_NE(outcome(bytes_ + std::string(extra, 'x')), "refused");
    EXPECT_NE(outcome(bytes_ + std::string(extra, '\0')), "refused");
  }
}

TEST_P(Damage, AHoleInTheMiddleLosesOnlyWhatWasInIt) {
  for (std::size_t at = 64; at + 64 < bytes_.size(); at += 64) {
    std::string bytes = bytes_;
    bytes.replace(at, 64, 64, '\0');
    outcome(bytes);
    if (HasFailure()) FAIL() << "hole at " << at;
  }
}

TEST_P(Damage, AMissingPieceLosesOnlyWhatWasInIt) {
  for (std::size_t at = 0; at + 64 < bytes_.size(); at += 64) {
    std::string bytes = bytes_;
    bytes.erase(at, 40);
    outcome(bytes);
    if (HasFailure()) FAIL() << "piece at " << at;
  }
}

// All checksums hold, but one chunk says that values were not recorded, that there are no events of
// some kind, or none at all.
TEST_P(Damage, AChunkThatDeniesWhatItHasIsLost) {
  int denied = 0;
  ChunkHeader header;
  for (std::size_t at = sizeof(FileHeader); at + sizeof header < bytes_.size();
       at += sizeof header + header.size) {
    std::memcpy(&header, bytes_.data() + at, sizeof header);
    if (header.magic != kChunkMagic) break;
    auto deny = [&, at](auto&& change) {
      std::string bytes = bytes_;
      ChunkHeader changed = header;
      auto* body = reinterpret_cast<std::uint8_t*>(bytes.data() + at + sizeof header);
      const fb::ChunkBody* chunk = chunk_body({body, header.size}, header.kind);
      if (chunk == nullptr || chunk->body_as_Data() == nullptr) return;
      auto* data = static_cast<flatbuffers::Table*>(const_cast<void*>(chunk->body()));
      if (!change(*chunk->body_as_Data(), *data)) return;
      changed.checksum = checksum_of(changed, body);
      std::memcpy(bytes.data() + at, &changed, sizeof changed);
      EXPECT_EQ(outcome(bytes), "partial, announced") << "chunk at " << at;
      ++denied;
    };
    deny([](const fb::Data&, flatbuffers::Table& data) {
      return data.SetField<std::uint8_t>(fb::Data::VT_HAS_VALUES, 0, 0);
    });
    for (unsigned kind = 0; kind <= std::variant_size_v<EventBody>; ++kind)
      deny([kind](const fb::Data& as_written, flatbuffers::Table& data) {
        std::uint64_t kinds = as_written.event_kinds();
        std::uint64_t left =
            kind == std::variant_size_v<EventBody> ? 0 : kinds & ~(std::uint64_t{1} << kind);
        return left != kinds && data.SetField<std::uint64_t>(fb::Data::VT_EVENT_KINDS, left, 0);
      });
  }
  EXPECT_GT(denied, 25);
}

// Statements, then blocks that execute them, in chunks of their own; no values.
std::string write_in_pieces() {
  std::string path = temp_path("pieces.fb");
  Process process;
  process.has_values = false;
  auto writer = TraceWriter::create(path, process);
  SVD_CHECK(writer);
  StatementId first = (*writer)->add(Statement{"1", "", "", "", 0, {}});
  SVD_CHECK((*writer)->flush());
  StatementId second = (*writer)->add(Statement{"2", "", "", "", 0, {first}});
  SVD_CHECK((*writer)->flush());
  Block block;
  block.statements = {first, second};
  block.slots = {Slot{.size = 4}};
  BlockId id = (*writer)->add(block);
  (*writer)->run(ThreadId(1));
  const std::uint64_t logged[] = {0x1000};
  (*writer)->exec(id, logged, nullptr);
  SVD_CHECK((*writer)->finish());
  std::string bytes = read_file(path);
  std::filesystem::remove(path);
  return bytes;
}

TEST(DamagedDefinitions, LeaveNothingDanglingAndInventNoValues) {
  std::string original = write_in_pieces();
  std::string path = temp_path("damaged-pieces.fb");
  std::size_t lost = 0;
  for (std::size_t at = 0; at < original.size(); at += 3) {
    std::string bytes = original;
    bytes[at] = static_cast<char>(bytes[at] ^ 0x40);
    write_file(path, bytes);
    auto reader = TraceReader::open(path);
    if (!reader) continue;
    for (const Block& block : reader->blocks()) {
      for (StatementId statement : block.statements) {
        ASSERT_LT(statement.value, reader->statements().size()) << "byte " << at;
      }
    }
    for (const Statement& statement : reader->statements()) {
      for (StatementId by : statement.controlled_by) {
        ASSERT_LT(by.value, reader->statements().size()) << "byte " << at;
      }
    }
    Chunk chunk;
    if (!reader->chunks().empty() && reader->decode(0, chunk)) {
      ASSERT_FALSE(chunk.has_values) << "byte " << at;
      ASSERT_FALSE(reader->process().has_values) << "byte " << at;
    }
    for (const Diagnostic& diagnostic : reader->diagnostics().list()) {
      lost += diagnostic.name == "lost-statements" || diagnostic.name == "lost-process" ? 1 : 0;
    }
  }
  EXPECT_GT(lost, 10U) << "the damage never hit what this test is about";
  std::filesystem::remove(path);
}

// Whatever else is done with these bytes would take memory for each.
TEST(ImpossibleAccess, OfTheKernelIsToldAsAGap) {
  constexpr std::uint64_t kEnd = std::uint64_t{1} << 47, kAll = ~std::uint64_t{0};
  TempFile file;
  auto writer = TraceWriter::create(file.path(), Process{});
  ASSERT_TRUE(writer);
  auto both = [&writer](std::uint64_t address, std::uint64_t size) {
    (*writer)->event(ThreadId(1), KernelAccess{.address = Addr(address), .size = size});
    (*writer)->event(ThreadId(1), Transfer{.channel = 1, .address = Addr(address), .size = size});
  };
  both(kEnd - 8, 8);
  both(kAll, 0);
  both(kEnd - 8, 9);
  both(0x1000, std::uint64_t{1} << 60);
  both(kAll, 2);
  both(8, kAll);
  ASSERT_TRUE((*writer)->finish());
  TraceReader trace = open_trace(file);
  Chunk chunk;
  ASSERT_TRUE(trace.decode(0, chunk));
  std::string kinds;
  for (const Event& event : chunk.events) {
    const auto* gap = std::get_if<Gap>(&event.body);
    EXPECT_EQ(gap == nullptr ? 1 : gap->accesses, 1U);
    kinds += gap == nullptr ? "." : gap->cause == GapCause::kLoss ? "g" : "?";
  }
  EXPECT_EQ(kinds, "....gggggggg");
}

TEST(ImpossibleAccess, OfAnInstructionIsDamage) {
  for (std::uint64_t length : {std::uint64_t{1} << 47, (std::uint64_t{1} << 47) + 1}) {
    TempFile file;
    auto writer = TraceWriter::create(file.path(), TraceBuilder::text_process());
    ASSERT_TRUE(writer);
    Block block;
    block.statements = {(*writer)->add(Statement{"1", "", "", "", 0, {}})};
    block.slots = {Slot{.write = true}};  // a range
    BlockId id = (*writer)->add(block);
    (*writer)->run(ThreadId(1));
    const std::uint64_t logged[] = {0x1000, length};
    (*writer)->exec(id, logged, nullptr);
    ASSERT_TRUE((*writer)->finish());
    Chunk chunk;
    Status decoded = open_trace(file).decode(0, chunk);
    EXPECT_EQ(static_cast<bool>(decoded), length == std::uint64_t{1} << 47);
    if (!decoded) {
      EXPECT_EQ(decoded.error().kind, ErrorKind::kDamaged);
    }
  }
}

// A format that is newer than this program: one sentence with the version, whatever follows.
TEST(OtherVersion, IsRefusedBySentence) {
  std::string bytes = write_in_pieces();
  FileHeader header;
  std::memcpy(&header, bytes.data(), sizeof header);
  header.major = 9;
  header.checksum = checksum_of(header);
  std::memcpy(bytes.data(), &header, sizeof header);
  std::string path = temp_path("version.fb");
  write_file(path, bytes);
  auto reader = TraceReader::open(path);
  ASSERT_FALSE(reader);
  EXPECT_EQ(reader.error().kind, ErrorKind::kNotATrace);
  EXPECT_NE(reader.error().what.find("version 9.0"), std::string::npos) << reader.error().what;
  std::filesystem::remove(path);
}

INSTANTIATE_TEST_SUITE_P(Files, Damage, testing::Bool(), [](const auto& parameter) {
  return parameter.param ? std::string("Finished") : std::string("Unfinished");
});

}  // namespace
}  // namespace svd::test
