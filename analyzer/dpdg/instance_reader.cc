// SPDX-License-Identifier: Apache-2.0
#include "dpdg/instance_reader.h"

#include "svd/trace/chunk_stream.h"

namespace svd {
namespace {

// Fills the facts of the instances that an execution holds.
struct Fill {
  const CodeTable& code;
  std::map<Seq, InstanceFacts>& facts;
  std::map<Seq, InstanceFacts>::iterator next;

  void event(const Event&) {}
  void exec(const Exec& exec) {
    while (next != facts.end() && next->first < exec.seq) ++next;
    for (; next != facts.end() && next->first < exec.end(); ++next) {
      const CodeBlock& block = code.block(exec.shape->id);
      std::size_t step = exec.shape->part.first + (next->first - exec.seq);
      if (step >= block.steps.size()) continue;
      InstanceFacts& found = next->second;
      found.step = &block.steps[step];
      found.accesses.clear();
      found.instance = {next->first, found.step->id, exec.thread};
      if (exec.addresses == nullptr) continue;
      exec.accesses([&](const MemoryAccess& access) {
        if (access.seq == next->first) found.accesses.push_back(access);
      });
    }
  }
};

}  // namespace

void InstanceReader::answer(Diagnostics& diagnostics) {
  std::vector<std::size_t> asked;  // chunks
  for (const auto& [seq, fact] : facts_) {
    std::size_t index = trace_.chunk_of(seq);
    if (index >= trace_.chunks().size()) break;
    bool known = !asked.empty() && asked.back() == index;
    if (!known && fact.step == nullptr) asked.push_back(index);
  }
  ChunkStream stream(trace_, std::move(asked), {});
  while (const ChunkStream::Decoded* next = stream.next(diagnostics)) {
    auto fact = facts_.lower_bound(next->chunk.first_seq);
    if (fact != facts_.end()) next->chunk.walk_from(fact->first, Fill{code_, facts_, fact});
  }
  std::vector<ControlIndex::Point> points;
  for (const auto& [at, stack] : stacks_)
    if (!stack.calls) points.push_back({at.first, at.second, stack.most});
  auto calls = control_.call_stacks(trace_, points);
  for (std::size_t i = 0; i < points.size(); ++i)
    stacks_.at({points[i].seq, points[i].thread}).calls = std::move(calls[i]);
}

}  // namespace svd
