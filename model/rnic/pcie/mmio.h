// The host's accesses: the access rules of the register bank, doorbells to their consumers, configuration space,
// completions back to the host.
#pragma once

#include <cstdint>

#include "model/common/link.h"
#include "model/rnic/messages/doorbells.h"
#include "model/rnic/pcie/config_space.h"
#include "model/rnic/pcie/tlp.h"
#include "model/rnic/regs/reg_bank.h"

namespace rnic::pcie {

struct MmioCounters {
  std::uint64_t reads = 0, writes = 0, refused = 0, poisoned = 0, config = 0;
  template <class V>
  static void fields(V& v) {
    v("reads", &MmioCounters::reads, "accesses", "reads answered");
    v("writes", &MmioCounters::writes, "accesses", "writes executed");
    v("refused", &MmioCounters::refused, "accesses",
      "accesses outside the registers, not of 32 bits, or while memory space is disabled");
    v("poisoned", &MmioCounters::poisoned, "writes", "dropped: poisoned data");
    v("config", &MmioCounters::config, "accesses", "accesses to configuration space");
  }
};

// One access per cycle, in order. A doorbell waits for room in its link and blocks the accesses after it, so consumers
// of doorbells must take them without waiting for DMA.
class Mmio final : public Stage {
 public:
  PopPort<Tlp> requests{*this, "requests"};
  PushPort<Tlp> completions{*this, "completions"};
  PushPort<SqDoorbell> sq_doorbells{*this, "sq_doorbells"};
  PushPort<RqDoorbell> rq_doorbells{*this, "rq_doorbells"};
  PushPort<CqArm> cq_arms{*this, "cq_arms"};
  PushPort<CommandDoorbell> command_doorbells{*this, "command_doorbells"};
  PushPort<EventsTaken> events_taken{*this, "events_taken"};

  Mmio(sc_core::sc_module_name nm, ClockDomain& clk, ConfigSpace& config, regs::RegBank& bank);
  Wake tick() override;
  void reset() override {}
  void describe(const Description& d) override;
  const MmioCounters& counters() const { return counters_; }

 private:
  bool has_room_for(const Tlp& request);
  void write(const Tlp& request);
  void read(const Tlp& request);
  void configure(const Tlp& request);
  void answer(Tlp completion);
  std::uint32_t offset(const Tlp& request) const;

  ConfigSpace& config_;
  regs::RegBank& bank_;
  MmioCounters counters_;
};

}  // namespace rnic::pcie
