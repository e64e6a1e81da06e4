#include "model/wire/icmp.h"

#include <vector>

#include <gmock/gmock.h>

namespace rnic::wire {
namespace {

// From 10.0.0.1:41000 to 10.0.0.2:5000, octet 0x01020304, quoted with its next 4 octets.
constexpr std::uint8_t kPacket[] = {0x45, 0x00, 0x05, 0xdc, 0x00, 0x09, 0x40, 0x00, 0x40, 0x06, 0x21,
                                    0x11, 0x0a, 0x00, 0x00, 0x01, 0x0a, 0x00, 0x00, 0x02, 0xa0, 0x28,
                                    0x13, 0x88, 0x01, 0x02, 0x03, 0x04, 0x55, 0x66, 0x77, 0x88};
// The next hop's MTU is 1000 octets.
constexpr std::uint8_t kMessage[] = {0x03, 0x04, 0x41, 0x5d, 0x00, 0x00, 0x03, 0xe8, 0x45, 0x00, 0x05, 0xdc,
                                     0x00, 0x09, 0x40, 0x00, 0x40, 0x06, 0x21, 0x11, 0x0a, 0x00, 0x00, 0x01,
                                     0x0a, 0x00, 0x00, 0x02, 0xa0, 0x28, 0x13, 0x88, 0x01, 0x02, 0x03, 0x04};

using Octets = std::vector<std::uint8_t>;

TEST(FragmentationNeeded, ReadsPortsSequenceNumberAndMtu) {
  const auto m = FragmentationNeeded::parse({kMessage, sizeof(kMessage)});
  ASSERT_TRUE(m);
  EXPECT_EQ(m->next_hop_mtu, 1000);
  EXPECT_EQ(m->src.v, 0x0a000001u);
  EXPECT_EQ(m->dst.v, 0x0a000002u);
  EXPECT_EQ(m->src_port, 41000);
  EXPECT_EQ(m->dst_port, 5000);
  EXPECT_EQ(m->word, 0x01020304u);
  EXPECT_EQ(m->protocol, kIpProtocolTcp);
}

TEST(FragmentationNeeded, QuotesHeaderAndEightOctets) {
  Octets whole(std::begin(kPacket), std::end(kPacket));
  whole.resize(1500);
  const auto packet = Ipv4View::parse(whole);
  ASSERT_TRUE(packet);
  Octets out(sizeof(kMessage));
  EXPECT_EQ(FragmentationNeeded::emit(*packet, 1000, {out.data(), out.size()}), out.size());
  EXPECT_THAT(out, testing::ElementsAreArray(kMessage));
  EXPECT_EQ(FragmentationNeeded::emit(*packet, 1000, {out.data(), out.size() - 1}), 0u);
}

TEST(FragmentationNeeded, AnythingElseIsNone) {
  const auto changed = [](std::size_t at) {
    Octets m(std::begin(kMessage), std::end(kMessage));
    m[at] ^= 1;
    return FragmentationNeeded::parse(m);
  };
  for (std::size_t at = 0; at < sizeof(kMessage); ++at) EXPECT_FALSE(changed(at)) << "the checksum tells of " << at;
  for (std::size_t n = 0; n < sizeof(kMessage); ++n) EXPECT_FALSE(FragmentationNeeded::parse({kMessage, n})) << n;
}

// Another type, another code, a quotation of UDP, all with correct checksums.
TEST(FragmentationNeeded, OtherMessagesAreNone) {
  const auto with = [](std::size_t at, std::uint8_t value, std::uint16_t checksum) {
    Octets m(std::begin(kMessage), std::end(kMessage));
    m[at] = value;
    store_be16(m.data() + 2, checksum);
    return FragmentationNeeded::parse(m);
  };
  EXPECT_TRUE(with(0, 3, 0x415d));
  EXPECT_FALSE(with(0, 11, 0x395d));
  EXPECT_FALSE(with(1, 3, 0x415e));
  EXPECT_FALSE(with(17, 17, 0x4152));
}

}  // namespace
}  // namespace rnic::wire
