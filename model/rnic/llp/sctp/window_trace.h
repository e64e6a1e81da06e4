// What bounds the sender of an association's streams, and what reduced its congestion window, for observers. Free
// without a listener.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "model/common/ids.h"
#include "model/common/trace_point.h"
#include "model/rnic/llp/sctp/data_sender.h"
#include "model/rnic/llp/sctp/ids.h"

namespace rnic::sctp {

class WindowTrace {
 public:
  TracePoint point;

  // A stream with a session. The association's windows are those of all its streams.
  struct Of {
    StreamIndex stream;
    FlowId flow;
    Qpn qpn;
  };

  bool on() const { return point.on(); }
  // After anything that may have moved the sender. `used_up`: no further chunk fits into the stream's share.
  void look(const Of& of, const DataSender& sender, bool used_up);
  // The stream has no session.
  void forget(StreamIndex stream) {
    if (stream.v < known_.size()) known_[stream.v] = {};
  }
  void reset() { known_.clear(); }

 private:
  // The smaller window of the two, and whether the share of it is used up.
  enum class Bound : std::uint8_t { kUnknown, kPeer, kPeerUsedUp, kCongestion, kCongestionUsedUp };
  struct Known {
    Bound bound = Bound::kUnknown;
    bool recovers = false;  // fast recovery
    std::uint32_t cwnd = 0, chunk = 0;
  };
  static const char* why_reduced(const Known& before, const DataSender& sender);
  void record(TraceKind kind, const Of& of, const char* text, std::array<std::uint32_t, 3> values) const;

  std::vector<Known> known_;  // of each stream that was seen, while there is a listener
};

}  // namespace rnic::sctp
