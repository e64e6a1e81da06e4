#include "model/rnic/rx/pass_through.h"

#include "model/common/description.h"

namespace rnic {

template class Passes<FpduBeat, PassThrough>;

PassThrough::PassThrough(sc_core::sc_module_name nm, ClockDomain& clk) : Passes(nm, clk) {}

Wake PassThrough::tick() {
  const Wake wake = Passes::tick();
  beats_.set(now(), out->used(), in->can_pop());
  return wake;
}

// An FPDU with a wrong CRC stays one: the stage that places it decides. Here it is only reported.
void PassThrough::count(const FpduBeat& last) {
  counters_.fpdus += !last.ends();
  if (!last.crc_ok) drops(now(), last.buf->owner(), 0, "passed on with a wrong CRC");
}

void PassThrough::describe(const Description& d) {
  d.counters(counters_);
  d.series("pass_through.fpdus", kLast, counters_, &PassThroughCounters::fpdus);
  d.account({"pass_through.beats", "slots", Reach::kNobodyWaits, ""}, beats_);
  d.drops(drops);
}

}  // namespace rnic
