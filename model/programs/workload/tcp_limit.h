// Long-run limits of TCP or SCTP on a path: the published formulas of congestion control, and the window that the
// receiver offers. traces/README.md compares.
#pragma once

#include <cstdint>

#include "model/programs/workload/wire_limit.h"
#include "model/rnic/llp/tcp/congestion_algorithm.h"

namespace rnic::workload {

// One direction. `loss` is the probability that a segment is lost, independently of others; `rtt_ns` is the round-trip
// time of an empty path.
struct TcpPath {
  tcp::CongestionAlgorithm congestion = tcp::CongestionAlgorithm::kNewReno;
  double loss = 0;
  std::uint64_t rtt_ns = 0;
  std::uint32_t window_bytes = 0;  // of the receiver
};

// The mean congestion window in segments; infinite without loss. NewReno, and DCTCP, which reacts to loss as NewReno
// does: sqrt(3/2 / p) (Mathis, Semke, Mahdavi, Ott 1997, with all octets of an ACK counted). CUBIC: the larger of
// (C (3 + beta) / (4 (1 - beta)))^(1/4) (RTT / p)^(3/4) and sqrt(3/2 / p) (RFC 9438 sections 5.1 and 4.3).
double mean_window(const TcpPath& path);

// The share of the link's segments that `flows` flows can fill, 0 to 1.
double tcp_share(const TcpPath& path, const WireParams& wire, unsigned flows);

}  // namespace rnic::workload
