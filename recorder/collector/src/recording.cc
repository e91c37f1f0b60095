// SPDX-License-Identifier: Apache-2.0

#include "recording.h"

#include <fmt/format.h>
#include <sys/statvfs.h>
#include <sys/wait.h>

#include <chrono>
#include <filesystem>
#include <utility>

#include "elf_file.h"

namespace svd {
namespace {

using Clock = std::chrono::steady_clock;

// What the writer of the ring gets back at a time: its stride, so that it rarely waits.
constexpr std::uint64_t kBatch = SVD_WIRE_STRIDE;
// How much of the run is lost, at most, when everything is killed at once.
constexpr auto kFlushEvery = std::chrono::seconds(1);

}  // namespace

Recording::Recording(Ring ring, Process process, std::string file, RecordingLimits limits,
                     RecordingHooks hooks)
    : ring_(std::move(ring)),
      process_(std::move(process)),
      limits_(limits),
      hooks_(std::move(hooks)) {
  run_.pid = process_.pid;
  run_.program = process_.executable;
  run_.file = std::move(file);
  thread_ = std::thread([this] { run(); });
}

Recording::~Recording() {
  if (thread_.joinable()) thread_.join();
}

RecordedRun Recording::result() {
  if (thread_.joinable()) thread_.join();
  return run_;
}

void Recording::run() {
  auto writer = TraceWriter::create(run_.file, process_, {.edge = &live_});
  if (writer) {
    feed_ = std::make_unique<TraceFeed>(std::move(*writer));
    record();
  } else {
    run_.problem = writer.error().describe();
    run_.file.clear();
    discard();
  }
  running_ = false;
}

void Recording::begin(Translator& translator) {
  auto elf = read_elf(process_.executable);
  if (elf && !elf->dynamic_linker && !elf->dynamic)
    translator.note(
        "statically linked: calls of the C library were seen at its symbols, so threads, locks and "
        "allocations are missing where the symbol table is stripped or a call is indirect");
}

void Recording::record() {
  Translator translator(
      *feed_, process_.has_values,
      std::filesystem::path(process_.executable).filename().string().substr(0, 15),
      hooks_.child_trace);
  begin(translator);
  auto next_flush = Clock::now() + kFlushEvery;
  bool last = false;
  while (!stopped_) {
    Window window = ring_.window(last);
    std::uint64_t before = position_;
    position_ = translator.take(window, position_, kBatch);
    if (position_ != before) ring_.consume(position_);
    for (std::uint32_t child : translator.recorded_children()) hooks_.expect(child);
    translator.recorded_children().clear();
    if (translator.damaged())
      stop(translator, "the log of the recorder cannot be read any further");
    if (Clock::now() >= next_flush) {
      housekeeping(translator);
      next_flush = Clock::now() + kFlushEvery;
    }
    if (position_ != before) continue;
    if (last) break;
    // Whoever died has published all that it ever will, so what is there now is the rest.
    last = !ring_.writer_lives();
    if (!last) ring_.wait(window.end);
  }
  if (stopped_) discard();
  finish(translator);
}

void Recording::housekeeping(Translator& translator) {
  feed_->flush();
  if (feed_->failed()) return stop(translator, "the trace cannot be written");
  if (limits_.max_size != 0 && feed_->bytes() >= limits_.max_size)
    return stop(translator, fmt::format("stopped at --max-size={}", limits_.max_size));
  struct statvfs disk {};
  std::string place = std::filesystem::absolute(run_.file).parent_path();
  if (limits_.min_free != 0 && statvfs(place.c_str(), &disk) == 0 &&
      std::uint64_t{disk.f_bavail} * disk.f_frsize < limits_.min_free)
    stop(translator, fmt::format("stopped because {} has less than --min-free={} left", place,
                                 limits_.min_free));
}

// The program goes on; nothing more is recorded.
void Recording::stop(Translator& translator, const std::string& reason) {
  stopped_ = true;
  run_.problem = reason;
  translator.gap(reason);
  ring_.stop();
}

// Makes room for a program that may still be writing, until it is gone.
void Recording::discard() {
  ring_.stop();
  for (;;) {
    Window window = ring_.window(false);
    if (window.end > position_) {
      position_ = window.end;
      ring_.consume(position_);
    }
    if (!ring_.writer_lives()) return;
    ring_.wait(window.end);
  }
}

void Recording::finish(Translator& translator) {
  if (!translator.awaited().empty()) {
    run_.problem = fmt::format("--start-at={} never came", translator.awaited());
    translator.note(run_.problem);
  }
  if (translator.ended() && !stopped_) {
    translator.end(translator.end_kind(), translator.end_value());
  } else if (!translator.exec_path().empty() && !stopped_) {
    translator.note(fmt::format("executes {}; that may be recorded in {}", translator.exec_path(),
                                hooks_.next_image_trace()));
    hooks_.expect(run_.pid);
    translator.end(EndKind::kExec, 0);
  } else {
    std::optional<int> status = hooks_.wait_status();
    if (!stopped_) {
      bool killed = status && WIFSIGNALED(*status);
      run_.problem = killed ? "killed before its recorder had handed over everything"
                            : "its recorder stopped before the process did";
      translator.gap(run_.problem);
    }
    if (!status)
      translator.end(EndKind::kUnknown, 0);
    else if (WIFSIGNALED(*status))
      translator.end(EndKind::kSignal, WTERMSIG(*status));
    else
      translator.end(EndKind::kExit, WEXITSTATUS(*status));
  }
  auto finished = feed_->finish();
  if (!finished) run_.problem = finished.error().describe();
  TraceWriter::Totals totals = feed_->totals();
  run_.end = translator.end_kind();
  run_.value = translator.end_value();
  run_.fatal_thread = translator.fatal_thread().value;
  run_.threads = translator.thread_count();
  run_.instructions = totals.steps;
  run_.dropped = totals.dropped;
  run_.accesses = totals.accesses;
  run_.events = totals.events;
  run_.bytes = totals.bytes;
}

}  // namespace svd
