#include "model/cli/sweep_points.h"

#include <algorithm>
#include <fstream>
#include <iterator>
#include <map>

#include <boost/uuid/name_generator_sha1.hpp>
#include <boost/uuid/uuid_io.hpp>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "model/cli/version.h"
#include "model/common/check.h"
#include "model/common/crc32c.h"
#include "model/rnic/fwcpu/firmware_target.h"
#include "model/system/scenario_config.h"

namespace rnic::cli {
namespace {

std::string crc_of(const std::string& file) {
  std::ifstream in(file, std::ios::binary);
  const std::string text{std::istreambuf_iterator<char>(in), {}};
  const auto* const octets = reinterpret_cast<const std::uint8_t*>(text.data());
  return fmt::format("{:08x}", crc32c(ByteSpan(octets, text.size())));
}

std::string id_of(const nlohmann::json& contents) {
  static const boost::uuids::name_generator_sha1 generator(boost::uuids::ns::oid());
  return to_string(generator(contents.dump()));
}

class PointReader {
 public:
  PointReader(const Overlay& command_line, const TwinOptions& twins)
      : command_line_(command_line),
        common_{{"version", version()},
                {"program", crc_of("/proc/self/exe")},
                {"rtl", twins.rtl},
                {"lockstep", twins.lockstep}} {
    for (const std::string& file : twins.libraries()) common_["libraries"].push_back(crc_of(file));
  }
  std::string id(const Scenario& point);

 private:
  nlohmann::json images(const ScenarioConfig& config);

  const Overlay& command_line_;
  nlohmann::json common_;
  std::map<std::string, std::string> crcs_;  // of images
};

// Checksums of the RV32 images that the nodes run.
nlohmann::json PointReader::images(const ScenarioConfig& config) {
  nlohmann::json images = nlohmann::json::array();
  for (const SystemConfig& node : config.nodes) {
    const FwCpuConfig& fwcpu = node.rnic.fwcpu;
    if (fwcpu.target != FirmwareTargetKind::kRv32) continue;
    const std::string file = fwcpu.image.empty() ? built_rv32_image() : fwcpu.image;
    const auto [known, is_new] = crcs_.try_emplace(file);
    if (is_new) known->second = crc_of(file);
    images.push_back(known->second);
  }
  return images;
}

// Settings of the scenario count by their effect. Texts for people do not count.
std::string PointReader::id(const Scenario& point) {
  const ScenarioConfig config = resolve_scenario(point, command_line_);
  nlohmann::json contents = common_;
  contents["images"] = images(config);
  contents["run"] = nlohmann::json(dump_system(config.run));
  for (std::size_t i = 0; i < config.nodes.size(); ++i) {
    const ScenarioNode& node = point.nodes.at(i);
    const bool as_run = node.config.settings().empty() && node.assigned.settings().empty();
    contents["nodes"].push_back(as_run ? nlohmann::json() : nlohmann::json(dump_system(config.nodes[i])));
  }
  nlohmann::json& scenario = contents["scenario"] = point.effective;
  for (const char* key : {"name", "description", "config", "link"}) scenario.erase(key);
  for (nlohmann::json& node : scenario["nodes"]) node.erase("config");
  return id_of(contents);
}

// A setting in effect; null if there is none of that name, as for values of a scenario.
nlohmann::json setting_at(const nlohmann::ordered_json& settings, std::string path) {
  std::replace(path.begin(), path.end(), '.', '/');
  const nlohmann::ordered_json::json_pointer at('/' + path);
  return settings.contains(at) ? nlohmann::json(settings[at]) : nlohmann::json();
}

std::vector<nlohmann::json> baselines(const Scenario& scenario, const Overlay& command_line) {
  const nlohmann::ordered_json settings = dump_system(resolve_scenario(at_point(scenario, 0), command_line).run);
  std::vector<nlohmann::json> list;
  for (const SweepAxis& a : scenario.sweep.axes) {
    list.push_back(a.baseline ? *a.baseline : setting_at(settings, a.keys.front()));
  }
  return list;
}

}  // namespace

SweepPoints read_points(const Scenario& scenario, const Overlay& command_line, const TwinOptions& twins,
                        const SweepShare& share) {
  for (const SweepAxis& axis : scenario.sweep.axes) {
    for (const std::string& key : axis.keys) {
      if (command_line.find(key) == nullptr && scenario.assigned.find(key) == nullptr) continue;
      throw ConfigError(fmt::format("--set {}: is varied by the sweep; --point runs one of its points", key));
    }
  }
  SweepPoints points;
  PointReader reader(command_line, twins);
  std::map<std::string, std::size_t> known;
  for (std::size_t i = 0; i < scenario.sweep.points(); ++i) {
    points.ids.push_back(share.has(i) ? reader.id(at_point(scenario, i)) : "");
    points.first.push_back(share.has(i) ? known.try_emplace(points.ids.back(), i).first->second : i);
  }
  if (scenario.sweep.plan.mode == SweepMode::kOneAtATime) points.baselines = baselines(scenario, command_line);
  return points;
}

std::vector<SweepColumn> columns_of(const Scenario& point, const std::vector<SweepColumn>& given) {
  if (!given.empty()) return given;
  std::vector<SweepColumn> columns;
  std::size_t n = 0;
  for (const auto& phase : point.plan.phases) {
    for (const workload::WorkItem& item : phase) {
      columns.push_back({item.name + " Gb/s", fmt::format("results.{}.goodput_gbps", n)});
      n += item.direction == workload::Direction::kBoth ? 2 : 1;
    }
  }
  return columns;
}

}  // namespace rnic::cli
