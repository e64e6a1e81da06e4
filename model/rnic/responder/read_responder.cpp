#include "model/rnic/responder/read_responder.h"

#include "model/common/description.h"
#include "model/rnic/context/read_source.h"

namespace rnic {

// A request of zero length names nothing. It waits for those before it.
bool ReadResponder::take(bool judged) {
  if (!in->can_pop()) return false;
  if (in->front().request.size == 0) {
    if (judged || !asked_.empty() || !can_answer()) return false;
    judge(in->pop(), nullptr);
    return true;
  }
  if (!source.can_ask()) return false;
  source.ask(Stag{in->front().request.src_stag});
  asked_.push(in->pop());
  return true;
}

bool ReadResponder::judge() {
  if (asked_.empty() || !source.ready() || !can_answer()) return false;
  judge(asked_.pop(), source.named());
  source.drop();
  return true;
}

// Nobody hears of one whose queue pair is gone.
void ReadResponder::judge(const QueuedRead& r, const StagContext* named) {
  if (!contexts_.is_alive(r.qpn, r.epoch)) return;
  if (const auto cause = check_read_source(named, r.user(), r.request)) {
    ++counters_.refused;
    event->push(
        {QpEvent::Kind::kStreamError, r.qpn, *cause, r.segment});  // its IRRQ slot stays taken: the stream is over
  } else {
    ++counters_.reads;
    counters_.bytes += r.request.size;
    out->push({r.qpn, r.request, r.segment, r.epoch});
  }
}

void ReadResponder::reset() {
  source.reset();
  asked_ = {};
}

Wake ReadResponder::tick() {
  const bool judged = judge();
  const bool taken = take(judged);
  return judged || taken ? Wake::next_cycle() : Wake::on_traffic();
}

void ReadResponder::describe(const Description& d) { d.counters(counters_); }

}  // namespace rnic
