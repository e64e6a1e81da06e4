#include "model/ends/firmware_end.h"

#include <algorithm>
#include <utility>

#include "firmware/app/instantiate.h"
#include "model/common/check.h"

namespace rnic {
namespace {

using Kind = StreamSignal::Kind;
using Octets = std::vector<std::uint8_t>;

struct OneConnection {
  static constexpr std::uint32_t kQps = 1, kFlows = 1, kCqs = 1, kSrqs = 1, kStags = 1;
  static constexpr std::uint32_t kConnections = 1, kSessions = 1, kSetups = 1, kListeners = 1;
};

constexpr FlowId kFlow{0};
constexpr std::uint32_t kPeerIp = 0x0a000001;
constexpr std::uint16_t kEmss = 1460, kMaxDepth = 0x3ffe;

fw::Settings settings(abi::Personality personality) {
  fw::Settings s;
  s.personality = personality;
  s.crc = false;  // a vector says of each end whether it asks
  s.qps = s.flows = s.cqs = 1;
  s.max_ird = s.max_ord = kMaxDepth;
  return s;
}

}  // namespace

class FirmwareEnd::Bus {
 public:
  void write(const fw::TcpListen& op) { listens_on = op.port; }
  void write(const fw::TcpUnlisten&) { listens_on = 0; }
  void write(const fw::TcpOpen& op) {
    cookie = op.cookie;
    signals.push_back({Kind::kOpen});
  }
  void write(const fw::TcpStreamSend& op) {
    const ByteSpan octets = sram(op.octets);
    reads.reset();
    record.sent.insert(record.sent.end(), octets.begin(), octets.end());
    signals.push_back({Kind::kOctets, Octets(octets.begin(), octets.end())});
  }
  void write(const fw::TcpStreamRead& op) { reads = op.into; }
  void write(const fw::TcpSetLimits&) {}
  void write(const fw::TcpEnterRdma&) { reads.reset(); }
  void write(const fw::TcpClose&) {
    record.closed = fin_sent = true;
    signals.push_back({Kind::kFin});
  }
  void write(const fw::TcpAbort&) {
    record.closed = true;
    signals.push_back({Kind::kReset});
  }
  void write(const fw::WriteQp& op) {
    if (op.context.state == QpState::kRts || op.context.state == QpState::kTerminate) record.qp = op.context;
  }
  void write(const fw::WriteFlow& op) {
    if (op.context.rdma) record.flow = op.context;
  }
  void write(const fw::PostWork& op) {
    record.work.push_back(op.work);
    if (op.work.kind == fw::InternalWork::kDrain) drains = true;
    else if (op.work.kind == fw::InternalWork::kTerminate) signals.push_back({Kind::kTerminate, {}, op.work.cause});
    else if (op.work.kind != fw::InternalWork::kFlush) signals.push_back({Kind::kReadyToReceive});
  }
  void write(const fw::PostEvent& op) {
    if (op.event.type == abi::EventType::kCommandDone) {
      done = static_cast<abi::CommandStatus>(op.event.status);
      return;
    }
    const ByteSpan data = sram({op.private_offset, op.event.private_bytes});
    record.reports.push_back({op.event, Octets(data.begin(), data.end())});
  }
  template <class Op>  // contexts of other objects, timers that never expire here, log lines
  void write(const Op&) {}
  MutableByteSpan sram(fw::SramRange range) { return {memory.data() + range.offset, range.bytes}; }

  FirmwareRecord record;
  std::vector<StreamSignal> signals;
  std::optional<abi::CommandStatus> done;
  std::optional<fw::SramRange> reads;  // a read that is not answered yet
  std::uint32_t cookie = 0;
  std::uint16_t listens_on = 0;
  bool fin_sent = false, drains = false;
  Octets memory = Octets(fw::sram_bytes(OneConnection::kSetups));
};

struct FirmwareEnd::State {
  explicit State(abi::Personality personality) : firmware(bus, settings(personality)) {}

  Bus bus;
  fw::Firmware<Bus, OneConnection> firmware;
  Octets received;  // and not yet read
  bool fin_received = false, fin_told = false;

  // Gives the firmware what it waits for, as far as that is there.
  void settle() {
    while (answer_read() || answer_drain() || tell_fin()) {
    }
  }

 private:
  bool answer_read() {
    if (!bus.reads || (received.size() < bus.reads->bytes && !fin_received)) return false;
    const fw::SramRange into = *std::exchange(bus.reads, std::nullopt);
    const auto bytes = std::min<std::uint32_t>(into.bytes, static_cast<std::uint32_t>(received.size()));
    std::copy_n(received.begin(), bytes, bus.sram(into).data());
    received.erase(received.begin(), received.begin() + bytes);
    firmware.on(fw::TcpStreamData{kFlow, bytes});
    return true;
  }
  bool answer_drain() {
    if (!std::exchange(bus.drains, false)) return false;
    firmware.on(fw::QpSendDrained{Qpn{kQpn}});
    return true;
  }
  bool tell_fin() {
    if (!fin_received || fin_told) return false;
    fin_told = true;
    firmware.on(fw::TcpPeerClosed{kFlow});
    if (bus.fin_sent) firmware.on(fw::TcpClosed{kFlow});
    return true;
  }
};

FirmwareEnd::FirmwareEnd(abi::Personality personality) : state_(std::make_unique<State>(personality)) {
  abi::Command cq;
  cq.op = abi::CommandOp::kCreateCq;
  RNIC_CHECK(command(cq) == abi::CommandStatus::kOk);
  abi::Command qp;
  qp.op = abi::CommandOp::kCreateQp;
  qp.id = kQpn;
  RNIC_CHECK(command(qp) == abi::CommandStatus::kOk);
}

FirmwareEnd::FirmwareEnd(FirmwareEnd&&) noexcept = default;
FirmwareEnd::~FirmwareEnd() = default;

abi::CommandStatus FirmwareEnd::command(abi::Command command, ByteSpan private_data) {
  Bus& bus = state_->bus;
  RNIC_CHECK(private_data.size() <= fw::kCommandWindow.bytes);
  std::copy(private_data.begin(), private_data.end(), bus.sram(fw::kCommandWindow).data());
  command.private_bytes = static_cast<std::uint16_t>(private_data.size());
  bus.done.reset();
  state_->firmware.on(fw::HostCommand{command});
  RNIC_CHECK(bus.done.has_value());
  state_->settle();
  return *bus.done;
}

abi::CommandStatus FirmwareEnd::listen(std::uint8_t cm_flags) {
  abi::Command listen;
  listen.op = abi::CommandOp::kListen;
  listen.flags = cm_flags;
  listen.u.cm.local_port = kPort;
  return command(listen);
}

void FirmwareEnd::receive(const StreamSignal& signal) {
  Bus& bus = state_->bus;
  auto& firmware = state_->firmware;
  switch (signal.kind) {
    case Kind::kOpen:
      bus.signals.push_back({bus.listens_on == kPort ? Kind::kOpened : Kind::kRefused});
      if (bus.listens_on == kPort) firmware.on(fw::TcpAccepted{kFlow, kPeerIp, 40000, kPort, kEmss});
      break;
    case Kind::kOpened:
      firmware.on(fw::TcpConnected{kFlow, bus.cookie, 40000, kEmss});
      break;
    case Kind::kRefused:
      firmware.on(fw::TcpOpenFailed{bus.cookie, fw::OpenFailure::kRefused});
      break;
    case Kind::kOctets:
      state_->received.insert(state_->received.end(), signal.octets.begin(), signal.octets.end());
      break;
    case Kind::kFin:
      state_->fin_received = true;
      break;
    case Kind::kReset:
      firmware.on(fw::TcpReset{kFlow});
      break;
    case Kind::kReadyToReceive:
      firmware.on(fw::QpFirstFpdu{Qpn{kQpn}});
      break;
    case Kind::kTerminate:
      firmware.on(fw::QpTerminateReceived{Qpn{kQpn}, signal.cause, 0, false});
      break;
  }
  state_->settle();
}

std::vector<StreamSignal> FirmwareEnd::take_signals() { return std::exchange(state_->bus.signals, {}); }

const FirmwareRecord& FirmwareEnd::record() const { return state_->bus.record; }

FirmwareRecord FirmwareEnd::take_record() { return std::exchange(state_->bus.record, {}); }

const FirmwareRecord::Report* FirmwareEnd::report(abi::EventType type) const {
  const auto& all = record().reports;
  const auto last = std::find_if(all.rbegin(), all.rend(), [&](const auto& r) { return r.event.type == type; });
  return last == all.rend() ? nullptr : &*last;
}

void exchange(FirmwareEnd& a, FirmwareEnd& b) {
  for (bool any = true; any;) {
    any = false;
    for (auto [from, to] : {std::pair(&a, &b), std::pair(&b, &a)}) {
      for (const StreamSignal& signal : from->take_signals()) {
        to->receive(signal);
        any = true;
      }
    }
  }
}

}  // namespace rnic
