#include "model/rnic/fwcpu/firmware_profile.h"

#include "model/common/overloaded.h"
#include "model/stats/registry.h"

namespace rnic {

void FirmwareProfile::about(FlowId flow) {
  in_handler_ = true;
  opens_ = false;
  flow_ = flow;
  waits_for_ = SetupTimes::Part::kMpa;
}

void FirmwareProfile::began(const LlpEvent& event, Cycle arrived) {
  about(event.flow());
  const auto opened = [&](SetupTimes::Role role) { setups_.opened(flow_, role, event.begun_at, arrived); };
  event.visit(Overloaded{
      [&](const fw::TcpConnected&) { opened(SetupTimes::Role::kInitiator); },
      [&](const fw::SctpConnected&) { opened(SetupTimes::Role::kInitiator); },
      [&](const fw::TcpAccepted&) { opened(SetupTimes::Role::kResponder); },
      [&](const fw::SctpControl&) {
        if (setups_.runs(flow_)) return setups_.enter(flow_, SetupTimes::Part::kFirmware, arrived);
        opens_ = true;  // the first message of a session on a stream is a peer's request
        opened(SetupTimes::Role::kResponder);
      },
      [&](const fw::TcpStreamData&) { setups_.enter(flow_, SetupTimes::Part::kFirmware, arrived); },
      [&](const fw::TcpEmssChanged&) {},
      // A setup still waits for the same thing.
      [&](const fw::SctpAcked&) { flow_ = kNoFlow; },
      [&](const fw::SctpMulpduChanged&) { flow_ = kNoFlow; },
      [&](const auto&) { setups_.failed(flow_); },
  });
}

void FirmwareProfile::began_first_fpdu(FlowId flow, Cycle arrived) {
  about(flow);
  setups_.enter(flow, SetupTimes::Part::kFirmware, arrived);
}

// A connection's id has its index in 16 bits.
void FirmwareProfile::began(const abi::Command& command, Cycle arrived) {
  about(kNoFlow);
  op_ = command.op;
  command_arrived_ = arrived;
  const std::size_t index = command.id & 0xffff;
  if (command.op != abi::CommandOp::kAccept || index >= flow_of_.size()) return;
  flow_ = flow_of_[index];
  setups_.enter(flow_, SetupTimes::Part::kFirmware, arrived);
}

void FirmwareProfile::posted(const abi::Event& event, Cycle at) {
  switch (event.type) {
    case abi::EventType::kCommandDone:
      commands_[static_cast<std::size_t>(op_)].record((at - command_arrived_) * period_ps_);
      if (on_command_) on_command_(op_, at, at - command_arrived_);
      return;
    case abi::EventType::kConnectRequest:
      flow_of_.at(event.id & 0xffff) = flow_;
      waits_for_ = SetupTimes::Part::kHost;
      return;
    case abi::EventType::kEstablished:
      return setups_.established(flow_, at);
    case abi::EventType::kRejected:
    case abi::EventType::kConnectError:
      return setups_.failed(flow_);
    default:
      return;
  }
}

void FirmwareProfile::reset() {
  setups_.reset();
  flow_of_.assign(flow_of_.size(), kNoFlow);
  in_handler_ = opens_ = false;
}

void FirmwareProfile::ended(Cycle at) {
  in_handler_ = false;
  if (opens_ && waits_for_ != SetupTimes::Part::kHost) setups_.failed(flow_);
  setups_.enter(flow_, waits_for_, at);
}

void FirmwareProfile::register_stats(const StatsGroup& group) const {
  setups_.register_stats(group.group("setup"));
  const StatsGroup commands = group.group("commands");
  for (std::size_t op = 0; op < abi::kCommandOps; ++op) {
    commands.histogram(abi::kCommandNames[op], commands_[op], "ps",
                       "from the command's arrival at the firmware to its completion event");
  }
}

}  // namespace rnic
