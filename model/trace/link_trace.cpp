#include "model/trace/link_trace.h"

namespace rnic {

LinkTrace::LinkTrace(LinkBase& link, const Recorder& recorder, const Owners& owners)
    : link_(link), recorder_(recorder), owners_(owners) {
  if (link.detailed()) link.tap(*this);
  else link.tap_messages(*this);
}

void LinkTrace::filled(const void* beat, Cycle now, Cycle visible) {
  if (!recorder_.on()) return;
  bool first = true;
  const EventUse use = link_.make_event(beat, owners_, next_, first);
  if (first) first_ = now;
  if (use == EventUse::kNone) return;
  next_.cycle = now;
  next_.where = link_.name().c_str();
  next_.visible_after = static_cast<std::uint8_t>(visible - now);
  if (use == EventUse::kTimingOnly) {
    recorder_.time(next_);
  } else if (!link_.detailed()) {
    recorder_(next_);
  } else {
    next_.beats_took = static_cast<std::uint32_t>(now - first_);
    recorder_.detail(next_);
  }
  next_ = {};
}

TakeTrace::TakeTrace(LinkBase& link, const Recorder& recorder, const Owners& owners)
    : link_(link), recorder_(recorder), owners_(owners) {
  link.observe(*this);
}

void TakeTrace::filled(const void* beat, Cycle, Cycle) {
  TraceEvent event;
  bool first = true;
  link_.make_event(beat, owners_, event, first);
  waiting_.push({event.request, event.again});
}

void TakeTrace::popped(Cycle now, Cycle) {
  const Waiting message = waiting_.pop();
  TraceEvent event;
  event.kind = TraceKind::kTaken;
  event.values[0] = static_cast<std::uint32_t>(link_.traced_kind());
  event.cycle = now;
  event.where = link_.name().c_str();
  event.request = message.request;
  event.again = message.again;
  recorder_.time(event);
}

}  // namespace rnic
