#include "model/system/scenario_config.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "firmware/lib/capacity.h"
#include "model/common/check.h"
#include "model/programs/workload/needs.h"
#include "model/programs/workload/openings.h"
#include "model/system/scenario_keys.h"

namespace rnic {
namespace {

// Whether work opens connections at this connection's nodes while it lasts.
bool has_others_beside(const workload::Plan& plan, std::size_t connection) {
  for (const auto& phase : plan.phases) {
    for (const workload::WorkItem& item : phase) {
      if (item.op != workload::Op::kConnect) continue;
      for (const unsigned c : item.connections) {
        if (c == connection) return true;
      }
    }
  }
  return false;
}

constexpr unsigned kCqsOfProgram = 2;  // one for sends, one for receives

// By default a node opens no more at a time than there is room for.
void check_setups(const Scenario& scenario, const std::vector<SystemConfig>& nodes) {
  std::vector<std::uint32_t> most;
  for (const SystemConfig& node : nodes) most.push_back(node.rnic.fwcpu.max_setups);
  const std::vector<std::uint32_t> batches = workload::batches(scenario.plan, most);
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    const std::uint64_t setups = workload::setups_at(scenario.plan, i, batches);
    if (setups <= most[i]) continue;
    throw ConfigError(
        fmt::format("{}: setup.batch: node '{}' would set up {} connections at a time; rnic.fwcpu.max_setups is {}",
                    scenario.source(), scenario.nodes[i].name, setups, most[i]));
  }
}

// Nodes that lack the same.
struct Shortage {
  std::string text;
  std::vector<std::string> nodes;
};

// Also of a thousand nodes.
std::string names_of(const std::vector<std::string>& nodes) {
  constexpr std::size_t kMost = 4;
  std::string text = nodes.size() == 1 ? "node" : "nodes";
  for (std::size_t n = 0; n < std::min(nodes.size(), kMost); ++n)
    text += fmt::format("{} '{}'", n == 0 ? "" : ",", nodes[n]);
  return nodes.size() <= kMost ? text : fmt::format("{} and {} more", text, nodes.size() - kMost);
}

void refuse(const Scenario& scenario, const std::vector<Shortage>& shortages) {
  if (shortages.empty()) return;
  std::string text;
  for (const Shortage& s : shortages)
    text += fmt::format("{}the connections of {} {}", text.empty() ? "" : "; ", names_of(s.nodes), s.text);
  throw ConfigError(fmt::format("{}: {}", scenario.source(), text));
}

// Whether the chips have what the connections need, before the device refuses them one by one.
void check_limits(const Scenario& scenario, const std::vector<SystemConfig>& nodes) {
  const bool sctp = scenario.plan.transport == host::Transport::kSctp;
  std::vector<Shortage> shortages;
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    const RnicConfig& rnic = nodes[i].rnic;
    if (sctp && rnic.fwcpu.personality == abi::Personality::kRdmac) {
      throw ConfigError(
          fmt::format("{}: transport: sctp does not go with rnic.fwcpu.personality rdmac of node '{}', which knows MPA "
                      "over TCP only",
                      scenario.source(), scenario.nodes[i].name));
    }
    unsigned qps = 0, associations = 0, listeners = 0;
    bool opens_more = false;
    for (std::size_t number = 0; number < scenario.plan.connections.size(); ++number) {
      const workload::ConnectionSpec& c = scenario.plan.connections[number];
      if (c.from != i && c.to != i) continue;
      qps += c.qps;
      if (c.to == i) listeners += scenario.plan.shares_port() ? 1 : c.qps;
      opens_more = opens_more || has_others_beside(scenario.plan, number);
      const unsigned sessions = (rnic.sctp.streams + 1) / 2;  // the side that connects takes the even streams
      associations += (c.qps + sessions - 1) / sessions;
      const workload::SideSpec& side = c.from == i ? c.from_side : c.to_side;
      const auto expect_depth = [&](const char* what, unsigned wanted, const char* key, unsigned most) {
        if (wanted <= most) return;
        throw ConfigError(fmt::format("{}: connection '{}': {} {} of node '{}' exceeds rnic.fwcpu.{} {}",
                                      scenario.source(), c.name, what, wanted, scenario.nodes[i].name, key, most));
      };
      if (!sctp && !side.crc && rnic.fwcpu.crc) {
        throw ConfigError(
            fmt::format("{}: connection '{}': no CRC for node '{}', but its rnic.fwcpu.crc asks for it on every stream",
                        scenario.source(), c.name, scenario.nodes[i].name));
      }
      expect_depth("IRD", side.ird, "max_ird", rnic.fwcpu.max_ird);
      expect_depth("ORD", side.ord, "max_ord", rnic.fwcpu.max_ord);
    }
    if (sctp && associations > rnic.sctp.max_associations) {
      throw ConfigError(fmt::format(
          "{}: the connections of node '{}' need {} associations of rnic.sctp.streams {}; rnic.sctp.max_associations "
          "is {}",
          scenario.source(), scenario.nodes[i].name, associations, rnic.sctp.streams, rnic.sctp.max_associations));
    }
    if (sctp && qps > fw::DefaultCapacity::kSessions) {
      throw ConfigError(
          fmt::format("{}: the connections of node '{}' have {} queue pairs; over SCTP its firmware keeps {}",
                      scenario.source(), scenario.nodes[i].name, qps, fw::DefaultCapacity::kSessions));
    }
    if (rnic.fwcpu.target == FirmwareTargetKind::kRv32 && listeners > fw::DefaultCapacity::kListeners) {
      throw ConfigError(
          fmt::format("{}: node '{}' listens at {} ports, one for each queue pair; its RV32 firmware has room for {}: "
                      "fewer qps, or rnic.fwcpu.target native",
                      scenario.source(), scenario.nodes[i].name, listeners, fw::DefaultCapacity::kListeners));
    }
    std::string small;  // settings
    const auto expect_room = [&](const char* key, std::uint64_t most, std::uint64_t wanted) {
      if (wanted > most) small += fmt::format("{}{} is {}, at least {}", small.empty() ? "" : "; ", key, most, wanted);
    };
    const workload::Needs needs = workload::needs_of(scenario.plan, i);
    expect_room("rnic.context.qps", rnic.context.qps, qps + opens_more);
    expect_room("rnic.context.cqs", rnic.context.cqs, kCqsOfProgram * qps);
    if (!sctp) expect_room("rnic.tcp.max_flows", rnic.tcp.max_flows, qps + opens_more);
    expect_room("rnic.fwcpu.max_connections", rnic.fwcpu.max_connections, qps + opens_more);
    expect_room("rnic.context.stags", rnic.context.stags, needs.regions == 0 ? 0 : needs.regions + 1);  // 0 is none
    expect_room("host.memory.size_mib", nodes[i].host.memory.size_mib, (needs.octets + (1 << 20) - 1) >> 20);
    if (small.empty()) continue;
    const std::string text =
        fmt::format("have {} queue pairs{}: {}", qps, opens_more ? ", and work opens others beside them" : "", small);
    const auto same =
        std::find_if(shortages.begin(), shortages.end(), [&text](const Shortage& s) { return s.text == text; });
    if (same != shortages.end()) same->nodes.push_back(scenario.nodes[i].name);
    else shortages.push_back({text, {scenario.nodes[i].name}});
  }
  refuse(scenario, shortages);
  check_setups(scenario, nodes);
}

// Nothing above SCTP's own checksum would notice.
void check_faults(const Scenario& scenario, const EthernetLinkConfig& link) {
  if (scenario.plan.transport != host::Transport::kSctp) return;
  for (const auto& [name, faults] : {std::pair{"forward", &link.forward}, std::pair{"reverse", &link.reverse}}) {
    const PickConfig& pick = faults->corrupt_repaired;
    if (pick.ppm == 0 && pick.every == 0 && pick.frames.empty()) continue;
    throw ConfigError(
        fmt::format("{}: link.{}.corrupt_repaired: is for TCP, whose checksum it repairs for the CRC of MPA to fail; "
                    "with transport sctp there is only the checksum of the packet: corrupt",
                    scenario.source(), name));
  }
}

}  // namespace

ScenarioConfig resolve_scenario(const Scenario& scenario, const Overlay& command_line) {
  Overlay seed;
  seed.set(fmt::format("sim.seed={}", scenario.plan.seed));
  ScenarioConfig config;
  config.run = resolve_system(seed.with(scenario.config).with(command_line));
  for (const ScenarioNode& node : scenario.nodes) {
    config.nodes.push_back(resolve_system(seed.with(settings_of(scenario, node, command_line))));
  }
  check_limits(scenario, config.nodes);
  check_faults(scenario, config.run.link);
  return config;
}

}  // namespace rnic
