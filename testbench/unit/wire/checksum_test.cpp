#include "model/wire/checksum.h"

#include <gmock/gmock.h>

#include "testbench/unit/wire/hex.h"

namespace rnic::wire {
namespace {

// RFC 1071 section 4.1, octet by octet.
std::uint16_t reference(const Bytes& bytes) {
  std::uint32_t sum = 0;
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    sum += i % 2 == 0 ? bytes[i] << 8 : bytes[i];
    sum = (sum & 0xffff) + (sum >> 16);
  }
  return static_cast<std::uint16_t>(~sum);
}

Bytes pattern(std::size_t n) {
  Bytes bytes(n);
  std::uint32_t x = 0x12345678;
  for (auto& octet : bytes) {
    x = x * 1664525 + 1013904223;
    octet = static_cast<std::uint8_t>(x >> 24);
  }
  return bytes;
}

TEST(Checksum, Rfc1071Example) { EXPECT_EQ(internet_checksum(hex("0001 F203 F4F5 F6F7")), 0x220d); }

TEST(Checksum, AgreesWithTheDefinitionAtEveryLength) {
  for (std::size_t n = 0; n < 200; ++n) EXPECT_EQ(internet_checksum(pattern(n)), reference(pattern(n))) << n;
  EXPECT_EQ(internet_checksum(pattern(65535)), reference(pattern(65535)));
  EXPECT_EQ(internet_checksum(Bytes(65535, 0xff)), reference(Bytes(65535, 0xff)));
}

TEST(Checksum, PiecesOfAnyLengthGiveTheSameSum) {
  const Bytes whole = pattern(301);
  for (std::size_t a = 0; a <= 40; ++a) {
    for (std::size_t b = a; b <= whole.size(); b += 13) {
      ChecksumAccumulator sum;
      sum.add(ByteSpan(whole).subspan(0, a));
      sum.add(ByteSpan(whole).subspan(a, b - a));
      sum.add(ByteSpan(whole).subspan(b));
      ASSERT_EQ(sum.checksum(), reference(whole)) << a << " " << b;
    }
  }
}

TEST(Checksum, WordsCanFollowAnOddPiece) {
  ChecksumAccumulator sum;
  sum.add(hex("AB"));
  sum.add_u16(0x1234);
  sum.add_u32(0x56789abc);
  EXPECT_EQ(sum.checksum(), reference(hex("AB 1234 56789ABC")));
}

TEST(Checksum, TcpOverIpv4AndIpv6) {
  const Bytes segment = hex("8CF8 1D2F 01020304 00000000 5002 FAF0 0000 0000 AA");
  EXPECT_EQ(([&] {
              ChecksumAccumulator sum =
                  tcp_pseudo_header(Ipv4Address{0x0a000001}, Ipv4Address{0x0a000002}, segment.size());
              sum.add(segment);
              return sum.checksum();
            }()),
            reference(hex("0A000001 0A000002 0006 0015") + segment));
  const Ipv6Address src{{0xfd, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1}};
  const Ipv6Address dst{{0xfd, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 2}};
  ChecksumAccumulator sum = tcp_pseudo_header(src, dst, segment.size());
  sum.add(segment);
  EXPECT_EQ(sum.checksum(), reference(hex("FD000000000000000000000000000001 FD000000000000000000000000000002"
                                          "00000015 00000006") +
                                      segment));
}

TEST(Checksum, DataWithItsChecksumSumsToZero) {
  Bytes bytes = pattern(100);
  bytes[10] = bytes[11] = 0;
  store_be16(bytes.data() + 10, internet_checksum(bytes));
  EXPECT_EQ(internet_checksum(bytes), 0);
}

}  // namespace
}  // namespace rnic::wire
