// The TLPs of one node's PCIe link, both directions, as trace events.
#pragma once

#include <memory>

#include "model/trace/event.h"

namespace rnic {

class Node;

class TlpTrace final {
 public:
  // The recorder's domain counts in picoseconds: a TLP begins when the wire is free, not at a clock edge.
  TlpTrace(Node& node, const Recorder& recorder);
  ~TlpTrace();

 private:
  struct Taps;
  const std::unique_ptr<Taps> taps_;
};

}  // namespace rnic
