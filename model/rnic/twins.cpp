#include "model/rnic/twins.h"

#include <sstream>

#include <fmt/format.h>

#include "model/config/nearest.h"
#include "model/rnic/rnic.h"

namespace rnic {
namespace {

using Handle = TwinSource::Handle;

// The twin's registers are the default ones; the link says how many the stage is configured for.
template <class Stage>
void check_latency(const Stage& stage, unsigned registers) {
  const unsigned latency = stage.out->config().latency;
  if (latency == registers) return;
  throw ConfigError(fmt::format("{}: its twin has {} pipeline registers, but pipeline_cycles is {}", stage.name(),
                                registers, latency));
}

void check_size(const Stage& stage, const char* what, unsigned configured, unsigned size) {
  if (configured == size) return;
  throw ConfigError(
      fmt::format("{}: its twin is built for {} = {}, but it is {}", stage.name(), what, size, configured));
}

// Positions in the queues of a QP.
void check_depth(const Stage& stage, const char* what, unsigned configured) {
  constexpr unsigned kDepth = 128;
  if (configured <= kDepth) return;
  throw ConfigError(
      fmt::format("{}: its twin holds {} requests of a QP, but {} is {}", stage.name(), kDepth, what, configured));
}

struct Entry {
  const char* name;
  Handle (*make)(Rnic& chip, const TwinSource& source, TwinMode mode);
};
constexpr Entry kTwins[] = {
    {"mpa_framer",
     [](Rnic& chip, const TwinSource& source, TwinMode mode) {
       check_latency(chip.mpa_framer, MpaFramerConfig{}.pipeline_cycles);
       return source.make(chip.mpa_framer, chip.contexts(), mode);
     }},
    {"marker_inserter",
     [](Rnic& chip, const TwinSource& source, TwinMode mode) {
       check_latency(chip.marker_inserter, MarkerInserterConfig{}.pipeline_cycles);
       return source.make(chip.marker_inserter, chip.contexts(), chip.frames(), mode);
     }},
    {"crc_insert",
     [](Rnic& chip, const TwinSource& source, TwinMode mode) {
       check_latency(chip.crc_insert, CrcInsertConfig{}.pipeline_cycles);
       return source.make(chip.crc_insert, mode);
     }},
    {"mpa_deframer",
     [](Rnic& chip, const TwinSource& source, TwinMode mode) {
       check_latency(chip.mpa_deframer, MpaDeframerConfig{}.pipeline_cycles);
       check_size(chip.mpa_deframer, "queue_fpdus", chip.config().rx.mpa_deframer.queue_fpdus,
                  MpaDeframerConfig{}.queue_fpdus);
       return source.make(chip.mpa_deframer, chip.contexts(), mode);
     }},
    {"crc_check",
     [](Rnic& chip, const TwinSource& source, TwinMode mode) {
       check_latency(chip.crc_check, CrcCheckConfig{}.pipeline_cycles);
       return source.make(chip.crc_check, mode);
     }},
    {"irrq",
     [](Rnic& chip, const TwinSource& source, TwinMode mode) {
       check_depth(chip.irrq, "fwcpu.max_ird", chip.config().fwcpu.max_ird);
       return source.make(chip.irrq, chip.contexts(), mode);
     }},
    {"ddp_placement", [](Rnic& chip, const TwinSource& source,
                         TwinMode mode) { return source.make(chip.ddp_placement, chip.contexts(), mode); }},
    {"response_queue",
     [](Rnic& chip, const TwinSource& source, TwinMode mode) {
       check_depth(chip.response_queue, "fwcpu.max_ord", chip.config().fwcpu.max_ord);
       return source.make(chip.response_queue, chip.contexts(), mode);
     }},
    {"terminate_generator",
     [](Rnic& chip, const TwinSource& source, TwinMode mode) {
       return source.make(chip.terminate_generator, chip.contexts(), chip.frames(), chip.config().terminate, mode);
     }},
    {"atomic_alu",
     [](Rnic& chip, const TwinSource& source, TwinMode mode) {
       const AtomicAluConfig &is = chip.config().responder.atomic_alu, standard;
       check_size(chip.atomic_alu, "operations", is.operations, standard.operations);
       check_size(chip.atomic_alu, "initiation_interval", is.initiation_interval, standard.initiation_interval);
       check_size(chip.atomic_alu, "pipeline_cycles", is.pipeline_cycles, standard.pipeline_cycles);
       return source.make(chip.atomic_alu, chip.contexts(), mode);
     }},
};

std::vector<std::string> all_names() {
  std::vector<std::string> names;
  for (const Entry& entry : kTwins) names.emplace_back(entry.name);
  return names;
}

const Entry& entry_named(const std::string& name) {
  for (const Entry& entry : kTwins) {
    if (entry.name == name) return entry;
  }
  throw ConfigError(
      fmt::format("no stage '{}' has a twin; the nearest that has is '{}'", name, nearest(name, all_names())));
}

}  // namespace

std::vector<std::string> twin_names(const std::string& list) {
  if (list == "all") return all_names();
  std::vector<std::string> names;
  std::istringstream in(list);
  for (std::string name; std::getline(in, name, ',');) names.push_back(entry_named(name).name);
  return names;
}

std::vector<Handle> make_twins(Rnic& chip, const std::vector<std::string>& names, const TwinSource& source,
                               TwinMode mode) {
  std::vector<Handle> twins;
  if (!names.empty() && chip.config().datapath.beat_bytes != DatapathConfig{}.beat_bytes) {
    throw ConfigError(fmt::format("{}: twins have beats of {} octets, but datapath.beat_bytes is {}", chip.name(),
                                  DatapathConfig{}.beat_bytes, chip.config().datapath.beat_bytes));
  }
  for (const std::string& name : names) twins.push_back(entry_named(name).make(chip, source, mode));
  return twins;
}

}  // namespace rnic
