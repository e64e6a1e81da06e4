#include "model/wire/tcp_frame_view.h"

#include "model/wire/ethernet.h"

namespace rnic::wire {

std::optional<TcpFrameView> TcpFrameView::parse(ByteSpan frame) {
  const auto ethernet = EthernetView::parse(frame);
  if (!ethernet || ethernet->header.ethertype != kEthertypeIpv4) return std::nullopt;
  const auto ip = Ipv4View::parse(ethernet->payload);
  if (!ip || ip->header.protocol != kIpProtocolTcp || ip->header.is_fragment()) return std::nullopt;
  const auto tcp = TcpView::parse(ip->payload);
  if (!tcp) return std::nullopt;
  return TcpFrameView{*ip, *tcp};
}

}  // namespace rnic::wire
