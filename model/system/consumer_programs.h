// One node of a scenario, its network device, a cable, and the wire to a peer outside of the simulation.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "model/config/overlay.h"
#include "model/external/external_peer.h"
#include "model/external/netdev.h"
#include "model/programs/consumer/consumer.h"
#include "model/system/scenario.h"
#include "model/system/system.h"

namespace rnic {

class ConsumerPrograms final : public Programs {
 public:
  // Adds the node, its network device, the cable and the wire to the system. The peer's sockets exist when this
  // returns. ConfigError for mistakes in the scenario.
  ConsumerPrograms(System& system, const Scenario& scenario);
  ~ConsumerPrograms() override;
  // Of the node, which are those of the run. ConfigError for mistakes in the scenario or the command line.
  static SystemConfig settings(const Scenario& scenario, const Overlay& command_line);

  // The peer takes part in advancing the kernel. It decides when it sends: silence is no stall.
  Pace pace() const override { return {1'000'000'000, 10'000'000}; }
  void advance(World&, std::uint64_t until_ps) override { peer_->advance(until_ps, *wire_); }
  void end_slice() override;
  bool repeats() const override { return false; }
  Stall stall(std::uint64_t, bool, std::uint64_t) override { return Stall::kWait; }

  bool done() const override;
  bool lingers() const override;  // for the last frames of a peer that does not leave on its own
  bool failed() const override;
  bool peer_gone() const override { return peer_->gone(); }
  bool working() const override;
  std::uint64_t progress() const override;

  std::string notice() const override { return "waiting for the peer"; }
  std::string table() const override;
  std::vector<std::string> errors() const override;
  std::string waiting_for() const override;
  nlohmann::ordered_json about() const override;
  void add_results(nlohmann::ordered_json& j) const override;
  void register_stats(const StatsGroup& root) const override;

 private:
  const Scenario scenario_;
  const std::uint64_t linger_ps_;
  Node* node_ = nullptr;               // of the system
  external::WireEnd* wire_ = nullptr;  // of its world
  std::unique_ptr<external::Netdev> netdev_;
  std::unique_ptr<external::ExternalPeer> peer_;
  std::vector<std::unique_ptr<consumer::Consumer>> programs_;
  std::uint64_t done_ps_ = 0;  // when the last program was done
};

}  // namespace rnic
