#include "model/wire/ethernet.h"

#include <gmock/gmock.h>

#include "testbench/unit/wire/hex.h"

namespace rnic::wire {
namespace {

TEST(Ethernet, BothWays) {
  const Bytes wire = hex("525400000001 525400000002 86DD 0A0B");
  const auto view = EthernetView::parse(wire);
  ASSERT_TRUE(view);
  EXPECT_EQ(view->header.dst, (MacAddress{{0x52, 0x54, 0, 0, 0, 1}}));
  EXPECT_EQ(view->header.src, (MacAddress{{0x52, 0x54, 0, 0, 0, 2}}));
  EXPECT_EQ(view->header.ethertype, kEthertypeIpv6);
  EXPECT_FALSE(view->vlan_tci);
  EXPECT_EQ(to_bytes(view->payload), hex("0A0B"));
  EXPECT_EQ(emitted(view->header, 14) + hex("0A0B"), wire);
  EXPECT_TRUE(emitted(view->header, 13).empty());
}

TEST(Ethernet, VlanTagsAreSkippedAndTheOutermostIsTold) {
  const Bytes wire = hex("525400000001 525400000002 88A8 0064 8100 2007 0800 45");
  const auto view = EthernetView::parse(wire);
  ASSERT_TRUE(view);
  EXPECT_EQ(view->header.ethertype, kEthertypeIpv4);
  EXPECT_EQ(view->vlan_tci, 0x0064);
  EXPECT_EQ(to_bytes(view->payload), hex("45"));
}

TEST(Ethernet, EveryTruncationIsRefused) {
  const Bytes wire = hex("525400000001 525400000002 8100 0064 0800");
  for (std::size_t n = 0; n < wire.size(); ++n) EXPECT_FALSE(EthernetView::parse(ByteSpan(wire).subspan(0, n))) << n;
  EXPECT_TRUE(EthernetView::parse(wire));
}

TEST(Ethernet, GroupAddresses) {
  EXPECT_TRUE((MacAddress{{0xff, 0xff, 0xff, 0xff, 0xff, 0xff}}.is_group()));
  EXPECT_FALSE((MacAddress{{0x52, 0x54, 0, 0, 0, 1}}.is_group()));
}

}  // namespace
}  // namespace rnic::wire
