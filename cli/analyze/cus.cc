// SPDX-License-Identifier: Apache-2.0
//
// svd-analyze cus: the computational units of a run: how many, how large, and which shapes (sets of
// places in the code) they have most often.

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <memory>
#include <set>
#include <vector>

#include "analyze/json_object.h"
#include "analyze/trace_input.h"
#include "analyze/verbs.h"
#include "common/exit_codes.h"
#include "detectors/scan.h"
#include "detectors/table.h"
#include "findings/places.h"
#include "findings/summary.h"
#include "svd/trace/chunk_stream.h"

namespace svd::cli {
namespace {

struct Options {
  std::string input;
  std::string output;
  bool paper = false;
  bool list = false;
  std::string format = "text";
  std::uint64_t shapes = 20;
};

void add_options(Command& command, Options& options) {
  command.example("svd-analyze cus server.fb",
                  "how many there are, how large, and the most common");
  command.example("svd-analyze cus --cu=paper --list figure.fb", "each one, as the paper has them");
  command.usage("[options] TRACE");
  CLI::App& app = command.app();
  add_trace(command, options.input);
  add_units(command, options.paper);
  app.add_flag("--list", options.list, "each unit, in the order in which they begin");
  add_count(app, "--shapes", options.shapes, "so many shapes, 20 if not said");
  add_format(command, options.format);
  add_output(command, options.output, "write to FILE instead of standard output");
  add_trace_exits(command);
}

struct Unit {
  ThreadIndex thread{};
  Seq first{}, last{};
  std::uint64_t parts = 0;
  std::set<SiteId> sites{};

  void add(const Unit& other) {
    if (parts == 0) thread = other.thread, first = other.first;
    first = std::min(first, other.first);
    last = std::max(last, other.last);
    parts += other.parts;
    sites.insert(other.sites.begin(), other.sites.end());
  }
};

// By their members, until the end says which are one.
std::vector<Unit> find_units(const TraceReader& trace, const Options& options, Scan& scan,
                             LockSets& lock_sets, Diagnostics& diagnostics,
                             const ProgressFunction& progress) {
  std::unique_ptr<UnitDetector> detector = make_units(options.paper, scan.threads(), lock_sets);
  std::vector<Unit> members;
  detector->tell([&](const UnitPart& part) {
    if (members.size() <= part.unit) members.resize(part.unit + 1U);
    members[part.unit].add(
        {part.thread, part.seq, part.seq, 1, {scan.sites().of(part.block, part.instruction)}});
  });
  scan.add(*detector);
  ChunkStream stream(trace, TraceReader::Order::kForward, Columns{.values = false});
  while (const ChunkStream::Decoded* next = stream.next(diagnostics)) {
    scan.chunk(next->index, next->chunk);
    progress(next->chunk.end_seq().value);
  }
  std::map<UnitMember, Unit> units;
  for (UnitMember member = 1; member < members.size(); ++member)
    if (members[member].parts != 0) units[detector->units().of_member(member)].add(members[member]);
  std::vector<Unit> result;
  result.reserve(units.size());
  for (auto& [member, unit] : units) result.push_back(std::move(unit));
  std::sort(result.begin(), result.end(),
            [](const Unit& a, const Unit& b) { return a.first < b.first; });
  return result;
}

struct Shape {
  const std::set<SiteId>* sites = nullptr;
  std::uint64_t count = 0;
  std::uint64_t largest = 0;
};

// The most common first.
std::vector<Shape> shapes_of(const std::vector<Unit>& units) {
  std::map<std::set<SiteId>, Shape> by_sites;
  for (const Unit& unit : units) {
    Shape& shape = by_sites[unit.sites];
    shape.sites = &unit.sites;
    ++shape.count;
    shape.largest = std::max(shape.largest, unit.parts);
  }
  std::vector<Shape> shapes;
  shapes.reserve(by_sites.size());
  for (const auto& [sites, shape] : by_sites) shapes.push_back(shape);
  std::stable_sort(shapes.begin(), shapes.end(),
                   [](const Shape& a, const Shape& b) { return a.count > b.count; });
  return shapes;
}

// What is printed.
struct Census {
  const TraceReader& trace;
  const Options& options;
  const std::vector<Unit>& units;
  const std::vector<Shape>& shapes;
  const Sites& sites;
  Places& places;

  double per_million() const {
    double steps = static_cast<double>(std::max<std::uint64_t>(trace.steps(), 1));
    return static_cast<double>(units.size()) * 1e6 / steps;
  }
  std::uint64_t parts() const {
    std::uint64_t all = 0;
    for (const Unit& unit : units) all += unit.parts;
    return all;
  }
  // That `share` of the units do not exceed.
  std::uint64_t size(double share) const {
    if (units.empty()) return 0;
    std::vector<std::uint64_t> sizes;
    sizes.reserve(units.size());
    for (const Unit& unit : units) sizes.push_back(unit.parts);
    auto at =
        sizes.begin() + static_cast<std::ptrdiff_t>(share * static_cast<double>(sizes.size() - 1));
    std::nth_element(sizes.begin(), at, sizes.end());
    return *at;
  }
  CodePlace place(SiteId site) const {
    const Sites::Place& found = sites[site];
    return found.statement ? places.place(*found.statement) : places.place(found.pc);
  }
  std::uint32_t thread(const Unit& unit) const {
    return trace.threads()[unit.thread.value].id.value;
  }
  std::size_t shown() const { return std::min<std::size_t>(options.shapes, shapes.size()); }
};

// Each place once, in the order of the code.
std::string described(const Census& census, const std::set<SiteId>& sites) {
  std::vector<std::string> names;
  for (SiteId site : sites) {
    CodePlace place = census.place(site);
    std::string name = place.label.empty() ? describe(place) : place.label;
    if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
  }
  return fmt::format("{}", fmt::join(names, ", "));
}

void print_text(const Census& census, Output& output) {
  output.write(fmt::format("{} units, {:.1f} for a million instructions\n", census.units.size(),
                           census.per_million()));
  output.write(fmt::format("size: median {}, 90 % up to {}, largest {} of {} parts\n",
                           census.size(0.5), census.size(0.9), census.size(1), census.parts()));
  if (census.options.list) {
    for (const Unit& unit : census.units) {
      output.write(fmt::format("thread {} {}..{}, {}: {}\n", census.thread(unit), unit.first.value,
                               unit.last.value, unit.parts, described(census, unit.sites)));
    }
    return;
  }
  output.write(fmt::format("{} shapes\n", census.shapes.size()));
  for (std::size_t i = 0; i < census.shown(); ++i) {
    const Shape& shape = census.shapes[i];
    output.write(fmt::format("{:>8} times, up to {}: {}\n", shape.count, shape.largest,
                             described(census, *shape.sites)));
  }
}

void put_places(const Census& census, const std::set<SiteId>& sites, JsonObject& object,
                std::string& out) {
  object.begin("places");
  out += '[';
  for (SiteId site : sites) {
    if (out.back() != '[') out += ',';
    CodePlace place = census.place(site);
    JsonObject json(out);
    json("pc", place.pc);
    json("module", place.module);
    json("file", place.file);
    json("line", place.line);
    json("function", place.function);
    if (!place.label.empty()) json("label", place.label);
    json.close();
  }
  out += ']';
}

void print_json(const Census& census, Output& output) {
  std::string out;
  JsonObject json(out);
  json("schema", "svd-cus/1");
  json("cu", census.options.paper ? "paper" : "default");
  json("instructions", census.trace.steps());
  json("units", census.units.size());
  json.begin("units_per_million");
  out += fmt::format("{:.3f}", census.per_million());
  json("parts", census.parts());
  json("median", census.size(0.5));
  json("largest", census.size(1));
  json.begin(census.options.list ? "list" : "shapes");
  out += '[';
  for (std::size_t i = 0; i < (census.options.list ? census.units.size() : census.shown()); ++i) {
    if (i != 0) out += ',';
    JsonObject entry(out);
    if (census.options.list) {
      const Unit& unit = census.units[i];
      entry("thread", census.thread(unit));
      entry("first", unit.first);
      entry("last", unit.last);
      entry("parts", unit.parts);
      put_places(census, unit.sites, entry, out);
    } else {
      const Shape& shape = census.shapes[i];
      entry("count", shape.count);
      entry("largest", shape.largest);
      put_places(census, *shape.sites, entry, out);
    }
    entry.close();
  }
  out += ']';
  json.close();
  output.write(out + '\n');
}

}  // namespace

int run_cus(const Arguments& arguments) {
  Command command("svd-analyze cus", "counts or lists the computational units of a run");
  Options options;
  add_options(command, options);
  if (auto exit = command.parse(arguments)) return *exit;
  auto trace = open_trace(command, options.input);
  if (!trace) return kUnreadable;
  auto output = Output::open(options.output, options.input);
  if (!output) return output_failed(command, output.error());
  Diagnostics diagnostics = trace->diagnostics();
  note_gaps(*trace, diagnostics);
  Places places(*trace, diagnostics);
  Rules rules = Rules::built_in();
  LockSets lock_sets;
  Scan scan(*trace, rules, places, lock_sets);
  scan.find_waits();
  Progress progress("walking", "instr", trace->steps(), command.quiet());
  std::vector<Unit> units =
      find_units(*trace, options, scan, lock_sets, diagnostics, progress.function());
  std::vector<Shape> shapes = shapes_of(units);
  Census census{*trace, options, units, shapes, scan.sites(), places};
  if (options.format == "json") {
    print_json(census, *output);
  } else {
    print_text(census, *output);
  }
  if (auto written = output->finish(); !written) return output_failed(command, written.error());
  tell(command, diagnostics);
  return exit_code(*trace, diagnostics);
}

}  // namespace svd::cli
