// Messages in several DATA chunks. At an IP MTU of 1500 a message has 1452 octets at most, a control message 516.
#include "model/rnic/llp/sctp/fragments.h"

#include <gmock/gmock.h>

#include "testbench/unit/rnic/llp/sctp/data_receiver_bench.h"

namespace rnic::sctp {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using Fate = DataFate;

TestChunk piece(std::uint32_t tsn, std::uint8_t flags, std::vector<std::uint8_t> octets, std::uint16_t stream = 0) {
  TestChunk c;
  c.tsn = tsn;
  c.flags = flags;
  c.octets = std::move(octets);
  c.stream = stream;
  return c;
}

std::vector<std::uint8_t> octets(ByteSpan span) { return {span.begin(), span.end()}; }

TEST(SctpFragments, InOrder) {
  ReceiverBench b;
  EXPECT_EQ(b.packet(70, {piece(1000, kFirst, {1, 2})}).fate, Fate::kPiece);
  EXPECT_EQ(b.sack(), "03000010000003E80001FFFE00000000");  // kept pieces count
  EXPECT_EQ(b.packet(70, {piece(1001, kMiddle, {3})}).fate, Fate::kPiece);
  const ReceivedData data = b.packet(80, {piece(1002, kLast, {4, 5, 6})});
  EXPECT_EQ(data.fate, Fate::kMessage);
  EXPECT_THAT(octets(data.message), ElementsAre(1, 2, 3, 4, 5, 6));
  EXPECT_THAT(data.ended, IsEmpty());
  EXPECT_EQ(b.sack(), "03000010000003EA0001FFFA00000000");
  EXPECT_TRUE(b.receiver.fragments().empty());
  EXPECT_EQ(b.receiver.fragments().octets(), 0u);
  EXPECT_EQ(b.packets_held(), 0u);
}

TEST(SctpFragments, InEveryOrderAndTwice) {
  std::vector<std::uint32_t> order = {0, 1, 2, 3};
  do {
    ReceiverBench b({}, 0xfffffffe);
    ReceivedData data;
    for (std::size_t i = 0; i < order.size(); ++i) {
      const std::uint32_t at = order[i];
      const std::uint8_t flags = at == 0 ? kFirst : at == 3 ? kLast : kMiddle;
      data = b.packet(70, {piece(0xfffffffe + at, flags, {static_cast<std::uint8_t>(at)})});
      if (i + 1 == order.size()) break;
      EXPECT_EQ(data.fate, Fate::kPiece);
      EXPECT_EQ(b.packet(70, {piece(0xfffffffe + at, flags, {9})}).fate, Fate::kDuplicate);
    }
    ASSERT_EQ(data.fate, Fate::kMessage);
    EXPECT_THAT(octets(data.message), ElementsAre(0, 1, 2, 3));
    EXPECT_EQ(b.packets_held(), 0u);
  } while (std::next_permutation(order.begin(), order.end()));
}

TEST(SctpFragments, TwoMessagesAtATime) {
  ReceiverBench b;
  b.packet(70, {piece(1003, kLast, {8}, 2)});
  b.packet(70, {piece(1000, kFirst, {1}, 1)});
  ReceivedData data = b.packet(70, {piece(1002, kFirst, {7}, 2)});
  EXPECT_EQ(data.fate, Fate::kMessage);
  EXPECT_THAT(octets(data.message), ElementsAre(7, 8));
  data = b.packet(70, {piece(1001, kLast, {2}, 1)});
  EXPECT_THAT(octets(data.message), ElementsAre(1, 2));
  EXPECT_EQ(data.header.stream, 1u);
  EXPECT_THAT(data.ended, IsEmpty());
}

TEST(SctpFragments, AWholeMessageBetweenTwoInPieces) {
  ReceiverBench b;
  b.packet(70, {piece(1000, kFirst, {1}), piece(1003, kFirst, {3})});
  EXPECT_EQ(b.packet(70, {piece(1001, kLast, {2})}).fate, Fate::kMessage);
  const ReceivedData data = b.packet(70, {piece(1002, kWhole, {9})});
  EXPECT_EQ(data.fate, Fate::kMessage);
  EXPECT_THAT(data.ended, IsEmpty());
  EXPECT_EQ(b.packet(70, {piece(1004, kLast, {4})}).fate, Fate::kMessage);
}

TEST(SctpFragments, ARefusedMessageKeepsItsOtherPieces) {
  ReceiverBench b;
  b.answer(70, {piece(1000, kFirst, {1, 2}), piece(1002, kLast, {4})});
  EXPECT_EQ(b.refused(80, piece(1001, kMiddle, {3})), "03000014000003E80001FFFD0001000000020002");
  EXPECT_EQ(b.packets_held(), 2u);
  const ReceivedData data = b.packet(90, {piece(1001, kMiddle, {3})});
  EXPECT_THAT(octets(data.message), ElementsAre(1, 2, 3, 4));
  EXPECT_EQ(b.packets_held(), 0u);
}

// ---- Length

TEST(SctpFragments, ALongMessageIsTakenUpToItsLimit) {
  ReceiverBench b;
  b.packet(70, {chunk_of(1000, kFirst, 1000)});
  EXPECT_EQ(b.packet(70, {chunk_of(1001, kLast, 452)}).message.size(), 1452u);
  b.packet(70, {chunk_of(1002, kFirst, 1000)});
  const ReceivedData data = b.packet(70, {chunk_of(1003, kLast, 453)});
  EXPECT_EQ(data.fate, Fate::kBroken);
  EXPECT_THAT(data.ended, ElementsAre(0));
  EXPECT_EQ(b.receiver.cumulative_tsn(), 1003u);  // acknowledged nevertheless
  EXPECT_TRUE(b.receiver.fragments().empty());
}

TEST(SctpFragments, AControlMessageHasALimitOfItsOwn) {
  ReceiverBench b;
  for (std::uint32_t tsn : {1000u, 1002u}) {
    TestChunk first = chunk_of(tsn, kFirst, 500), last = chunk_of(tsn + 1, kLast, tsn == 1000 ? 16 : 17);
    first.ppid = last.ppid = 17;
    EXPECT_EQ(b.packet(70, {first, last}).fate, tsn == 1000 ? Fate::kMessage : Fate::kBroken);
  }
}

TEST(SctpFragments, TheLimitHoldsBeforeTheEndIsThere) {
  ReceiverBench b;
  b.packet(70, {chunk_of(1003, kMiddle, 1000)});
  b.packet(70, {chunk_of(1001, kMiddle, 400)});
  const ReceivedData data = b.packet(70, {chunk_of(1002, kMiddle, 53)});
  EXPECT_EQ(data.fate, Fate::kBroken);
  EXPECT_EQ(b.receiver.fragments().octets(), 0u);
}

TEST(SctpFragments, SixtyFourPiecesAreAMessageAndOneMoreIsNot) {
  // Also if the memory has no room for one more.
  for (const auto& [messages, pieces] :
       {std::pair(4u, 64u), std::pair(4u, 65u), std::pair(1u, 64u), std::pair(1u, 65u)}) {
    SctpConfig config;
    config.reassembly_messages = messages;
    ReceiverBench b(config);
    ReceivedData data;
    for (std::uint32_t i = 0; i < pieces; ++i) {
      data = b.packet(70, {chunk_of(1000 + i, i == 0 ? kFirst : i + 1 == pieces ? kLast : kMiddle, 1)});
    }
    EXPECT_EQ(data.fate, pieces == 64 ? Fate::kMessage : Fate::kBroken);
    EXPECT_TRUE(b.receiver.fragments().empty());
  }
}

// ---- Pieces that fit nowhere

TEST(SctpFragments, ABeginningInTheMiddleOfAMessage) {
  ReceiverBench b;
  b.packet(70, {piece(1000, kFirst, {1}, 4)});
  ReceivedData data = b.packet(70, {piece(1001, kFirst, {2}, 4)});
  EXPECT_EQ(data.fate, Fate::kPiece);  // this message can still become complete
  EXPECT_THAT(data.ended, ElementsAre(4));
  EXPECT_EQ(b.receiver.fragments().pieces(), 1u);
  data = b.packet(70, {piece(1002, kLast, {3}, 4)});
  EXPECT_THAT(octets(data.message), ElementsAre(2, 3));
}

TEST(SctpFragments, AnEndWithoutABeginning) {
  ReceiverBench b;
  EXPECT_THAT(b.packet(70, {piece(1000, kLast, {1}, 4)}).ended, ElementsAre(4));  // nothing precedes the first TSN
  b.packet(70, {piece(1001, kWhole, {1})});
  const ReceivedData data = b.packet(70, {piece(1002, kLast, {1}, 5)});
  EXPECT_EQ(data.fate, Fate::kBroken);
  EXPECT_THAT(data.ended, ElementsAre(5));
  EXPECT_EQ(b.receiver.cumulative_tsn(), 1002u);
  EXPECT_EQ(b.packets_held(), 0u);
}

TEST(SctpFragments, AnEndThatLosesItsBeginningLater) {
  ReceiverBench b;
  EXPECT_EQ(b.packet(70, {piece(1001, kLast, {1}, 5)}).fate, Fate::kPiece);
  const ReceivedData data = b.packet(70, {piece(1000, kWhole, {1}, 6)});
  EXPECT_EQ(data.fate, Fate::kMessage);
  EXPECT_THAT(data.ended, ElementsAre(5));
  EXPECT_TRUE(b.receiver.fragments().empty());
}

TEST(SctpFragments, AWholeMessageBetweenPiecesEndsBoth) {
  ReceiverBench b;
  b.packet(70, {piece(1000, kFirst, {1}, 1), piece(1002, kLast, {1}, 3)});
  const ReceivedData data = b.packet(70, {piece(1001, kWhole, {1}, 2)});
  EXPECT_EQ(data.fate, Fate::kMessage);
  EXPECT_THAT(data.ended, ElementsAre(1, 3));
}

TEST(SctpFragments, APieceOfAnotherStreamEndsAllThree) {
  ReceiverBench b;
  b.packet(70, {piece(1000, kFirst, {1}, 1), piece(1002, kLast, {1}, 3)});
  const ReceivedData data = b.packet(70, {piece(1001, kMiddle, {1}, 2)});
  EXPECT_EQ(data.fate, Fate::kBroken);
  EXPECT_THAT(data.ended, ElementsAre(2, 1, 3));
  EXPECT_TRUE(b.receiver.fragments().empty());
}

TEST(SctpFragments, APieceOfTheOtherProtocolEndsTheMessage) {
  ReceiverBench b;
  b.packet(70, {piece(1000, kFirst, {1}, 1)});
  TestChunk last = piece(1001, kLast, {1}, 1);
  last.ppid = 17;
  const ReceivedData data = b.packet(70, {last});
  EXPECT_EQ(data.fate, Fate::kBroken);
  EXPECT_THAT(data.ended, ElementsAre(1));
  EXPECT_TRUE(b.receiver.fragments().empty());
}

TEST(SctpFragments, AnUnknownStreamBetweenPieces) {
  ReceiverBench b;
  b.packet(70, {piece(1000, kFirst, {1}, 1)});
  const ReceivedData data = b.packet(70, {piece(1001, kLast, {1}, 77)});
  EXPECT_EQ(data.fate, Fate::kUnknownStream);
  EXPECT_THAT(data.ended, ElementsAre(1));
}

TEST(SctpFragments, OrderedPiecesAndThoseOfOtherProtocolsAreNotKept) {
  ReceiverBench b;
  EXPECT_THAT(b.packet(70, {piece(1000, 0x02, {1}, 6)}).ended, ElementsAre(6));
  TestChunk foreign = piece(1001, kFirst, {1}, 7);
  foreign.ppid = 18;
  const ReceivedData data = b.packet(70, {foreign});
  EXPECT_EQ(data.fate, Fate::kBroken);
  EXPECT_THAT(data.ended, ElementsAre(7));
  EXPECT_EQ(b.receiver.cumulative_tsn(), 1001u);
}

// ---- Memory

TEST(SctpFragments, AFloodOfBeginningsStaysWithinTheLimits) {
  ReceiverBench b;  // 4 messages: 256 pieces, 5808 octets
  std::uint32_t kept = 0;
  for (std::uint32_t i = 0; i < 400; ++i) {
    const Fate fate = b.packet(70, {chunk_of(1001 + 2 * i, kFirst, 1)}).fate;
    kept += fate == Fate::kPiece;
    EXPECT_EQ(fate, i < 256 ? Fate::kPiece : Fate::kNoRoom) << i;
  }
  EXPECT_EQ(kept, 256u);
  EXPECT_EQ(b.packets_held(), 256u);
  // Whole messages pass, and a piece that fills a gap displaces the highest piece.
  EXPECT_EQ(b.packet(70, {chunk_of(1001 + 2 * 256, kWhole, 1)}).fate, Fate::kMessage);
  EXPECT_EQ(b.packet(70, {chunk_of(1002, kLast, 1)}).fate, Fate::kMessage);
  EXPECT_EQ(b.receiver.fragments().pieces(), 254u);
  // Of two adjacent beginnings, neither becomes a message.
  EXPECT_EQ(b.packet(70, {chunk_of(1000, kFirst, 1)}).fate, Fate::kBroken);
  EXPECT_EQ(b.packet(70, {chunk_of(1004, kFirst, 1)}).fate, Fate::kBroken);
  EXPECT_EQ(b.receiver.fragments().pieces(), 253u);
}

TEST(SctpFragments, AFloodOfLongBeginningsStaysWithinTheLimits) {
  ReceiverBench b;
  for (std::uint32_t i = 0; i < 100; ++i) b.packet(70, {chunk_of(1001 + 2 * i, kFirst, 1400)});
  EXPECT_EQ(b.receiver.fragments().octets(), 4u * 1400);
  EXPECT_EQ(b.packets_held(), 4u);
}

TEST(SctpFragments, APieceThatIsGivenUpIsMissingAgain) {
  SctpConfig config;
  config.reassembly_messages = 1;  // 1452 octets
  ReceiverBench b(config);
  b.answer(70, {chunk_of(1001, kLast, 700)});
  EXPECT_EQ(b.answer(70, {chunk_of(1003, kLast, 700)}), "03000018000003E70001FA88000200000002000200040004");
  EXPECT_EQ(b.packet(70, {chunk_of(1000, kFirst, 700)}).fate, Fate::kMessage);
  EXPECT_EQ(b.sack(), "03000010000003E90001FA8800000000");
  EXPECT_EQ(b.packet(70, {chunk_of(1003, kLast, 700)}).fate, Fate::kPiece);  // not a duplicate
  EXPECT_EQ(b.packet(70, {chunk_of(1002, kFirst, 700)}).fate, Fate::kMessage);
}

TEST(SctpFragments, AFullWindowOfPiecesGivesUpTheHighestForAGap) {
  SctpConfig config;
  config.receive_buffer = 2000;
  ReceiverBench b(config);
  b.answer(70, {chunk_of(1001, kLast, 1000)});
  b.answer(70, {chunk_of(1003, kLast, 1000)});
  EXPECT_EQ(b.packet(70, {chunk_of(1004, kWhole, 4)}).fate, Fate::kNoRoom);
  EXPECT_EQ(b.packet(70, {chunk_of(1002, kWhole, 4)}).fate, Fate::kMessage);
  EXPECT_EQ(b.receiver.fragments().octets(), 1000u);  // 1003 was given up
  EXPECT_EQ(b.packet(70, {chunk_of(1000, kFirst, 400)}).fate, Fate::kMessage);
}

TEST(SctpFragments, AMessageThatAloneFillsTheMemoryBecomesCompleteOrTooLong) {
  SctpConfig config;
  config.reassembly_messages = 1;
  ReceiverBench b(config);
  b.packet(70, {chunk_of(1000, kFirst, 1452)});
  const ReceivedData data = b.packet(70, {chunk_of(1001, kLast, 1)});
  EXPECT_EQ(data.fate, Fate::kBroken);
  EXPECT_THAT(data.ended, ElementsAre(0));
  EXPECT_EQ(b.packet(70, {chunk_of(1002, kFirst, 1451)}).fate, Fate::kPiece);
  EXPECT_EQ(b.packet(70, {chunk_of(1004, kFirst, 5)}).fate, Fate::kNoRoom);
  EXPECT_EQ(b.packet(70, {chunk_of(1003, kLast, 1)}).fate, Fate::kMessage);
}

}  // namespace
}  // namespace rnic::sctp
