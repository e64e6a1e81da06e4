#include "model/rnic/terminate/terminate_generator.h"

#include "model/common/description.h"
#include "model/rnic/messages/datapath.h"

namespace rnic {

// The RFCs have codes of their own for foreign STags, the first draft (section 10.3) has not (choices.md 10).
wire::TerminateCause TerminateGenerator::told(wire::TerminateCause cause) const {
  if (!cfg_.foreign_stag_is_invalid) return cause;
  if (cause == wire::ddp::kStagNotAssociated) return wire::ddp::kInvalidStag;
  return cause == wire::rdma::kStagNotAssociated ? wire::rdma::kInvalidStag : cause;
}

void TerminateGenerator::report(QpEvent error) {
  error.cause = told(error.cause);
  error.failed = error.failed.returned_with(error.cause);
  // The request whose segment was wrong; otherwise the chip itself is the sender.
  const RequestId owner = error.failed.owner ? error.failed.owner : contexts_.internal_work(error.qpn);
  TerminateMessage message{error.qpn, buffers_.take(owner)};
  std::uint8_t* const at = message.buf->bytes() + Ulpdu::kOffset + wire::DdpUntaggedHeader::kBytes;
  const std::size_t bytes = error.failed.header(error.cause).emit({at, wire::TerminateHeader::kMaxBytes});
  message.bytes = static_cast<std::uint8_t>(bytes);
  message.epoch = contexts_.epoch(error.qpn);
  out->push(std::move(message));
  event->push(error);
}

void TerminateGenerator::reset() { reported_.assign(reported_.size(), kNone); }

// One error a cycle. RFC 5040 section 7.1 rule 4: of several errors the first is the one that is reported.
Wake TerminateGenerator::tick() {
  if (!in->can_pop() || !out->can_push() || !event->can_push()) return Wake::on_traffic();
  const QpEvent error = in->pop();
  const QpLife life = contexts_.life(error.qpn);
  const bool first = life.valid && std::exchange(reported_[error.qpn.v], life.epoch) != life.epoch;
  if (first) report(error);
  count(first);
  return Wake::next_cycle();
}

void TerminateGenerator::describe(const Description& d) { d.counters(counters_); }

}  // namespace rnic
