// The firmware's bus in unit tests: every operation becomes a line, in order, with all its data.
#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "firmware/events/host_events.h"
#include "firmware/lib/capacity.h"
#include "model/abi/firmware_operations.h"
#include "model/abi/firmware_sram.h"
#include "testbench/unit/wire/hex.h"

namespace rnic::fw::test {

class RecordingBus {
 public:
  explicit RecordingBus(std::uint32_t slots) : memory_(sram_bytes(slots)) {}

  void write(const TcpListen& o) { add("listen {}", o.port); }
  void write(const TcpUnlisten& o) { add("unlisten {}", o.port); }
  void write(const TcpOpen& o) {
    add("open {:08x}:{} from {} cookie {:08x}", o.peer_ip, o.peer_port, o.port, o.cookie);
  }
  void write(const TcpStreamSend& o) {
    add("send flow {} {}", o.flow.v, octets(o.octets));
    read_into_ = {};
  }
  void write(const TcpStreamRead& o) {
    add("read flow {} {}", o.flow.v, o.into.bytes);
    read_into_ = o.into;
  }
  void write(const TcpSetLimits& o) {
    static const char* const kKeepAlive[] = {"as the device", "off", "on"};
    add("limits flow {} retries {} keep-alive {}", o.flow.v, o.limits.max_retries,
        kKeepAlive[static_cast<int>(o.limits.keep_alive)]);
  }
  void write(const TcpEnterRdma& o) { add("enter_rdma flow {}", o.flow.v); }
  void write(const TcpClose& o) { add("close flow {}", o.flow.v); }
  void write(const TcpAbort& o) { add("abort flow {}", o.flow.v); }
  void write(const SctpListen& o) { add("sctp listen {}", o.port); }
  void write(const SctpUnlisten& o) { add("sctp unlisten {}", o.port); }
  void write(const SctpConnect& o) {
    add("sctp connect {:08x}:{} from {} cookie {:08x}", o.peer_ip, o.peer_port, o.port, o.cookie);
  }
  void write(const SctpSend& o) {
    add("sctp send flow {} {}{}", o.flow.v, octets(o.octets), o.life == lives[o.flow.v] ? "" : " of another life");
  }
  void write(const SctpStream& o) {
    static const char* const kActions[] = {"begin", "open", "discard", "end_run", "restart", "give_back", "abandon"};
    std::uint16_t& life = lives[o.flow.v];
    add("sctp {} flow {}{}", kActions[static_cast<int>(o.action)], o.flow.v, o.life == life ? "" : " of another life");
    life = static_cast<std::uint16_t>(
        life + (o.action == SctpStreamAction::kRestart || o.action == SctpStreamAction::kAbandon));
  }
  void write(const WriteQp& o) {
    static const char* const kStates[] = {"idle", "rts", "closing", "terminate", "error"};
    const QpContext& c = o.context;
    if (!c.valid) return add("qp {} invalid", o.qpn.v);
    std::string text = fmt::format("qp {} {}", o.qpn.v, kStates[static_cast<int>(c.state)]);
    if (c.flow != kNoFlow) {
      text += fmt::format(" flow {} mulpdu {} ird {} ord {}", c.flow.v, c.mulpdu, c.ird, c.ord);
    } else {
      const std::string rq =
          c.shares_rq ? fmt::format("srq {}", c.srq.v) : fmt::format("rq {:x}/{}", c.rq_base, c.log_rq);
      text += fmt::format(" sq {:x}/{} {} pd {} cq {}/{}", c.sq_base, c.log_sq, rq, c.pd.v, c.send_cq.v, c.recv_cq.v);
    }
    lines_.push_back(text + (c.responder ? " fenced" : "") + (c.absorbs_rtr_send ? " absorbs" : "") +
                     (c.version == 1 ? "" : fmt::format(" version {}", c.version)));
  }
  void write(const WriteFlow& o) {
    const FlowContext& c = o.context;
    add("flow {} {} qp {} tx_markers {:d} rx_markers {:d} crc {:d} epoch {}{}", o.flow.v, c.rdma ? "rdma" : "off",
        c.qpn.v, c.tx_markers, c.rx_markers, c.crc, c.qp_epoch, c.llp == LlpId::kSctp ? " sctp" : "");
  }
  void write(const WriteCq& o) {
    if (!o.context.valid) return add("cq {} invalid", o.cqn.v);
    const CqContext& c = o.context;
    const std::string moderation =
        c.moderation_ns == 0 ? "" : fmt::format(" moderation {} in {}ns", c.moderation_count, c.moderation_ns);
    add("cq {} at {:x} log {}{}", o.cqn.v, c.base, c.log_entries, moderation);
  }
  void write(const WriteSrq& o) {
    if (!o.context.valid) return add("srq {} invalid", o.srqn.v);
    add("srq {} at {:x} log {} pd {}", o.srqn.v, o.context.base, o.context.log_entries, o.context.pd.v);
  }
  void write(const ArmSrq& o) { add("arm srq {} limit {} serial {}", o.arm.srqn.v, o.arm.limit, o.arm.serial); }
  void write(const WritePage& o) { add("page {} at {:x}", o.index, o.bus_address); }
  void write(const WriteHomePage& o) { add("home page {} at {:x}", o.index, o.bus_address); }
  void write(const ReleaseHome&) { lines_.push_back("release home"); }
  void write(const WriteStag& o) {
    if (!o.context.valid) return add("stag {:x} invalid", o.stag.v);
    if (o.context.log_page != 0) {
      return add("stag {:x} key {:x} access {:x} pd {} at {:x} length {:x} pages {}+{} of 2^{} from {:x}", o.stag.v,
                 o.context.key, o.context.access, o.context.pd.v, o.context.address, o.context.length,
                 o.context.first_page, o.context.pages, o.context.log_page, o.context.bus);
    }
    add("stag {:x} key {:x} access {:x} pd {} at {:x} length {:x}", o.stag.v, o.context.key, o.context.access,
        o.context.pd.v, o.context.address, o.context.length);
  }
  void write(const PostWork& o) {
    static const char* const kKinds[] = {"rtr_send", "rtr_write", "rtr_read", "terminate", "drain", "flush"};
    const bool terminate = o.work.kind == InternalWork::kTerminate;
    const std::string word = terminate               ? fmt::format(" {:08x}", terminate_word(o.work.cause))
                             : o.work.recv_cq.v != 0 ? fmt::format(" cq {}", o.work.recv_cq.v)
                                                     : "";
    add("work qp {} {}{}", o.work.qpn.v, kKinds[static_cast<int>(o.work.kind)], word);
  }
  void write(const PostEvent& o) {
    static const char* const kTypes[] = {"none",          "done",         "connect_request", "established", "rejected",
                                         "connect_error", "disconnected", "qp_error",        "cq_notify",   "cq_error",
                                         "srq_limit",     "srq_error",    "fatal",           "context_lost"};
    std::string text = fmt::format("event {} status {}", kTypes[static_cast<int>(o.event.type)], o.event.status);
    text += fmt::format(" id {:x}", o.event.id);
    if (o.event.cookie != 0) text += fmt::format(" cookie {}", o.event.cookie);
    if (o.event.srq_limit != 0) text += fmt::format(" limit {}", o.event.srq_limit);
    if (o.event.terminate != 0) text += fmt::format(" terminate {:08x}", o.event.terminate);
    const bool established = o.event.type == abi::EventType::kEstablished;
    const bool with_frame =
        o.event.type == abi::EventType::kConnectRequest || established || o.event.type == abi::EventType::kRejected;
    if (established) text += fmt::format(" ird {} ord {}", o.event.ird, o.event.ord);
    const bool open = o.event.peer_ird == wire::MpaEnhanced::kNotNegotiated && o.event.peer_ord == o.event.peer_ird;
    if ((with_frame || o.event.type == abi::EventType::kConnectError) && !open) {
      text += fmt::format(" peer {}/{}", o.event.peer_ird, o.event.peer_ord);
    }
    if (with_frame) text += fmt::format(" rev {} flags {:x}", o.event.mpa_revision, o.event.mpa_flags);
    if (with_frame && o.event.ddp_version != 1) text += fmt::format(" version {}", o.event.ddp_version);
    if (o.event.private_bytes != 0) text += " private " + octets({o.private_offset, o.event.private_bytes});
    lines_.push_back(text);
    events_.push_back(o.event);
  }
  void write(const SetTimer& o) { add("timer {} {}us", o.id, o.microseconds); }
  void write(const CancelTimer& o) { add("cancel timer {}", o.id); }
  void write(const Panic& o) { add("panic {}", static_cast<int>(o.code)); }
  void write(const Log& o) {
    if (describe(o.code).level > log_level) return;
    add("log {}", describe(o.code).name);
    logged_.push_back(o);
  }
  LogLevel log_level = LogLevel::kInfo;
  std::map<std::uint32_t, std::uint16_t> lives;  // of SCTP's flows, as counted by the chip

  MutableByteSpan sram(SramRange range) { return MutableByteSpan(memory_.data() + range.offset, range.bytes); }

  // Acts as the hardware for a read: puts octets where the firmware requested them.
  void put_read_octets(const Bytes& bytes) { put(read_into_.offset, bytes); }
  void put_message(const Bytes& bytes) { put(kSessionWindow.offset + wire::kDdpSsnBytes, bytes); }
  void put_private_data(const Bytes& bytes) { put(kCommandWindow.offset, bytes); }

  // The lines since the last call.
  std::vector<std::string> take() { return std::exchange(lines_, {}); }
  const std::vector<abi::Event>& events() const { return events_; }
  const std::vector<Log>& logged() const { return logged_; }
  std::uint32_t asked() const { return read_into_.bytes; }

 private:
  template <class... Args>
  void add(fmt::format_string<Args...> format, Args... args) {
    lines_.push_back(fmt::format(format, args...));
  }
  std::string octets(SramRange range) const {
    std::string text;
    for (std::uint32_t i = 0; i < range.bytes; ++i) text += fmt::format("{:02x}", memory_.at(range.offset + i));
    return text;
  }
  void put(std::uint32_t offset, const Bytes& bytes) {
    for (std::size_t i = 0; i < bytes.size(); ++i) memory_.at(offset + i) = bytes[i];
  }

  Bytes memory_;
  std::vector<std::string> lines_;
  std::vector<abi::Event> events_;
  std::vector<Log> logged_;
  SramRange read_into_;
};

}  // namespace rnic::fw::test
