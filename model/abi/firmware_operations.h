// The firmware's operations for the hardware. Each is a plain struct that a bus turns into CSR writes; octets travel in
// the shared SRAM. An operation has taken its octets when the bus call returns. `life` is that of the flow in the event
// that the operation answers: if the number has been reused since, nothing happens.
#pragma once

#include <cstddef>
#include <cstdint>

#include "model/abi/context_types.h"
#include "model/abi/firmware_log.h"
#include "model/abi/host_abi.h"
#include "model/abi/srq_events.h"
#include "model/abi/tx_internal_work.h"
#include "model/abi/type_list.h"

namespace rnic::fw {

// A piece of the shared SRAM, in octets.
struct SramRange {
  std::uint32_t offset = 0, bytes = 0;
};

// kCsrWords: 32-bit CSR writes that the operation takes, its command word included. Their cost depends on the target.
// kLlp: the lower layer that an operation is for; kName: its name in files.

struct TcpListen {
  static constexpr const char* kName = "tcp_listen";
  static constexpr LlpId kLlp = LlpId::kMpaTcp;
  static constexpr unsigned kCsrWords = 1;
  std::uint16_t port = 0;
};
struct TcpUnlisten {
  static constexpr const char* kName = "tcp_unlisten";
  static constexpr LlpId kLlp = LlpId::kMpaTcp;
  static constexpr unsigned kCsrWords = 1;
  std::uint16_t port = 0;
};
struct TcpOpen {
  static constexpr const char* kName = "tcp_open";
  static constexpr LlpId kLlp = LlpId::kMpaTcp;
  static constexpr unsigned kCsrWords = 4;
  std::uint32_t peer_ip = 0;
  std::uint16_t peer_port = 0, port = 0;  // port 0: an ephemeral one
  std::uint32_t cookie = 0;
};
// An unanswered read is withdrawn: the peer's next octets answer this frame.
struct TcpStreamSend {
  static constexpr const char* kName = "tcp_stream_send";
  static constexpr LlpId kLlp = LlpId::kMpaTcp;
  static constexpr unsigned kCsrWords = 3;
  FlowId flow;
  SramRange octets;
  std::uint16_t life = 0;
};
// Requests exactly that many octets of the stream in SRAM; answered by TcpStreamData, unless TcpStreamSend or
// TcpEnterRdma withdraws it before.
struct TcpStreamRead {
  static constexpr const char* kName = "tcp_stream_read";
  static constexpr LlpId kLlp = LlpId::kMpaTcp;
  static constexpr unsigned kCsrWords = 3;
  FlowId flow;
  SramRange into;
  std::uint16_t life = 0;
};
// Before TcpEnterRdma, for a connection whose program asks for its own limits.
struct TcpSetLimits {
  static constexpr const char* kName = "tcp_set_limits";
  static constexpr LlpId kLlp = LlpId::kMpaTcp;
  static constexpr unsigned kCsrWords = 2;
  FlowId flow;
  abi::TcpLimits limits;
  std::uint16_t life = 0;
};
struct TcpEnterRdma {
  static constexpr const char* kName = "tcp_enter_rdma";
  static constexpr LlpId kLlp = LlpId::kMpaTcp;
  static constexpr unsigned kCsrWords = 1;
  FlowId flow;
  std::uint16_t life = 0;
};
struct TcpClose {
  static constexpr const char* kName = "tcp_close";
  static constexpr LlpId kLlp = LlpId::kMpaTcp;
  static constexpr unsigned kCsrWords = 1;
  FlowId flow;
  std::uint16_t life = 0;
};
struct TcpAbort {
  static constexpr const char* kName = "tcp_abort";
  static constexpr LlpId kLlp = LlpId::kMpaTcp;
  static constexpr unsigned kCsrWords = 1;
  FlowId flow;
  std::uint16_t life = 0;
};

struct WriteQp {
  static constexpr unsigned kCsrWords = 13;
  Qpn qpn;
  QpContext context;
};
struct WriteFlow {
  static constexpr unsigned kCsrWords = 4;
  FlowId flow;
  FlowContext context;
};
struct WriteCq {
  static constexpr unsigned kCsrWords = 6;
  Cqn cqn;
  CqContext context;
};
struct WriteSrq {
  static constexpr unsigned kCsrWords = 5;
  Srqn srqn;
  SrqContext context;
};
struct ArmSrq {
  static constexpr unsigned kCsrWords = 2;
  SrqArm arm;
};
struct WritePage {
  static constexpr unsigned kCsrWords = 3;
  std::uint32_t index = 0;
  std::uint64_t bus_address = 0;
};
// Of the contexts' home in host memory.
struct WriteHomePage {
  static constexpr unsigned kCsrWords = 3;
  std::uint32_t index = 0;
  std::uint64_t bus_address = 0;
};
struct ReleaseHome {  // forgets all pages; answered by HomeReleased
  static constexpr unsigned kCsrWords = 1;
};
struct WriteStag {
  static constexpr unsigned kCsrWords = 12;
  Stag stag;
  StagContext context;
};

using InternalWork = TxInternalWork::Kind;
struct PostWork {
  static constexpr unsigned kCsrWords = 2;
  TxInternalWork work;
};

// To the host's event queue, with the private data in SRAM (event.private_bytes octets at that offset).
struct PostEvent {
  static constexpr unsigned kCsrWords = 8;
  abi::Event event;
  std::uint32_t private_offset = 0;
};

// One-shot timers, by number. Setting a running timer restarts it.
struct SetTimer {
  static constexpr unsigned kCsrWords = 2;
  std::uint32_t id = 0;
  std::uint32_t microseconds = 0;
};
struct CancelTimer {
  static constexpr unsigned kCsrWords = 1;
  std::uint32_t id = 0;
};

// A line for debugging the firmware; no effect on anything. At a level that is not wanted, it is for a dump only.
struct Log {
  static constexpr unsigned kCsrWords = 1;
  LogCode code = LogCode::kUnexpectedEvent;
  std::uint32_t a = 0, b = 0;
};

// The firmware has found an error of its own: it is not called any more, and the host is informed.
enum class PanicCode : std::uint8_t { kUnknownEvent, kFreedTwice };
struct Panic {
  static constexpr unsigned kCsrWords = 1;
  PanicCode code = PanicCode::kUnknownEvent;
};

// DDP over SCTP: a flow is a stream of an association. The hardware itself handles associations.
struct SctpListen {
  static constexpr const char* kName = "sctp_listen";
  static constexpr LlpId kLlp = LlpId::kSctp;
  static constexpr unsigned kCsrWords = 1;
  std::uint16_t port = 0;
};
struct SctpUnlisten {
  static constexpr const char* kName = "sctp_unlisten";
  static constexpr LlpId kLlp = LlpId::kSctp;
  static constexpr unsigned kCsrWords = 1;
  std::uint16_t port = 0;
};
struct SctpConnect {  // a stream; answered by SctpConnected or SctpOpenFailed
  static constexpr const char* kName = "sctp_connect";
  static constexpr LlpId kLlp = LlpId::kSctp;
  static constexpr unsigned kCsrWords = 4;
  std::uint32_t peer_ip = 0;
  std::uint16_t peer_port = 0, port = 0;  // port 0: any
  std::uint32_t cookie = 0;
};
struct SctpSend {  // a control message from its function code on; answered by SctpAcked
  static constexpr const char* kName = "sctp_send";
  static constexpr LlpId kLlp = LlpId::kSctp;
  static constexpr unsigned kCsrWords = 3;
  FlowId flow;
  SramRange octets;
  std::uint16_t life = 0;
};
// The state that the session on a stream has reached.
enum class SctpStreamAction : std::uint8_t {
  kBegin,     // an Initiate follows
  kOpen,      // segments are placed from now on
  kDiscard,   // and from now on dropped
  kEndRun,    // nothing more of this session will arrive
  kRestart,   // it is over
  kGiveBack,  // after SctpConnected, instead of a kBegin
  kAbandon,   // the peer does not end it. The stream is unusable until the association ends, which is aborted if it
              // has no other session
  kAbort      // ABORT: the association, and all sessions on it, are gone without a further event for this flow
};
inline constexpr std::size_t kSctpStreamActions = 8;
struct SctpStream {
  static constexpr const char* kName = "sctp_stream";
  static constexpr LlpId kLlp = LlpId::kSctp;
  static constexpr unsigned kCsrWords = 1;
  FlowId flow;
  SctpStreamAction action = SctpStreamAction::kBegin;
  std::uint16_t life = 0;
};

// All of them, in the order of their numbers on a target that passes them by number.
using Operations = TypeList<TcpListen, TcpUnlisten, TcpOpen, TcpStreamSend, TcpStreamRead, TcpEnterRdma, TcpClose,
                            TcpAbort, WriteQp, WriteFlow, WriteCq, WriteSrq, ArmSrq, WritePage, WriteStag, PostWork,
                            PostEvent, SetTimer, CancelTimer, Log, Panic, SctpListen, SctpUnlisten, SctpConnect,
                            SctpSend, SctpStream, TcpSetLimits, WriteHomePage, ReleaseHome>;

// Those for the lower layers.
using LlpOperations =
    TypeList<TcpListen, TcpUnlisten, TcpOpen, TcpStreamSend, TcpStreamRead, TcpSetLimits, TcpEnterRdma, TcpClose,
             TcpAbort, SctpListen, SctpUnlisten, SctpConnect, SctpSend, SctpStream>;

}  // namespace rnic::fw
