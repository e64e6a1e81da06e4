// The firmware's work seen from outside: how long commands take, and where setups spend their time.
#pragma once

#include <array>
#include <functional>
#include <utility>
#include <vector>

#include "model/abi/host_abi_names.h"
#include "model/rnic/fwcpu/setup_times.h"
#include "model/rnic/messages/firmware.h"
#include "model/rnic/messages/llp_firmware.h"

namespace rnic {

// Called for each handler with its subject and the subject's arrival, then with what it posts, then at its end. The
// same for every target.
class FirmwareProfile {
 public:
  FirmwareProfile(std::size_t connections, std::uint64_t period_ps)
      : period_ps_(period_ps), setups_(period_ps), flow_of_(connections, kNoFlow) {}

  void began(const LlpEvent& event, Cycle arrived);
  void began_first_fpdu(FlowId flow, Cycle arrived);
  void began(const abi::Command& command, Cycle arrived);
  void posted(const abi::Event& event, Cycle at);
  void ended(Cycle at);
  bool in_handler() const { return in_handler_; }
  void reset();  // the running handler does not end

  // f(operation, cycle at which it was done, cycles since it arrived)
  using CommandObserver = std::function<void(abi::CommandOp op, Cycle at, Cycle latency)>;
  void on_command(CommandObserver f) { on_command_ = std::move(f); }

  void register_stats(const StatsGroup& group) const;

 private:
  void about(FlowId flow);

  const std::uint64_t period_ps_;
  SetupTimes setups_;
  std::vector<FlowId> flow_of_;  // of connections that the host was asked about, by index
  std::array<Histogram, abi::kCommandOps> commands_;
  // The running handler.
  bool in_handler_ = false;
  FlowId flow_ = kNoFlow;
  SetupTimes::Part waits_for_ = SetupTimes::Part::kMpa;
  bool opens_ = false;  // a peer's first message on a stream: the host is asked, or it is refused
  abi::CommandOp op_ = abi::CommandOp::kNop;
  Cycle command_arrived_ = 0;
  CommandObserver on_command_;
};

}  // namespace rnic
