// SPDX-License-Identifier: Apache-2.0
//
// Control flow of whole binaries measured: from opening the file to the post-dominators of every
// function, and both algorithms for these side by side. Processor seconds of one thread.
//
//   bench_cfg [FILE...]     default: the largest server that is installed, and the C library

#include <fmt/format.h>

#include <ctime>
#include <filesystem>
#include <string>
#include <vector>

#include "unit/cfg_binary.h"
#include "unit/cfg_lengauer_tarjan.h"

namespace svd {
namespace {

double now() {
  timespec time{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

template <class F>
double seconds(F&& f) {
  double start = now();
  f();
  return now() - start;
}

std::vector<std::string> installed() {
  std::string largest;
  for (const char* server : {"/usr/sbin/mariadbd", "/usr/sbin/nginx", "/usr/sbin/apache2",
                             "/usr/bin/redis-server", "/usr/bin/memcached"}) {
    if (!std::filesystem::exists(server)) continue;
    if (largest.empty() || std::filesystem::file_size(server) > std::filesystem::file_size(largest))
      largest = server;
  }
  std::vector<std::string> files{"/usr/lib/x86_64-linux-gnu/libc.so.6"};
  if (!largest.empty()) files.insert(files.begin(), largest);
  return files;
}

void measure(const std::string& path) {
  std::size_t blocks = 0;
  std::size_t differ = 0;
  double graphs = 0;
  double ours = 0;
  double boosts = 0;
  std::unique_ptr<test::CodeOfFile> code;
  double found = seconds([&] { code = std::make_unique<test::CodeOfFile>(path); });
  for (std::uint32_t f = 0; f < code->functions(); ++f) {
    FlowGraph flow;
    std::vector<std::uint32_t> one;
    std::vector<std::uint32_t> other;
    graphs += seconds([&] { flow = code->graphs().with_exits(f); });
    ours += seconds([&] { one = post_dominators(flow.graph); });
    boosts += seconds([&] { other = test::boost_post_dominators(flow.graph); });
    blocks += flow.blocks.size();
    differ += one == other ? 0 : 1;
  }
  fmt::print("{}\n", path);
  fmt::print("  {} functions, {} blocks\n", code->functions(), blocks);
  fmt::print("  functions, jump tables, noreturn  {:6.3f} s\n", found);
  fmt::print("  graphs                            {:6.3f} s\n", graphs);
  fmt::print("  post-dominators                   {:6.3f} s   (Boost.Graph {:.3f} s, {} differ)\n",
             ours, boosts, differ);
  fmt::print("  all                               {:6.3f} s\n", found + graphs + ours);
}

}  // namespace
}  // namespace svd

int main(int argc, char** argv) {
  std::vector<std::string> files(argv + 1, argv + argc);
  for (const std::string& file : files.empty() ? svd::installed() : files) svd::measure(file);
  return 0;
}
