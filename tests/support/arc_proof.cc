// SPDX-License-Identifier: Apache-2.0
#include "support/arc_proof.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <optional>
#include <span>
#include <unordered_map>
#include <unordered_set>

#include "dpdg/dependences.h"

namespace svd::test {
namespace {

constexpr std::size_t kMostFindings = 10;

// Bytes that an instance wrote.
struct Written {
  Seq by{};
  Addr address{};
  std::uint64_t size = 0;
  std::uint64_t value = 0;
  bool has_value = false;
};

struct KernelWritten {
  Addr address{};
  std::uint64_t size = 0;
  std::vector<std::uint8_t> data;  // or a beginning of it
  bool at_end = false;             // of the thread
};

struct Wrong {
  Addr address{};
  std::string text;
};

class Prover {
 public:
  Prover(const TraceReader& trace, const ProgramModel& model)
      : dependences_(trace, model, Sink{this}) {}

  void exec(const Exec& exec) {
    loads_.clear();
    exec.accesses([this](const MemoryAccess& a) {
      if (a.slot->write)
        stores_.push_back({a.seq, a.address, a.size, a.value, a.has_value});
      else if (a.has_value)
        loads_.push_back(a);
    });
    dependences_.exec(exec);
    last_[exec.thread] = exec.end() - 1;
  }

  void event(const Event& event) {
    auto last = last_.find(event.thread);
    if (const auto* kernel = std::get_if<KernelAccess>(&event.body)) {
      if (kernel->access == Access::kWrite && last != last_.end())
        kernel_[last->second].push_back({kernel->address,
                                         kernel->size,
                                         {kernel->data.begin(), kernel->data.end()},
                                         ended_.contains(event.thread)});
    } else if (std::holds_alternative<ThreadExit>(event.body)) {
      ended_.insert(event.thread);
    } else if (const auto* sync = std::get_if<Sync>(&event.body)) {
      if (sync->result == EOWNERDEAD) orphans_.insert(sync->object);
    }
    loads_.clear();
    dependences_.event(event);
  }

  // What the kernel does without telling explains some.
  ArcProof finish() {
    for (Wrong& wrong : wrong_) {
      if (orphans_.contains(wrong.address)) {
        unknown("the kernel marks a robust mutex whose owner has died");
        continue;
      }
      ++proof_.wrong;
      if (proof_.findings.size() < kMostFindings) proof_.findings.push_back(std::move(wrong.text));
    }
    return std::move(proof_);
  }

 private:
  struct Sink {
    Prover* prover;
    void operator()(const Arc& arc) const {
      if (arc.kind == ArcKind::kMemory || arc.kind == ArcKind::kRemote) prover->prove(arc);
    }
  };

  void prove(const Arc& arc) {
    ++proof_.arcs;
    proof_.remote += arc.kind == ArcKind::kRemote;
    auto load = std::find_if(loads_.begin(), loads_.end(), [&](const MemoryAccess& a) {
      return a.seq == arc.use.seq && a.address <= arc.address &&
             arc.address + arc.size <= a.address + a.size;
    });
    if (load == loads_.end()) return unknown("the load is too wide for a value, or the kernel's");
    for (std::uint64_t i = 0; i < arc.size; ++i) {
      auto loaded = static_cast<std::uint8_t>(load->value >> 8 * (arc.address + i - load->address));
      Stored stored = stored_at(arc.def, arc.address + i);
      if (!stored.found) return wrong(arc, "which did not write there");
      if (!stored.value) return unknown("the store is too wide for a value");
      if (*stored.value != loaded && stored.at_end)
        return unknown("the kernel clears the id of a thread some time after its end");
      if (*stored.value != loaded)
        return wrong(arc, fmt::format("of which byte {} is {:#x}, but {:#x} was stored", i, loaded,
                                      *stored.value));
    }
    ++proof_.equal;
  }

  struct Stored {
    bool found = false;
    std::optional<std::uint8_t> value{};
    bool at_end = false;
  };

  // What the kernel writes for an instruction comes after what that itself does.
  Stored stored_at(Seq by, Addr at) const {
    if (auto kernel = kernel_.find(by); kernel != kernel_.end())
      for (auto w = kernel->second.rbegin(); w != kernel->second.rend(); ++w)
        if (std::uint64_t i = at - w->address; at >= w->address && i < w->size)
          return {true, i < w->data.size() ? std::optional(w->data[i]) : std::nullopt, w->at_end};
    auto end = std::upper_bound(stores_.begin(), stores_.end(), by,
                                [](Seq seq, const Written& w) { return seq < w.by; });
    for (auto w = end; w != stores_.begin() && std::prev(w)->by == by;) {
      --w;
      std::uint64_t i = at - w->address;
      if (at >= w->address && i < w->size)
        return {true, w->has_value ? std::optional(static_cast<std::uint8_t>(w->value >> 8 * i))
                                   : std::nullopt};
    }
    return {};
  }

  void unknown(const std::string& why) { ++proof_.unknown[why]; }
  void wrong(const Arc& arc, const std::string& how) {
    wrong_.push_back(
        {arc.address, fmt::format("{} reads {} bytes at {:#x} that {} wrote, {}", arc.use.seq.value,
                                  arc.size, arc.address.value, arc.def.value, how)});
  }

  Dependences<Sink> dependences_;
  std::vector<MemoryAccess> loads_;  // with values, of the execution at hand
  std::vector<Written> stores_;      // ascending
  std::unordered_map<Seq, std::vector<KernelWritten>> kernel_;
  std::unordered_map<ThreadId, Seq> last_;
  std::unordered_set<ThreadId> ended_;
  std::unordered_set<Addr> orphans_;  // mutexes whose owner died
  std::vector<Wrong> wrong_;
  ArcProof proof_;
};

}  // namespace

std::string ArcProof::describe() const {
  std::string text = fmt::format("{} arcs through memory, {} between threads: {} equal, {} wrong\n",
                                 arcs, remote, equal, wrong);
  for (const auto& [why, count] : unknown) text += fmt::format("{:>12} {}\n", count, why);
  for (const std::string& finding : findings) text += finding + "\n";
  return text;
}

ArcProof prove_arcs(const TraceReader& trace, const ProgramModel& model) {
  Prover prover(trace, model);
  Diagnostics diagnostics;
  trace.scan(TraceReader::Order::kForward, {}, diagnostics, [&](const Chunk& chunk) {
    chunk.walk(prover);
    return true;
  });
  return prover.finish();
}

}  // namespace svd::test
