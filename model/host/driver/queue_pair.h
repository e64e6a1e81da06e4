// Queue pairs (ibv_qp).
#pragma once

#include <optional>
#include <utility>

#include "model/host/driver/completion_queue.h"
#include "model/host/driver/connection.h"
#include "model/host/driver/shared_receive_queue.h"
#include "model/host/driver/work_queue.h"

namespace rnic::host {

struct QpInitAttr {
  Pd pd;
  Cq* send_cq = nullptr;
  Cq* recv_cq = nullptr;
  std::uint32_t max_send_wr = 128;  // rounded up to a power of two; 1 to 2048
  std::uint32_t max_recv_wr = 128;
  Srq* srq = nullptr;  // receive requests come from there, and max_recv_wr does not count
  // DDP and RDMAP version (kRdmac 0, kIetf 1, kPermissive: the peer's) and markers. The device may refuse with
  // kVersionNotSupported or kMarkersRequired.
  abi::StreamAttr stream = {};
};

// To kIdle: changes the parts of `stream` that are not open, before there is a connection; Idle to RTS is connect and
// accept. To kError, from any state and with nothing in `stream`: a stream ends with a Terminate, and all work is
// flushed.
struct QpModifyAttr {
  abi::QpState to = abi::QpState::kIdle;
  abi::StreamAttr stream = {};
};

// The device's answer. Markers are as negotiated once there is a connection.
struct QpAttr {
  abi::QpState state = abi::QpState::kIdle;
  std::uint8_t ddp_version = 1;
  abi::StreamAttr stream = {};
};

enum class QpState : std::uint8_t { kIdle, kRts, kError };

class Qp final : public Resource {
 public:
  Qp(Core& owner, HostCpu& cpu, HostMemory& memory, Qpn number, const QpInitAttr& attr);

  Qpn number() const { return number_; }
  // Work requests that its queues have got so far.
  std::uint64_t sends() const { return sq_.posted(); }
  std::uint64_t receives() const { return rq_.posted(); }
  QpState state() const { return state_; }
  Cq& send_cq() const { return *attr_.send_cq; }
  Cq& recv_cq() const { return *attr_.recv_cq; }
  Srq* srq() const { return attr_.srq; }
  WorkQueue& sq() { return sq_; }
  WorkQueue& rq() { return rq_; }

  // ibv_post_send: all requests with one doorbell. EINVAL: not connected, too many SGEs, inline data too long, an
  // atomic without its eight octets, a Read that ends its sink without one, or immediate data without a Write; ENOMEM:
  // no room for all of them. No side effect on an error.
  int post_send(const SendWr* wrs, unsigned n);
  int post_send(const SendWr& wr) { return post_send(&wr, 1); }
  // ibv_post_recv: also before the connection exists. Errors as for post_send; EINVAL with a shared receive queue.
  int post_recv(const RecvWr* wrs, unsigned n);
  int post_recv(const RecvWr& wr) { return post_recv(&wr, 1); }

  // The destination of this queue pair's connection events; set by connect and accept.
  EventChannel* channel() const { return channel_; }
  void set_channel(EventChannel& channel) { channel_ = &channel; }
  void set_state(QpState state) { state_ = state; }
  // From connect or accept until the event that ends it.
  bool has_connection() const { return has_connection_; }
  void set_connection(bool there) { has_connection_ = there; }
  // Whether TCP must stay open when the peer rejects, and whether it is open for another request.
  bool stays() const { return stays_; }
  void set_stays(bool stays) { stays_ = stays; }
  bool rejected() const { return rejected_; }
  void set_rejected(bool rejected) { rejected_ = rejected; }
  void ask_again() { asks_again_ = std::exchange(rejected_, false); }
  // Will be destroyed when its connection has ended: its program gets no more events of it.
  bool doomed() const { return doomed_; }
  void doom() {
    doomed_ = true;
    channel_ = nullptr;
  }
  // The parameters of a second attempt without enhancements.
  struct Attempt {
    std::uint32_t peer_ip = 0;
    std::uint16_t port = 0;
    ConnParam param;
  };
  std::optional<Attempt>& attempt() { return attempt_; }

  // Whether Context::modify_qp and query_qp are answered; how the last one ended; what the last query saw.
  bool answered() const { return outstanding_ == 0; }
  abi::CommandStatus answer() const { return answer_; }
  const QpAttr& queried() const { return queried_; }

  void submitted() override { ++outstanding_; }
  void answered_with(const abi::Event& event) override { reply_ = {event.qp_state, event.ddp_version, event.stream}; }
  // Commands of its connection end here too: a refused one becomes a connection event.
  void command_done(abi::CommandOp op, abi::CommandStatus status) override;

 private:
  int check(const SendWr& wr) const;
  abi::Wqe wqe_of(const SendWr& wr) const;
  void push(const SendWr& wr);
  void modified(abi::CommandOp op, abi::CommandStatus status);

  HostCpu& cpu_;
  HostMemory& memory_;
  const Qpn number_;
  const QpInitAttr attr_;
  WorkQueue sq_, rq_;
  QpState state_ = QpState::kIdle;
  EventChannel* channel_ = nullptr;
  bool has_connection_ = false, doomed_ = false, stays_ = false, rejected_ = false, asks_again_ = false;
  std::optional<Attempt> attempt_;
  unsigned outstanding_ = 0;  // modify and query commands
  abi::CommandStatus answer_ = abi::CommandStatus::kOk;
  QpAttr reply_, queried_;
};

}  // namespace rnic::host
