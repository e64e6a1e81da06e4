#include <gmock/gmock.h>

#include "model/wire/ipv4.h"
#include "model/wire/ipv6.h"
#include "testbench/unit/wire/hex.h"

namespace rnic::wire {
namespace {

// The usual header of RFC 1071 tutorials, with its checksum 0xb861.
const Bytes kIpv4 = hex("4500 0073 0000 4000 4011 B861 C0A80001 C0A800C7");

TEST(Ipv4, BothWays) {
  const Bytes wire = kIpv4 + Bytes(0x73 - 20, 0xab) + hex("0000");
  const auto view = Ipv4View::parse(wire);
  ASSERT_TRUE(view);
  EXPECT_EQ(view->header.total_length, 0x73);
  EXPECT_EQ(view->header.protocol, 17);
  EXPECT_EQ(view->header.ttl, 64);
  EXPECT_EQ(view->header.src, Ipv4Address{0xc0a80001});
  EXPECT_EQ(view->header.dst, Ipv4Address{0xc0a800c7});
  EXPECT_FALSE(view->header.is_fragment());
  EXPECT_EQ(to_bytes(view->payload), Bytes(0x73 - 20, 0xab)) << "padding is not payload";
  EXPECT_TRUE(view->checksum_ok());
  EXPECT_EQ(emitted(view->header, 20), kIpv4);
  EXPECT_TRUE(emitted(view->header, 19).empty());
}

TEST(Ipv4, AFlippedBitIsSeen) {
  for (std::size_t octet = 2; octet < 20; ++octet) {
    Bytes wire = kIpv4 + Bytes(200, 0);
    wire[octet] ^= 0x04;
    const auto view = Ipv4View::parse(wire);
    EXPECT_FALSE(view && view->checksum_ok()) << octet;
  }
}

TEST(Ipv4, OptionsAreSkipped) {
  const Bytes wire = hex("4600 001A 0000 0000 4006 0000 0A000001 0A000002 01010101 BEEF");
  const auto view = Ipv4View::parse(wire);
  ASSERT_TRUE(view);
  EXPECT_EQ(view->header_bytes.size(), 24u);
  EXPECT_EQ(to_bytes(view->payload), hex("BEEF"));
}

TEST(Ipv4, FragmentsAreTold) {
  EXPECT_TRUE(Ipv4View::parse(hex("4500 0014 0000 2000 4006 0000 0A000001 0A000002"))->header.is_fragment());
  EXPECT_TRUE(Ipv4View::parse(hex("4500 0014 0000 0001 4006 0000 0A000001 0A000002"))->header.is_fragment());
}

TEST(Ipv4, WhatCannotBeAPacketIsRefused) {
  const Bytes whole = kIpv4 + Bytes(0x73 - 20, 0);
  ASSERT_TRUE(Ipv4View::parse(whole));
  for (std::size_t n = 0; n < whole.size(); ++n) EXPECT_FALSE(Ipv4View::parse(ByteSpan(whole).subspan(0, n))) << n;
  EXPECT_FALSE(Ipv4View::parse(hex("6500 0014 0000 0000 4006 0000 0A000001 0A000002"))) << "version";
  EXPECT_FALSE(Ipv4View::parse(hex("4400 0014 0000 0000 4006 0000 0A000001 0A000002"))) << "header length 16";
  EXPECT_FALSE(Ipv4View::parse(hex("4500 0013 0000 0000 4006 0000 0A000001 0A000002"))) << "total below header";
  EXPECT_FALSE(Ipv4View::parse(hex("4600 0018 0000 0000 4006 0000 0A000001 0A000002"))) << "options beyond the end";
}

const Bytes kIpv6Addresses = hex("FD000000000000000000000000000001 FD000000000000000000000000000002");

TEST(Ipv4, OfACutPacketThereIsTheBeginning) {
  const Bytes whole = kIpv4 + Bytes(0x73 - 20, 0xab) + hex("0000");
  for (std::size_t n = 0; n <= whole.size(); ++n) {
    const auto view = Ipv4View::parse_cut(ByteSpan(whole).subspan(0, n));
    ASSERT_EQ(view.has_value(), n >= 20) << n;
    if (view) {
      EXPECT_EQ(view->payload.size(), std::min<std::size_t>(n, 0x73) - 20);
    }
  }
  EXPECT_FALSE(Ipv4View::parse_cut(hex("4600 0018 0000 0000 4006 0000 0A000001 0A000002"))) << "options are cut";
}

TEST(Ipv6, OfACutPacketThereIsTheBeginning) {
  const Bytes whole = hex("60000000 0005 06 40") + Bytes(32, 0) + hex("0102030405") + hex("0000");
  for (std::size_t n = 0; n <= whole.size(); ++n) {
    const auto view = Ipv6View::parse_cut(ByteSpan(whole).subspan(0, n));
    ASSERT_EQ(view.has_value(), n >= 40) << n;
    if (view) {
      EXPECT_EQ(view->payload.size(), std::min<std::size_t>(n, 45) - 40);
    }
  }
}

TEST(Ipv6, BothWays) {
  const Bytes wire = hex("6 12 ABCDE 0002 06 40") + kIpv6Addresses + hex("BEEF");
  const Bytes padded = wire + hex("00");
  const auto view = Ipv6View::parse(padded);
  ASSERT_TRUE(view);
  EXPECT_EQ(view->header.traffic_class, 0x12);
  EXPECT_EQ(view->header.flow_label, 0xabcdeu);
  EXPECT_EQ(view->header.payload_length, 2);
  EXPECT_EQ(view->header.hop_limit, 64);
  EXPECT_EQ(view->protocol, 6);
  EXPECT_FALSE(view->fragment);
  EXPECT_EQ(to_bytes(view->header.src.octets), hex("FD000000000000000000000000000001"));
  EXPECT_EQ(to_bytes(view->header.dst.octets), hex("FD000000000000000000000000000002"));
  EXPECT_EQ(to_bytes(view->payload), hex("BEEF"));
  EXPECT_EQ(emitted(view->header, 40) + hex("BEEF"), wire);
  EXPECT_TRUE(emitted(view->header, 39).empty());
}

TEST(Ipv6, ExtensionHeadersAreSkipped) {
  const Bytes wire = hex("60000000 0019 00 40") + kIpv6Addresses + hex("3C00000000000000") +
                     hex("0601000000000000 0000000000000000") + hex("77");
  const auto view = Ipv6View::parse(wire);
  ASSERT_TRUE(view);
  EXPECT_EQ(view->protocol, 6);
  EXPECT_EQ(to_bytes(view->payload), hex("77"));
}

TEST(Ipv6, FragmentsAreTold) {
  const auto view = Ipv6View::parse(hex("60000000 0009 2C 40") + kIpv6Addresses + hex("0600000100000000 77"));
  ASSERT_TRUE(view);
  EXPECT_TRUE(view->fragment);
  EXPECT_EQ(view->protocol, 6);
}

TEST(Ipv6, WhatCannotBeAPacketIsRefused) {
  const Bytes wire = hex("60000000 0008 00 40") + kIpv6Addresses + hex("0600000000000000");
  ASSERT_TRUE(Ipv6View::parse(wire));
  for (std::size_t n = 0; n < wire.size(); ++n) EXPECT_FALSE(Ipv6View::parse(ByteSpan(wire).subspan(0, n))) << n;
  EXPECT_FALSE(Ipv6View::parse(hex("40000000 0000 06 40") + kIpv6Addresses)) << "version";
  EXPECT_FALSE(Ipv6View::parse(hex("60000000 0008 00 40") + kIpv6Addresses + hex("0601000000000000"))) << "extension";
}

}  // namespace
}  // namespace rnic::wire
