#include "model/cable/sctp_frame.h"

#include "model/cable/tcp_frame.h"
#include "model/common/sctp_checksum.h"
#include "model/wire/ethernet.h"
#include "model/wire/ipv4.h"

namespace rnic {

std::optional<SctpFrame> SctpFrame::parse(Frame& frame) {
  const auto ethernet = wire::EthernetView::parse({frame.data(), frame.bytes});
  if (!ethernet || ethernet->header.ethertype != wire::kEthertypeIpv4) return std::nullopt;
  const auto ip = wire::Ipv4View::parse(ethernet->payload);
  if (!ip || ip->header.protocol != wire::kIpProtocolSctp || ip->header.is_fragment()) return std::nullopt;
  const auto header = wire::SctpHeader::parse(ip->payload);
  if (!header) return std::nullopt;
  SctpFrame view;
  view.frame_ = &frame;
  view.header_ = *header;
  view.packet_at_ = static_cast<std::size_t>(ip->payload.data() - frame.data());
  view.packet_bytes_ = ip->payload.size();
  return view;
}

void SctpFrame::copy(BufferPool& pool) { octets_ = own_copy(*frame_, pool); }

void SctpFrame::seal() { store_crc32c(&packet()[kSctpChecksumOffset], sctp_checksum(packet())); }

}  // namespace rnic
