// Upper bound for an Ethernet link: payload divided by all octet times of its frames. traces/README.md derives it.
#pragma once

#include <cstdint>
#include <vector>

#include "model/host/driver/transport.h"
#include "model/programs/workload/plan.h"

namespace rnic::workload {

// MTU, TCP options and SCTP's reserve in octets. The TCP options are those of every data segment (12 with timestamps).
struct WireParams {
  double rate_gbps = 100;
  unsigned mtu = 1500;
  unsigned tcp_option_bytes = 0;
  host::Transport transport = host::Transport::kTcp;
  unsigned bundle_reserve = 16;
};

// Counts the octet times of one direction of one connection. Over TCP each FPDU is a frame, including the markers that
// actually fall into it. Over SCTP each DDP segment is a DATA chunk, and a packet has as many chunks as fit. Frames are
// padded to the minimum size and include preamble, FCS and gap.
class WireMeter {
 public:
  WireMeter(const WireParams& wire, bool markers);
  // A message with `header` octets of DDP and RDMAP header in each segment.
  void add_message(std::uint32_t header, std::uint64_t bytes);
  void add_send(std::uint64_t bytes) { add_message(kUntaggedHeader, bytes); }
  void add_tagged(std::uint64_t bytes) { add_message(kTaggedHeader, bytes); }
  void add_read_request() { add_message(kUntaggedHeader, kReadRequestBytes); }
  void add_immediate() { add_message(kUntaggedHeader, kImmediateBytes); }
  void add_atomic_request() { add_message(kUntaggedHeader, kAtomicRequestBytes); }
  void add_atomic_response() { add_message(kUntaggedHeader, kAtomicResponseBytes); }
  std::uint64_t octets() const { return octets_ + (packet_ == 0 ? 0 : frame(packet_)); }

  static constexpr std::uint32_t kTaggedHeader = 14, kUntaggedHeader = 18;  // RFC 5041 section 4
  static constexpr std::uint32_t kReadRequestBytes = 28;                    // RFC 5040 section 4.4
  static constexpr std::uint32_t kImmediateBytes = 8, kAtomicRequestBytes = 52, kAtomicResponseBytes = 12;  // RFC 7306

 private:
  void add_fpdu(std::size_t ulpdu);
  void add_chunk(std::size_t ulpdu);
  std::uint64_t frame(std::size_t payload) const;
  const bool sctp_;
  const unsigned headers_;  // Ethernet, IPv4, TCP or SCTP
  const unsigned mtu_;
  const bool markers_;
  const std::size_t mulpdu_;
  std::uint32_t position_ = 0;  // in the stream
  std::size_t packet_ = 0;      // octets of the chunks in the open packet
  std::uint64_t octets_ = 0;
};

// The highest goodput of messages of these sizes in one direction of one link. `data_markers` is for the payload's
// direction, `request_markers` for the direction of Read and Atomic Requests, whose octet times limit small Reads.
double limit_gbps(Op op, const std::vector<std::uint32_t>& sizes, const WireParams& wire, bool data_markers,
                  bool request_markers);
// The same in the long run for messages of one size.
double limit_gbps(Op op, std::uint32_t bytes, const WireParams& wire, bool markers);

}  // namespace rnic::workload
