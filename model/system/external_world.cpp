#include "model/system/external_world.h"

#include <algorithm>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "model/common/kernel_time.h"
#include "model/external/wire_end.h"
#include "model/programs/consumer/make_consumer.h"
#include "model/system/scenario_config.h"
#include "model/system/stats_report.h"

namespace rnic {
namespace {

std::size_t modelled(const Scenario& scenario) { return scenario.nodes[0].external ? 1 : 0; }

SystemConfig settings_of_node(const Scenario& scenario, const Overlay& command_line) {
  SystemConfig config = resolve_scenario(scenario, command_line).nodes[modelled(scenario)];
  draw_keys(config, 0);
  return config;
}

}  // namespace

// The chip's cable ends at the network device, which has the wire's end 0.
ExternalWorld::ExternalWorld(const Scenario& scenario, const Overlay& command_line)
    : World(settings_of_node(scenario, command_line)), scenario_(scenario) {
  const ScenarioNode& self = scenario_.nodes[modelled(scenario_)];
  const ScenarioNode& peer = scenario_.nodes[1 - modelled(scenario_)];
  const StationConfig station{{self.mac}, {self.ip}, {{{peer.ip}, {peer.mac}}}};
  Rnic& chip = add_station(self.name, peer.name, config(), station).node->chip;
  netdev_ = std::make_unique<external::Netdev>("netdev", station);
  chip.mac_tx.ethernet.socket.bind(netdev_->from_chip().socket);
  netdev_->to_chip.socket.bind(chip.mac_rx.socket);
  wire_ = std::make_unique<external::WireEnd>("wire", [this](ByteSpan frame) { peer_->deliver(frame); });
  CableFaults& faults = lay_cable();
  faults.attach(cable(), 0, netdev_->to_wire, netdev_->from_wire());
  faults.attach(cable(), 1, wire_->transmitter, wire_->receiver());
  for (const consumer::ProgramSpec& spec : scenario_.programs) {
    programs_.push_back(consumer::make_consumer(node().context, spec));
  }
  peer_ = external::open_external_peer(config().external);
}

ExternalWorld::~ExternalWorld() = default;

void ExternalWorld::end_slice() {
  if (netdev_->counters().echo_answers != 0) {
    for (const auto& p : programs_) p->pinged();
  }
  if (!done()) done_ps_ = kernel_time_ps();
}

bool ExternalWorld::done() const {
  return std::all_of(programs_.begin(), programs_.end(), [](const auto& p) { return p->done(); });
}

bool ExternalWorld::lingers() const { return kernel_time_ps() - done_ps_ < config().external.linger_us * 1'000'000; }

bool ExternalWorld::failed() const { return !errors().empty() || node().chip.fwcpu.fault(); }

bool ExternalWorld::working() const {
  return std::any_of(programs_.begin(), programs_.end(),
                     [](const auto& p) { return p->record().first_ps != 0 && !p->done(); });
}

std::uint64_t ExternalWorld::progress() const {
  std::uint64_t rounds = 0;
  for (const auto& p : programs_) rounds += p->record().rounds;
  return rounds;
}

std::string ExternalWorld::table() const {
  std::string text;
  for (const auto& p : programs_) {
    const consumer::Consumer::Record& r = p->record();
    text += fmt::format("{}: {} rounds, {} octets, {}{}\n", p->spec().name, r.rounds, r.bytes,
                        r.refused == 0 ? "" : fmt::format("{} connections refused, ", r.refused),
                        p->done()             ? "done"
                        : !p->error().empty() ? "FAILED"
                                              : "not complete");
  }
  return text;
}

std::vector<std::string> ExternalWorld::errors() const {
  std::vector<std::string> errors;
  for (const auto& p : programs_) {
    if (!p->error().empty()) errors.push_back(p->error());
  }
  return errors;
}

std::string ExternalWorld::waiting_for() const {
  std::string text;
  for (const auto& p : programs_) {
    if (!p->done()) text += p->waiting_for() + '\n';
  }
  return text;
}

nlohmann::ordered_json ExternalWorld::about() const { return scenario_about(scenario_); }

void ExternalWorld::add_results(nlohmann::ordered_json& j) const {
  for (const auto& p : programs_) {
    const consumer::Consumer::Record& r = p->record();
    j["programs"].push_back({{"name", p->spec().name},
                             {"done", p->done()},
                             {"rounds", r.rounds},
                             {"bytes", r.bytes},
                             {"refused", r.refused},
                             {"first_ps", r.first_ps},
                             {"last_ps", r.last_ps},
                             {"error", p->error()}});
  }
}

void ExternalWorld::register_stats(const StatsGroup& root) const {
  root.group(stations()[0].name + ".netdev").counters(netdev_->counters());
  root.sum(
      "external.lost", [this] { return static_cast<double>(peer_->lost()); }, "frames",
      "frames lost, as the peer did not read them");
}

}  // namespace rnic
