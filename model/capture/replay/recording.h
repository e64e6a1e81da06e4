// A connection of a capture, over TCP or a DDP stream session over SCTP, as a replay needs it: both streams, and when
// their octets were there.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "model/capture/side.h"
#include "model/host/driver/transport.h"

namespace rnic::replay {

using capture::Side;

// A place in the capture: what came later has a larger one.
using Order = std::uint64_t;
inline constexpr Order kNotCaptured = ~Order{0};

struct RecordedStream {
  // The stream's octets up to `end`, exclusive, were all there at `order`. Both grow.
  struct Arrival {
    std::size_t end = 0;
    Order order = 0;
  };
  std::vector<std::uint8_t> octets;  // each once, in order; of a session in the form of session_octets.h
  std::vector<Arrival> arrivals;     // by captured segment
  Order closed = kNotCaptured;       // its FIN or RST, its session Terminate or the end of its association
  // Octets of payload that its receiver lets a segment of TCP have; over SCTP those of its longest DDP segment.
  std::uint16_t emss = 536;

  Order order_of(std::size_t end) const {
    const auto at = std::lower_bound(arrivals.begin(), arrivals.end(), end,
                                     [](const Arrival& a, std::size_t e) { return a.end < e; });
    return at == arrivals.end() ? kNotCaptured : at->order;
  }
};

struct Recording {
  std::string name;  // "10.0.0.2:48526 > 10.0.0.1:7471"
  std::array<std::uint16_t, 2> ports{};
  std::array<RecordedStream, 2> streams;  // by the side that sends
  host::Transport transport = host::Transport::kTcp;
  bool refused = false;  // the SYN was answered by a RST, or the INIT by an ABORT

  const RecordedStream& from(Side side) const { return streams[static_cast<std::size_t>(side)]; }
  std::uint16_t port(Side side) const { return ports[static_cast<std::size_t>(side)]; }
};

}  // namespace rnic::replay
