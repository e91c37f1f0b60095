// SPDX-License-Identifier: Apache-2.0
//
// The order is the best of those tried on 22 crashes: each statement by its distance;
// a triple, a race edge and a read from another thread by keys that put them near the statement
// that they explain, the sooner the shorter the time between their ends.
#include "slicer/story.h"

#include <algorithm>
#include <map>
#include <set>
#include <unordered_map>

#include "detectors/suppressions.h"
#include "dpdg/channels.h"

namespace svd {
namespace {

// How many edges of each kind are looked at closely; no story shows more.
constexpr std::size_t kMaxEdges = 200;

// Code that is not the program's has one number for all of its lines: what a library does for a
// statement is as near to it as the statement's own parts, or all that goes through scanf would be
// far from what reads it.
constexpr std::uint32_t kLibraryLine = ~std::uint32_t{0};

// Instructions of a stub of the linker: endbr64 and a jump, or more of them where it is resolved
// late.
constexpr std::uint64_t kStub = 2;

class Teller {
 public:
  Teller(const StoryInput& input, bool libraries, Diagnostics& diagnostics)
      : in_(input), diagnostics_(diagnostics) {
    story_.libraries = libraries;
  }

  Story tell(const Slice& slice) {
    channels_ = slice.channels;
    add_statements(slice);
    add_edges(slice);
    finish();
    return std::move(story_);
  }

 private:
  // Of the program's own source, and no stub of the linker's.
  bool is_own(InstrId id) {
    auto [known, fresh] = own_.try_emplace(id.value, false);
    if (!fresh) return known->second;
    const CodeTable::Home& home = in_.code.home_of(id);
    const CodeBlock& block = in_.code.block(home.block);
    if (block.abstract || story_.libraries) return known->second = true;
    Pc pc = in_.code.pc_of(id);
    return known->second = !is_stub(id) && in_.source.is_own(pc);
  }

  bool is_stub(InstrId id) {
    const CodeBlock& block = in_.code.block(in_.code.home_of(id).block);
    return block.steps.back().flow == Flow::kIndirectJump && block.steps.size() <= 3 &&
           in_.source.at(in_.code.pc_of(id)).frames.back().line == 0;
  }

  // Whether it is in a function that detectors leave out by default: how a library does what it was
  // called for (locks, buffers, free memory).
  bool is_inner(InstrId id) {
    auto [known, fresh] = inner_.try_emplace(id.value, false);
    if (!fresh || is_own(id)) return known->second;
    const Place& place = in_.source.at(in_.code.pc_of(id));
    return known->second = rules_.code(place.module, place.frames.back().function);
  }

  static StoryAccess access_at(const Instance& instance, bool write) {
    StoryAccess access;
    access.instance = instance;
    access.write = write;
    return access;
  }

  void add_statements(const Slice& slice) {
    std::map<StoryPlace::Key, std::size_t> seen;
    for (const SliceItem& item : slice.items) {
      if (!is_own(item.id)) {
        ++story_.hidden_library;
        continue;
      }
      StoryPlace place = place_of(in_, item.id);
      auto [entry, fresh] = seen.try_emplace(place.key(), story_.entries.size());
      if (fresh) {
        StoryEntry statement;
        statement.kind = StoryEntry::Kind::kStatement;
        statement.key = item.distance;
        statement.via = item.via;
        statement.accesses = {access_at(item.nearest, false)};
        statement.accesses[0].place = place;
        story_.entries.push_back(statement);
      }
      StoryEntry& statement = story_.entries[entry->second];
      statement.instances = std::max(statement.instances, item.instances);
      statement.initial_reads = std::max(statement.initial_reads, item.initial_reads);
      for (ThreadId thread : item.threads)
        if (std::find(statement.threads.begin(), statement.threads.end(), thread) ==
            statement.threads.end())
          statement.threads.push_back(thread);
    }
    for (const StoryEntry& entry : story_.entries)
      in_.instances.ask(entry.accesses[0].instance.seq);
  }

  template <class Edge>
  StoryEntry& edge(StoryEntry::Kind kind, const Edge& from, float key) {
    StoryEntry entry;
    entry.kind = kind;
    entry.key = key;
    entry.address = from.address;
    entry.size = from.size;
    entry.instances = from.instances;
    story_.entries.push_back(entry);
    return story_.entries.back();
  }

  void add_edges(const Slice& slice) {
    std::size_t count = 0;
    for (const Triple& triple : slice.triples) {
      if (triple.ordered) continue;
      if (++count > kMaxEdges) break;
      StoryEntry& entry = edge(StoryEntry::Kind::kTriple, triple, triple.key);
      entry.own_instructions = triple.own_instructions;
      entry.accesses = {access_at(triple.before, triple.before_writes),
                        access_at(triple.remote, true), access_at(triple.after, false)};
    }
    count = 0;
    for (const RaceEdge& race : slice.races) {
      if (race.ordered) continue;
      if (++count > kMaxEdges) break;
      StoryEntry& entry = edge(StoryEntry::Kind::kRace, race, race.key);
      entry.race = race.kind;
      entry.accesses = {access_at(race.first, race.kind == RaceEdge::Kind::kWriteAfterWrite),
                        access_at(race.second, true)};
    }
    count = 0;
    for (const RemoteRead& read : slice.remote_reads) {
      if (++count > kMaxEdges) break;
      StoryEntry& entry = edge(StoryEntry::Kind::kRemoteRead, read, read.distance - 1);
      entry.accesses = {access_at(read.write, true), access_at(read.read, false)};
    }
    for (const StoryEntry& entry : story_.entries) {
      if (entry.kind == StoryEntry::Kind::kStatement) continue;
      for (const StoryAccess& access : entry.accesses) {
        in_.instances.ask(access.instance.seq);
        if (!is_own(access.instance.id))
          in_.instances.ask_stack(access.instance.seq, access.instance.thread);
      }
    }
  }

  // Where the program's own code did it: the place itself or its innermost call to a library. A
  // stub of the linker takes the place of who called it; it has run right behind that call.
  // False when that is nowhere. `inner` becomes false where the access is not all the library's.
  bool locate(StoryAccess& access, bool& inner) {
    if (is_own(access.instance.id)) {
      access.place = place_of(in_, access.instance.id);
      inner = false;
      return true;
    }
    bool left_out = is_inner(access.instance.id) || is_stub(access.instance.id);
    const std::vector<Seq>& calls =
        in_.instances.stack(access.instance.seq, access.instance.thread).calls;
    for (auto call = calls.rbegin(); call != calls.rend(); ++call) {
      for (std::uint64_t back = 0; back <= kStub && back <= call->value; ++back) {
        const InstanceFacts& facts = in_.instances.facts(Seq(call->value - back));
        if (facts.step == nullptr || facts.instance.thread != access.instance.thread) break;
        left_out = left_out || is_inner(facts.instance.id);
        if (!is_own(facts.instance.id)) continue;
        access.place = place_of(in_, facts.instance.id);
        inner = inner && left_out;
        return true;
      }
    }
    return false;
  }

  void set_value(StoryAccess& access, Addr address, std::uint64_t size) {
    for (const MemoryAccess& done : in_.instances.facts(access.instance.seq).accesses) {
      bool same = done.address.value < address.value + size &&
                  address.value < done.address.value + done.size;
      if (!same || done.slot->write != access.write || !done.has_value) continue;
      access.has_value = true;
      access.value = done.value;
    }
  }

  void finish() {
    in_.instances.answer(diagnostics_);
    for (const StoryEntry& entry : story_.entries)
      for (const StoryAccess& access : entry.accesses)
        if (entry.kind != StoryEntry::Kind::kStatement && !is_own(access.instance.id))
          for (Seq call : in_.instances.stack(access.instance.seq, access.instance.thread).calls)
            for (std::uint64_t back = 0; back <= kStub && back <= call.value; ++back)
              in_.instances.ask(Seq(call.value - back));
    in_.instances.answer(diagnostics_);

    std::vector<StoryEntry> kept;
    for (StoryEntry& entry : story_.entries) {
      if (entry.kind == StoryEntry::Kind::kStatement) {
        show_what_it_did(entry, entry.accesses[0]);
      } else {
        bool located = true;
        bool inner = channel_at(entry.address) == nullptr;
        for (StoryAccess& access : entry.accesses) {
          located = locate(access, inner) && located;
          set_value(access, entry.address, entry.size);
        }
        if (!located || inner) continue;
        name_place(entry);
      }
      kept.push_back(std::move(entry));
    }
    auto by_key = [](const StoryEntry& a, const StoryEntry& b) { return a.key < b.key; };
    std::stable_sort(kept.begin(), kept.end(), by_key);
    story_.entries.clear();
    std::set<std::vector<StoryPlace::Key>> told[2];  // statements, and edges
    for (StoryEntry& entry : kept) {
      std::vector<StoryPlace::Key> places;
      for (const StoryAccess& access : entry.accesses) places.push_back(access.place.key());
      if (told[entry.kind == StoryEntry::Kind::kStatement ? 0 : 1].insert(std::move(places)).second)
        story_.entries.push_back(std::move(entry));
    }
    give_parts_to_triples();
    std::stable_sort(story_.entries.begin(), story_.entries.end(), by_key);
    std::set<StoryPlace::Key> shown;
    for (const StoryEntry& entry : story_.entries)
      for (const StoryAccess& access : entry.accesses)
        if (shown.insert(access.place.key()).second) story_.statements.push_back(access.place);
  }

  // A race edge or remote read that is a part of a triple is told by the triple, at its place; one
  // that is nearer than the triple's own, and of other memory, before it.
  void give_parts_to_triples() {
    auto part_of = [](const StoryEntry& part, const StoryEntry& whole) {
      for (std::size_t i = 0; i + 1 < whole.accesses.size(); ++i)
        if (part.accesses[0].place == whole.accesses[i].place &&
            part.accesses[1].place == whole.accesses[i + 1].place)
          return true;
      return false;
    };
    auto told = [&](const StoryEntry& entry) {
      bool found = false;
      if (entry.accesses.size() == 2)
        for (StoryEntry& whole : story_.entries) {
          if (whole.kind != StoryEntry::Kind::kTriple || !part_of(entry, whole)) continue;
          found = found || whole.key <= entry.key || whole.address == entry.address;
          whole.key = std::min(whole.key, entry.key);
        }
      return found;
    };
    std::vector<bool> parts;
    for (const StoryEntry& entry : story_.entries) parts.push_back(told(entry));
    std::vector<StoryEntry> kept;
    for (std::size_t i = 0; i < parts.size(); ++i)
      if (!parts[i]) kept.push_back(std::move(story_.entries[i]));
    story_.entries = std::move(kept);
  }

  // The last access of the statement's nearest instance, if it has a value; where a call returns to
  // says nothing.
  void show_what_it_did(StoryEntry& entry, StoryAccess& access) {
    Flow flow = in_.code.step_of(access.instance.id).flow;
    bool call = flow == Flow::kCall || flow == Flow::kIndirectCall;
    for (const MemoryAccess& done : in_.instances.facts(access.instance.seq).accesses) {
      if (!done.has_value || (call && done.slot->write)) continue;
      access.has_value = true;
      access.write = done.slot->write;
      access.value = done.value;
      entry.address = done.address;
      entry.size = done.size;
    }
    if (entry.size != 0) name_place(entry);
  }

  // The name of the channel. A wild pointer can lead to where there is none.
  const std::string* channel_at(Addr address) const {
    auto channel = is_channel(address) ? channels_.find(channel_of(address)) : channels_.end();
    return channel == channels_.end() ? nullptr : &channel->second;
  }

  // By the channel or variable that it is, else as one of the accesses calls it.
  void name_place(StoryEntry& entry) {
    if (const std::string* channel = channel_at(entry.address)) {
      entry.variable = *channel;
      return;
    }
    entry.variable = in_.source.variable_at(entry.address, entry.size);
    for (auto access = entry.accesses.rbegin();
         access != entry.accesses.rend() && entry.variable.empty(); ++access)
      if (Pc pc = in_.code.pc_of(access->instance.id); pc.value != 0 && is_own(access->instance.id))
        entry.variable = in_.source.operand_name(pc);
  }

  const StoryInput& in_;
  Diagnostics& diagnostics_;
  Story story_;
  std::map<std::uint32_t, std::string> channels_;
  std::unordered_map<std::uint32_t, bool> own_, inner_;
  Suppressions rules_ = Suppressions::built_in();
};

}  // namespace

Story tell_story(const StoryInput& input, const Slice& slice, bool libraries,
                 Diagnostics& diagnostics) {
  Story story = Teller(input, libraries, diagnostics).tell(slice);
  if (!story.entries.empty() || story.hidden_library == 0) return story;
  return Teller(input, true, diagnostics).tell(slice);
}

StoryPlace place_of(const StoryInput& input, InstrId id) {
  const Step& step = input.code.step_of(id);
  StoryPlace place;
  const CodeTable::Home& home = input.code.home_of(id);
  if (input.code.block(home.block).abstract) {
    const Statement& statement = input.trace.statements()[step.statement.value];
    place.file = statement.file;
    place.line = statement.line;
    place.function = statement.function;
    place.label = statement.label;
    return place;
  }
  const Place& at = input.source.at(step.pc);
  place.pc = step.pc;
  place.module = at.module;
  const Frame* frame = &at.own_frame();
  place.file = frame->file;
  place.line = frame->line;
  place.function = frame->function;
  return place;
}

std::vector<std::uint32_t> number_lines(const CodeTable& code, SourceMap& source) {
  std::vector<std::uint32_t> numbers(code.instr_count());
  std::map<std::pair<std::string_view, std::uint32_t>, std::uint32_t> known;
  for (std::uint32_t i = 0; i < numbers.size(); ++i) {
    Pc pc = code.pc_of(InstrId(i));
    if (pc.value == 0) continue;
    if (!source.is_own(pc)) {
      numbers[i] = kLibraryLine;
      continue;
    }
    const Frame& frame = source.at(pc).frames.front();
    if (frame.line == 0) continue;
    auto next = static_cast<std::uint32_t>(known.size() + 1);
    numbers[i] = known.try_emplace({frame.file, frame.line}, next).first->second;
  }
  return numbers;
}

}  // namespace svd
