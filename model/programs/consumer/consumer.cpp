#include "model/programs/consumer/consumer.h"

#include <cerrno>
#include <utility>

#include <fmt/format.h>

#include "model/common/check.h"
#include "model/programs/workload/event_text.h"

namespace rnic::consumer {

using host::CmEventType;

namespace {

constexpr std::uint32_t kRing = 16;  // work requests
// The completion queues have room for this many queue pairs: a stray's queue pair goes only when its peer has closed or
// the device has given it up.
constexpr std::uint32_t kQueuePairs = 16;

}  // namespace

Consumer::Consumer(host::Context& context, const ProgramSpec& spec, const Needs& needs)
    : spec_(spec), core_(context.cpu().add(*this)), session_(context, core_), needs_(needs) {}

void Consumer::fail(const std::string& reason) {
  if (error_.empty()) error_ = spec_.name + ": " + reason;
}

void Consumer::count_round(std::uint64_t bytes) {
  record_.bytes += bytes;
  ++record_.rounds;
  record_.last_ps = time_ps();
}

void Consumer::step() {
  if (const std::string& why = session_.context().error(); !why.empty()) fail(why);
  if (!error_.empty() || done()) return;
  try {
    advance();
  } catch (const ConfigError& error) {  // the device has no more objects
    fail(error.what());
  }
}

void Consumer::advance() {
  if (state_ == State::kOpening && session_.context().is_open()) create();
  if (state_ == State::kCreating && created()) begin();
  const bool due = spec_.start_on_ping ? pinged_ : core_.time_ps() >= spec_.start_us * 1'000'000;
  if (state_ == State::kWaiting && due) {
    if (session_.connect(spec_.peer_ip, spec_.port, parameters()) != 0) fail("cannot connect");
    state_ = State::kSetup;
  }
  if (state_ != State::kSetup && state_ != State::kConnected) return;
  // Completions from before the connection's end are reported before its end.
  if (state_ == State::kConnected) poll(session_.recv_cq()), poll(session_.send_cq());
  take_events();
  if (state_ == State::kConnected) poll(session_.recv_cq()), poll(session_.send_cq());
}

void Consumer::pinged() {
  if (std::exchange(pinged_, true)) return;
  core_.wake_at(static_cast<std::uint64_t>(sc_core::sc_time_stamp().value()));
}

void Consumer::create() {
  memory_ = &session_.memory(needs_.memory_bytes, needs_.access);
  if (needs_.window) window_ = &session_.entry();
  const std::uint32_t room = kRing * (spec_.part == Part::kServer ? kQueuePairs : 1);
  session_.make_cqs(room, room);
  session_.make_qp(kRing, kRing);
  if (spec_.part == Part::kServer) session_.listen(spec_.port, parameters().flags, spec_.transport);
  state_ = State::kCreating;
}

bool Consumer::created() {
  for (host::Cq* cq : {&session_.send_cq(), &session_.recv_cq()}) {
    if (cq->ready()) poll(*cq);  // flushed by an earlier queue pair
  }
  return session_.ready();
}

void Consumer::begin() {
  ready();
  state_ = spec_.part == Part::kServer ? State::kSetup : State::kWaiting;
  if (state_ == State::kWaiting) core_.wake_at(spec_.start_us * 1'000'000);
}

host::ConnParam Consumer::parameters() const {
  host::ConnParam param;
  param.responder_resources = param.initiator_depth = needs_.depth;
  unsigned flags = abi::kCmEnhanced;
  if (spec_.crc) flags |= abi::kCmCrc;
  if (spec_.markers) flags |= abi::kCmMarkers;
  if (spec_.rtr) flags |= abi::kCmPeerToPeer | abi::kCmRtrWrite;
  param.flags = static_cast<std::uint8_t>(flags);
  param.transport = spec_.transport;
  return param;
}

void Consumer::take_events() {
  host::CmEvent event;
  while (error_.empty() && !done() && state_ != State::kCreating && session_.next(event)) {
    ++progress_;
    take(event);
  }
}

void Consumer::take(const host::CmEvent& event) {
  if (event.qp != nullptr && event.qp != &session_.qp()) return;  // a stray's, already counted
  if (state_ == State::kConnected) poll(session_.recv_cq()), poll(session_.send_cq());
  switch (event.type) {
    case CmEventType::kConnectRequest:
      return answer(event);
    case CmEventType::kEstablished:
      state_ = State::kConnected;
      return established();
    case CmEventType::kDisconnected:
      if (session_.listens()) return take_stray(event);
      if (!may_end()) return fail(fmt::format("the peer left after {} rounds", record_.rounds));
      state_ = State::kDone;
      return;
    default:
      // Strays: any failure before a connection is served, and later those without a queue pair.
      if (session_.listens() || (spec_.part == Part::kServer && event.qp == nullptr)) return take_stray(event);
      return fail(workload::event_text(event));
  }
}

// Only one connection is served: the first whose peer says something. A request that no longer exists was withdrawn;
// its end event is in the channel, too, and is counted.
void Consumer::answer(const host::CmEvent& request) {
  static constexpr std::uint8_t kReason[] = {'n', 'o'};
  const bool rejects = spec_.reject || session_.qp().has_connection();
  const int refused = rejects ? session_.context().reject(request.connection, kReason)
                              : session_.accept(request.connection, parameters());
  if (refused != 0 || !rejects) return;
  if (spec_.reject) state_ = State::kDone;
  else refuse("another one is served");
}

void Consumer::refuse(std::string why) {
  ++record_.refused;
  record_.last_refusal = std::move(why);
}

// A connection that failed, or whose peer has said nothing. If it had the queue pair, the next one gets another.
void Consumer::take_stray(const host::CmEvent& event) {
  refuse(workload::event_text(event));
  if (event.qp == nullptr) return;
  session_.destroy_qp();
  session_.make_qp(kRing, kRing);
  state_ = State::kCreating;
}

void Consumer::poll(host::Cq& cq) {
  host::Wc wc;
  while (error_.empty() && cq.poll_cq(&wc, 1) == 1) {
    ++progress_;
    const bool ended = wc.status == abi::WcStatus::kWrFlushErr;  // its event says why
    if (!ended && session_.listens()) session_.stop_listening();
    if (wc.status == abi::WcStatus::kSuccess) completed(wc);
    else if (!ended) fail(fmt::format("completed with '{}'", host::wc_status_str(wc.status)));
  }
}

void Consumer::receive(std::uint64_t offset, std::uint32_t bytes) {
  const int refused = session_.qp().post_recv(host::receive_request(0, host::part_of(*memory_, offset, bytes)));
  RNIC_CHECK(refused == 0 || refused == EINVAL);  // EINVAL: the connection has ended, its event is pending
}

void Consumer::post(host::SendWr wr, std::uint64_t offset, std::uint32_t bytes) {
  wr.send_flags = abi::kWqeSignaled;
  wr.num_sge = 1;
  wr.sg_list[0] = host::part_of(*memory_, offset, bytes);
  if (session_.qp().post_send(wr) != 0) fail("a work request cannot be posted");
}

void Consumer::open_window(std::uint64_t offset, std::uint32_t bytes) {
  host::SendWr wr;
  wr.opcode = abi::WrOpcode::kRegMr;
  wr.send_flags = abi::kWqeSignaled;
  wr.rkey = window_->inc_rkey();
  wr.registration = {address(offset), bytes, 0, abi::kLocalWrite | abi::kRemoteWrite};
  if (session_.qp().post_send(wr) != 0) fail("a registration cannot be posted");
}

std::string Consumer::waiting_for() const {
  static constexpr const char* kWhat[] = {"the device",   "its objects", "its time to connect",
                                          "a connection", "the peer",    ""};
  if (done() || !error_.empty()) return "";
  return fmt::format("{}: {}, after {} rounds", spec_.name, kWhat[static_cast<unsigned>(state_)], record_.rounds);
}

}  // namespace rnic::consumer
