// Seals SCTP packets: the checksum, with its own CRC engine, and the headers of IPv4 and Ethernet. See sctp_tx.md.
#pragma once

#include <algorithm>

#include "model/common/beat_stage.h"
#include "model/common/ring.h"
#include "model/rnic/boundary/frame.h"
#include "model/rnic/llp/link_address.h"
#include "model/rnic/llp/sctp/beat_emission.h"
#include "model/rnic/messages/sctp.h"

namespace rnic {

struct SctpTxCounters {
  std::uint64_t packets = 0, bytes = 0, retransmissions = 0;
  template <class V>
  static void fields(V& v) {
    v("packets", &SctpTxCounters::packets, "packets", "SCTP packets sent");
    v("bytes", &SctpTxCounters::bytes, "octets", "octets of SCTP packets sent, from the common header on");
    v("retransmissions", &SctpTxCounters::retransmissions, "packets", "packets with DATA that was sent before");
  }
};

class SctpTx final : public Stage {
 public:
  PopPort<SctpPacket> in{*this, "in"};
  PushPort<FpduBeat> to_crc{*this, "to_crc"};
  CollectsAll<FpduBeat> sealed{*this, "sealed"};
  PushPort<Frame> out{*this, "out"};

  SctpTx(sc_core::sc_module_name nm, ClockDomain& clk, const DatapathConfig& datapath, const LinkAddress& station);

  Wake tick() override;
  void reset() override;
  void describe(const Description& d) override;
  const SctpTxCounters& counters() const { return counters_; }

 private:
  struct Leaving {
    std::uint32_t offset = 0;  // of the packet
    std::uint16_t bytes = 0;
    Resend resend = Resend::kNo;
  };
  void start(SctpPacket packet);
  void finish();

  const LinkAddress station_;
  sctp::BeatEmission emission_;
  Ring<Leaving> leaving_;  // in the CRC engine
  std::uint16_t ip_id_ = 0;
  SctpTxCounters counters_;
};

}  // namespace rnic
