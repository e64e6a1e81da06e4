// A Terminate as a port carries it.
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>

#include "model/golden/beats.h"
#include "model/rnic/messages/terminate.h"
#include "model/wire/ddp.h"
#include "model/wire/terminate.h"

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
  static void check(const Transaction& m, unsigned) {
    if (m.octets.size() < wire::TerminateHeader::kControlBytes || m.octets.size() > wire::TerminateHeader::kMaxBytes)
      fail_value("terminate_message: a Terminate header has 4 to 52 octets");
  }
  template <class Emit>
  static void cut(const Transaction& m, unsigned, BufferPool& pool, Emit emit) {
    TerminateMessage message{m.qpn, pool.take(), static_cast<std::uint8_t>(m.octets.size()), m.epoch};
    std::copy(m.octets.begin(), m.octets.end(), at(message));
    emit(std::move(message));
  }
  bool join(const TerminateMessage& m) {
    transaction.octets.assign(at(m), at(m) + m.bytes);
    transaction.qpn = m.qpn;
    transaction.epoch = m.epoch;
    return true;
  }

 private:
  static std::uint8_t* at(const TerminateMessage& m) {
    return m.buf->bytes() + Ulpdu::kOffset + wire::DdpUntaggedHeader::kBytes;
  }
};

}  // namespace rnic::golden
