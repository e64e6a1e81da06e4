#include "model/system/consumer_programs.h"

#include <algorithm>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "model/common/kernel_time.h"
#include "model/external/wire_end.h"
#include "model/programs/consumer/make_consumer.h"
#include "model/rnic/llp/link_address.h"
#include "model/system/scenario_config.h"
#include "model/system/stats_report.h"

namespace rnic {
namespace {

std::size_t modelled(const Scenario& scenario) { return scenario.nodes[0].external ? 1 : 0; }

}  // namespace

SystemConfig ConsumerPrograms::settings(const Scenario& scenario, const Overlay& command_line) {
  SystemConfig config = resolve_scenario(scenario, command_line).nodes[modelled(scenario)];
  draw_keys(config, 0);
  return config;
}

ConsumerPrograms::ConsumerPrograms(System& system, const Scenario& scenario)
    : scenario_(scenario), linger_ps_(system.config().external.linger_us * 1'000'000) {
  const ScenarioNode& self = scenario_.nodes[modelled(scenario_)];
  const ScenarioNode& peer = scenario_.nodes[1 - modelled(scenario_)];
  const LinkAddress station{{self.mac}, {self.ip}, {{{peer.ip}, {peer.mac}}}};
  node_ = &system.add_node(self.name, peer.name, system.config(), station);
  netdev_ = std::make_unique<external::Netdev>("netdev", station);
  World& world = system.world();
  wire_ = &world.add_device<external::WireEnd>("wire", [this](ByteSpan frame) { peer_->deliver(frame); });
  Cable& cable = system.lay_cable();
  world.join(*node_, 0, netdev_->before(node_->ports()[0]), cable, 0);
  world.join(*wire_, 0, cable, 1);
  for (const consumer::ProgramSpec& spec : scenario_.programs) {
    programs_.push_back(consumer::make_consumer(node_->context, spec));
  }
  peer_ = external::open_external_peer(system.config().external);
}

ConsumerPrograms::~ConsumerPrograms() = default;

void ConsumerPrograms::end_slice() {
  if (netdev_->counters().echo_answers != 0) {
    for (const auto& p : programs_) p->pinged();
  }
  if (!done()) done_ps_ = kernel_time_ps();
}

bool ConsumerPrograms::done() const {
  return std::all_of(programs_.begin(), programs_.end(), [](const auto& p) { return p->done(); });
}

bool ConsumerPrograms::lingers() const { return kernel_time_ps() - done_ps_ < linger_ps_; }

bool ConsumerPrograms::failed() const { return !errors().empty() || node_->chip.fwcpu.fault().has_value(); }

bool ConsumerPrograms::working() const {
  return std::any_of(programs_.begin(), programs_.end(),
                     [](const auto& p) { return p->record().first_ps != 0 && !p->done(); });
}

std::uint64_t ConsumerPrograms::progress() const {
  std::uint64_t rounds = 0;
  for (const auto& p : programs_) rounds += p->record().rounds;
  return rounds;
}

std::string ConsumerPrograms::table() const {
  std::string text;
  for (const auto& p : programs_) {
    const consumer::Consumer::Record& r = p->record();
    text +=
        fmt::format("{}: {} rounds, {} octets, {}{}\n", p->spec().name, r.rounds, r.bytes,
                    r.refused == 0 ? "" : fmt::format("{} connections refused (last: {}), ", r.refused, r.last_refusal),
                    p->done()             ? "done"
                    : !p->error().empty() ? "FAILED"
                                          : "not complete");
  }
  return text;
}

std::vector<std::string> ConsumerPrograms::errors() const {
  std::vector<std::string> errors;
  for (const auto& p : programs_) {
    if (!p->error().empty()) errors.push_back(p->error());
  }
  return errors;
}

std::string ConsumerPrograms::waiting_for() const {
  std::string text;
  for (const auto& p : programs_) {
    if (!p->done()) text += p->waiting_for() + '\n';
  }
  return text;
}

nlohmann::ordered_json ConsumerPrograms::about() const { return scenario_about(scenario_); }

void ConsumerPrograms::add_results(nlohmann::ordered_json& j) const {
  for (const auto& p : programs_) {
    const consumer::Consumer::Record& r = p->record();
    j["programs"].push_back({{"name", p->spec().name},
                             {"done", p->done()},
                             {"rounds", r.rounds},
                             {"bytes", r.bytes},
                             {"refused", r.refused},
                             {"last_refusal", r.last_refusal},
                             {"first_ps", r.first_ps},
                             {"last_ps", r.last_ps},
                             {"error", p->error()}});
  }
}

void ConsumerPrograms::register_stats(const StatsGroup& root) const {
  root.group(scenario_.nodes[modelled(scenario_)].name + ".netdev").counters(netdev_->counters());
  root.sum(
      "external.lost", [this] { return static_cast<double>(peer_->lost()); }, "frames",
      "frames lost, as the peer did not read them");
}

}  // namespace rnic
