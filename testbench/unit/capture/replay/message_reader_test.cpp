#include "model/capture/replay/message_reader.h"

#include <gmock/gmock.h>

#include "testbench/unit/wire/hex.h"

namespace rnic::replay {
namespace {

using wire::Opcode;

const Bytes kRequest = hex("4D504120494420526571204672616D65 40 01 0002 AABB");
// Worked out by hand.
const Bytes kSend = hex("0016 4143 00000000 00000000 00000001 00000000 DEADBEEF CE1959F1");
const Bytes kEmptyWrite = hex("000E C140 00000000 0000000000000000 A30572AB");
// A Write of 3 and 2 octets with a Read Response between its segments; CRC off.
const Bytes kWriteFirst = hex("0011 8140 11223344 0000000000000010 010203 00 00000000");
const Bytes kResponse = hex("000F C142 55667788 0000000000000020 77 000000 00000000");
const Bytes kWriteLast = hex("0010 C140 11223344 0000000000000013 0405 0000 00000000");

TEST(MessageReaderTest, ReadsOctetByOctet) {
  MessageReader reader(wire::MpaFrameKind::kRequest);
  reader.expect_crc(true);
  const Bytes stream = kRequest + kSend + kEmptyWrite;
  for (const std::uint8_t octet : stream) reader.push(Bytes{octet});
  EXPECT_EQ(reader.error(), "");
  EXPECT_EQ(reader.startup_bytes(), 22u);
  EXPECT_EQ(to_bytes(reader.startup().private_data), hex("AABB"));
  ASSERT_EQ(reader.messages().size(), 2u);
  EXPECT_EQ(reader.messages()[0].header.opcode, Opcode::kSend);
  EXPECT_EQ(reader.messages()[0].header.msn, 1u);
  EXPECT_EQ(reader.messages()[0].payload, hex("DEADBEEF"));
  EXPECT_EQ(reader.messages()[0].begin, 22u);
  EXPECT_EQ(reader.messages()[0].end, 22u + kSend.size());
  EXPECT_TRUE(reader.messages()[1].payload.empty());
  EXPECT_EQ(reader.rest(), 0u);
}

TEST(MessageReaderTest, MessagesOfDifferentKindsMayAlternate) {
  MessageReader reader(wire::MpaFrameKind::kRequest);
  reader.push(kRequest + kWriteFirst + kResponse);
  EXPECT_EQ(reader.messages().size(), 2u);
  EXPECT_EQ(reader.whole_messages(), 1u);
  EXPECT_FALSE(reader.messages()[0].header.last);
  reader.push(kWriteLast + hex("00"));
  EXPECT_EQ(reader.whole_messages(), 2u);
  EXPECT_EQ(reader.messages()[0].payload, hex("0102030405"));
  EXPECT_EQ(reader.messages()[0].header.to, 0x10u);
  EXPECT_EQ(describe(reader.messages()[0]), "RDMA Write of 5 octets to STag 0x11223344, TO 0x10");
  EXPECT_EQ(reader.rest(), 1u);
}

TEST(MessageReaderTest, EndsAtWhatItCannotRead) {
  MessageReader garbage(wire::MpaFrameKind::kRequest);
  garbage.push(hex("474554202f"));
  EXPECT_EQ(garbage.error(), "the stream does not begin with an MPA startup frame");

  Bytes damaged = kSend;
  damaged[22] ^= 1;
  MessageReader crc(wire::MpaFrameKind::kRequest);
  crc.expect_crc(true);
  crc.push(kRequest + damaged + kSend);
  EXPECT_EQ(crc.error(), "FPDU with a wrong CRC at octet 22 of the stream");
  EXPECT_TRUE(crc.messages().empty());

  MessageReader short_ulpdu(wire::MpaFrameKind::kRequest);
  short_ulpdu.push(kRequest + hex("0003 C14000 000000 00000000"));
  EXPECT_EQ(short_ulpdu.error(), "ULPDU of 3 octets is no DDP segment");
}

}  // namespace
}  // namespace rnic::replay
