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

// The parameters of a twin's module are the defaults of its stage's settings, the group that has its name.
void check_settings(const Rnic& chip, const std::string& name) {
  const auto is = settings(chip.config());
  const auto check = [&](const std::string& twin, const std::string& path, const std::string& built) {
    if (is.at(path) != built) refuse(chip, twin, path, built, is.at(path));
  };
  for (const auto& [path, built] : settings(RnicConfig{})) {
    if (path == "rnic.rx.ddp_placement.parked") continue;  // of use with a cache alone, which check_room() refuses
    if (path == "rnic.datapath.beat_bytes") check("twins are", path, built);
    if (path.find('.' + module_of(name) + '.') != std::string::npos) check("the twin of " + name + " is", path, built);
  }
}

void check_room(const Rnic& chip, const std::string& name) {
  const bool has_qp_rows = name == "ddp_placement" || name == "irrq" || name == "response_queue";
  if (has_qp_rows && chip.contexts().rx_table.cached()) {
    refuse(chip, "the twin of " + name + " is", "rnic.context.cache.qp.entries", "all queue pairs",
           fmt::to_string(chip.config().context.cache.qp.entries));
  }
  constexpr unsigned kQps = 1u << TwinSize::kQpBits;
  if (const unsigned qps = chip.config().context.qps; name == "terminate_generator" && qps > kQps) {
    refuse(chip, "the twin of " + name + " is", "rnic.context.qps", fmt::format("at most {}", kQps),
           fmt::to_string(qps));
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
  std::vector<std::string> names;
  std::istringstream in(list);
  for (std::string name; std::getline(in, name, ',');) {
    if (name == "all") {
      names = all;
      continue;
    }
    const bool without = name.compare(0, 1, "-") == 0;
    if (without) name.erase(0, 1);
    if (std::find(all.begin(), all.end(), name) == all.end()) {
      throw ConfigError(
          fmt::format("no stage '{}' has a twin; the nearest that has is '{}'", name, nearest(name, all)));
    }
    names.erase(std::remove(names.begin(), names.end(), name), names.end());
    if (!without) names.push_back(name);
  }
  if (names.empty() && !list.empty()) throw ConfigError(fmt::format("'{}' names no stage", list));
  return names;
}

std::vector<TwinSource::Handle> make_twins(Rnic& chip, const std::vector<std::string>& names, const TwinSource& source,
                                           TwinMode mode) {
  const TwinSurroundings surroundings{&chip.contexts(), &chip.frames(), &chip.config().terminate};
  std::vector<TwinSource::Handle> twins;
  for (const std::string& name : names) {
    check_settings(chip, name);
    check_room(chip, name);
    twins.push_back(source.make(name, stage_of(chip, name), surroundings, mode));
  }
  return twins;
}

}  // namespace rnic
