// What a run simulates: nodes, the cable that joins them, and the programs on them.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "model/cable/cable.h"
#include "model/common/description.h"
#include "model/rnic/llp/link_address.h"
#include "model/system/node.h"
#include "model/system/programs.h"
#include "model/system/system_config.h"
#include "model/world/world.h"

namespace rnic {

// A node, and what outputs know of it.
struct Station {
  std::string name;       // in files and statistics
  std::string joined_to;  // the other end of its cable, in reports
  SystemConfig config;
  Node* node = nullptr;  // of the system's world
  Described parts;       // of the node
};

// In the order that ids of requests refer to (RequestId::text).
std::vector<std::string> node_names(const std::vector<Station>& stations);

class System final {
 public:
  // The settings of the run: the cable's are among them.
  explicit System(SystemConfig config);
  ~System();
  System(const System&) = delete;
  System& operator=(const System&) = delete;

  // Building, in this order: nodes, the cable, what stands at its ends, programs.
  // A node with the run's order of calls and run-ahead.
  Node& add_node(std::string name, std::string joined_to, SystemConfig config, const LinkAddress& address);
  Cable& lay_cable();
  // The programs, constructed with this and the arguments. Nothing is added to the world after them.
  template <class P, class... Arguments>
  P& start(Arguments&&... arguments) {
    auto programs = std::make_unique<P>(*this, std::forward<Arguments>(arguments)...);
    P& started = *programs;
    programs_ = std::move(programs);
    world_.settle();
    return started;
  }

  const SystemConfig& config() const { return config_; }
  World& world() { return world_; }
  const std::vector<Station>& stations() const { return stations_; }
  std::vector<Rnic*> chips() const;  // for twins; in the order of the stations
  Cable& cable() { return *cable_; }
  const Cable& cable() const { return *cable_; }
  // Of what is at a port of the cable, in reports.
  const std::string& end_name(unsigned port) const;
  Programs& programs() { return *programs_; }
  const Programs& programs() const { return *programs_; }

  // With all programs on the nodes: fills in the parts, which outputs read.
  void describe();
  const Described& cable_parts() const { return cable_parts_; }

 private:
  const SystemConfig config_;
  World world_;
  std::vector<Station> stations_;
  Cable* cable_ = nullptr;  // of the world
  Described cable_parts_;
  std::unique_ptr<Programs> programs_;
};

}  // namespace rnic
