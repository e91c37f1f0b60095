// SPDX-License-Identifier: Apache-2.0
//
// All code of an ELF file, as if a run had loaded it at 0 and shown nothing.
#pragma once

#include <memory>
#include <string>

#include "cfg/flow_graph.h"
#include "svd/trace/result.h"

namespace svd::test {

class CodeOfFile {
 public:
  explicit CodeOfFile(const std::string& path) {
    Module module;
    module.path = path;
    module.build_id = ElfFile(path).build_id();
    auto file = ModuleFile::open(module);
    SVD_CHECK(file != nullptr);
    SVD_CHECK(map_.add(std::move(file)));
    discovery_ = std::make_unique<Discovery>(map_, nothing_);
    graphs_ = std::make_unique<FlowGraphs>(*discovery_);
  }

  const CodeMap& map() const { return map_; }
  const Discovery& discovery() const { return *discovery_; }
  const FlowGraphs& graphs() const { return *graphs_; }
  std::uint32_t functions() const { return discovery_->function_count(); }

 private:
  CodeMap map_;
  Observations nothing_;
  std::unique_ptr<Discovery> discovery_;
  std::unique_ptr<FlowGraphs> graphs_;
};

}  // namespace svd::test
