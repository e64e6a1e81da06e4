// The ends of STags, for observers.
#pragma once

#include "model/common/ids.h"
#include "model/common/trace_point.h"

namespace rnic {

class StagTrace {
 public:
  TracePoint point;

  // `text` says by whom; a queue pair's request or message has its number.
  void ended(Stag stag, Qpn qpn, const char* text) const {
    if (!point.on()) return;
    TraceEvent e;
    e.kind = TraceKind::kStagEnded;
    e.qpn = qpn.v;
    e.values[0] = stag.v;
    e.text = text;
    point(e);
  }
};

}  // namespace rnic
