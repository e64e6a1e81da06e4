// Literal packets for one association, and its reactions to them.
#pragma once

#include <string>
#include <vector>

#include <gmock/gmock.h>

#include "model/common/crc32c.h"
#include "model/common/sctp_checksum.h"
#include "model/rnic/llp/sctp/setup.h"
#include "testbench/unit/wire/hex.h"

namespace rnic::sctp {

constexpr std::uint64_t kPeriodPs = 1000;
constexpr Cycle kMicrosecond = 1000;
constexpr std::size_t kPacketBytes = 1480;
constexpr std::uint32_t kAddress = 0x0a000001;  // of A
constexpr std::uint32_t kTagA = 0x11223344, kTagZ = 0x2b1c3d4e;
constexpr std::uint32_t kTsnA = 1000, kTsnZ = 0xffffffff;
constexpr Ends kEndsOfZ{kAddress, 41001, 41000};

using State = sctp::Setup::State;
using Kind = SetupEvent::Kind;

// The packet as it would be on the wire.
inline Bytes with_checksum(ByteSpan packet) {
  Bytes octets = to_bytes(packet);
  if (!octets.empty()) store_crc32c(octets.data() + kSctpChecksumOffset, sctp_checksum(octets));
  return octets;
}

// From A to Z: ports 41000 and 41001.
inline Bytes from_a(std::uint32_t tag, const std::string& chunks) {
  Bytes packet = hex("a028a029 00000000 00000000") + hex(chunks);
  store_be32(packet.data() + 4, tag);
  return packet;
}
inline Bytes from_z(std::uint32_t tag, const std::string& chunks) {
  Bytes packet = hex("a029a028 00000000 00000000") + hex(chunks);
  store_be32(packet.data() + 4, tag);
  return packet;
}

// The passive end of the worked examples. Literal packets stand for A.
class SetupBench : public testing::Test {
 protected:
  SctpConfig config;
  Endpoint endpoint{config, kPeriodPs, kPacketBytes, 7};
  sctp::Setup z{endpoint};
  Outcome out;
  Cycle now = 1000 * kMicrosecond;

  Cookie cookie() const {
    Cookie c;
    c.made_at = now;
    c.life = 60'000'000 * kMicrosecond;
    c.ends = kEndsOfZ;
    c.terms.own_tag = kTagZ;
    c.terms.peer_tag = kTagA;
    c.terms.own_tsn = kTsnZ;
    c.terms.peer_tsn = kTsnA;
    c.terms.peer_window = 131072;
    c.terms.adaptation = 1;
    c.terms.outbound = c.terms.inbound = 16;
    return c;
  }
  static Bytes echo(const Cookie& c, std::uint32_t tag) {
    Bytes packet = from_a(tag, "0a00004c") + to_bytes(seal(SipKey::of_seed(7), c));
    return packet;
  }
  // Returns the octets of the answer, without its checksum.
  Bytes receive(const Bytes& packet) {
    packet_ = packet;  // the chunks that are passed on are windows on it
    const auto received = Received::parse(packet_, kAddress);
    EXPECT_TRUE(received);
    if (!received) return {};
    if (z.state() == State::kClosed) {
      if (const auto c = endpoint.receive(*received, listening, now, out)) z.accept(*c, *received, now, out);
    } else {
      z.receive(*received, now, out);
    }
    return to_bytes(out.packet());
  }
  Bytes from_a_in(const std::string& chunks) { return receive(from_a(kTagZ, chunks)); }
  static Bytes to_a(const std::string& chunks) { return from_z(kTagA, chunks); }

  void establish() {
    EXPECT_EQ(receive(echo(cookie(), kTagZ)), to_a("0b000004"));
    ASSERT_EQ(z.state(), State::kEstablished);
  }
  Bytes proceed(std::uint32_t cumulative_tsn, bool drained) {
    z.proceed({cumulative_tsn, drained}, now, out);
    return to_bytes(out.packet());
  }
  Bytes shutdown(std::uint32_t cumulative_tsn, bool drained) {
    z.shutdown({cumulative_tsn, drained}, now, out);
    return to_bytes(out.packet());
  }
  Bytes expire(SetupTimer timer) {
    z.expired(timer, now, out);
    return to_bytes(out.packet());
  }
  std::vector<Kind> told() const {
    std::vector<Kind> kinds;
    for (std::size_t i = 0; i < out.events(); ++i) kinds.push_back(out.event(i).kind);
    return kinds;
  }
  bool nothing() const { return out.packet().empty() && out.events() == 0 && out.chunks() == 0; }
  void reach(State state);

  bool listening = true;

 private:
  Bytes packet_;
};

// Starts from ESTABLISHED.
inline void SetupBench::reach(State state) {
  establish();
  switch (state) {
    case State::kShutdownPending:
      shutdown(kTsnA - 1, false);
      break;
    case State::kShutdownSent:
      shutdown(kTsnA - 1, true);
      break;
    case State::kShutdownReceived:
      from_a_in("07000008 fffffffe");
      break;
    case State::kShutdownAckSent:
      from_a_in("07000008 fffffffe");
      proceed(kTsnA - 1, true);
      break;
    default:
      break;
  }
  ASSERT_EQ(z.state(), state);
}

}  // namespace rnic::sctp
