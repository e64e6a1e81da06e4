// The root of the configuration tree.
#pragma once

#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "model/cable/ethernet_link.h"
#include "model/config/field.h"
#include "model/external/external_config.h"
#include "model/system/node_config.h"

namespace rnic {

class Overlay;
struct FieldInfo;

// How a run is carried out; nothing here is part of the modelled hardware.
struct SimConfig {
  std::uint64_t seed = 1;
  bool system_keys = false;
  std::uint64_t shuffle_seed = 0;
  bool run_ahead = true;
  bool account_links = false;
  unsigned account_cores = 64;
  std::uint64_t max_time_us = 10'000'000;
  std::uint64_t watchdog_us = 1'000'000;
  std::uint64_t max_series_values = 10'000'000;
  template <class V>
  static void fields(V& v) {
    v("seed", &SimConfig::seed, "seed of every random stream of the run");
    v("system_keys", &SimConfig::system_keys,
      "take the keys of sequence numbers and STags from the operating system instead of the seed: for untrusted peers");
    v("shuffle_seed", &SimConfig::shuffle_seed,
      "seed of a random order of the stages' calls in each cycle, which changes no result; 0: fixed order");
    v("run_ahead", &SimConfig::run_ahead,
      "stages may move beats of future cycles in one call: faster, with the same results; waveforms switch it off");
    v("account_links", &SimConfig::account_links,
      "`occupancy` in stats.json has the chips' links as well, which costs time: cycles with beats, and with beats "
      "that wait");
    v("account_cores", &SimConfig::account_cores,
      "host cores of a node in `occupancy` of stats.json, those that were busy longest; 0: all. Each queue pair has a "
      "program on a core of its own",
      in_range(0, 1 << 20), unit("cores"));
    v("max_time_us", &SimConfig::max_time_us, "simulated time after which the run fails; 0 is no limit", unit("us"));
    v("watchdog_us", &SimConfig::watchdog_us,
      "simulated time without progress after which the run fails; 0 is no limit", unit("us"));
    v("max_series_values", &SimConfig::max_series_values,
      "values, rows times columns, of a series over time (--stats-every), which is in memory until the run ends; the "
      "run ends where there would be more",
      unit("values"), in_range(1, 1'000'000'000));
  }
};

// `rnic` and `host` are the settings of every node; a scenario may change them for one node.
struct SystemConfig {
  SimConfig sim;
  EthernetLinkConfig link;
  external::ExternalConfig external;
  RnicConfig rnic;
  HostConfig host;
  template <class V>
  static void fields(V& v) {
    v.group("sim", &SystemConfig::sim);
    v.group("link", &SystemConfig::link);
    v.group("external", &SystemConfig::external);
    v.group("rnic", &SystemConfig::rnic);
    v.group("host", &SystemConfig::host);
  }
};

// resolve(), dump_fields() and list_fields() of all settings. They walk some hundreds of fields, so they are in one
// translation unit.
SystemConfig resolve_system(const Overlay& overlay);
nlohmann::ordered_json dump_system(const SystemConfig& config);
std::vector<FieldInfo> list_system();

// The keys of a node without a seed of their own: from the run's seed, or from the operating system.
void draw_keys(SystemConfig& config, unsigned node);

}  // namespace rnic
