// mpa_negotiation: the chip's connection firmware as one end of a TCP stream, in either role.
#include <array>
#include <deque>
#include <string>

#include <fmt/format.h>

#include "model/ends/firmware_end.h"
#include "model/golden/contexts.h"
#include "model/golden/kind_of.h"

namespace rnic::golden {
namespace {

// A command of the host; the octets are its private data.
struct CmCommand : Payload {
  abi::Command command;

  static constexpr const char* kMessage = "cm_command";
  template <class V, class M>
  static void fields(V& v, M& m) {
    auto& cm = m.command.u.cm;
    v("op", 8, m.command.op);
    v("flags", 8, m.command.flags);
    v("id", 32, m.command.id);
    v("ird", 16, cm.ird);
    v("ord", 16, cm.ord);
    v("options", 8, cm.options);
    v("max_ird", 16, cm.max_ird);
    v("need_ord", 16, cm.need_ord);
    v("rtr_order", 8, cm.rtr_order);
    v("backlog", 16, cm.backlog);
  }
};
struct CmDone {
  abi::CommandStatus status = abi::CommandStatus::kOk;

  static constexpr const char* kMessage = "cm_done";
  template <class V, class M>
  static void fields(V& v, M& m) {
    v("status", 8, m.status);
  }
};
// What the host hears; the octets are the peer's private data.
struct CmEvent : Payload {
  abi::Event event;

  static constexpr const char* kMessage = "cm_event";
  template <class V, class M>
  static void fields(V& v, M& m) {
    Message<abi::Event>::fields(v, m.event);
  }
};
// What one end of TCP makes of the other; the octets are those of its stream, if it is some.
struct SignalMessage : Payload {
  StreamSignal::Kind kind = {};
  wire::TerminateCause cause;

  static constexpr const char* kMessage = "stream_signal";
  template <class V, class M>
  static void fields(V& v, M& m) {
    v("kind", 3, m.kind);
    v("cause", m.cause);
  }
};

// What may come from the peer's end. Signals that cannot come are refused: the firmware trusts the chip.
class TcpState {
 public:
  void check(StreamSignal::Kind kind) const {
    using Kind = StreamSignal::Kind;
    const bool open = state_ == State::kOpen;
    switch (kind) {
      case Kind::kOpen:
        return require(state_ == State::kClosed, "a connection is there already");
      case Kind::kOpened:
      case Kind::kRefused:
        return require(state_ == State::kOpening, "no connection is being opened");
      case Kind::kOctets:
      case Kind::kFin:
        return require(open && !fin_, "the peer's direction is not open");
      case Kind::kReset:
        return require(open, "no connection is open");
      case Kind::kReadyToReceive:
      case Kind::kTerminate:
        return require(open && rdma_, "the connection is not in RDMA mode");
    }
  }
  void received(StreamSignal::Kind kind) {
    using Kind = StreamSignal::Kind;
    if (kind == Kind::kOpened) state_ = State::kOpen;
    if (kind == Kind::kRefused || kind == Kind::kReset) *this = {};
    if (kind == Kind::kFin) fin_ = true;
    close_both();
  }
  void sent(StreamSignal::Kind kind) {
    using Kind = StreamSignal::Kind;
    if (kind == Kind::kOpen) state_ = State::kOpening;
    if (kind == Kind::kOpened) state_ = State::kOpen;
    if (kind == Kind::kReset) *this = {};
    if (kind == Kind::kFin) fin_sent_ = true;
    close_both();
  }
  void enter_rdma() { rdma_ = true; }

 private:
  enum class State : std::uint8_t { kClosed, kOpening, kOpen };
  static void require(bool good, const char* text) {
    if (!good) fail_value(std::string("stream_signal.kind: ") + text);
  }
  void close_both() {
    if (fin_ && fin_sent_) *this = {};
  }
  State state_ = State::kClosed;
  bool fin_ = false, fin_sent_ = false, rdma_ = false;
};

// As the program's rnic.fwcpu.personality.
constexpr std::array kPersonalities{Named{abi::Personality::kRdmac, "rdmac"}, Named{abi::Personality::kIetf, "ietf"},
                                    Named{abi::Personality::kPermissive, "permissive"}};

struct MpaNegotiationBench final : Bench {
  struct Config {
    abi::Personality personality = abi::Personality::kIetf;
    template <class V>
    static void fields(V& v) {
      v("personality", &Config::personality, "of the device: the revisions of MPA and markers that it takes",
        one_of(kPersonalities));
    }
  };
  explicit MpaNegotiationBench(const Config& c) : Bench(DatapathConfig{}.beat_bytes), end(c.personality) {
    in<CmCommand>("command", [this](const CmCommand& m) { command(m); });
    in<SignalMessage>("peer", [this](const SignalMessage& m) { receive(m); });
    done = &out<CmDone>("done");
    signals = &out<SignalMessage>("to_peer");
    events = &out<CmEvent>("event");
    qps = &out<QpRow>("qp");
    flows = &out<FlowContext>("flow");
    work = &out<TxInternalWork>("work");
  }

 private:
  void command(const CmCommand& m) {
    constexpr std::size_t kMostPrivate = 512;
    if (m.command.op < abi::CommandOp::kListen || m.command.op > abi::CommandOp::kDisconnect) {
      fail_value(
          "cm_command.op: it is 7 (listen), 8 (unlisten), 9 (connect), 10 (accept), 11 (reject) or 12 "
          "(disconnect)");
    }
    if (m.octets.size() > kMostPrivate) {
      fail_value(
          fmt::format("cm_command: it has more than {} octets of private data (RFC 5044 section 7.1)", kMostPrivate));
    }
    abi::Command command = m.command;
    command.qpn = FirmwareEnd::kQpn;
    command.u.cm.local_port = command.u.cm.peer_port = FirmwareEnd::kPort;
    if (command.op == abi::CommandOp::kConnect) command.u.cm.local_port = 0;
    done->push_back({end.command(command, m.octets)});
    collect();
  }
  void receive(const SignalMessage& m) {
    tcp.check(m.kind);
    end.receive({m.kind, m.octets, m.cause});
    tcp.received(m.kind);
    collect();
  }
  // What the firmware has done.
  void collect() {
    for (StreamSignal& signal : end.take_signals()) {
      tcp.sent(signal.kind);
      SignalMessage message;
      message.octets = std::move(signal.octets);
      message.kind = signal.kind;
      message.cause = signal.cause;
      signals->push_back(std::move(message));
    }
    FirmwareRecord record = end.take_record();
    for (FirmwareRecord::Report& report : record.reports) {
      CmEvent event;
      event.octets = std::move(report.private_data);
      event.event = report.event;
      events->push_back(std::move(event));
    }
    if (record.qp) qps->push_back({*record.qp});
    if (record.flow) {
      flows->push_back(*record.flow);
      tcp.enter_rdma();
    }
    work->insert(work->end(), record.work.begin(), record.work.end());
  }

  FirmwareEnd end;
  TcpState tcp;
  std::deque<CmDone>* done;
  std::deque<SignalMessage>* signals;
  std::deque<CmEvent>* events;
  std::deque<QpRow>* qps;
  std::deque<FlowContext>* flows;
  std::deque<TxInternalWork>* work;
};

}  // namespace

void add_negotiation_kinds(std::vector<Kind>& to) {
  to.push_back(kind<MpaNegotiationBench>(
      "mpa_negotiation", "one end of a connection's start, of either role (RFC 5044 section 7, RFC 6581)"));
}

}  // namespace rnic::golden
