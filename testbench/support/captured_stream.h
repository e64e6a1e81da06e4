// Reads a TCP connection off the cable by the text of the RFCs, without the model's wire code: both streams, how they
// began and ended, and their ULPDUs.
#pragma once

#include <algorithm>
#include <array>
#include <optional>
#include <vector>

#include <gmock/gmock.h>

#include "model/cable/ethernet_link.h"
#include "testbench/support/mpa_reference.h"

namespace rnic::test {

// The ULPDUs in octets after a start-up frame, if all of them are FPDUs of this kind. Each FPDU is taken apart and must
// equal MpaReference's FPDU of the same ULPDU.
inline std::optional<std::vector<Bytes>> ulpdus_of(const Bytes& octets, bool markers, bool crc) {
  MpaReference sender{markers, crc};
  std::vector<Bytes> ulpdus;
  for (std::size_t at = 0; at < octets.size(); at = sender.pos) {
    std::size_t next = at;
    const auto octet = [&] {
      if (markers && next % 512 == 0) next += 4;
      return next < octets.size() ? octets[next++] : std::uint8_t{0};
    };
    const std::size_t high = octet(), low = octet();
    Bytes ulpdu(high << 8 | low);
    for (std::uint8_t& b : ulpdu) b = octet();
    const Bytes fpdu = sender.fpdu(ulpdu);
    if (sender.pos > octets.size() || !std::equal(fpdu.begin(), fpdu.end(), &octets[at])) return std::nullopt;
    ulpdus.push_back(std::move(ulpdu));
  }
  return ulpdus;
}

// Collects the traffic of a cable that loses nothing and carries one connection.
class CapturedStreams final : public FrameTap {
 public:
  struct Side {
    Bytes octets;  // of the stream this side sent
    bool fin = false, reset = false;

    // The MPA start-up frame (RFC 5044 section 7.1.1): 20 octets, the last two of which give the length of the private
    // data after them.
    Bytes startup() const {
      if (octets.size() < 20) return {};
      const std::size_t bytes = 20u + (octets[18] << 8 | octets[19]);
      return {octets.begin(), octets.begin() + static_cast<std::ptrdiff_t>(std::min(bytes, octets.size()))};
    }
    Bytes behind_startup() const {
      return {octets.begin() + static_cast<std::ptrdiff_t>(startup().size()), octets.end()};
    }
  };
  const Side& sent_by(unsigned port_of_cable) const { return sides_.at(port_of_cable); }

  // RFC 894, RFC 791, RFC 9293.
  void frame(unsigned direction, const Frame& frame, std::uint64_t) override {
    constexpr std::size_t kIp = 14;
    const std::uint8_t* b = frame.data();
    const std::size_t tcp = kIp + 4u * (b[kIp] & 0x0f);
    const std::size_t payload = tcp + 4u * (b[tcp + 12] >> 4), end = kIp + (b[kIp + 2] << 8 | b[kIp + 3]);
    const std::uint8_t flags = b[tcp + 13];
    const std::uint32_t seq = std::uint32_t{b[tcp + 4]} << 24 | b[tcp + 5] << 16 | b[tcp + 6] << 8 | b[tcp + 7];
    Side& side = sides_.at(direction);
    side.fin |= (flags & 1) != 0;
    side.reset |= (flags & 4) != 0;
    if ((flags & 2) != 0) first_.at(direction) = seq + 1;
    if (payload == end) return;
    EXPECT_EQ(seq - first_.at(direction), side.octets.size()) << "nothing is sent twice on such a cable";
    side.octets.insert(side.octets.end(), b + payload, b + end);
  }

 private:
  std::array<Side, 2> sides_;
  std::array<std::uint32_t, 2> first_{};  // sequence number of the first octet
};

}  // namespace rnic::test
