#include "model/wire/tcp_frame_view.h"

#include <gtest/gtest.h>

#include "testbench/unit/wire/hex.h"

namespace rnic::wire {
namespace {

const Bytes kMacs = hex("020000000002 020000000001");
const Bytes kIp = hex("4500 002A 0000 4000 4006 0000 0A000001 0A000002");
const Bytes kTcp = hex("8CF8 1D2F 01020304 05060708 5010 FAF0 1234 0000 BEEF");

TEST(TcpFrameViewTest, HeadersAndPayloadWithoutPadding) {
  for (const char* const tags : {"0800", "8100 0005 0800"}) {
    const Bytes octets = kMacs + hex(tags) + kIp + kTcp + Bytes(4, 0);
    const auto frame = TcpFrameView::parse(octets);
    ASSERT_TRUE(frame) << tags;
    EXPECT_EQ(frame->ip.header.src, Ipv4Address{0x0a000001});
    EXPECT_EQ(frame->tcp.header.dst_port, 0x1d2f);
    EXPECT_EQ(to_bytes(frame->tcp.payload), hex("BEEF"));
  }
}

TEST(TcpFrameViewTest, OtherFramesAreNone) {
  const Bytes whole = kMacs + hex("0800") + kIp + kTcp;
  const auto with = [&](std::size_t at, std::uint8_t octet) {
    Bytes changed = whole;
    changed[at] = octet;
    return TcpFrameView::parse(changed);
  };
  ASSERT_TRUE(TcpFrameView::parse(whole));
  EXPECT_FALSE(with(12, 0x86)) << "another EtherType";
  EXPECT_FALSE(with(14 + 9, 17)) << "UDP";
  EXPECT_FALSE(with(14 + 6, 0x20)) << "a fragment";
  EXPECT_FALSE(with(14 + 20 + 12, 0x40)) << "a data offset of 16";
  for (std::size_t n = 0; n < whole.size(); ++n) {
    EXPECT_FALSE(TcpFrameView::parse(ByteSpan(whole).subspan(0, n))) << n;
  }
}

}  // namespace
}  // namespace rnic::wire
