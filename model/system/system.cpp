#include "model/system/system.h"

#include "model/rnic/llp/link_address.h"

namespace rnic {

System::System(SystemConfig config) : config_(std::move(config)) {}

System::~System() = default;

Node& System::add_node(std::string name, std::string joined_to, SystemConfig config, const LinkAddress& address) {
  const std::size_t index = stations_.size();
  LinkAddress station = address;
  station.node = static_cast<std::uint32_t>(index) + 1;
  RNIC_CHECK(station.node >> RequestId::kNodeBits == 0);
  Node& node = world_.add_device<Node>(name.c_str(), NodeConfig{config.rnic, config.host}, station);
  if (config_.sim.shuffle_seed != 0) node.shuffle(config_.sim.shuffle_seed + index);
  node.set_run_ahead(config_.sim.run_ahead);
  stations_.push_back({std::move(name), std::move(joined_to), std::move(config), &node, {}});
  return node;
}

Cable& System::lay_cable() {
  cable_ = &world_.add_medium<Cable>("cable", config_.link, config_.sim.seed);
  return *cable_;
}

const std::string& System::end_name(unsigned port) const {
  return port == 0 ? stations_.front().name : stations_.front().joined_to;
}

std::vector<Rnic*> System::chips() const {
  std::vector<Rnic*> chips;
  for (const Station& s : stations_) chips.push_back(&s.node->chip);
  return chips;
}

void System::describe() {
  cable_parts_ = {};
  cable_->describe(Description(cable_parts_));
  for (Station& s : stations_) {
    s.parts = {};
    s.node->describe(Description(s.parts));
    sort_by_position(s.parts);
  }
}

std::vector<std::string> node_names(const std::vector<Station>& stations) {
  std::vector<std::string> names;
  for (const Station& s : stations) names.push_back(s.name);
  return names;
}

}  // namespace rnic
