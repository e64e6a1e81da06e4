#include "model/programs/workload/wire_limit.h"

#include <algorithm>
#include <utility>

#include "model/common/check.h"
#include "model/wire/ddp_session.h"
#include "model/wire/fpdu.h"
#include "model/wire/sctp.h"

namespace rnic::workload {
namespace {

constexpr unsigned kEthernetHeader = 14, kIpv4Header = 20, kTcpHeader = 20;
constexpr unsigned kSmallestFrame = 60;           // without FCS (IEEE 802.3 clause 3.2.8)
constexpr unsigned kPreambleFcsGap = 8 + 4 + 12;  // octet times around a frame
constexpr std::uint32_t kLongRun = 1016;          // messages: by then the FPDU sizes of any message size repeat

}  // namespace

WireMeter::WireMeter(const WireParams& wire, bool markers)
    : sctp_(wire.transport == host::Transport::kSctp),
      headers_(kEthernetHeader + kIpv4Header +
               (sctp_ ? unsigned{wire::SctpHeader::kBytes} : kTcpHeader + wire.tcp_option_bytes)),
      mtu_(wire.mtu),
      markers_(markers && !sctp_),
      mulpdu_(sctp_ ? wire::sctp_mulpdu(wire.mtu, kIpv4Header, wire.bundle_reserve)
                    : wire::mulpdu(wire.mtu - (headers_ - kEthernetHeader), markers)) {
  RNIC_CHECK_MSG(wire.mtu >= 576, "an FPDU fits a segment");
}

void WireMeter::add_message(std::uint32_t header, std::uint64_t bytes) {
  const std::uint64_t most = mulpdu_ - header;
  do {
    const std::uint64_t piece = std::min(bytes, most);
    sctp_ ? add_chunk(header + piece) : add_fpdu(header + piece);
    bytes -= piece;
  } while (bytes != 0);
}

void WireMeter::add_fpdu(std::size_t ulpdu) {
  const std::size_t fpdu = markers_ ? wire::marked_fpdu_bytes(position_, ulpdu) : wire::fpdu_bytes(ulpdu);
  position_ += static_cast<std::uint32_t>(fpdu);
  octets_ += frame(fpdu);
}

void WireMeter::add_chunk(std::size_t ulpdu) {
  const std::size_t bytes = wire::SctpChunk::kHeaderBytes + wire::SctpData::kBytes + wire::kDdpSsnBytes + ulpdu;
  const std::size_t chunk = (bytes + wire::kSctpAlign - 1) / wire::kSctpAlign * wire::kSctpAlign;
  if (packet_ != 0 && headers_ - kEthernetHeader + packet_ + chunk > mtu_) octets_ += frame(std::exchange(packet_, 0));
  packet_ += chunk;
}

std::uint64_t WireMeter::frame(std::size_t payload) const {
  return std::max<std::size_t>(headers_ + payload, kSmallestFrame) + kPreambleFcsGap;
}

double limit_gbps(Op op, const std::vector<std::uint32_t>& sizes, const WireParams& wire, bool data_markers,
                  bool request_markers) {
  WireMeter data(wire, data_markers), requests(wire, request_markers);
  std::uint64_t payload = 0;
  for (const std::uint32_t size : sizes) {
    payload += size;
    switch (op) {
      case Op::kSend:
        data.add_send(size);
        break;
      case Op::kWrite:
        data.add_tagged(size);
        break;
      case Op::kRead:
        data.add_tagged(size);
        requests.add_read_request();
        break;
      case Op::kWriteImm:
        data.add_tagged(size);
        data.add_immediate();
        break;
      case Op::kFetchAdd:
      case Op::kCmpSwap:
        data.add_atomic_response();
        requests.add_atomic_request();
        break;
      case Op::kConnect:  // not limited by the wire
        return 0;
    }
  }
  const std::uint64_t octets = std::max(data.octets(), requests.octets());
  return octets == 0 ? 0 : wire.rate_gbps * static_cast<double>(payload) / static_cast<double>(octets);
}

double limit_gbps(Op op, std::uint32_t bytes, const WireParams& wire, bool markers) {
  return limit_gbps(op, std::vector<std::uint32_t>(kLongRun, bytes), wire, markers, markers);
}

}  // namespace rnic::workload
