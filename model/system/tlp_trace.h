// The TLPs of one node's PCIe link, both directions, as trace events.
#pragma once

#include <deque>

#include "model/common/description.h"
#include "model/trace/event.h"

namespace rnic {

class TlpTrace final {
 public:
  // The recorder's domain counts in picoseconds: a TLP begins when the wire is free, not at a clock edge.
  TlpTrace(const Described& parts, const Recorder& recorder);
  ~TlpTrace();

 private:
  class Port;
  std::deque<Port> ports_;
};

}  // namespace rnic
