// The maximum length of a flow's segments: what both ends agreed on, or less, as routers report (RFC 1191).
#pragma once

#include <algorithm>
#include <cstdint>

#include "model/wire/ipv4.h"
#include "model/wire/tcp.h"

namespace rnic::tcp {

class PathMtu {
 public:
  void open(std::uint16_t emss) { mss_ = emss_ = emss; }
  // Octets of payload that fit the path.
  std::uint16_t mss() const { return mss_; }
  // As agreed: no FPDU was ever cut longer, but some may be longer than mss().
  std::uint16_t emss() const { return emss_; }

  // A router could not forward a packet of ours and reports `mtu`. The report is accepted if the packet is `in_flight`,
  // which cannot be guessed off the path (RFC 5927 section 7.2), and for no less than `floor`. True if segments are
  // shorter from now on.
  bool on_report(std::uint16_t mtu, bool in_flight, std::uint32_t floor, bool timestamps) {
    const std::uint32_t headers =
        wire::Ipv4Header::kBytes + wire::TcpHeader::kBytes + (timestamps ? wire::TcpOptions::kTimestampsSpace : 0u);
    const std::uint32_t mss = std::max<std::uint32_t>(mtu, floor) - headers;
    if (!in_flight || mss >= mss_) return false;
    mss_ = static_cast<std::uint16_t>(mss);
    return true;
  }

  static constexpr const char* kMessage = "path_mtu";
  template <class V, class M>
  static void fields(V& v, M& m) {
    v("mss", 16, m.mss_);
    v("emss", 16, m.emss_);
  }

 private:
  std::uint16_t mss_ = 0, emss_ = 0;
};

}  // namespace rnic::tcp
