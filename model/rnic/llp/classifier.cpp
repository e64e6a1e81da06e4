#include "model/rnic/llp/classifier.h"

#include "model/common/bytes.h"
#include "model/wire/ethernet.h"
#include "model/wire/icmp.h"
#include "model/wire/ipv4.h"
#include "model/wire/sctp.h"

namespace rnic {

LlpId classify(const Frame& frame) {
  constexpr std::uint32_t kTypeAt = 2 * wire::MacAddress::kBytes, kProtocolAt = wire::EthernetHeader::kBytes + 9;
  const auto llp_of = [](std::uint8_t protocol) {
    return protocol == wire::kIpProtocolSctp ? LlpId::kSctp : LlpId::kMpaTcp;
  };
  // For most frames one octet decides.
  const bool untagged = load_be16(frame.data() + kTypeAt) == wire::kEthertypeIpv4;
  if (untagged && (frame.bytes <= kProtocolAt || frame.data()[kProtocolAt] == wire::kIpProtocolTcp)) {
    return LlpId::kMpaTcp;
  }
  const auto ethernet = wire::EthernetView::parse({frame.data(), frame.bytes});
  if (!ethernet || ethernet->header.ethertype != wire::kEthertypeIpv4) return LlpId::kMpaTcp;
  const auto ip = wire::Ipv4View::parse(ethernet->payload);
  if (!ip) return LlpId::kMpaTcp;
  if (ip->header.protocol != wire::kIpProtocolIcmp) return llp_of(ip->header.protocol);
  const auto told = wire::FragmentationNeeded::parse(ip->payload);
  return told ? llp_of(told->protocol) : LlpId::kMpaTcp;
}

}  // namespace rnic
