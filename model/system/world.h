// What a run simulates: nodes, the cable that joins them, and the programs on them. The driver (run.h) moves every
// world through time and writes its outputs in the same way; a world defines what is specific to it.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "model/cable/cable_faults.h"
#include "model/common/clock_group.h"
#include "model/common/description.h"
#include "model/stats/registry.h"
#include "model/system/node.h"
#include "model/system/system_config.h"

namespace rnic {

// A node of a world.
struct Station {
  std::string name;       // in files and statistics
  std::string joined_to;  // the other end of its cable, in reports
  SystemConfig config;
  std::unique_ptr<Node> node;
  Described parts;  // of the node, for outputs
};

// In the order that ids of requests refer to (RequestId::text).
std::vector<std::string> node_names(const std::vector<Station>& stations);

enum class RunEnd { kDone, kFailed, kHung, kPeerGone, kTimeLimit, kInterrupted };

class World {
 public:
  virtual ~World();
  World(const World&) = delete;
  World& operator=(const World&) = delete;

  const SystemConfig& config() const { return config_; }  // of the run
  const std::vector<Station>& stations() const { return stations_; }
  std::vector<Rnic*> chips() const;  // for twins; in the order of the stations
  void describe_nodes();             // with all programs on them
  EthernetLink& cable() { return *cable_; }
  const CableFaults& faults() const { return *faults_; }

  // Time. The kernel is entered once per step: then waveforms, the share of busy time, and requests to stop the run are
  // checked. The state of the run is checked once per slice, of which a step is a part.
  struct Pace {
    std::uint64_t slice_ps = 50'000'000, step_ps = 1'000'000;
  };
  virtual Pace pace() const { return {}; }
  virtual void advance(std::uint64_t until_ps);
  virtual void end_slice() {}
  // Another run of it would be identical.
  virtual bool repeats() const { return true; }

  // Work.
  virtual bool done() const = 0;                       // nothing is left to do
  virtual bool lingers() const { return false; }       // it continues anyway
  virtual bool failed() const = 0;                     // continuing would gain nothing
  virtual bool peer_gone() const { return false; }     // a peer outside of the simulation has left
  virtual bool working() const = 0;                    // neither set-up nor teardown: what shares of busy time count
  virtual std::uint64_t progress() const = 0;          // changes with every piece of work done
  virtual std::uint64_t total() const { return 0; }    // of progress, or 0 if unknown
  virtual RunEnd conclude(RunEnd end) { return end; }  // the run is over
  virtual bool passed() const { return true; }         // all checks, after a run that is done

  // The current part of the work, while working(): what limits a run is found for each part.
  virtual unsigned phase() const { return 0; }
  virtual std::string phase_name(unsigned) const { return "work"; }

  // The work that a program's requests are for, as host::Core::work() numbers it; "" if unknown.
  virtual std::string work_name(std::uint32_t) const { return {}; }

  // How a world is judged that made no progress for that long, or has no event that could bring any.
  enum class Stall { kWait, kResolved, kHung };
  virtual Stall stall(std::uint64_t idle_ps, bool dead);

  // Results of programs count from now on.
  virtual void restart_results(std::uint64_t /*now_ps*/) {}

  // Reports.
  virtual std::string notice() const { return {}; }     // for people, before the run
  virtual std::string table() const = 0;                // what has been done, in lines
  virtual std::string verdicts() const { return {}; }   // checks, one line each
  virtual std::vector<std::string> errors() const = 0;  // of programs
  virtual std::string waiting_for() const = 0;          // of programs, one line each
  virtual nlohmann::ordered_json about() const = 0;     // stats.json begins with it
  virtual void add_results(nlohmann::ordered_json& j) const = 0;
  virtual void register_stats(const StatsGroup&) const {}  // beside nodes and cable

 protected:
  explicit World(SystemConfig config);
  ClockGroup& clocks() { return clocks_; }
  // A node with the run's look-ahead, order of calls and run-ahead.
  Station& add_station(std::string name, std::string joined_to, SystemConfig config, const StationConfig& address);
  // "cable", and the injectors of its faults, which attach both ends to it.
  CableFaults& lay_cable();

 private:
  const SystemConfig config_;
  ClockGroup clocks_{"clocks"};
  std::vector<Station> stations_;
  std::unique_ptr<EthernetLink> cable_;
  std::unique_ptr<CableFaults> faults_;
};

}  // namespace rnic
