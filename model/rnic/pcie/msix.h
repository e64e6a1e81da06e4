// Interrupts: a request for a vector becomes the memory write that the vector's table entry describes.
#pragma once

#include <cstdint>
#include <string>

#include "model/common/link.h"
#include "model/rnic/messages/doorbells.h"
#include "model/rnic/pcie/config_space.h"
#include "model/rnic/pcie/tlp.h"
#include "model/rnic/regs/reg_bank.h"

namespace rnic::pcie {

struct MsixCounters {
  std::uint64_t requests = 0, messages = 0;
  template <class V>
  static void fields(V& v) {
    v("requests", &MsixCounters::requests, "requests", "requests for an interrupt");
    v("messages", &MsixCounters::messages, "messages", "messages sent: requests for a masked or waiting vector merge");
  }
};

// One request and one message per cycle. Requests for a vector that is masked, or already waits, merge into its pending
// bit (PCI Local Bus Specification 3.0, section 6.8.3.5), as all do while MSI-X or the bus master is disabled.
class Msix final : public Stage {
 public:
  PopPort<MsixRequest> vectors{*this, "vectors"};
  PushPort<Tlp> messages{*this, "messages"};

  Msix(sc_core::sc_module_name nm, ClockDomain& clk, ConfigSpace& config, regs::RegBank& bank);
  Wake tick() override;
  void reset() override;
  void describe(const Description& d) override;
  const MsixCounters& counters() const { return counters_; }

 private:
  bool enabled() const;
  std::uint32_t deliverable() const;

  ConfigSpace& config_;
  regs::RegBank& bank_;
  std::uint32_t pending_ = 0;  // one bit per vector
  RequestId newest_;           // owner of the newest request
  MsixCounters counters_;
};

}  // namespace rnic::pcie
