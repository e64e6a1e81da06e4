#include "model/rnic/twins.h"

#include <algorithm>
#include <map>
#include <sstream>
#include <string_view>

#include <fmt/format.h>

#include "model/config/describe.h"
#include "model/config/nearest.h"
#include "model/rnic/messages/twin_size.h"
#include "model/rnic/rnic.h"

namespace rnic {
namespace {

// By path, as JSON.
std::map<std::string, std::string> settings(const RnicConfig& config) {
  std::map<std::string, std::string> values;
  for_each_field(config, "rnic", [&](const std::string& path, const auto& value, const auto& spec) {
    values[path] = field_json(value, spec).dump();
  });
  return values;
}

[[noreturn]] void refuse(const Rnic& chip, const std::string& twin, const std::string& path, const std::string& built,
                         const std::string& is) {
  throw ConfigError(fmt::format("{}: {} built for {} = {}, but it is {}", chip.name(), twin, path, built, is));
}

// Of the stages that SCTP has for itself the module is that of TCP's side.
constexpr std::string_view kOfSctp = "sctp_";
bool is_of_sctp(const std::string& name) { return name.compare(0, kOfSctp.size(), kOfSctp) == 0; }
std::string module_of(const std::string& name) { return is_of_sctp(name) ? name.substr(kOfSctp.size()) : name; }

// The parameters of each module, by the settings that they follow.
struct ModuleParameter {
  const char *module, *name, *setting;
};
constexpr ModuleParameter kParameters[] = {
    {"mpa_framer", "BeatBytes", "rnic.datapath.beat_bytes"},
    {"mpa_framer", "PipelineCycles", "rnic.tx.mpa_framer.pipeline_cycles"},
    {"marker_inserter", "BeatBytes", "rnic.datapath.beat_bytes"},
    {"marker_inserter", "PipelineCycles", "rnic.tx.marker_inserter.pipeline_cycles"},
    {"crc_insert", "BeatBytes", "rnic.datapath.beat_bytes"},
    {"crc_insert", "PipelineCycles", "rnic.tx.crc_insert.pipeline_cycles"},
    {"mpa_deframer", "BeatBytes", "rnic.datapath.beat_bytes"},
    {"mpa_deframer", "PipelineCycles", "rnic.rx.mpa_deframer.pipeline_cycles"},
    {"mpa_deframer", "QueueFpdus", "rnic.rx.mpa_deframer.queue_fpdus"},
    {"crc_check", "BeatBytes", "rnic.datapath.beat_bytes"},
    {"crc_check", "PipelineCycles", "rnic.rx.crc_check.pipeline_cycles"},
    {"ddp_placement", "BeatBytes", "rnic.datapath.beat_bytes"},
    {"terminate_generator", "QpBits", "rnic.context.qps"},
    {"atomic_alu", "Operations", "rnic.responder.atomic_alu.operations"},
    {"atomic_alu", "InitiationInterval", "rnic.responder.atomic_alu.initiation_interval"},
    {"atomic_alu", "PipelineCycles", "rnic.responder.atomic_alu.pipeline_cycles"},
};

// Of an index to so many rows; tables smaller than the default have its index.
std::uint64_t qp_bits(std::uint64_t qps) {
  std::uint64_t bits = TwinSize::kQpBits;
  while (std::uint64_t{1} << bits < qps) ++bits;
  return bits;
}

TwinParameters parameters_of(const RnicConfig& config, const std::string& name) {
  const auto values = settings(config);
  TwinParameters parameters;
  for (const ModuleParameter& p : kParameters) {
    if (module_of(name) != p.module) continue;
    const std::uint64_t set = std::stoull(values.at(p.setting));
    parameters.push_back({p.name, p.setting, std::string_view(p.name) == "QpBits" ? qp_bits(set) : set, set});
  }
  return parameters;
}

bool are_defaults(const TwinParameters& parameters, const std::string& name) {
  const TwinParameters defaults = parameters_of(RnicConfig{}, name);
  return std::equal(parameters.begin(), parameters.end(), defaults.begin(),
                    [](const TwinParameter& a, const TwinParameter& b) { return a.value == b.value; });
}

// A setting of the stage, in the group that has its name, for which its module has no parameter.
void check_settings(const Rnic& chip, const std::string& name) {
  const auto is = settings(chip.config());
  const auto has_parameter = [](const std::string& path) {
    return std::any_of(std::begin(kParameters), std::end(kParameters),
                       [&](const ModuleParameter& p) { return path == p.setting; });
  };
  for (const auto& [path, built] : settings(RnicConfig{})) {
    if (path == "rnic.rx.ddp_placement.parked") continue;  // of use with a cache alone, which check_room() refuses
    if (path.find('.' + module_of(name) + '.') == std::string::npos || has_parameter(path)) continue;
    if (is.at(path) != built) refuse(chip, "the twin of " + name + " is", path, built, is.at(path));
  }
}

void check_room(const Rnic& chip, const std::string& name) {
  const bool has_qp_rows = name == "ddp_placement" || name == "irrq" || name == "response_queue";
  if (has_qp_rows && chip.contexts().rx_table.cached()) {
    refuse(chip, "the twin of " + name + " is", "rnic.context.cache.qp.entries", "all queue pairs",
           fmt::to_string(chip.config().context.cache.qp.entries));
  }
}

Stage& stage_of(const Rnic& chip, const std::string& name) {
  for (Stage* stage : chip.stages()) {
    if (name == stage->basename()) return *stage;
  }
  throw InternalError("a chip has no stage " + name);
}

TwinSource::Handle make_twin(const Rnic& chip, const TwinChoice& twin, const TwinSource& source,
                             const TwinSurroundings& surroundings, TwinMode mode) {
  const std::string& name = twin.stage;
  check_settings(chip, name);
  check_room(chip, name);
  Stage& stage = stage_of(chip, name);
  const TwinParameters parameters = parameters_of(chip.config(), name);
  if (!twin.library.empty()) return source.load(twin, parameters, stage, surroundings, mode);
  if (source.is_built_in() && are_defaults(parameters, name)) return source.make(name, stage, surroundings, mode);
  return source.load({name, source.library_of(module_of(name), parameters)}, parameters, stage, surroundings, mode);
}

// The stages that a list names, of `all`; `what` they have: "a twin".
std::vector<TwinChoice> choices(const std::string& list, const std::vector<std::string>& all, const char* what) {
  std::vector<TwinChoice> twins;
  std::istringstream in(list);
  for (std::string name; std::getline(in, name, ',');) {
    if (name == "all") {
      twins.clear();
      for (const std::string& stage : all) twins.push_back({stage, {}});
      continue;
    }
    const std::size_t equals = name.find('=');
    const std::string library = equals == std::string::npos ? "" : name.substr(equals + 1);
    const bool without = name.compare(0, 1, "-") == 0;
    name = name.substr(without ? 1 : 0, equals == std::string::npos ? equals : equals - (without ? 1 : 0));
    if (std::find(all.begin(), all.end(), name) == all.end()) {
      throw ConfigError(
          fmt::format("no stage '{}' has {}; the nearest that has is '{}'", name, what, nearest(name, all)));
    }
    if (equals != std::string::npos && (without || library.empty())) {
      throw ConfigError(fmt::format("'{0}=' needs the file of a library, as {0}=./lib.so", name));
    }
    const auto is_it = [&](const TwinChoice& t) { return t.stage == name; };
    twins.erase(std::remove_if(twins.begin(), twins.end(), is_it), twins.end());
    if (!without) twins.push_back({name, library});
  }
  if (twins.empty() && !list.empty()) throw ConfigError(fmt::format("'{}' names no stage", list));
  return twins;
}

}  // namespace

std::vector<TwinChoice> twin_names(const std::string& list, const TwinSource& source) {
  return choices(list, source.names(), "a twin");
}

std::vector<std::string> stage_names(const std::string& list, const std::vector<std::string>& all, const char* what) {
  std::vector<std::string> names;
  for (const TwinChoice& choice : choices(list, all, what)) {
    if (!choice.library.empty()) throw ConfigError(fmt::format("'{}' takes no library here", choice.stage));
    names.push_back(choice.stage);
  }
  return names;
}

std::vector<TwinSource::Handle> make_twins(Rnic& chip, const std::vector<TwinChoice>& twins, const TwinSource& source,
                                           TwinMode mode) {
  const TwinSurroundings surroundings{&chip.contexts(), &chip.frames(), &chip.config().terminate};
  std::vector<TwinSource::Handle> made;
  for (const TwinChoice& twin : twins) {
    made.push_back(make_twin(chip, twin, source, surroundings, mode));
  }
  return made;
}

}  // namespace rnic
