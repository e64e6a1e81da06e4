// A run with a peer outside of the simulation: one node, its network device, a cable, and the wire to the peer.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "model/cable/cable_faults.h"
#include "model/external/external_peer.h"
#include "model/external/netdev.h"
#include "model/programs/consumer/consumer.h"
#include "model/stats/registry.h"
#include "model/system/run_outputs.h"
#include "model/system/scenario.h"
#include "model/system/system_config.h"

namespace rnic {

class Rnic;

class ExternalSimulation final {
 public:
  // The peer's sockets exist when this returns. ConfigError for mistakes in the scenario or the command line.
  ExternalSimulation(const Scenario& scenario, const Overlay& command_line, const RunOptions& options);
  ~ExternalSimulation();

  enum class End { kDone, kFailed, kPeerGone, kTimeLimit, kInterrupted };
  // Until all programs are done, and `external.linger_us` longer for the peer's last frames.
  End run();

  // Writes stats.json and closes capture, log and waveform.
  void write_outputs(End end);

  const std::vector<std::unique_ptr<consumer::Consumer>>& programs() const { return programs_; }
  std::vector<Rnic*> chips();
  std::vector<std::string> errors() const;
  std::string waiting_for() const;
  const std::vector<std::string>& files() const { return outputs_->files(); }
  const std::vector<std::string>& write_failures() const { return outputs_->failures(); }
  std::uint64_t now_ps() const;
  std::uint64_t frames() const { return outputs_->capture().frames(); }
  std::uint64_t seed() const { return config_.sim.seed; }
  double wall_seconds() const { return wall_seconds_; }

 private:
  void build(const Overlay& command_line);
  void build_programs();
  void register_stats();
  bool stop_requested() const { return options_.stop_requested && options_.stop_requested(); }
  bool step(End& end);

  const Scenario scenario_;
  const RunOptions options_;
  SystemConfig config_;
  std::string name_;  // of the node
  std::unique_ptr<Node> node_;
  std::unique_ptr<external::Netdev> netdev_;
  std::unique_ptr<EthernetLink> cable_;
  std::unique_ptr<CableFaults> faults_;
  std::unique_ptr<external::ExternalPeer> peer_;
  std::unique_ptr<external::WireEnd> wire_;
  std::unique_ptr<RunOutputs> outputs_;
  std::vector<std::unique_ptr<consumer::Consumer>> programs_;
  StatsRegistry stats_;
  std::string peer_error_;
  std::uint64_t done_ps_ = 0;  // when the last program was
  double wall_seconds_ = 0;
};

}  // namespace rnic
