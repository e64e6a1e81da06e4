// A captured TCP connection, or DDP stream session over SCTP, for a replay: both streams and when their octets arrived.
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

// A position in the capture; later events have larger ones.
using Order = std::uint64_t;
inline constexpr Order kNotCaptured = ~Order{0};

struct RecordedStream {
  // All octets of the stream below `end` had arrived at `order`. Both values grow.
  struct Arrival {
    std::size_t end = 0;
    Order order = 0;
  };
  std::vector<std::uint8_t> octets;  // each once, in order; for a session in the form of session_octets.h
  std::vector<Arrival> arrivals;     // by captured segment
  Order closed = kNotCaptured;       // its FIN or RST, its session Terminate or the end of its association
  // Over TCP the payload octets that the receiver allows in a segment; over SCTP the octets of the longest DDP segment.
  std::uint16_t emss = 536;

  Order order_of(std::size_t end) const {
    const auto at = std::lower_bound(arrivals.begin(), arrivals.end(), end,
                                     [](const Arrival& a, std::size_t e) { return a.end < e; });
    return at == arrivals.end() ? kNotCaptured : at->order;
  }
  Order newest() const { return arrivals.empty() ? 0 : arrivals.back().order; }
  // Forgets what arrived after `order`.
  void end_after(Order order) {
    while (newest() > order) arrivals.pop_back();
    octets.resize(arrivals.empty() ? 0 : arrivals.back().end);
    if (closed > order) closed = kNotCaptured;
  }
};

struct Recording {
  std::string name;  // "10.0.0.2:48526 > 10.0.0.1:7471"
  std::array<std::uint16_t, 2> ports{};
  std::array<RecordedStream, 2> streams;  // by sender
  host::Transport transport = host::Transport::kTcp;
  bool refused = false;  // a RST answered the SYN, or an ABORT the INIT
  bool partial = false;  // the capture may end before the streams do

  // Octets of this side are missing after those recorded. What came after them may answer what is missing, so it is
  // forgotten.
  void end_with(Side side) {
    const Order newest = from(side).newest();
    for (RecordedStream& stream : streams) stream.end_after(newest);
  }

  const RecordedStream& from(Side side) const { return streams[static_cast<std::size_t>(side)]; }
  std::uint16_t port(Side side) const { return ports[static_cast<std::size_t>(side)]; }
};

}  // namespace rnic::replay
