// Checks received SCTP packets: IPv4, and the checksum, with its own CRC engine. See sctp_rx.md.
#pragma once

#include <algorithm>
#include <optional>

#include "model/common/beat_stage.h"
#include "model/common/drops.h"
#include "model/common/ring.h"
#include "model/rnic/boundary/frame.h"
#include "model/rnic/llp/link_address.h"
#include "model/rnic/llp/sctp/beat_emission.h"
#include "model/rnic/llp/sctp/packet.h"
#include "model/rnic/messages/sctp.h"

namespace rnic {

struct SctpRxCounters {
  std::uint64_t packets = 0, bytes = 0, bad_ipv4 = 0, not_for_us = 0, bad_shape = 0, bad_checksum = 0;
  std::uint64_t fragments = 0, path_mtu_reports = 0;
  template <class V>
  static void fields(V& v) {
    v("packets", &SctpRxCounters::packets, "packets", "SCTP packets whose checksum was right");
    v("bytes", &SctpRxCounters::bytes, "octets", "octets of these packets, from the common header on");
    v("bad_ipv4", &SctpRxCounters::bad_ipv4, "packets", "dropped: IPv4 header wrong");
    v("not_for_us", &SctpRxCounters::not_for_us, "packets", "dropped: another destination, or a group address");
    v("bad_shape", &SctpRxCounters::bad_shape, "packets",
      "dropped: no common header, no multiple of 4 octets, or longer than a block");
    v("fragments", &SctpRxCounters::fragments, "packets", "IPv4 fragments that did not make a packet whole");
    v("path_mtu_reports", &SctpRxCounters::path_mtu_reports, "packets",
      "ICMP packets by which a router reported a packet as too long");
    v("bad_checksum", &SctpRxCounters::bad_checksum, "packets", "dropped: checksum wrong");
  }
};

class SctpRx final : public Stage {
 public:
  PopPort<Frame> in{*this, "in"};
  PushPort<FpduBeat> to_crc{*this, "to_crc"};
  CollectsAll<FpduBeat> checked{*this, "checked"};
  PushPort<SctpPacket> out{*this, "out"};
  Drops drops;

  // Blocks of `pool` hold a packet of the interface's MTU.
  SctpRx(sc_core::sc_module_name nm, ClockDomain& clk, const DatapathConfig& datapath, const LinkAddress& station,
         BufferPool& pool);

  Wake tick() override;
  void reset() override;
  void describe(const Description& d) override;
  const SctpRxCounters& counters() const { return counters_; }

 private:
  struct Entered {
    std::uint16_t bytes = 0;
    std::uint32_t peer_ip = 0;
    wire::MacAddress peer_mac;
  };
  void take(const Frame& frame);
  void report(const wire::FragmentationNeeded& told);
  void drop(const Frame& frame, std::uint64_t& counter, const char* why);
  void finish();

  const LinkAddress station_;
  BufferPool& pool_;
  BufferPool large_{sctp::kLargeBlockBytes};  // packets that are longer than ours
  sctp::IpReassembly fragments_{large_};
  std::optional<SctpPacket> report_;  // for the next cycle in which no packet leaves
  sctp::BeatEmission emission_;
  Ring<Entered> entered_;  // into the CRC engine
  SctpRxCounters counters_;
};

}  // namespace rnic
