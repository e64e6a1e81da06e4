#include "model/wire/arp.h"

#include <vector>

#include <gmock/gmock.h>

namespace rnic::wire {
namespace {

// Who has 10.0.0.1? Tell 10.0.0.2 at 02:57:0a:00:00:02.
constexpr std::uint8_t kRequest[] = {0x00, 0x01, 0x08, 0x00, 0x06, 0x04, 0x00, 0x01, 0x02, 0x57,
                                     0x0a, 0x00, 0x00, 0x02, 0x0a, 0x00, 0x00, 0x02, 0x00, 0x00,
                                     0x00, 0x00, 0x00, 0x00, 0x0a, 0x00, 0x00, 0x01};

TEST(Arp, ReadsAndWritesTheSameOctets) {
  const auto arp = ArpPacket::parse({kRequest, sizeof(kRequest)});
  ASSERT_TRUE(arp);
  EXPECT_EQ(arp->operation, ArpPacket::kRequest);
  EXPECT_EQ(arp->sender_mac, (MacAddress{{0x02, 0x57, 0x0a, 0, 0, 2}}));
  EXPECT_EQ(arp->sender_ip.v, 0x0a000002u);
  EXPECT_EQ(arp->target_ip.v, 0x0a000001u);
  std::vector<std::uint8_t> out(ArpPacket::kBytes);
  EXPECT_EQ(arp->emit({out.data(), out.size()}), out.size());
  EXPECT_THAT(out, testing::ElementsAreArray(kRequest));
}

TEST(Arp, OtherAddressesAndShortPacketsAreNone) {
  for (std::size_t i = 0; i < 6; ++i) {
    std::vector<std::uint8_t> other(std::begin(kRequest), std::end(kRequest));
    other[i] ^= 1;
    EXPECT_FALSE(ArpPacket::parse({other.data(), other.size()})) << i;
  }
  EXPECT_FALSE(ArpPacket::parse({kRequest, sizeof(kRequest) - 1}));
  std::uint8_t small[27];
  EXPECT_EQ(ArpPacket{}.emit({small, sizeof(small)}), 0u);
}

}  // namespace
}  // namespace rnic::wire
