#include "model/rnic/fwcpu/firmware_profile.h"

#include "model/stats/registry.h"

namespace rnic {

void FirmwareProfile::about(FlowId flow) {
  in_handler_ = true;
  opens_ = false;
  flow_ = flow;
  waits_for_ = SetupTimes::Part::kMpa;
}

void FirmwareProfile::began(const TcpEvent& event, Cycle arrived) {
  about(event.flow);
  switch (event.kind) {
    case TcpEvent::Kind::kConnected:
      return setups_.opened(event.flow, SetupTimes::Role::kInitiator, event.syn_at, arrived);
    case TcpEvent::Kind::kAccepted:
      return setups_.opened(event.flow, SetupTimes::Role::kResponder, event.syn_at, arrived);
    case TcpEvent::Kind::kStreamData:
      return setups_.enter(event.flow, SetupTimes::Part::kFirmware, arrived);
    case TcpEvent::Kind::kEmssChanged:
      return;
    default:
      return setups_.failed(event.flow);
  }
}

// The first message of a session on a stream is a peer's request.
void FirmwareProfile::began(const SctpEvent& event, Cycle arrived) {
  about(event.kind == SctpEvent::Kind::kOpenFailed ? kNoFlow : event.flow);
  switch (event.kind) {
    case SctpEvent::Kind::kConnected:
      return setups_.opened(event.flow, SetupTimes::Role::kInitiator, event.init_at, arrived);
    case SctpEvent::Kind::kControl:
      if (setups_.runs(event.flow)) return setups_.enter(event.flow, SetupTimes::Part::kFirmware, arrived);
      opens_ = true;
      return setups_.opened(event.flow, SetupTimes::Role::kResponder, event.init_at, arrived);
    case SctpEvent::Kind::kAcked:
    case SctpEvent::Kind::kMulpduChanged:
      flow_ = kNoFlow;  // a setup still waits for the same thing
      return;
    default:
      return setups_.failed(event.flow);
  }
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
