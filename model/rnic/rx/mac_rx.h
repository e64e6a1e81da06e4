// The Ethernet receiver: FCS and address filter, and the packet buffer that absorbs what the pipeline cannot take yet.
#pragma once

#include <vector>

#include "model/common/drops.h"
#include "model/common/inbox.h"
#include "model/common/link.h"
#include "model/common/trace_point.h"
#include "model/config/field.h"
#include "model/rnic/boundary/ethernet_socket.h"
#include "model/rnic/boundary/frame.h"
#include "model/rnic/messages/per_llp.h"
#include "model/stats/high_water.h"
#include "model/wire/ethernet.h"

namespace rnic {

struct MacRxConfig {
  unsigned buffer_bytes = 512 * 1024;
  template <class V>
  static void fields(V& v) {
    v("buffer_bytes", &MacRxConfig::buffer_bytes, "packet buffer; a frame that does not fit is dropped",
      in_range(16384, 1 << 28), unit("octets"));
  }
};

struct MacRxCounters {
  std::uint64_t frames = 0, bytes = 0, bad_fcs = 0, other_address = 0, overflow = 0;
  HighWater buffered_max;
  template <class V>
  static void fields(V& v) {
    v("frames", &MacRxCounters::frames, "frames", "frames accepted");
    v("bytes", &MacRxCounters::bytes, "octets", "octets of frames accepted");
    v("bad_fcs", &MacRxCounters::bad_fcs, "frames", "dropped: wrong FCS or shorter than an Ethernet header");
    v("other_address", &MacRxCounters::other_address, "frames", "dropped: for another station");
    v("overflow", &MacRxCounters::overflow, "frames", "dropped: the packet buffer was full");
    v("buffered_max", &MacRxCounters::buffered_max, "octets", "most octets in the packet buffer");
  }
};

class MacRx final : public Stage, public EthernetTarget {
 public:
  PerLlp<PushPort<Frame>> out{*this, "out"};
  Drops drops;

  MacRx(sc_core::sc_module_name nm, ClockDomain& clk, const MacRxConfig& config, const wire::MacAddress& mac);
  Wake tick() override;
  void reset() override;

  void describe(const Description& d) override;
  const MacRxCounters& counters() const { return counters_; }

 private:
  struct Buffered {
    Frame frame;
    LlpId llp = LlpId::kMpaTcp;
  };
  void on_frame(const Frame& frame, std::uint64_t at_ps) override { inbox_.deliver(Frame(frame), at_ps); }
  void receive(Frame frame);
  // The oldest frame blocks all later ones, whichever output they go to.
  PushPort<Frame>& output() { return out[ring_[head_].llp]; }
  bool may_push() { return used_ != 0 && output()->can_push(); }

  const MacRxConfig config_;
  const wire::MacAddress mac_;
  Inbox<Frame> inbox_{*this};
  std::vector<Buffered> ring_;  // the packet buffer, as many frames as the smallest ones that fill it
  std::size_t head_ = 0, used_ = 0;
  std::uint32_t buffered_ = 0;  // octets
  MacRxCounters counters_;
  TracePoint arrivals_;
};

}  // namespace rnic
