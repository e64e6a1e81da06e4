// A Terminate as a port carries it.
#pragma once

#include <cstdint>

#include "model/golden/beats.h"
#include "model/rnic/messages/terminate.h"
#include "model/wire/ddp.h"

namespace rnic::golden {

// The octets are those of the Terminate header.
struct TerminateOctets : Payload {
  Qpn qpn;
  std::uint32_t epoch = 0;

  static constexpr const char* kMessage = "terminate_message";
  template <class V, class M>
  static void fields(V& v, M& m) {
    v("qpn", m.qpn);
    v("epoch", 32, m.epoch);
  }
};
template <>
struct Beats<TerminateMessage> {
  using Transaction = TerminateOctets;
  Transaction transaction;
  bool join(const TerminateMessage& m) {
    const std::uint8_t* const octets = m.buf->bytes() + Ulpdu::kOffset + wire::DdpUntaggedHeader::kBytes;
    transaction.octets.assign(octets, octets + m.bytes);
    transaction.qpn = m.qpn;
    transaction.epoch = m.epoch;
    return true;
  }
};

}  // namespace rnic::golden
