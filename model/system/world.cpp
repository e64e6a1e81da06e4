#include "model/system/world.h"

#include <systemc>
#include <utility>

#include "model/common/kernel_time.h"

namespace rnic {

World::World(SystemConfig config) : config_(std::move(config)) {}

World::~World() = default;

Station& World::add_station(std::string name, std::string joined_to, SystemConfig config,
                            const StationConfig& address) {
  const std::size_t index = stations_.size();
  StationConfig station = address;
  station.node = static_cast<std::uint32_t>(index) + 1;
  RNIC_CHECK(station.node >> RequestId::kNodeBits == 0);
  Station s{std::move(name), std::move(joined_to), std::move(config), nullptr, {}};
  s.node = std::make_unique<Node>(s.name.c_str(), NodeConfig{s.config.rnic, s.config.host}, station);
  clocks_.add(s.node->core_clk);
  clocks_.add(s.node->host_clk);
  s.node->set_lookahead(config_.link.delay_ns);
  if (config_.sim.shuffle_seed != 0) s.node->shuffle(config_.sim.shuffle_seed + index);
  s.node->set_run_ahead(config_.sim.run_ahead);
  stations_.push_back(std::move(s));
  return stations_.back();
}

void World::describe_nodes() {
  for (Station& s : stations_) {
    s.parts = {};
    s.node->describe(Description(s.parts));
    sort_by_position(s.parts);
  }
}

CableFaults& World::lay_cable() {
  cable_ = std::make_unique<EthernetLink>("cable", config_.link);
  faults_ = std::make_unique<CableFaults>(config_.link, config_.sim.seed);
  return *faults_;
}

std::vector<std::string> node_names(const std::vector<Station>& stations) {
  std::vector<std::string> names;
  for (const Station& s : stations) names.push_back(s.name);
  return names;
}

std::vector<Rnic*> World::chips() const {
  std::vector<Rnic*> chips;
  for (const Station& s : stations_) chips.push_back(&s.node->chip);
  return chips;
}

void World::advance(std::uint64_t until_ps) {
  sc_core::sc_start(sc_core::sc_time::from_value(until_ps - kernel_time_ps()));
}

World::Stall World::stall(std::uint64_t idle_ps, bool dead) {
  const std::uint64_t watchdog_ps = config_.sim.watchdog_us * 1'000'000;
  return dead || (watchdog_ps != 0 && idle_ps >= watchdog_ps) ? Stall::kHung : Stall::kWait;
}

}  // namespace rnic
