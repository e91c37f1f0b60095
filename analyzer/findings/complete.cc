// SPDX-License-Identifier: Apache-2.0

#include "findings/complete.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>

#include "findings/heap_blocks.h"
#include "findings/member_names.h"
#include "findings/stacks.h"
#include "findings/summary.h"
#include "svd/trace/chunk_stream.h"

namespace svd {
namespace {

bool overlap(Addr a, std::uint64_t a_size, Addr b, std::uint64_t b_size) {
  return a < b + b_size && b < a + a_size;
}

CodePlace place_of(const Source& source, SiteId site) {
  const Sites::Place& place = source.sites[site];
  return place.statement ? source.places.place(*place.statement) : source.places.place(place.pc);
}

// What is still to be looked up in the trace about one access.
struct Wanted {
  const RawAccess* raw;
  FindingAccess* access;
  Pc pc{};  // of the instruction that did it, or asked the kernel to, where it is known
};

// Walks one chunk and fills in what is wanted of it.
class LookUp {
 public:
  LookUp(const Source& source, Moment first, Seq first_seq, std::span<Wanted> wanted)
      : source_(source), base_(first - first_seq.value), wanted_(wanted) {}

  void exec(const Exec& exec) {
    last_[exec.thread] = {exec.shape->id, exec.shape->part.end - 1U};
    Moment first = base_ + exec.seq.value;
    for (; next() && next()->raw->moment < first + exec.shape->part.steps(); ++at_) {
      Wanted& wanted = *next();
      wanted.access->seq = exec.seq + (wanted.raw->moment - first);
      std::uint64_t instruction = exec.shape->part.first + (wanted.access->seq - exec.seq);
      stand(wanted, exec.thread, {exec.shape->id, instruction});
      exec.accesses([&](const MemoryAccess& memory) {
        if (memory.seq == wanted.access->seq && matches(memory, *wanted.raw))
          take(memory, *wanted.access);
      });
    }
  }

  void event(const Event& event) {
    Moment now = base_ + event.seq.value;
    for (; next() && next()->raw->moment == now; ++at_) {
      FindingAccess& access = *next()->access;
      access.seq = event.seq;
      if (auto last = last_.find(event.thread); last != last_.end())
        stand(*next(), event.thread, last->second);
      const auto* kernel = std::get_if<KernelAccess>(&event.body);
      if (kernel != nullptr) access.kernel = true;
    }
    base_ += 1;
  }

 private:
  struct Position {
    BlockId block{};
    std::uint64_t instruction = 0;
  };

  void stand(Wanted& wanted, ThreadId thread, const Position& at) {
    SiteId site = source_.sites.of(at.block, at.instruction);
    wanted.pc = source_.sites[site].pc;
    if (wanted.raw->site) return;
    wanted.access->thread = thread;
    wanted.access->place = place_of(source_, site);
    wanted.access->site = source_.sites[site].pc;
  }

  Wanted* next() const { return at_ < wanted_.size() ? &wanted_[at_] : nullptr; }

  static bool matches(const MemoryAccess& memory, const RawAccess& raw) {
    if (!raw.site) return true;
    bool there = raw.size == 0 || overlap(memory.address, memory.size, raw.address, raw.size);
    return there && memory.slot->write == (raw.kind != TouchKind::kRead);
  }
  static void take(const MemoryAccess& memory, FindingAccess& access) {
    access.address = memory.address;
    access.size = memory.size;
    access.kind = memory.slot->write ? TouchKind::kWrite : TouchKind::kRead;
    if (memory.has_value) access.value = memory.value;
  }

  const Source& source_;
  Moment base_;
  std::unordered_map<ThreadId, Position> last_;
  std::span<Wanted> wanted_;
  std::size_t at_ = 0;
};

class Completion {
 public:
  Completion(const Source& source, Diagnostics& diagnostics)
      : source_(source), diagnostics_(diagnostics) {}

  std::vector<Finding> run(std::span<const RawFinding> found) {
    std::vector<Finding> findings(found.size());
    for (std::size_t i = 0; i < found.size(); ++i) begin(found[i], findings[i]);
    look_up();
    find_stacks();
    for (Finding& finding : findings) name(finding);
    name_heap(findings, found);
    for (Finding& finding : findings) {
      finding.summary = summarize(finding);
      finding.fingerprint = fingerprint(finding);
    }
    return findings;
  }

 private:
  void begin(const RawFinding& raw, Finding& finding) {
    finding.detectors = {std::string(raw.detector)};
    finding.occurrences = raw.occurrences;
    finding.serializable = raw.serializable;
    finding.score = raw.score;
    finding.distance = raw.distance;
    finding.accesses.resize(raw.accesses.size());
    std::vector<const RawAccess*> in_order;
    for (const RawAccess& access : raw.accesses) in_order.push_back(&access);
    std::stable_sort(in_order.begin(), in_order.end(),
                     [](const auto* a, const auto* b) { return a->moment < b->moment; });
    for (std::size_t i = 0; i < in_order.size(); ++i) {
      begin(*in_order[i], finding.accesses[i]);
      wanted_.push_back({in_order[i], &finding.accesses[i], {}});
    }
  }

  void begin(const RawAccess& raw, FindingAccess& access) {
    const ThreadInfo& thread = source_.trace.threads()[raw.thread.value];
    access.role = raw.role;
    access.thread = thread.id;
    access.thread_name = thread.name;
    access.kind = raw.kind;
    access.atomic = raw.atomic;
    access.address = raw.address;
    access.size = raw.size;
    if (raw.site) {
      access.place = place_of(source_, *raw.site);
      access.site = source_.sites[*raw.site].pc;
    }
    for (const HeldLock& lock : source_.lock_sets[raw.locks])
      access.locks.push_back(source_.places.lock(lock.object) + (lock.shared ? " (shared)" : ""));
  }

  void look_up() {
    std::sort(wanted_.begin(), wanted_.end(),
              [](const Wanted& a, const Wanted& b) { return a.raw->moment < b.raw->moment; });
    auto chunk_of = [this](const Wanted& wanted) {
      return source_.moments.chunk_of(wanted.raw->moment);
    };
    std::vector<std::size_t> chunks;
    for (const Wanted& wanted : wanted_)
      if (chunks.empty() || chunks.back() != chunk_of(wanted)) chunks.push_back(chunk_of(wanted));
    ChunkStream stream(source_.trace, std::move(chunks), {});
    std::span<Wanted> left = wanted_;
    while (const ChunkStream::Decoded* next = stream.next()) {
      auto end = std::find_if(left.begin(), left.end(), [&](const Wanted& wanted) {
        return chunk_of(wanted) != next->index;
      });
      auto count = static_cast<std::size_t>(end - left.begin());
      if (next->status) {
        next->chunk.walk(LookUp(source_, source_.moments.first(next->index), next->chunk.first_seq,
                                left.first(count)));
      }
      left = left.subspan(count);
    }
  }

  // What a library did for the program is told of the statement that called it.
  void find_stacks() {
    Stacks stacks(source_.instances, source_.places, diagnostics_);
    for (const Wanted& wanted : wanted_) stacks.ask(wanted.access->seq, wanted.access->thread);
    stacks.answer();
    std::set<Pc> jumps = jumps_among_sites();
    for (const Wanted& wanted : wanted_) {
      FindingAccess& access = *wanted.access;
      // Who called a library in the place of a return is no call of the stack.
      bool tail = wanted.pc != access.site && jumps.count(access.site) != 0;
      access.stack = stacks.at(access.seq, access.thread, wanted.pc, tail ? access.site : Pc());
      stand_in_own_code(access.stack, access.place);
    }
  }

  std::set<Pc> jumps_among_sites() const {
    std::set<Pc> sites, jumps;
    for (const Wanted& wanted : wanted_) sites.insert(wanted.access->site);
    std::span<const Block> blocks = source_.trace.blocks();
    for (std::uint32_t i = 0; i < blocks.size(); ++i) {
      if (blocks[i].instructions.empty()) continue;
      Pc last = blocks[i].instructions.back().pc;
      if (sites.count(last) == 0) continue;
      const CodeBlock& code = source_.code.block(BlockId(i));
      if (code.steps.empty()) continue;  // it was lost
      Flow flow = code.steps.back().flow;
      if (flow == Flow::kJump || flow == Flow::kIndirectJump) jumps.insert(last);
    }
    return jumps;
  }

  void name(Finding& finding) {
    for (const FindingAccess& access : finding.accesses) {
      if (finding.variable.empty() && access.size > 0)
        finding.variable = source_.places.variable(access.address, access.size);
    }
  }

  // What has no name is looked for among the allocations.
  void name_heap(std::vector<Finding>& findings, std::span<const RawFinding> found) {
    std::vector<HeapQuestion> questions;
    std::vector<Finding*> asked;
    for (std::size_t i = 0; i < findings.size(); ++i) {
      const RawAccess& raw = found[i].accesses.front();
      if (!findings[i].variable.empty() || raw.size == 0) continue;
      questions.push_back({raw.address, raw.moment, {}});
      asked.push_back(&findings[i]);
    }
    if (!questions.empty()) find_heap_blocks(source_.trace, source_.moments, questions);
    for (std::size_t i = 0; i < questions.size(); ++i) {
      if (questions[i].block) name_heap(*asked[i], questions[i].address, *questions[i].block);
    }
    use_one_name(asked);
  }

  void name_heap(Finding& finding, Addr address, const HeapBlock& block) {
    finding.memory = fmt::format("{} bytes", block.size);
    if (block.stack != kNoStack && block.stack.value < source_.trace.stacks().size()) {
      for (Pc pc : source_.trace.stacks()[block.stack.value].frames) {
        Pc call = pc - 1;
        std::vector<StackFrame> frames = source_.places.frames(call);
        auto own = first_own(frames);
        if (own == frames.end()) continue;
        finding.memory += " of " + describe(own->place);
        break;
      }
    }
    finding.memory += fmt::format(", at {}", address - block.address);
    std::vector<std::string_view> lines;  // that accessed it in a way that has no name
    for (const FindingAccess& access : finding.accesses) {
      std::string name = member_at(access);
      if (name.empty()) lines.push_back(access.place.text);
      finding.variable = better_name(finding.variable, name);
    }
    finding.variable = finding.variable.empty()
                           ? common_member(lines)
                           : better_name(finding.variable, other_spelling(finding.variable, lines));
  }

  // What several findings call the same by another object is called by one name.
  static void use_one_name(std::span<Finding* const> findings) {
    std::map<std::pair<std::string, std::string>, std::string> names;
    auto name_of = [&names](const Finding& finding) -> std::string& {
      return names[{finding.memory, last_member(finding.variable)}];
    };
    for (const Finding* finding : findings)
      name_of(*finding) = better_name(name_of(*finding), finding->variable);
    for (Finding* finding : findings) finding->variable = name_of(*finding);
  }

  // What DWARF has for code of the program, and what was inlined into it; "" where that is no
  // member of anything, or one that only a library knows.
  std::string member_at(const FindingAccess& access) {
    if (access.kernel || access.stack.empty()) return {};
    const CodePlace& place = access.stack.front().place;
    if (place.module != access.place.module) return {};
    std::string name = source_.places.operand(place.pc);
    bool member = name.find("->") != std::string::npos && !has_reserved(name);
    return member ? name : "";
  }

  const Source& source_;
  Diagnostics& diagnostics_;
  std::vector<Wanted> wanted_;
};

}  // namespace

CodePlace last_place(const TraceReader& trace, Places& places) {
  const Ending& ending = trace.ending();
  struct Finder {
    Seq seq;
    std::optional<StatementId> statement{};
    Pc pc{};
    void exec(const Exec& exec) {
      if (exec.seq > seq || exec.end() <= seq) return;
      std::uint64_t index = exec.shape->part.first + (seq - exec.seq);
      if (exec.block().abstract()) {
        statement = exec.block().statements[index];
      } else {
        pc = exec.block().instructions[index].pc;
      }
    }
    void event(const Event&) {}
  } finder{ending.seq};
  Chunk chunk;
  std::size_t index = trace.chunk_of(ending.seq);
  if (index < trace.chunks().size() &&
      trace.decode(index, chunk, Columns{.addresses = false, .values = false})) {
    chunk.walk(finder);
  }
  return finder.statement ? places.place(*finder.statement) : places.place(finder.pc);
}

CodePlace last_own_place(const TraceReader& trace, InstanceReader& instances, Places& places,
                         Diagnostics& diagnostics) {
  CodePlace place = last_place(trace, places);
  Stacks stacks(instances, places, diagnostics);
  const Ending& ending = trace.ending();
  stacks.ask(ending.seq, *ending.thread);
  stacks.answer();
  stand_in_own_code(stacks.at(ending.seq, *ending.thread, place.pc, {}), place);
  return place;
}

std::vector<Finding> complete(const Source& source, std::span<const RawFinding> found,
                              Diagnostics& diagnostics) {
  return Completion(source, diagnostics).run(found);
}

}  // namespace svd
