#include "model/rnic/responder/read_responder.h"

#include "model/common/description.h"
#include "model/rnic/context/read_source.h"

namespace rnic {

Wake ReadResponder::tick() {
  if (!in->can_pop() || !out->can_push() || !event->can_push()) return Wake::on_traffic();
  const QueuedRead r = in->pop();
  if (const auto cause = check_read_source(contexts_, r.qpn, r.request)) {
    ++counters_.refused;
    event->push(
        {QpEvent::Kind::kStreamError, r.qpn, *cause, r.segment});  // its IRRQ slot stays taken: the stream is over
  } else {
    ++counters_.reads;
    counters_.bytes += r.request.size;
    out->push({r.qpn, r.request, r.segment});
  }
  return Wake::next_cycle();
}

void ReadResponder::describe(const Description& d) { d.counters(counters_); }

}  // namespace rnic
