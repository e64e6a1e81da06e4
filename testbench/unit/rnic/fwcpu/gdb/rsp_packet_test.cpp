// Packets of gdb's remote serial protocol: literal ones, and garbage that must neither hang nor count as one.
#include "model/rnic/fwcpu/gdb/rsp_packet.h"

#include <random>

#include <gmock/gmock.h>

namespace rnic::test {
namespace {

using testing::ElementsAre;
using Kind = RspInput::Kind;

std::vector<RspInput> decode(const std::string& octets) {
  RspDecoder decoder;
  std::vector<RspInput> found;
  for (const char c : octets) {
    if (auto input = decoder.take(c)) found.push_back(*input);
  }
  return found;
}
testing::Matcher<RspInput> is(Kind kind, const std::string& payload = "") {
  return testing::AllOf(testing::Field(&RspInput::kind, kind), testing::Field(&RspInput::payload, payload));
}

TEST(RspPacketTest, ChecksumIsTheSumOfTheOctets) {
  EXPECT_EQ(rsp_packet("OK"), "$OK#9a");
  EXPECT_EQ(rsp_packet(""), "$#00");
  EXPECT_EQ(rsp_packet("m80000000,4"), "$m80000000,4#55");
}

TEST(RspPacketTest, SpecialOctetsAreEscaped) {
  EXPECT_EQ(rsp_packet("a$b#c*d}e"),
            "$a}\x04"
            "b}\x03"
            "c}\n"
            "d}]e#51");
  EXPECT_THAT(decode(rsp_packet("a$b#c*d}e")), ElementsAre(is(Kind::kPacket, "a$b#c*d}e")));
}

TEST(RspPacketTest, PacketsAcknowledgementsAndInterrupts) {
  EXPECT_THAT(decode("+$g#67+-\x03$OK#9A"), ElementsAre(is(Kind::kAck), is(Kind::kPacket, "g"), is(Kind::kAck),
                                                        is(Kind::kNak), is(Kind::kInterrupt), is(Kind::kPacket, "OK")));
}

TEST(RspPacketTest, ABadChecksumIsToldAndTheNextPacketIsTaken) {
  for (const char* bad : {"$g#68", "$g#zz", "$g#6", "$#01", "$g##7"}) {
    SCOPED_TRACE(bad);
    const auto found = decode(std::string(bad) + "$g#67");
    ASSERT_FALSE(found.empty());
    EXPECT_THAT(found.back(), is(Kind::kPacket, "g"));
    for (std::size_t i = 0; i + 1 < found.size(); ++i) EXPECT_EQ(found[i].kind, Kind::kBadPacket);
  }
  EXPECT_THAT(decode("$g#68"), ElementsAre(is(Kind::kBadPacket)));
}

TEST(RspPacketTest, ATruncatedPacketIsLostAndTheNextOneTaken) {
  EXPECT_THAT(decode("$m8000$g#67"), ElementsAre(is(Kind::kPacket, "g")));
  EXPECT_THAT(decode("$m8000"), ElementsAre());
  EXPECT_THAT(decode("$a}$g#67"), ElementsAre(is(Kind::kPacket, "g")));
}

TEST(RspPacketTest, NoPacketIsLongerThanAnnounced) {
  const std::string longest(RspDecoder::kMaxPayload, 'a');
  EXPECT_THAT(decode(rsp_packet(longest)), ElementsAre(is(Kind::kPacket, longest)));
  EXPECT_THAT(decode(rsp_packet(longest + 'a') + "$g#67"), ElementsAre(is(Kind::kBadPacket), is(Kind::kPacket, "g")));
}

TEST(RspPacketTest, GarbageIsSkipped) {
  std::mt19937 random(7);
  std::uniform_int_distribution<int> octet(0, 255);
  RspDecoder decoder;
  for (unsigned i = 0; i < 100'000; ++i) decoder.take(static_cast<char>(octet(random)));
  decoder.take('#'), decoder.take('0'), decoder.take('0');  // ends any packet that had begun
  std::vector<RspInput> found;
  for (const char c : rsp_packet("g")) {
    if (auto input = decoder.take(c)) found.push_back(*input);
  }
  EXPECT_THAT(found, ElementsAre(is(Kind::kPacket, "g")));
}

TEST(RspPacketTest, Hexadecimal) {
  const std::uint8_t octets[] = {0x00, 0x7f, 0xa5};
  EXPECT_EQ(rsp_hex(octets, sizeof octets), "007fa5");
  EXPECT_EQ(rsp_unhex("007fA5"), std::string("\x00\x7f\xa5", 3));
  EXPECT_EQ(rsp_unhex("007"), std::nullopt);
  EXPECT_EQ(rsp_unhex("0g"), std::nullopt);
  std::string_view text = "80001000,4";
  EXPECT_EQ(rsp_number(text), 0x80001000u);
  EXPECT_EQ(text, ",4");
  EXPECT_EQ(rsp_number(text), std::nullopt);
  text = "123456789";
  EXPECT_EQ(rsp_number(text), 0x12345678u);
}

}  // namespace
}  // namespace rnic::test
