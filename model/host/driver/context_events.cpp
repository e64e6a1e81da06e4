// Context: the device's actions on the host.
#include <algorithm>

#include "model/abi/rnic_regs.h"
#include "model/host/driver/context.h"

namespace rnic::host {

void Context::listen_on(WriteListener& listener, std::uint64_t begin, std::uint64_t bytes) {
  const auto at = std::lower_bound(ranges_.begin(), ranges_.end(), begin,
                                   [](const Range& r, std::uint64_t address) { return r.begin < address; });
  const bool again = at != ranges_.end() && at->begin == begin;
  again ? void(*at = {begin, begin + bytes, &listener}) : void(ranges_.insert(at, {begin, begin + bytes, &listener}));
}

void Context::stop_listening(std::uint64_t begin) {
  const auto at = std::find_if(ranges_.begin(), ranges_.end(), [=](const Range& r) { return r.begin == begin; });
  if (at != ranges_.end()) ranges_.erase(at);
}

void Context::memory_written(std::uint64_t address, std::uint32_t bytes, std::uint64_t) {
  auto r = std::upper_bound(ranges_.begin(), ranges_.end(), address,
                            [](std::uint64_t a, const Range& range) { return a < range.end; });
  for (; r != ranges_.end() && r->begin < address + bytes; ++r) r->listener->written(address, bytes);
}

void Context::msix(unsigned, std::uint64_t at_ps) {
  core_.wake_at(at_ps + std::uint64_t{cpu_.config().interrupt_ns} * 1000);
}

void Context::take_events() {
  abi::Event event;
  bool any = false;
  for (; state_ == State::kOpen && events_.ring.peek(event); any = true) {
    const std::uint64_t slot = events_.ring.taken() & (events_.ring.entries() - 1);
    events_.ring.take();
    core_.spend_ns(cpu_.config().event_ns);
    RNIC_CHECK(event.private_bytes <= abi::kPrivateDataBytes);
    dispatch(event, memory_.span(events_.data_base + slot * abi::kPrivateDataBytes, event.private_bytes));
  }
  release_doomed();
  if (any) cpu_.mmio_write(regs::EvqCi::kOffset, regs::EvqCi{events_.ring.taken() & 0xffff}.pack());
}

void Context::dispatch(const abi::Event& event, ByteSpan private_data) {
  using abi::EventType;
  switch (event.type) {
    case EventType::kCommandDone: {
      const auto taken = [&](const Request& r) { return r.answered && r.connection == event.id; };
      requests_.erase(std::remove_if(requests_.begin(), requests_.end(), taken), requests_.end());
      return commands_.done(event);
    }
    case EventType::kCqNotify:
      RNIC_CHECK(event.id < cqs_.size());
      return cqs_[event.id]->notify();
    case EventType::kSrqLimit:
      RNIC_CHECK(event.id < srqs_.size());
      return srqs_[event.id]->limit_reached();
    case EventType::kSrqError:
      RNIC_CHECK(event.id < srqs_.size());
      return srqs_[event.id]->fail();
    case EventType::kConnectRequest:
    case EventType::kEstablished:
    case EventType::kRejected:
    case EventType::kConnectError:
    case EventType::kDisconnected:
    case EventType::kQpError:
      return connection_event(event, private_data);
    case EventType::kCqError:
      RNIC_CHECK(event.id < cqs_.size());
      return cq_error(*cqs_[event.id]);
    case EventType::kContextLost:
      ++lost_contexts_;
      return;
    case EventType::kDeviceFatal:
      return device_fatal(static_cast<abi::FaultCause>(event.status));
    case EventType::kNone:
      break;
  }
  RNIC_CHECK_MSG(
      false, "event of type " + std::to_string(static_cast<unsigned>(event.type)) + ", which this driver never causes");
}

// The queue pairs that have a connection also get its end.
void Context::cq_error(Cq& cq) {
  for (const auto& qp : qps_) {
    if (qp != nullptr && !qp->destroyed() && (&qp->send_cq() == &cq || &qp->recv_cq() == &cq))
      qp->set_state(QpState::kError);
  }
  cq.fail();
}

// As IBV_EVENT_DEVICE_FATAL: programs find error() set, everything that they wait for has failed, and every connection
// has ended.
void Context::device_fatal(abi::FaultCause cause) {
  fail(std::string("the device's firmware stopped: ") + fault_cause_str(cause));
  end_everything();
}

void Context::end_everything() {
  for (const auto& qp : qps_) {
    if (qp == nullptr || qp->destroyed()) continue;
    qp->set_connection(false);
    if (qp->channel() == nullptr || qp->state() == QpState::kError) continue;
    CmEvent cm;
    cm.type = qp->state() == QpState::kRts ? CmEventType::kDisconnected : CmEventType::kConnectError;
    cm.status = abi::ConnectStatus::kLocalFailure;
    cm.qp = qp.get();
    qp->set_state(QpState::kError);
    qp->channel()->push(std::move(cm));
  }
  commands_.fail();
}

}  // namespace rnic::host
