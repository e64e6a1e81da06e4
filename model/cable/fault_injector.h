// Injects the faults of one direction, between a station's transmitter and the cable.
#pragma once

#include <cstdint>
#include <queue>
#include <string>
#include <vector>

#include "model/cable/fault_model.h"
#include "model/cable/router.h"
#include "model/rnic/boundary/ethernet_socket.h"

namespace rnic {

class FaultInjector final : public sc_core::sc_module, private EthernetTarget {
 public:
  EthernetInitiator out{"out"};

  // `path` is that of the settings, for errors.
  FaultInjector(sc_core::sc_module_name nm, const FaultConfig& config, const std::string& path, std::uint64_t seed);
  EthernetTarget& in() { return *this; }
  // The other direction's injector, through which a router's answers return. Without it there are none.
  void answer_through(FaultInjector& back) { back_ = &back; }
  void tell(CableTap& tap, unsigned direction, std::uint64_t propagation_ps) {
    model_.tell(tap, direction, propagation_ps);
  }

  const FaultModel& model() const { return model_; }

 private:
  void on_frame(const Frame& frame, std::uint64_t at_ps) override;
  void release();
  void hold(Frame frame, std::uint64_t ps);
  void answer(const Frame& frame, std::uint64_t ps);
  void insert(Frame frame, std::uint64_t ps);
  void arm();

  struct Held {
    std::uint64_t ps, number;  // frames of one time keep their order, the router's after the sender's
    Frame frame;
    bool operator>(const Held& o) const { return ps != o.ps ? ps > o.ps : number > o.number; }
  };
  FaultModel model_;
  std::priority_queue<Held, std::vector<Held>, std::greater<>> held_;
  std::uint64_t numbers_ = 0;
  Router router_;
  FaultInjector* back_ = nullptr;
  sc_core::sc_event event_;
};

}  // namespace rnic
