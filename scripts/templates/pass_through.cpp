#include "model/rnic/rx/pass_through.h"

#include "model/stats/registry.h"

namespace rnic {

Wake PassThrough::tick() {
  return for_each_beat(*in, *out, next_, horizon(), [this](FpduBeat& beat) {
    if (beat.last) count(beat);
  });
}

void PassThrough::count(const FpduBeat& last) { counters_.fpdus += !last.ends(); }

void PassThrough::register_stats(const StatsGroup& group) const { group.counters(counters_); }

}  // namespace rnic
