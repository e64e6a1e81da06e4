#include "model/programs/workload/wire_limit.h"

#include <gmock/gmock.h>

namespace rnic::workload {
namespace {

constexpr double kTiny = 1e-4;
const WireParams k1500{100, 1500, 0}, k9000{100, 9000, 0};

// A full tagged FPDU at MTU 1500: 2 + 14 + 1428 + 4 = 1448 octets and 3 or 2 markers, or 2 + 14 + 1440 + 4 = 1460;
// 14 + 20 + 20 octets of headers before it, 8 + 4 + 12 octet times around the frame.
TEST(WireLimit, OneFrameIsCountedToTheOctet) {
  WireMeter marked(k1500, true);
  marked.add_tagged(1428);  // markers at 0, 512, 1024: 1460 octets
  EXPECT_EQ(marked.octets(), 1538u);
  marked.add_tagged(1428);  // 1460 to 2919, markers at 1536, 2048, 2560
  EXPECT_EQ(marked.octets(), 2u * 1538);
  for (int i = 0; i < 125; ++i) marked.add_tagged(1428);
  // 127 FPDUs of 1448 octets are 362 times 508 octets, so they have 362 markers: 19 FPDUs have one less than 3.
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

// A Read Request takes 130 octet times (130.4 with markers), more than the answer of a small Read.
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

}  // namespace
}  // namespace rnic::workload
