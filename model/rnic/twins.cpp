#include "model/rnic/twins.h"

#include <algorithm>
#include <sstream>

#include <fmt/format.h>

#include "model/config/nearest.h"
#include "model/rnic/rnic.h"

namespace rnic {
namespace {

// Settings that a twin is built for: its parameters have the defaults, and its memories may be larger than asked for.
struct BuiltFor {
  const char* twin;
  const char* setting;
  unsigned (*of)(const RnicConfig& config);
  unsigned at_most = 0;  // 0: as the default
};
constexpr unsigned kRequests = 128;  // of each kind that a QP has in a queue
constexpr BuiltFor kBuiltFor[] = {
    {"mpa_framer", "tx.mpa_framer.pipeline_cycles",
     [](const RnicConfig& c) { return c.tx.mpa_framer.pipeline_cycles; }},
    {"marker_inserter", "tx.marker_inserter.pipeline_cycles",
     [](const RnicConfig& c) { return c.tx.marker_inserter.pipeline_cycles; }},
    {"crc_insert", "tx.crc_insert.pipeline_cycles",
     [](const RnicConfig& c) { return c.tx.crc_insert.pipeline_cycles; }},
    {"mpa_deframer", "rx.mpa_deframer.pipeline_cycles",
     [](const RnicConfig& c) { return c.rx.mpa_deframer.pipeline_cycles; }},
    {"mpa_deframer", "rx.mpa_deframer.queue_fpdus", [](const RnicConfig& c) { return c.rx.mpa_deframer.queue_fpdus; }},
    {"crc_check", "rx.crc_check.pipeline_cycles", [](const RnicConfig& c) { return c.rx.crc_check.pipeline_cycles; }},
    {"irrq", "fwcpu.max_ird", [](const RnicConfig& c) { return unsigned{c.fwcpu.max_ird}; }, kRequests},
    {"response_queue", "fwcpu.max_ord", [](const RnicConfig& c) { return unsigned{c.fwcpu.max_ord}; }, kRequests},
    {"atomic_alu", "responder.atomic_alu.operations",
     [](const RnicConfig& c) { return c.responder.atomic_alu.operations; }},
    {"atomic_alu", "responder.atomic_alu.initiation_interval",
     [](const RnicConfig& c) { return c.responder.atomic_alu.initiation_interval; }},
    {"atomic_alu", "responder.atomic_alu.pipeline_cycles",
     [](const RnicConfig& c) { return c.responder.atomic_alu.pipeline_cycles; }},
};

void check(const Rnic& chip, const char* twin, const BuiltFor& built) {
  const unsigned is = built.of(chip.config()), standard = built.of(RnicConfig{});
  if (built.at_most != 0 ? is <= built.at_most : is == standard) return;
  throw ConfigError(
      fmt::format("{}: {} built for rnic.{} = {}, but it is {}", chip.name(), twin, built.setting,
                  built.at_most != 0 ? fmt::format("at most {}", built.at_most) : fmt::to_string(standard), is));
}

void check(const Rnic& chip, const std::string& name) {
  check(chip, "twins are", {"", "datapath.beat_bytes", [](const RnicConfig& c) { return c.datapath.beat_bytes; }});
  for (const BuiltFor& built : kBuiltFor) {
    if (name == built.twin) check(chip, ("the twin of " + name + " is").c_str(), built);
  }
}

Stage& stage_of(const Rnic& chip, const std::string& name) {
  for (Stage* stage : chip.stages()) {
    if (name == stage->basename()) return *stage;
  }
  throw InternalError("a chip has no stage " + name);
}

}  // namespace

std::vector<std::string> twin_names(const std::string& list, const TwinSource& source) {
  const std::vector<std::string> all = source.names();
  if (list == "all") return all;
  std::vector<std::string> names;
  std::istringstream in(list);
  for (std::string name; std::getline(in, name, ',');) {
    if (std::find(all.begin(), all.end(), name) == all.end()) {
      throw ConfigError(
          fmt::format("no stage '{}' has a twin; the nearest that has is '{}'", name, nearest(name, all)));
    }
    names.push_back(name);
  }
  return names;
}

std::vector<TwinSource::Handle> make_twins(Rnic& chip, const std::vector<std::string>& names, const TwinSource& source,
                                           TwinMode mode) {
  const TwinSurroundings surroundings{&chip.contexts(), &chip.frames(), &chip.config().terminate};
  std::vector<TwinSource::Handle> twins;
  for (const std::string& name : names) {
    check(chip, name);
    twins.push_back(source.make(name, stage_of(chip, name), surroundings, mode));
  }
  return twins;
}

}  // namespace rnic
