// Every cell of the connection state machine: the actions of a row, in order. An event without a row changes nothing
// but the log.
#include <map>

#include "model/abi/connection_states.h"
#include "testbench/unit/firmware/session_bench.h"

namespace rnic::fw::test {
namespace {

using State = ConnState;
using Event = ConnEvent;
using Lines = std::vector<std::string>;
using Cell = std::pair<State, Event>;

constexpr std::uint32_t kConn = 0x80000000;
const std::string kSctpQp = " flow 3 mulpdu 1434 ird 16 ord 16";
const std::string kSctpOff = "flow 3 off qp 5 tx_markers 0 rx_markers 0 crc 1 epoch 1 sctp";
constexpr FlowId kFlow{3};
constexpr unsigned kStates = static_cast<unsigned>(State::kLingering) + 1;
constexpr unsigned kEvents = static_cast<unsigned>(Event::kSession) + 1;

struct Expected {
  Lines lines;
  State next;
};

// The state machine as required by RFC 5044 section 7.1 and RFC 6581. QP 5, connection 0, and flow 3 once there is one.
const std::map<Cell, Expected>& rows() {
  static const std::map<Cell, Expected> kRows{
      {{State::kTcpOpening, Event::kConnected},
       {{"send flow 3 4d504120494420526571204672616d6540010000", "read flow 3 20", "timer 0 5000000us"},
        State::kWaitReply}},
      {{State::kTcpOpening, Event::kOpenFailed}, {{"event connect_error status 2 id 5"}, State::kFree}},
      {{State::kTcpOpening, Event::kStreamError},
       {{"qp 5 error sq 10000/6 rq 20000/5 pd 7 cq 0/0", "work qp 5 flush",
         "event connect_error status 8 id 5 terminate 20050000"},
        State::kFree}},
      {{State::kTcpOpening, Event::kDisconnect},
       {{"event done status 0 id 5", "event connect_error status 9 id 5"}, State::kFree}},
      {{State::kWaitReply, Event::kDisconnect},
       {{"event done status 0 id 5", "abort flow 3", "event connect_error status 9 id 5", "cancel timer 0"},
        State::kFree}},
      {{State::kWaitReply, Event::kStreamData},
       {{"log bad_frame", "event connect_error status 3 id 5", "close flow 3", "timer 0 3000000us"}, State::kClosing}},
      {{State::kWaitReply, Event::kPeerClosed},
       {{"event connect_error status 3 id 5", "close flow 3", "timer 0 3000000us"}, State::kClosing}},
      {{State::kWaitReply, Event::kReset}, {{"event connect_error status 3 id 5", "cancel timer 0"}, State::kFree}},
      {{State::kWaitReply, Event::kStreamError},
       {{"abort flow 3", "qp 5 error sq 10000/6 rq 20000/5 pd 7 cq 0/0", "work qp 5 flush",
         "event connect_error status 8 id 5 terminate 20050000", "cancel timer 0"},
        State::kFree}},
      {{State::kWaitReply, Event::kTimeout},
       {{"abort flow 3", "event connect_error status 2 id 5", "cancel timer 0"}, State::kFree}},
      {{State::kWaitRequest, Event::kStreamData},
       {{"log bad_frame", "event connect_error status 3 id 80000000", "close flow 3", "timer 0 3000000us"},
        State::kClosing}},
      {{State::kWaitRequest, Event::kPeerClosed},
       {{"event connect_error status 3 id 80000000", "close flow 3", "timer 0 3000000us"}, State::kClosing}},
      {{State::kWaitRequest, Event::kReset},
       {{"event connect_error status 3 id 80000000", "cancel timer 0"}, State::kFree}},
      {{State::kWaitRequest, Event::kTimeout},
       {{"abort flow 3", "event connect_error status 2 id 80000000", "cancel timer 0"}, State::kFree}},
      {{State::kWaitHost, Event::kStreamData}, {{}, State::kWaitHost}},
      {{State::kWaitHost, Event::kPeerClosed},
       {{"event connect_error status 3 id 80000000 peer 16/16", "close flow 3", "timer 0 3000000us"}, State::kClosing}},
      {{State::kWaitHost, Event::kReset}, {{"event connect_error status 3 id 80000000 peer 16/16"}, State::kFree}},
      {{State::kWaitHost, Event::kAccept},
       {{"event done status 0 id 80000000", "qp 5 rts flow 3 mulpdu 1454 ird 16 ord 8 fenced",
         "flow 3 rdma qp 5 tx_markers 0 rx_markers 0 crc 1 epoch 1",
         "send flow 3 4d504120494420526570204672616d655002000480104008", "enter_rdma flow 3", "timer 0 4000000us"},
        State::kWaitFirstFpdu}},
      {{State::kWaitHost, Event::kReject},
       {{"event done status 0 id 80000000", "send flow 3 4d504120494420526570204672616d657002000480104000",
         "close flow 3", "timer 0 3000000us"},
        State::kClosing}},
      {{State::kWaitFirstFpdu, Event::kStreamData},
       {{"qp 5 terminate flow 3 mulpdu 1454 ird 16 ord 8 fenced", "work qp 5 terminate 20040000", "work qp 5 drain",
         "event qp_error status 0 id 5 terminate 20040000", "timer 0 3000000us"},
        State::kTerminating}},
      {{State::kWaitFirstFpdu, Event::kPeerClosed},
       {{"qp 5 closing flow 3 mulpdu 1454 ird 16 ord 8 fenced", "work qp 5 drain", "timer 0 3000000us"},
        State::kDraining}},
      {{State::kWaitFirstFpdu, Event::kReset},
       {{"event qp_error status 0 id 5 terminate 20010000", "qp 5 error flow 3 mulpdu 1454 ird 16 ord 8 fenced",
         "flow 3 off qp 5 tx_markers 0 rx_markers 0 crc 1 epoch 1", "work qp 5 flush",
         "event connect_error status 3 id 5 peer 16/16", "cancel timer 0"},
        State::kFree}},
      {{State::kWaitFirstFpdu, Event::kFirstFpdu},
       {{"event established status 0 id 5 ird 16 ord 8 peer 16/16 rev 2 flags 4e", "cancel timer 0"}, State::kRts}},
      {{State::kWaitFirstFpdu, Event::kTerminateReceived},
       {{"event qp_error status 0 id 5 terminate 12010000", "qp 5 error flow 3 mulpdu 1454 ird 16 ord 8 fenced",
         "flow 3 off qp 5 tx_markers 0 rx_markers 0 crc 1 epoch 1", "work qp 5 flush",
         "event connect_error status 0 id 5 peer 16/16", "close flow 3", "timer 0 3000000us"},
        State::kClosing}},
      {{State::kWaitFirstFpdu, Event::kStreamError},
       {{"qp 5 terminate flow 3 mulpdu 1454 ird 16 ord 8 fenced", "work qp 5 terminate 11000000", "work qp 5 drain",
         "event qp_error status 0 id 5 terminate 11000000", "timer 0 3000000us"},
        State::kTerminating}},
      {{State::kWaitFirstFpdu, Event::kDisconnect},
       {{"event done status 0 id 5", "qp 5 closing flow 3 mulpdu 1454 ird 16 ord 8 fenced", "work qp 5 drain",
         "timer 0 3000000us"},
        State::kDraining}},
      {{State::kWaitFirstFpdu, Event::kTimeout},
       {{"abort flow 3", "qp 5 error flow 3 mulpdu 1454 ird 16 ord 8 fenced",
         "flow 3 off qp 5 tx_markers 0 rx_markers 0 crc 1 epoch 1", "work qp 5 flush",
         "event connect_error status 2 id 5 peer 16/16", "cancel timer 0"},
        State::kFree}},
      {{State::kRts, Event::kStreamData},
       {{"qp 5 terminate flow 3 mulpdu 1454 ird 16 ord 16", "work qp 5 terminate 20040000", "work qp 5 drain",
         "event qp_error status 0 id 5 terminate 20040000", "timer 0 3000000us"},
        State::kTerminating}},
      {{State::kRts, Event::kPeerClosed},
       {{"qp 5 closing flow 3 mulpdu 1454 ird 16 ord 16", "work qp 5 drain", "timer 0 3000000us"}, State::kDraining}},
      {{State::kRts, Event::kReset},
       {{"event qp_error status 0 id 5 terminate 20010000", "qp 5 error flow 3 mulpdu 1454 ird 16 ord 16",
         "flow 3 off qp 5 tx_markers 0 rx_markers 0 crc 1 epoch 1", "work qp 5 flush",
         "event disconnected status 3 id 5"},
        State::kFree}},
      {{State::kRts, Event::kFirstFpdu}, {{}, State::kRts}},
      {{State::kRts, Event::kTerminateReceived},
       {{"event qp_error status 0 id 5 terminate 12010000", "qp 5 error flow 3 mulpdu 1454 ird 16 ord 16",
         "flow 3 off qp 5 tx_markers 0 rx_markers 0 crc 1 epoch 1", "work qp 5 flush",
         "event disconnected status 0 id 5", "close flow 3", "timer 0 3000000us"},
        State::kClosing}},
      {{State::kRts, Event::kStreamError},
       {{"qp 5 terminate flow 3 mulpdu 1454 ird 16 ord 16", "work qp 5 terminate 11000000", "work qp 5 drain",
         "event qp_error status 0 id 5 terminate 11000000", "timer 0 3000000us"},
        State::kTerminating}},
      {{State::kRts, Event::kDisconnect},
       {{"event done status 0 id 5", "qp 5 closing flow 3 mulpdu 1454 ird 16 ord 16", "work qp 5 drain",
         "timer 0 3000000us"},
        State::kDraining}},
      {{State::kDraining, Event::kStreamData},
       {{"qp 5 terminate flow 3 mulpdu 1454 ird 16 ord 16", "work qp 5 terminate 20040000", "work qp 5 drain",
         "event qp_error status 0 id 5 terminate 20040000", "timer 0 3000000us"},
        State::kTerminating}},
      {{State::kDraining, Event::kPeerClosed}, {{}, State::kDraining}},
      {{State::kDraining, Event::kReset},
       {{"event qp_error status 0 id 5 terminate 20010000", "qp 5 error flow 3 mulpdu 1454 ird 16 ord 16",
         "flow 3 off qp 5 tx_markers 0 rx_markers 0 crc 1 epoch 1", "work qp 5 flush",
         "event disconnected status 3 id 5", "cancel timer 0"},
        State::kFree}},
      {{State::kDraining, Event::kTerminateReceived},
       {{"event qp_error status 0 id 5 terminate 12010000", "qp 5 error flow 3 mulpdu 1454 ird 16 ord 16",
         "flow 3 off qp 5 tx_markers 0 rx_markers 0 crc 1 epoch 1", "work qp 5 flush",
         "event disconnected status 0 id 5", "close flow 3", "timer 0 3000000us"},
        State::kClosing}},
      {{State::kDraining, Event::kStreamError},
       {{"qp 5 terminate flow 3 mulpdu 1454 ird 16 ord 16", "work qp 5 terminate 11000000", "work qp 5 drain",
         "event qp_error status 0 id 5 terminate 11000000", "timer 0 3000000us"},
        State::kTerminating}},
      {{State::kDraining, Event::kSendDrained}, {{"close flow 3", "timer 0 3000000us"}, State::kClosing}},
      {{State::kDraining, Event::kTimeout},
       {{"abort flow 3", "qp 5 error flow 3 mulpdu 1454 ird 16 ord 16",
         "flow 3 off qp 5 tx_markers 0 rx_markers 0 crc 1 epoch 1", "work qp 5 flush",
         "event disconnected status 2 id 5", "cancel timer 0"},
        State::kFree}},
      {{State::kTerminating, Event::kPeerClosed}, {{}, State::kTerminating}},
      {{State::kTerminating, Event::kFirstFpdu}, {{}, State::kTerminating}},
      {{State::kTerminating, Event::kReset},
       {{"qp 5 error flow 3 mulpdu 1454 ird 16 ord 16", "flow 3 off qp 5 tx_markers 0 rx_markers 0 crc 1 epoch 1",
         "work qp 5 flush", "event disconnected status 3 id 5", "cancel timer 0"},
        State::kFree}},
      {{State::kTerminating, Event::kSendDrained}, {{"close flow 3", "timer 0 3000000us"}, State::kClosing}},
      {{State::kTerminating, Event::kTimeout},
       {{"abort flow 3", "qp 5 error flow 3 mulpdu 1454 ird 16 ord 16",
         "flow 3 off qp 5 tx_markers 0 rx_markers 0 crc 1 epoch 1", "work qp 5 flush",
         "event disconnected status 2 id 5", "cancel timer 0"},
        State::kFree}},
      {{State::kClosing, Event::kPeerClosed},
       {{"qp 5 error flow 3 mulpdu 1454 ird 16 ord 16", "flow 3 off qp 5 tx_markers 0 rx_markers 0 crc 1 epoch 1",
         "work qp 5 flush", "event disconnected status 0 id 5"},
        State::kClosing}},
      {{State::kClosing, Event::kReset},
       {{"qp 5 error flow 3 mulpdu 1454 ird 16 ord 16", "flow 3 off qp 5 tx_markers 0 rx_markers 0 crc 1 epoch 1",
         "work qp 5 flush", "event disconnected status 3 id 5", "cancel timer 0"},
        State::kFree}},
      {{State::kClosing, Event::kClosed},
       {{"qp 5 error flow 3 mulpdu 1454 ird 16 ord 16", "flow 3 off qp 5 tx_markers 0 rx_markers 0 crc 1 epoch 1",
         "work qp 5 flush", "event disconnected status 0 id 5", "cancel timer 0"},
        State::kFree}},
      {{State::kClosing, Event::kTerminateReceived},
       {{"event qp_error status 0 id 5 terminate 12010000", "qp 5 error flow 3 mulpdu 1454 ird 16 ord 16",
         "flow 3 off qp 5 tx_markers 0 rx_markers 0 crc 1 epoch 1", "work qp 5 flush",
         "event disconnected status 0 id 5"},
        State::kClosing}},
      {{State::kClosing, Event::kStreamError},
       {{"event qp_error status 0 id 5 terminate 11000000", "abort flow 3",
         "qp 5 error flow 3 mulpdu 1454 ird 16 ord 16", "flow 3 off qp 5 tx_markers 0 rx_markers 0 crc 1 epoch 1",
         "work qp 5 flush", "event disconnected status 3 id 5", "cancel timer 0"},
        State::kFree}},
      {{State::kClosing, Event::kTimeout},
       {{"abort flow 3", "qp 5 error flow 3 mulpdu 1454 ird 16 ord 16",
         "flow 3 off qp 5 tx_markers 0 rx_markers 0 crc 1 epoch 1", "work qp 5 flush",
         "event disconnected status 2 id 5", "cancel timer 0"},
        State::kFree}},
      {{State::kRejected, Event::kConnect},
       {{"event done status 0 id 0 cookie 77", "send flow 3 4d504120494420526571204672616d6540010000", "read flow 3 20",
         "timer 0 5000000us"},
        State::kWaitReply}},
      {{State::kRejected, Event::kDisconnect},
       {{"event done status 0 id 5", "event connect_error status 9 id 5", "close flow 3", "timer 0 3000000us"},
        State::kClosing}},
      {{State::kRejected, Event::kStreamData}, {{}, State::kRejected}},
      {{State::kRejected, Event::kPeerClosed},
       {{"event connect_error status 3 id 5", "close flow 3", "timer 0 3000000us"}, State::kClosing}},
      {{State::kRejected, Event::kReset}, {{"event connect_error status 3 id 5"}, State::kFree}},
      {{State::kRejected, Event::kStreamError},
       {{"abort flow 3", "qp 5 error sq 10000/6 rq 20000/5 pd 7 cq 0/0", "work qp 5 flush",
         "event connect_error status 8 id 5 terminate 20050000"},
        State::kFree}},

      {{State::kSctpOpening, Event::kConnected},
       {{"sctp begin flow 3", "sctp send flow 3 0001", "timer 0 5000000us"}, State::kInitSent}},
      {{State::kSctpOpening, Event::kOpenFailed}, {{"event connect_error status 2 id 5"}, State::kFree}},
      {{State::kSctpOpening, Event::kStreamError},
       {{"qp 5 error sq 10000/6 rq 20000/5 pd 7 cq 0/0", "work qp 5 flush",
         "event connect_error status 8 id 5 terminate 20050000"},
        State::kFree}},
      {{State::kSctpOpening, Event::kDisconnect},
       {{"event done status 0 id 5", "event connect_error status 9 id 5"}, State::kFree}},
      {{State::kInitSent, Event::kSession},
       {{"log session_violation", "sctp discard flow 3", "event connect_error status 4 id 5", "timer 0 3000000us"},
        State::kLingering}},
      {{State::kInitSent, Event::kReset}, {{"event connect_error status 3 id 5", "cancel timer 0"}, State::kFree}},
      {{State::kInitSent, Event::kTimeout},
       {{"event connect_error status 2 id 5", "timer 0 3000000us"}, State::kLingering}},
      {{State::kInitSent, Event::kStreamError},
       {{"qp 5 error sq 10000/6 rq 20000/5 pd 7 cq 0/0", "work qp 5 flush",
         "event connect_error status 8 id 5 terminate 20050000", "timer 0 3000000us"},
        State::kLingering}},
      {{State::kInitSent, Event::kDisconnect},
       {{"event done status 0 id 5", "event connect_error status 9 id 5", "timer 0 3000000us"}, State::kLingering}},
      {{State::kSessionPending, Event::kAccept},
       {{"event done status 0 id 80000000", "qp 5 rts flow 3 mulpdu 1434 ird 8 ord 8",
         "flow 3 rdma qp 5 tx_markers 0 rx_markers 0 crc 1 epoch 1 sctp", "sctp send flow 3 0002", "sctp open flow 3",
         "event established status 0 id 5 ird 8 ord 8 rev 1 flags 2"},
        State::kRts}},
      {{State::kSessionPending, Event::kReject},
       {{"event done status 0 id 80000000", "sctp end_run flow 3", "sctp send flow 3 0003", "timer 0 3000000us"},
        State::kLingering}},
      {{State::kSessionPending, Event::kSession},
       {{"log session_violation", "sctp end_run flow 3", "sctp send flow 3 0004",
         "event connect_error status 4 id 80000000", "timer 0 3000000us"},
        State::kLingering}},
      {{State::kSessionPending, Event::kReset}, {{"event connect_error status 3 id 80000000"}, State::kFree}},
      {{State::kRts, Event::kSession},
       {{"log session_violation", "sctp discard flow 3", "qp 5 terminate" + kSctpQp, "work qp 5 drain",
         "event qp_error status 0 id 5", "timer 0 3000000us"},
        State::kTerminating}},
      {{State::kDraining, Event::kSession},
       {{"log session_violation", "sctp discard flow 3", "qp 5 terminate" + kSctpQp, "work qp 5 drain",
         "event qp_error status 0 id 5", "timer 0 3000000us"},
        State::kTerminating}},
      {{State::kTerminating, Event::kSession}, {{"log session_violation", "sctp discard flow 3"}, State::kTerminating}},
      {{State::kClosing, Event::kSession},
       {{"log session_violation", "sctp discard flow 3", "event qp_error status 0 id 5", "qp 5 error" + kSctpQp,
         kSctpOff, "work qp 5 flush", "event disconnected status 3 id 5", "timer 0 3000000us"},
        State::kLingering}},
      {{State::kLingering, Event::kSession}, {{"log session_violation", "sctp discard flow 3"}, State::kLingering}},
      {{State::kLingering, Event::kPeerClosed}, {{}, State::kLingering}},
      {{State::kLingering, Event::kClosed}, {{"cancel timer 0"}, State::kFree}},
      {{State::kLingering, Event::kReset}, {{"cancel timer 0"}, State::kFree}},
      {{State::kLingering, Event::kTimeout}, {{"sctp abandon flow 3", "cancel timer 0"}, State::kFree}},
  };
  return kRows;
}

class StateMachine : public SessionTest {
 protected:
  static bool is_of_sctp(State state) { return state >= State::kSctpOpening; }
  void bring_to(State state, bool by_sctp = false) {
    const bool responder = state >= State::kWaitRequest && state <= State::kWaitFirstFpdu;
    if (by_sctp || is_of_sctp(state)) by_session(state);
    else if (responder) passive(state);
    else active(state);
    bus.take();
    ASSERT_EQ(fw.state(0), state);
  }
  void deliver(Event event) {
    switch (event) {
      case Event::kConnected:
        return fw.on(TcpConnected{kFlow, kConn, 41000, 1460});
      case Event::kOpenFailed:
        return fw.on(TcpOpenFailed{kConn, OpenFailure::kTimeout});
      case Event::kStreamData:
        return fw.on(TcpStreamData{kFlow, 0});
      case Event::kPeerClosed:
        return fw.on(TcpPeerClosed{kFlow});
      case Event::kReset:
        return fw.on(TcpReset{kFlow});
      case Event::kClosed:
        return fw.on(TcpClosed{kFlow});
      case Event::kFirstFpdu:
        return fw.on(QpFirstFpdu{Qpn{kQp}});
      case Event::kTerminateReceived:
        return fw.on(QpTerminateReceived{Qpn{kQp}, wire::ddp::kInvalidQn});
      case Event::kStreamError:
        return fw.on(QpStreamError{Qpn{kQp}, wire::ddp::kInvalidStag});
      case Event::kSendDrained:
        return fw.on(QpSendDrained{Qpn{kQp}});
      case Event::kAccept:
        return run(accept(kConn));
      case Event::kReject:
        return run(command(abi::CommandOp::kReject, kConn));
      case Event::kDisconnect:
        return run(command(abi::CommandOp::kDisconnect, kQp));
      case Event::kTimeout:
        return fw.on(TimerExpired{0});
      case Event::kConnect:
        return run(connect(abi::kCmCrc));
      case Event::kSession:
        return fw.on(SctpViolation{kFlow});
    }
  }

 private:
  void active(State state) {
    if (state == State::kFree) return;
    abi::Command request = connect(abi::kCmCrc);
    if (state == State::kRejected) request.u.cm.options = abi::kCmStay;
    run(request);
    if (state == State::kTcpOpening) return;
    fw.on(TcpConnected{kFlow, kConn, 41000, 1460});
    if (state == State::kWaitReply) return;
    if (state == State::kRejected) return stream(kFlow.v, kRepKey + "60010000");
    stream(kFlow.v, kRepKey + "40010000");
    if (state == State::kTerminating) fw.on(QpStreamError{Qpn{kQp}, wire::ddp::kInvalidStag});
    if (state < State::kDraining || state == State::kTerminating) return;
    run(command(abi::CommandOp::kDisconnect, kQp));
    if (state == State::kClosing) fw.on(QpSendDrained{Qpn{kQp}});
  }
  void by_session(State state) {
    if (state == State::kSessionPending) {
      listen_sctp(0);
      return message(kFlow.v, "0001");
    }
    run(over_sctp(connect(0)));
    if (state == State::kSctpOpening) return;
    fw.on(SctpConnected{kFlow, kConn, 41000, kMulpdu});
    if (state == State::kLingering) run(command(abi::CommandOp::kDisconnect, kQp));
    if (state == State::kInitSent || state == State::kLingering) return;
    message(kFlow.v, "0002");
    acked(kFlow.v);
    if (state == State::kTerminating) fw.on(QpStreamError{Qpn{kQp}, wire::ddp::kInvalidStag});
    if (state == State::kRts || state == State::kTerminating) return;
    run(command(abi::CommandOp::kDisconnect, kQp));
    if (state == State::kClosing) fw.on(QpSendDrained{Qpn{kQp}});
  }
  void passive(State state) {
    listen(abi::kCmCrc | abi::kCmEnhanced);
    fw.on(TcpAccepted{kFlow, 0x0a000002, 40000, 7000, 1460});
    if (state == State::kWaitRequest) return;
    stream(kFlow.v, kReqKey + "50020004" + "80104010");
    if (state == State::kWaitFirstFpdu) run(accept(kConn));
  }
};

class EachCell : public StateMachine, public testing::WithParamInterface<std::tuple<unsigned, unsigned>> {};

// The host's commands are refused by their status if they have no row.
TEST_P(EachCell, DoesWhatItsRowSaysOrNothing) {
  const State state{static_cast<std::uint8_t>(std::get<0>(GetParam()))};
  const Event event{static_cast<std::uint8_t>(std::get<1>(GetParam()))};
  const bool idle_qp = state == State::kFree || state == State::kWaitRequest || state == State::kWaitHost ||
                       state == State::kSessionPending || state == State::kLingering;
  if (event == Event::kConnect && idle_qp) return;  // a separate connection, whatever this one does
  const bool shared = state >= State::kRts && state <= State::kClosing;
  const bool has_session = is_of_sctp(state) && state != State::kSctpOpening;
  if (event == Event::kSession && !shared && !has_session) return;  // SCTP has its own flows
  bring_to(state, event == Event::kSession);
  deliver(event);
  const Lines lines = bus.take();
  if (const auto row = rows().find({state, event}); row != rows().end()) {
    EXPECT_EQ(lines, row->second.lines);
    EXPECT_EQ(fw.state(0), row->second.next);
    return;
  }
  EXPECT_EQ(fw.state(0), state);
  if (event == Event::kStreamError && idle_qp) {  // of a queue pair without a connection
    EXPECT_THAT(lines, ElementsAre("qp 5 error sq 10000/6 rq 20000/5 pd 7 cq 0/0", "work qp 5 flush"));
    return;
  }
  ASSERT_EQ(lines.size(), 1u);
  const bool command =
      event == Event::kAccept || event == Event::kReject || event == Event::kDisconnect || event == Event::kConnect;
  const bool nobody = state == State::kFree && event == Event::kConnected;
  if (command) EXPECT_THAT(lines[0], testing::MatchesRegex("event done status [24] id .*"));
  else EXPECT_EQ(lines[0], nobody ? "abort flow 3" : "log unexpected_event");
}

INSTANTIATE_TEST_SUITE_P(All, EachCell, testing::Combine(testing::Range(0u, kStates), testing::Range(0u, kEvents)),
                         [](const auto& cell) {
                           return std::string(name(State{static_cast<std::uint8_t>(std::get<0>(cell.param))})) + "_" +
                                  name(Event{static_cast<std::uint8_t>(std::get<1>(cell.param))});
                         });

// At the finest level every state is logged with its previous state, and nothing else changes.
TEST_F(StateMachine, EveryTransitionIsLoggedIfWanted) {
  bus.log_level = LogLevel::kDebug;
  run(connect(abi::kCmCrc));
  fw.on(TcpOpenFailed{kConn, OpenFailure::kRefused});
  ASSERT_EQ(bus.logged().size(), 2u);
  EXPECT_EQ(bus.logged()[0].code, LogCode::kConnectionState);
  EXPECT_EQ(bus.logged()[0].a, kConn);
  EXPECT_EQ(bus.logged()[0].b, static_cast<unsigned>(State::kFree) << 8 | static_cast<unsigned>(State::kTcpOpening));
  EXPECT_EQ(bus.logged()[1].b, static_cast<unsigned>(State::kTcpOpening) << 8 | static_cast<unsigned>(State::kFree));
}

TEST_F(StateMachine, ARefusedCommandIsLoggedWithItsReason) {
  bus.log_level = LogLevel::kDebug;
  run(accept(kConn));
  ASSERT_EQ(bus.logged().size(), 1u);
  EXPECT_EQ(bus.logged()[0].code, LogCode::kCommandRefused);
  EXPECT_EQ(bus.logged()[0].a, static_cast<unsigned>(abi::CommandOp::kAccept));
  EXPECT_EQ(bus.logged()[0].b, static_cast<unsigned>(abi::CommandStatus::kBadIndex));
}

// Finds new rows without a test, and tests whose row is gone.
TEST(StateMachineTable, HasTheRowsThatAreTestedAndNoOthers) {
  for (unsigned s = 0; s < kStates; ++s) {
    for (unsigned e = 0; e < kEvents; ++e) {
      const State state{static_cast<std::uint8_t>(s)};
      const Event event{static_cast<std::uint8_t>(e)};
      EXPECT_EQ((ConnectionManager<RecordingBus, SmallCapacity>::has_row(state, event)),
                rows().count({state, event}) == 1)
          << name(state) << " " << name(event);
    }
  }
}

// The host gets the end of the stream when all pending work is done, whichever comes first.
class PeersFin : public StateMachine, public testing::WithParamInterface<State> {};
TEST_P(PeersFin, WaitsForWhatIsDue) {
  bring_to(GetParam());
  fw.on(QpPeerClosed{Qpn{kQp}});
  bus.take();
  fw.on(QpSendDrained{Qpn{kQp}});
  EXPECT_THAT(bus.take(), ElementsAre("qp 5 error flow 3 mulpdu 1454 ird 16 ord 16",
                                      "flow 3 off qp 5 tx_markers 0 rx_markers 0 crc 1 epoch 1", "work qp 5 flush",
                                      "event disconnected status 0 id 5", "close flow 3", "timer 0 3000000us"));
  fw.on(TcpClosed{kFlow});
  EXPECT_EQ(fw.state(0), State::kFree);
}
INSTANTIATE_TEST_SUITE_P(States, PeersFin, testing::Values(State::kRts, State::kDraining, State::kTerminating));

}  // namespace
}  // namespace rnic::fw::test
