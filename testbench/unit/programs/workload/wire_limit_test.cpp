#include "model/programs/workload/wire_limit.h"

#include <gmock/gmock.h>

namespace rnic::workload {
namespace {

constexpr double kTiny = 1e-4;
const WireParams k1500{100, 1500, 0}, k9000{100, 9000, 0};

// A full tagged FPDU at MTU 1500: 2 + 14 + 1428 + 4 = 1448 octets and 3 or 2 markers, or 2 + 14 + 1440 + 4 = 1460; 14 +
// 20 + 20 octets of headers before it, 8 + 4 + 12 octet times around the frame.
TEST(WireLimit, OneFrameIsCountedToTheOctet) {
  WireMeter marked(k1500, true);
  marked.add_tagged(1428);  // markers at 0, 512, 1024: 1460 octets
  EXPECT_EQ(marked.octets(), 1538u);
  marked.add_tagged(1428);  // 1460 to 2919, markers at 1536, 2048, 2560
  EXPECT_EQ(marked.octets(), 2u * 1538);
  for (int i = 0; i < 125; ++i) marked.add_tagged(1428);
  // 127 FPDUs of 1448 octets are 362 times 508 octets, so they have 362 markers: 19 FPDUs have 2 instead of 3.
  EXPECT_EQ(marked.octets(), 127u * (1448 + 78) + 362u * 4);
  WireMeter plain(k1500, false);
  plain.add_tagged(1440);
  EXPECT_EQ(plain.octets(), 1538u);
}

TEST(WireLimit, LongMessages) {
  EXPECT_NEAR(limit_gbps(Op::kWrite, 1428, k1500, true), 92.8840, kTiny);
  EXPECT_NEAR(limit_gbps(Op::kWrite, 1440, k1500, false), 93.6281, kTiny);
  EXPECT_NEAR(limit_gbps(Op::kWrite, 65536, k1500, true), 92.8702, kTiny);
  EXPECT_NEAR(limit_gbps(Op::kSend, 65536, k1500, true), 92.4932, kTiny);
  EXPECT_NEAR(limit_gbps(Op::kRead, 65536, k1500, false), 93.5640, kTiny);
  EXPECT_NEAR(limit_gbps(Op::kWrite, 65536, k9000, true), 98.0530, kTiny);
  EXPECT_NEAR(limit_gbps(Op::kWrite, 65536, k9000, false), 98.8179, kTiny);
  EXPECT_NEAR(limit_gbps(Op::kWrite, 65536, {400, 9000, 0}, false), 4 * 98.8179, 4 * kTiny);
}

TEST(WireLimit, SmallMessages) {
  EXPECT_NEAR(limit_gbps(Op::kSend, 1, k1500, false), 100.0 / 106, kTiny);  // 28 octets in a frame of 82, and 24
  EXPECT_NEAR(limit_gbps(Op::kWrite, 1, k1500, false), 100.0 / 102, kTiny);
  EXPECT_NEAR(limit_gbps(Op::kSend, 64, k1500, false), 6400.0 / 166, kTiny);
  EXPECT_NEAR(limit_gbps(Op::kWrite, 64, k1500, true), 39.3455, kTiny);
}

// A Read Request takes 130 octet times (130.4 with markers), more than a small Read's response.
TEST(WireLimit, SmallReadsAreLimitedByTheirRequests) {
  EXPECT_NEAR(limit_gbps(Op::kFetchAdd, 8, k1500, false), 800.0 / 154, kTiny);  // 76 octets in a frame of 130, and 24
  EXPECT_NEAR(limit_gbps(Op::kCmpSwap, 8, k1500, false), 800.0 / 154, kTiny);
  EXPECT_NEAR(limit_gbps(Op::kWriteImm, 64, k1500, false), 6400.0 / (162 + 110), kTiny);
  EXPECT_NEAR(limit_gbps(Op::kRead, 1, k1500, false), 100.0 / 130, kTiny);
  EXPECT_NEAR(limit_gbps(Op::kRead, 1, k1500, true), 0.7668, kTiny);
  EXPECT_NEAR(limit_gbps(Op::kRead, 1428, k1500, true), 92.8840, kTiny);
}

TEST(WireLimit, AMessageOneOctetTooLongTakesAnotherFrame) {
  WireMeter meter(k1500, false);
  meter.add_tagged(1441);
  EXPECT_EQ(meter.octets(), 1538u + 102);
}

TEST(WireLimit, AFrameIsNeverShorterThanTheSmallest) {
  WireMeter meter(k1500, false);
  meter.add_tagged(0);  // 2 + 14 + 4: 20 octets, a frame of 74
  EXPECT_EQ(meter.octets(), 98u);
}

TEST(WireLimit, TcpOptionsMakeSegmentsShorter) {
  WireMeter meter({100, 1500, 12}, true);
  meter.add_tagged(1416);  // EMSS 1448, MULPDU 1430
  EXPECT_EQ(meter.octets(), 14u + 20 + 32 + (2 + 1430 + 4 + 3 * 4) + 24);
}

WireParams sctp(unsigned mtu, unsigned reserve = 16) { return {100, mtu, 0, host::Transport::kSctp, reserve}; }

// A full tagged segment at MTU 1500: 14 + 1420 octets after 16 of its chunk header and 2 of the DDP-SSN; 14 + 20 + 12
// octets of headers before it, and 24 octet times around the frame.
TEST(WireLimit, OverSctpASegmentIsAChunk) {
  WireMeter meter(sctp(1500), false);
  meter.add_tagged(1420);
  EXPECT_EQ(meter.octets(), 1522u);
  meter.add_tagged(1421);  // one more octet needs another chunk, of 16 + 2 + 15, in a packet of its own
  EXPECT_EQ(meter.octets(), 2u * 1522 + 46 + 36 + 24);
}

TEST(WireLimit, OverSctpWithoutMarkersOrMpasCrc) {
  EXPECT_NEAR(limit_gbps(Op::kWrite, 1420, sctp(1500), false), 142000.0 / 1522, kTiny);
  EXPECT_EQ(limit_gbps(Op::kWrite, 65536, sctp(1500), true), limit_gbps(Op::kWrite, 65536, sctp(1500), false));
  EXPECT_NEAR(limit_gbps(Op::kWrite, 8920, sctp(9000), false), 892000.0 / 9022, kTiny);
  EXPECT_NEAR(limit_gbps(Op::kSend, 1416, sctp(1500), false), 141600.0 / 1522, kTiny);
  EXPECT_NEAR(limit_gbps(Op::kWrite, 1436, sctp(1500, 0), false), 143600.0 / 1538, kTiny);
}

// 64 octets need a chunk of 96; 1468 octets hold 15 of these.
TEST(WireLimit, OverSctpShortSegmentsShareAPacket) {
  WireMeter meter(sctp(1500), false);
  for (int i = 0; i < 15; ++i) meter.add_tagged(64);
  EXPECT_EQ(meter.octets(), 46u + 15 * 96 + 24);
  meter.add_tagged(64);
  EXPECT_EQ(meter.octets(), 46u + 15 * 96 + 24 + 46 + 96 + 24);
}

TEST(WireLimit, OverSctpNoFrameIsShorterThanTheSmallestAndNoPacketIsLeftOut) {
  WireMeter meter(sctp(1500), false);
  EXPECT_EQ(meter.octets(), 0u);
  meter.add_tagged(0);  // a chunk of 32 octets: a frame of 78
  EXPECT_EQ(meter.octets(), 102u);
}

}  // namespace
}  // namespace rnic::workload
