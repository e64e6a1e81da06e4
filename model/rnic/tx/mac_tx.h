// The Ethernet transmitter: frames leave back to back at line rate, to the picosecond.
#pragma once

#include "model/common/link.h"
#include "model/config/field.h"
#include "model/rnic/boundary/ethernet_socket.h"
#include "model/rnic/boundary/frame.h"
#include "model/rnic/messages/per_llp.h"

namespace rnic {

struct MacTxConfig {
  unsigned line_gbps = 100;
  template <class V>
  static void fields(V& v) {
    v("line_gbps", &MacTxConfig::line_gbps, "line rate", in_range(1, 800), unit("Gb/s"));
  }
};

struct MacTxCounters {
  std::uint64_t frames = 0, bytes = 0, line_octets = 0;
  template <class V>
  static void fields(V& v) {
    v("frames", &MacTxCounters::frames, "frames", "frames sent");
    v("bytes", &MacTxCounters::bytes, "octets", "octets of frames sent, without padding, FCS, preamble and gap");
    v("line_octets", &MacTxCounters::line_octets, "octets",
      "octet times the line was busy, including gaps between frames");
  }
};

class MacTx final : public Stage {
 public:
  PerLlp<PopPort<Frame>> in{*this, "in"};  // they take turns
  EthernetInitiator ethernet{"ethernet"};

  MacTx(sc_core::sc_module_name nm, ClockDomain& clk, const MacTxConfig& config) : Stage(nm, clk), config_(config) {}
  Wake tick() override;
  void reset() override { turn_ = 0; }  // a frame that has begun is sent completely

  void describe(const Description& d) override;
  const MacTxCounters& counters() const { return counters_; }

 private:
  // The input whose frame is next; null: none has one.
  PopPort<Frame>* next();

  const MacTxConfig config_;
  std::uint64_t line_free_ps_ = 0;  // when the next preamble may start
  unsigned turn_ = 0;               // the input to look at first
  MacTxCounters counters_;
};

}  // namespace rnic
