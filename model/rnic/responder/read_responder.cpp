#include "model/rnic/responder/read_responder.h"

#include "model/rnic/context/read_source.h"

namespace rnic {

Wake ReadResponder::tick() {
  if (!in->can_pop() || !out->can_push() || !event->can_push()) return Wake::on_traffic();
  const QueuedRead r = in->pop();
  if (const auto cause = check_read_source(contexts_, r.qpn, r.request)) {
    ++refused_;
    event->push(
        {QpEvent::Kind::kStreamError, r.qpn, *cause, r.segment});  // its IRRQ slot stays taken: the stream is over
  } else {
    ++reads_;
    bytes_ += r.request.size;
    out->push({r.qpn, r.request, r.segment});
  }
  return Wake::next_cycle();
}

void ReadResponder::register_stats(const StatsGroup& group) const {
  group.counter("reads", reads_, "requests", "Read Requests answered");
  group.counter("bytes", bytes_, "octets", "octets requested by Read Requests");
  group.counter("refused", refused_, "requests", "Read Requests that failed validation");
}

}  // namespace rnic
