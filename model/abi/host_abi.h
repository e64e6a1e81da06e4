// What host and device write into each other's view of host memory: work queue, completion queue, event queue and
// command entries. Little-endian, naturally aligned, the same structs in model, firmware and driver (SystemC-free).
#pragma once

#include <cstddef>
#include <cstdint>

namespace rnic::abi {

enum class WrOpcode : std::uint8_t {
  kSend = 0,
  kRdmaWrite = 1,
  kRdmaRead = 2,
  kSendWithInv = 3,
  kImmediate = 4,  // remote_address holds the eight octets, as a number (RFC 7306 section 6)
  kFetchAdd = 5,   // masked; operands as AtomicOperands (RFC 7306 section 5)
  kCmpSwap = 6,
  kRdmaReadWithInv = 7,  // the sink's STag, sge[0].lkey, ends when the response is placed
  // Executed in the chip, in queue order.
  kLocalInv = 16,  // invalidate_stag: a region or a window of type 2
  kRegMr = 17,     // makes an allocated region valid: rkey and Registration
  kBindMw = 18     // binds a window: rkey and Registration; without length, unbinds one of type 1
};
constexpr bool is_read(WrOpcode op) { return op == WrOpcode::kRdmaRead || op == WrOpcode::kRdmaReadWithInv; }
constexpr bool is_atomic(WrOpcode op) { return op == WrOpcode::kFetchAdd || op == WrOpcode::kCmpSwap; }
// The names and the order of libibverbs' ibv_wc_status.
enum class WcStatus : std::uint8_t {
  kSuccess = 0,
  kLocLenErr,
  kLocQpOpErr,
  kLocEecOpErr,
  kLocProtErr,
  kWrFlushErr,
  kMwBindErr,
  kBadRespErr,
  kLocAccessErr,
  kRemInvReqErr,
  kRemAccessErr,
  kRemOpErr,
  kRetryExcErr,
  kRnrRetryExcErr,
  kLocRddViolErr,
  kRemInvRdReqErr,
  kRemAbortErr,
  kInvEecnErr,
  kInvEecStateErr,
  kFatalErr,
  kRespTimeoutErr,
  kGeneralErr
};
// The values of libibverbs' ibv_wc_opcode, and kRegMr, which user space does not have there.
enum class WcOpcode : std::uint8_t {
  kSend = 0,
  kRdmaWrite = 1,
  kRdmaRead = 2,
  kCompSwap = 3,
  kFetchAdd = 4,
  kBindMw = 5,
  kLocalInv = 6,
  kRegMr = 9,
  kRecv = 128,
  kRecvRdmaWithImm = 129
};
constexpr bool is_receive(WcOpcode op) { return op >= WcOpcode::kRecv; }

enum WqeFlags : std::uint8_t { kWqeSignaled = 1, kWqeSolicited = 2, kWqeFence = 4, kWqeInline = 8 };
enum AccessFlags : std::uint8_t {
  kLocalWrite = 1,
  kRemoteWrite = 2,
  kRemoteRead = 4,
  kRemoteAtomic = 8,
  kMwBind = 16,     // windows may be bound to the region
  kZeroBased = 32,  // tagged offsets count from 0 instead of the address
  // The same as IBV_ACCESS_* up to here. A peer may end a kRegisterMr region by a Send with Invalidate; it may always
  // end what send-queue requests make valid.
  kRemoteInvalidate = 64
};

inline constexpr unsigned kMaxSge = 6;

struct Sge {
  std::uint64_t address = 0;
  std::uint32_t length = 0;
  std::uint32_t lkey = 0;
};

// A send or receive work request; receive entries use wr_id, num_sge and sge only.
struct Wqe {
  WrOpcode opcode = WrOpcode::kSend;
  std::uint8_t flags = 0;
  std::uint8_t num_sge = 0;
  std::uint8_t reserved = 0;
  std::uint32_t invalidate_stag = 0;
  std::uint64_t wr_id = 0;
  std::uint64_t remote_address = 0;
  std::uint32_t rkey = 0;
  std::uint32_t inline_bytes = 0;
  Sge sge[kMaxSge];
};
// The driver's wr_id of a receive request in a shared queue: its place in the queue, and its slot below.
inline constexpr unsigned kSharedSlotBits = 12;
inline constexpr std::size_t kWqeBytes = 128;
static_assert(sizeof(Wqe) == kWqeBytes);

// Of an atomic, instead of its second and third SGE; the first names eight octets of local memory, to which the value
// before the operation is written in host byte order.
struct AtomicOperands {
  std::uint64_t data = 0;       // to add, or to swap in
  std::uint64_t data_mask = 0;  // most significant bits of the fields to add, or bits to swap
  std::uint64_t compare = 0, compare_mask = 0;

  static AtomicOperands of(const Wqe& w) {
    AtomicOperands operands;
    __builtin_memcpy(static_cast<void*>(&operands), &w.sge[1], sizeof operands);
    return operands;
  }
  void put(Wqe& w) const { __builtin_memcpy(static_cast<void*>(&w.sge[1]), this, sizeof *this); }
};
static_assert(sizeof(AtomicOperands) == 2 * sizeof(Sge));
inline constexpr std::uint32_t kAtomicBytes = 8;

// What a kRegMr or kBindMw request makes accessible; it is in place of the gather list.
struct Registration {
  std::uint64_t address = 0, length = 0;
  std::uint32_t lkey = 0;    // kBindMw: of the region
  std::uint32_t access = 0;  // AccessFlags
  // kRegMr: 0, and address is the bus address too; or the page size of the list that kWritePages has put into the
  // region's part of the page table, and the region's start in the first page.
  std::uint32_t log_page = 0, pages = 0, first_offset = 0, reserved = 0;
  static Registration of(const Wqe& w) {
    Registration r;
    __builtin_memcpy(&r, w.sge, sizeof r);
    return r;
  }
  void put(Wqe& w) const { __builtin_memcpy(static_cast<void*>(w.sge), this, sizeof *this); }
};
static_assert(sizeof(Registration) <= sizeof(Sge) * kMaxSge);

enum CqeFlags : std::uint8_t { kCqeSolicited = 1 };

// valid when `phase` equals the consumer's phase, which starts at 1 and flips each time the ring wraps.
struct Cqe {
  std::uint64_t wr_id = 0;
  std::uint64_t immediate = 0;
  std::uint32_t byte_len = 0;
  std::uint32_t qpn = 0;
  std::uint32_t vendor_error = 0;
  WcOpcode opcode = WcOpcode::kSend;
  WcStatus status = WcStatus::kSuccess;
  std::uint8_t flags = 0;
  std::uint8_t phase = 0;
};
inline constexpr std::size_t kCqeBytes = 32;
static_assert(sizeof(Cqe) == kCqeBytes);

// After a completion queue's last entry: how many entries the host has ever taken, modulo 2^32. The device reads it
// before it would overwrite an entry, so the host may write it at any time.
inline constexpr std::size_t kCqRecordBytes = 4;

// The command queue and the event queue are rings of 64-octet entries, each with a parallel ring of 512-octet slots
// for the MPA private data of connection commands and events (RFC 5044 section 7.1.1: 0 to 512 octets).
inline constexpr std::size_t kPrivateDataBytes = 512;

// The protocols of a device or a queue pair (draft-carrier-rddp-rnic-interop-00 section 5.1).
enum class Personality : std::uint8_t {
  kDevice = 0,  // of a queue pair or a listener: the device's
  kRdmac,       // DDP and RDMAP version 0, MPA revision 0, markers and CRC always
  kIetf,        // version 1, refuses RDMAC peers
  kPermissive   // version 1, and 0 with an RDMAC peer
};
// MPA markers in one direction.
enum class Markers : std::uint8_t { kOpen = 0, kOff, kOn };
// What the draft's section 6.2 adds to a queue pair. Open receive markers are decided by the options of the connection,
// then by the device's preference; transmit markers are always decided by the peer's frame, once it has arrived.
struct StreamAttr {
  Personality personality;
  Markers rx_markers, tx_markers;
};

enum class QpState : std::uint8_t { kIdle, kRts, kClosing, kTerminate, kError };

enum class CommandOp : std::uint8_t {
  kNop = 0,
  kCreateCq,
  kDestroyCq,
  kCreateQp,
  kDestroyQp,
  kRegisterMr,
  kDeregisterMr,
  kListen,
  kUnlisten,
  kConnect,
  kAccept,
  kReject,
  kDisconnect,
  kAllocMr,  // an STag that kRegMr requests make valid
  kAllocMw,  // a window; flags: its type, 1 or 2
  kCreateSrq,
  kModifySrq,  // arms the limit: one kSrqLimit event when fewer requests are left, then it is 0; 0 disarms
  kQuerySrq,   // its kCommandDone has the limit
  kDestroySrq,
  kModifyCq,         // moderation
  kWritePages,       // id: the first entry of the page table; private data: bus addresses of 1 to 64 pages
  kRegisterMrPages,  // as kRegisterMr, over pages of the table
  kModifyQp,         // to kIdle: another StreamAttr, whose open parts stay as they were; to kError: ends its stream
  kQueryQp,          // its kCommandDone has the state, the StreamAttr and the version
  // id: the first of 1 to 64 pages of the home (HOME_PAGES), whose bus addresses are in the private data; each is given
  // once. They are the device's until kReleaseHome, and contain zeroes.
  kSetHome,
  kReleaseHome  // all of them; answered when the device will not access them any more. kBusy: the device needs them
};
// Of a home page, which is aligned.
inline constexpr unsigned kLogHomePage = 21;
inline constexpr std::uint64_t kHomePageBytes = std::uint64_t{1} << kLogHomePage;

// Of a kCreateQp command: receive requests come from the shared receive queue `srqn`; there is no ring at rq_base.
enum QpFlags : std::uint8_t { kQpSharesRq = 1 };

// MPA options of a listen or connect command (RFC 5044 section 7.1, RFC 6581).
enum CmFlags : std::uint8_t {
  kCmMarkers = 1,     // M: request markers in what we receive
  kCmCrc = 2,         // C: request CRC
  kCmEnhanced = 4,    // revision 2 with the enhanced word; revision 1 otherwise
  kCmPeerToPeer = 8,  // A, with the RTR kinds below
  kCmRtrSend = 16,
  kCmRtrWrite = 32,
  kCmRtrRead = 64
};

// How a connection's depths are negotiated (RFC 6581 section 9.1), and what a rejection leaves (RFC 5044
// section 7.1.2).
enum CmOptions : std::uint8_t {
  kCmKeepIrd = 1,  // kConnect: announce 0x3fff, so that the depth stays unchanged on both sides
  kCmKeepOrd = 2,
  kCmMaxIrd = 4,  // max_ird is valid, even if 0; without it the peer's ORD may raise ird up to the device's limit
  // TCP stays open. kConnect: after the peer's rejection, for another kConnect of the queue pair, or a kDisconnect that
  // closes. kReject: for another request of the peer.
  kCmStay = 8,
  kCmSctp = 16  // kConnect, kListen, kUnlisten: DDP over SCTP (RFC 5043). Options of MPA have no effect
};

// An order of RTR kinds, the first in the lowest two bits. Kinds that it does not name follow in the order Write, Read,
// Send.
enum class RtrKind : std::uint8_t { kNone = 0, kSend, kWrite, kRead };
constexpr std::uint8_t rtr_order(RtrKind first, RtrKind second = RtrKind::kNone, RtrKind third = RtrKind::kNone) {
  return static_cast<std::uint8_t>(static_cast<unsigned>(first) | static_cast<unsigned>(second) << 2 |
                                   static_cast<unsigned>(third) << 4);
}

// A program's limits for one TCP connection from RDMA mode on, in place of the device's settings.
enum class KeepAlive : std::uint8_t { kDevice, kOff, kOn };  // kOn: every two hours, if the device has no interval
struct TcpLimits {
  std::uint8_t max_retries = 0;  // R2, in retransmission timeouts (RFC 9293 section 3.8.3); 0: the device's
  KeepAlive keep_alive = KeepAlive::kDevice;  // section 3.8.4
  constexpr bool asked() const { return max_retries != 0 || keep_alive != KeepAlive::kDevice; }

  static constexpr const char* kMessage = "tcp_limits";
  template <class V, class M>
  static void fields(V& v, M& m) {
    v("max_retries", 8, m.max_retries);
    v("keep_alive", 2, m.keep_alive);
  }
};

struct Command {
  CommandOp op = CommandOp::kNop;
  std::uint8_t flags = 0;           // CmFlags; QpFlags; AccessFlags for kRegisterMr; the type for kAllocMw
  std::uint16_t private_bytes = 0;  // valid octets in the command's private data slot
  std::uint32_t cookie = 0;         // returned in the kCommandDone event
  std::uint32_t id = 0;   // qpn, cqn, STag or, for kAccept and kReject, the connection id of the request event
  std::uint32_t qpn = 0;  // kConnect, kAccept: the QP to bring into RDMA mode
  union {
    std::uint8_t raw[48];  // the first, so that everything starts as 0
    struct {
      std::uint64_t base;
      std::uint32_t log_entries;
    } cq;
    struct {
      std::uint32_t count;      // entries that are worth a notification at once; 0: any number waits
      std::uint32_t period_ns;  // the longest that the first one waits; 0: each is worth one
    } moderation;
    struct {
      std::uint64_t sq_base, rq_base;
      std::uint8_t log_sq, log_rq;
      std::uint16_t pd;
      std::uint32_t send_cqn, recv_cqn;
      std::uint32_t srqn;
      StreamAttr stream;
    } qp;
    struct {
      QpState to;
      StreamAttr stream;
    } modify_qp;
    struct {
      std::uint64_t base;
      std::uint32_t log_entries;
      std::uint32_t pd;
      std::uint32_t limit;  // kModifySrq only
    } srq;
    struct {
      std::uint64_t address, length;
      std::uint32_t pd;
    } mr;
    struct {  // begins as mr
      std::uint64_t address, length;
      std::uint32_t pd;
      std::uint32_t first_page, pages;  // of the table; for kAllocMr what kRegMr requests may use
      std::uint32_t first_offset;       // of the region's first octet in its first page
      std::uint32_t log_page;           // their size, 4 KiB or more
    } mr_pages;
    struct {
      std::uint32_t peer_ip;
      std::uint16_t peer_port, local_port;
      std::uint16_t ird, ord;
      Personality personality;  // of a listen command: until a queue pair with another one is given
      std::uint8_t options;     // CmOptions; kAccept, kReject: kCmStay
      std::uint16_t max_ird;    // the limit up to which the peer's ORD may raise ird, with kCmMaxIrd
      std::uint16_t need_ord;   // kAccept: rejects an initiator with less IRD; kReject: what it would have taken
      std::uint8_t rtr_order;   // kConnect
      std::uint16_t backlog;    // kListen: requests that may wait for an answer; 0: up to the device's limit
      TcpLimits tcp;            // kConnect, kAccept
    } cm;
  } u = {};
};
inline constexpr std::size_t kCommandBytes = 64;
static_assert(sizeof(Command) == kCommandBytes);

enum class EventType : std::uint8_t {
  kNone = 0,
  kCommandDone,
  kConnectRequest,
  kEstablished,
  kRejected,
  kConnectError,
  kDisconnected,
  kQpError,
  kCqNotify,
  kCqError,  // the queue overran: nothing more is written to it, and the QPs that use it are in error
  kSrqLimit,
  kSrqError,     // its ring overran, or its context is lost: the QPs that use it are in error
  kDeviceFatal,  // the firmware cannot continue, status: FaultCause; no command is answered any more
  // A context cannot be read from its home, or is not what the device wrote there; status: ContextKind, id: its number.
  // Streams that need it end with an error.
  kContextLost
};
enum class ContextKind : std::uint8_t {
  kPages,  // four entries of the page table, from entry 4 * id on
  kCq,     // a completion queue
  kStag,   // an STag's entry, by its index
  kQp,     // a context of a queue pair
  kFlow,   // the state of a TCP connection, by the number of its flow
  kSrq     // a shared receive queue; kSrqError follows
};
inline constexpr unsigned kContextKinds = 6;
enum class CommandStatus : std::uint8_t {
  kOk = 0,
  kBadOp,
  kBadIndex,
  kBusy,
  kBadState,
  kNoResources,
  kBadLength,
  kVersionNotSupported,  // of DDP and RDMAP
  kMarkersRequired,      // version 0 requires markers
  kDeviceFatal,          // set by the driver: the firmware stopped before it answered
  kNoHome                // the device has no home for what the command creates (kSetHome)
};
enum class ConnectStatus : std::uint8_t {
  kOk = 0,
  kRefused,
  kTimeout,
  kReset,
  kBadMpaFrame,
  kBadRevision,
  kInsufficientIrd,
  kNoMatchingRtr,
  kLocalFailure,
  kCancelled,   // by the host, before the setup was done
  kNoResources  // this device has no TCP flow or port left
};

// Why the firmware cannot continue.
enum class FaultCause : std::uint8_t {
  kNone = 0,
  kPanic,     // it found an error of its own, or made an invalid request to the chip
  kWatchdog,  // the handler of an event does not end
  kIllegalInstruction,
  kBusFault,  // no memory, or not with this access
  kStackOverflow
};

// Which side's Terminate a kQpError reports. Its header, as on the wire, is the event's private data (RFC 5040 section
// 4.8).
enum class TerminateOrigin : std::uint8_t {
  kLocal = 0,  // sent to the peer
  kPeer,
  kMalformed,  // the peer's, but cut short, or not the single message of QN 2
  kUnsent      // ours, but it cannot be sent: the stream is lost, or we may send nothing more on it
};

struct Event {
  EventType type = EventType::kNone;
  std::uint8_t status = 0;          // CommandStatus or ConnectStatus
  std::uint16_t private_bytes = 0;  // valid octets in the event's private data slot
  std::uint32_t cookie = 0;         // of the command, for kCommandDone
  std::uint32_t id = 0;             // qpn, cqn, srqn or, for kConnectRequest, the connection id to accept or reject
  std::uint32_t peer_ip = 0;
  std::uint16_t peer_port = 0, local_port = 0;
  std::uint16_t ird = 0, ord = 0;  // kEstablished: what they are from now on
  std::uint32_t srq_limit = 0;     // kCommandDone of kQuerySrq
  // The Terminate's first word (layer 31..28, type 27..24, code 23..16): of kQpError, and of a kConnectError with an
  // MPA error, whether it could be sent to the peer or not.
  std::uint32_t terminate = 0;
  std::uint16_t peer_ird = 0, peer_ord = 0;  // as the peer's startup frame has them; 0x3fff: not negotiated
  std::uint8_t mpa_revision = 0, mpa_flags = 0;
  TerminateOrigin terminate_origin = TerminateOrigin::kLocal;  // kQpError
  std::uint8_t ddp_version = 0;                                // and RDMAP's: connection events, kQueryQp
  QpState qp_state = QpState::kIdle;  // kQueryQp; kModifyQp: the new state; kRejected, kConnectError
  StreamAttr stream = {};             // kQueryQp
  std::uint8_t reserved[19] = {};
  std::uint8_t phase = 0;  // like a CQE's
};
inline constexpr std::size_t kEventBytes = 64;
static_assert(sizeof(Event) == kEventBytes);

}  // namespace rnic::abi
