// What happens to DATA and when it is acknowledged, row by row, with the octets of each SACK.
#include "model/rnic/llp/sctp/data_receiver.h"

#include <gmock/gmock.h>

#include "model/common/check.h"
#include "testbench/unit/rnic/llp/sctp/data_receiver_bench.h"

namespace rnic::sctp {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using Fate = DataFate;
using Mode = DataReceiver::Mode;

SctpConfig small_buffer() {
  SctpConfig config;
  config.receive_buffer = 8000;  // one window update per 2000 octets
  return config;
}

// ---- The table of SACKs. A cycle is 4 ns, the delay 500 ns, the buffer 0x20000 octets, a message 4 octets.

TEST(SctpReceiver, TheFirstDataIsAcknowledgedAtOnce) {
  ReceiverBench b;
  EXPECT_EQ(b.answer(70, {{1000}}), "03000010000003E80001FFFC00000000");
  EXPECT_EQ(b.receiver.deadline(), kNever);
}

TEST(SctpReceiver, TheSecondPacketSinceASackIsAcknowledgedAtOnce) {
  ReceiverBench b;
  b.answer(70, {{1000}});
  EXPECT_EQ(b.answer(80, {{1001}, {1002}}), "");
  EXPECT_EQ(b.answer(90, {{1003}}), "03000010000003EB0001FFF000000000");
  EXPECT_EQ(b.answer(100, {{1004}}), "");
  EXPECT_EQ(b.answer(110, {{1005}}), "03000010000003ED0001FFE800000000");
}

TEST(SctpReceiver, AsManyPacketsAsAreConfiguredShareASack) {
  SctpConfig config;
  config.sack_every = 4;
  ReceiverBench b(config);
  b.answer(70, {{1000}});
  for (std::uint32_t i = 1; i < 4; ++i) EXPECT_EQ(b.answer(70 + i, {{1000 + i}}), "");
  EXPECT_EQ(b.answer(74, {{1004}}), "03000010000003EC0001FFEC00000000");
}

TEST(SctpReceiver, OnePacketIsAcknowledgedWhenTheDelayIsOver) {
  ReceiverBench b;
  b.answer(70, {{1000}});
  EXPECT_EQ(b.answer(80, {{1001}}), "");
  EXPECT_EQ(b.receiver.deadline(), 205u);
  EXPECT_TRUE(b.receiver.sack_pending());
  b.receiver.on_delay_over(204);
  EXPECT_EQ(b.sack(), "");
  b.receiver.on_delay_over(205);
  EXPECT_EQ(b.receiver.deadline(), kNever);
  EXPECT_EQ(b.sack(), "03000010000003E90001FFF800000000");
  EXPECT_FALSE(b.receiver.sack_pending());
}

TEST(SctpReceiver, TheDelayIsThatOfTheFirstPacket) {
  SctpConfig config;
  config.sack_every = 3;
  ReceiverBench b(config);
  b.answer(70, {{1000}});
  b.answer(80, {{1001}});
  b.answer(180, {{1002}});
  EXPECT_EQ(b.receiver.deadline(), 205u);
}

TEST(SctpReceiver, EveryPacketIsAcknowledgedWhileThereIsAGap) {
  ReceiverBench b;
  b.answer(70, {{1000}});
  EXPECT_EQ(b.answer(80, {{1002}}), "03000014000003E80001FFF80001000000020002");
  EXPECT_EQ(b.answer(90, {{1005}}), "03000018000003E80001FFF4000200000002000200050005");
  EXPECT_EQ(b.answer(100, {{1003}}), "03000018000003E80001FFF0000200000002000300050005");
}

TEST(SctpReceiver, ThePacketThatFillsTheGapIsAcknowledgedAtOnceAndTheNextOneWaits) {
  ReceiverBench b;
  b.answer(70, {{1000}});
  b.answer(80, {{1002}});
  EXPECT_EQ(b.answer(90, {{1001}}), "03000010000003EA0001FFF400000000");
  EXPECT_EQ(b.answer(100, {{1003}}), "");
  EXPECT_EQ(b.receiver.deadline(), 225u);
}

TEST(SctpReceiver, OnlyDuplicatesAreAcknowledgedAtOnceAndListedOnceEach) {
  ReceiverBench b;
  b.answer(70, {{1000}});
  EXPECT_EQ(b.answer(80, {{1000}, {1000}, {999}}), "0300001C000003E80001FFFC00000003000003E8000003E8000003E7");
  EXPECT_EQ(b.answer(90, {{1000}}), "03000014000003E80001FFFC00000001000003E8");  // the list of duplicates starts again
}

TEST(SctpReceiver, DuplicatesBesideNewDataWaitWithIt) {
  ReceiverBench b;
  b.answer(70, {{1000}});
  EXPECT_EQ(b.answer(80, {{1000}, {1001}}), "");
  EXPECT_EQ(b.answer(90, {{1001}, {1002}}), "03000018000003EA0001FFF400000002000003E8000003E9");
}

TEST(SctpReceiver, ATsnInAGapBlockIsADuplicateToo) {
  ReceiverBench b;
  b.answer(70, {{1000}});
  b.answer(80, {{1003}});
  EXPECT_EQ(b.packet(90, {{1003}}).fate, Fate::kDuplicate);
  EXPECT_EQ(b.sack(), "03000018000003E80001FFF80001000100030003000003EB");
}

TEST(SctpReceiver, TheImmediateBitAsksForASackAtOnceAlsoWhileOneIsDelayed) {
  SctpConfig config;
  config.sack_every = 9;
  ReceiverBench b(config);
  b.answer(70, {{1000}});
  EXPECT_EQ(b.answer(80, {{1001, kWhole | kI}}), "03000010000003E90001FFF800000000");
  EXPECT_EQ(b.answer(90, {{1002}}), "");
  EXPECT_EQ(b.receiver.deadline(), 215u);
  EXPECT_EQ(b.answer(100, {{1003, kWhole | kI}, {1004}}), "03000010000003EC0001FFEC00000000");
  EXPECT_EQ(b.receiver.deadline(), kNever);
  b.receiver.on_delay_over(215);
  EXPECT_EQ(b.sack(), "");
}

TEST(SctpReceiver, AClosedWindowDropsWhatIsBeyondTheHighestAndSaysSoAtOnce) {
  ReceiverBench b(small_buffer());
  b.answer(70, {chunk_of(1000, kWhole, 8000)});
  EXPECT_EQ(b.receiver.window(b.settings), 0u);
  EXPECT_EQ(b.packet(80, {{1001}}).fate, Fate::kNoRoom);
  EXPECT_EQ(b.sack(), "03000010000003E80000000000000000");
  EXPECT_EQ(b.packet(90, {{1000}}).fate, Fate::kDuplicate);
}

TEST(SctpReceiver, AChunkThatIsDroppedIsToldAtOnceAlsoBesideNewData) {
  ReceiverBench b;
  b.answer(70, {{1000}});
  EXPECT_EQ(b.answer(80, {{1001}, {1001 + 1025}}), "03000010000003E90001FFF800000000");
}

TEST(SctpReceiver, TheLastOctetOfTheWindowTakesAChunk) {
  ReceiverBench b(small_buffer());
  b.answer(70, {chunk_of(1000, kWhole, 7999)});
  EXPECT_EQ(b.packet(80, {chunk_of(1001, kWhole, 1400)}).fate, Fate::kMessage);
  EXPECT_EQ(b.packet(90, {{1002}}).fate, Fate::kNoRoom);
  EXPECT_EQ(b.sack(), "03000010000003E90000000000000000");
}

TEST(SctpReceiver, AWindowThatOpensByAQuarterOfTheBufferIsTold) {
  ReceiverBench b(small_buffer());
  b.answer(70, {chunk_of(1000, kWhole, 8000)});
  b.receiver.consume(b.settings, 1999);
  EXPECT_EQ(b.sack(), "");
  EXPECT_EQ(b.receiver.window(b.settings), 0u);  // no silly window
  EXPECT_EQ(b.packet(80, {{1001}}).fate, Fate::kNoRoom);
  EXPECT_EQ(b.sack(), "03000010000003E80000000000000000");
  b.receiver.consume(b.settings, 1);
  EXPECT_EQ(b.sack(), "03000010000003E8000007D000000000");
  b.receiver.consume(b.settings, 1999);
  EXPECT_EQ(b.sack(), "");
  b.receiver.consume(b.settings, 1);
  EXPECT_EQ(b.sack(), "03000010000003E800000FA000000000");
  EXPECT_EQ(b.packet(90, {{1001}}).fate, Fate::kMessage);
}

TEST(SctpReceiver, OnePacketIsAnsweredByOneSack) {
  ReceiverBench b;
  b.answer(70, {{1000}});
  // A gap, a duplicate, the I bit, a TSN beyond the window.
  EXPECT_EQ(b.answer(80, {{1002}, {1002, kWhole | kI}, {1000}, {1001 + 2000}}),
            "0300001C000003E80001FFF80001000200020002000003EA000003E8");
  EXPECT_EQ(b.sack(), "");
}

TEST(SctpReceiver, APacketWithoutDataIsNotAnswered) {
  ReceiverBench b;
  b.answer(70, {{1000}});
  b.answer(80, {{1002}});
  EXPECT_EQ(b.answer(90, {}), "");
}

// ---- The timer in the same cycle as a packet: one SACK for both, in either order.

TEST(SctpReceiver, TheTimerAndThenAPacketInOneCycle) {
  ReceiverBench b;
  b.answer(70, {{1000}});
  b.answer(80, {{1001}});
  b.receiver.on_delay_over(205);
  EXPECT_EQ(b.answer(205, {{1002}}), "03000010000003EA0001FFF400000000");
  EXPECT_FALSE(b.receiver.sack_pending());
}

TEST(SctpReceiver, APacketAndThenTheTimerInOneCycle) {
  ReceiverBench b;
  b.answer(70, {{1000}});
  b.answer(80, {{1001}});
  EXPECT_EQ(b.answer(205, {{1002}}), "03000010000003EA0001FFF400000000");
  b.receiver.on_delay_over(205);
  EXPECT_EQ(b.sack(), "");
}

TEST(SctpReceiver, ThePacketBehindTheSackOfTheTimerStartsADelayOfItsOwn) {
  ReceiverBench b;
  b.answer(70, {{1000}});
  b.answer(80, {{1001}});
  b.receiver.on_delay_over(205);
  EXPECT_EQ(b.sack(), "03000010000003E90001FFF800000000");
  EXPECT_EQ(b.answer(205, {{1002}}), "");
  EXPECT_EQ(b.receiver.deadline(), 330u);
}

// ---- A SACK bundled with other chunks

TEST(SctpReceiver, ASackThatIsNotOwedYetMayRideAlong) {
  ReceiverBench b;
  b.answer(70, {{1000}});
  b.answer(80, {{1001}});
  EXPECT_EQ(b.receiver.sack_bytes(100), 16u);
  EXPECT_EQ(b.written_sack(16), "03000010000003E90001FFF800000000");
  EXPECT_EQ(b.answer(90, {{1002}}), "");  // the first packet since
  EXPECT_EQ(b.receiver.deadline(), 215u);
}

// ---- Gap blocks and duplicates that do not fit

TEST(SctpReceiver, TheLowestGapBlocksGoFirstIntoWhatRoomThereIs) {
  ReceiverBench b;
  b.answer(70, {{1000}});
  for (std::uint32_t tsn : {1008u, 1006u, 1004u, 1002u}) b.answer(80, {{tsn}});
  EXPECT_EQ(b.answer(90, {{1000}}, 31), "0300001C000003E80001FFEC00030000000200020004000400060006");
  EXPECT_EQ(b.answer(90, {{1000}}, 35), "03000020000003E80001FFEC0004000000020002000400040006000600080008");
  EXPECT_EQ(b.answer(90, {{1000}}, 36), "03000024000003E80001FFEC0004000100020002000400040006000600080008000003E8");
  EXPECT_EQ(b.answer(90, {{1000}}, 16), "03000010000003E80001FFEC00000000");
}

TEST(SctpReceiver, EverySecondTsnUntilTheWindowEnds) {
  ReceiverBench b;
  b.answer(70, {{1000}});
  for (std::uint32_t tsn = 1002; tsn <= 2024; tsn += 2) EXPECT_EQ(b.packet(80, {{tsn}}).fate, Fate::kMessage);
  EXPECT_EQ(b.packet(80, {{2025}}).fate, Fate::kBeyondWindow);
  // 361 of 512 blocks fit; the lowest are there.
  const std::string sack = b.sack(1460);
  EXPECT_EQ(sack.size(), 2u * 1460);
  EXPECT_EQ(sack.substr(0, 48), "030005B4000003E80001F7FC016900000002000200040004");
  EXPECT_EQ(sack.substr(2 * 1460 - 8), "02D202D2");
  EXPECT_EQ(b.written_sack(4000).substr(24, 8), "02000000");
  EXPECT_EQ(b.written_sack(4000).substr(2 * (16 + 4 * 511)), "04000400");
}

TEST(SctpReceiver, MoreDuplicatesThanTheListHasRoomFor) {
  ReceiverBench b;
  b.answer(70, {{1000}});
  const std::string sack = b.answer(80, std::vector<TestChunk>(40, TestChunk{1000}));
  EXPECT_EQ(sack.substr(0, 32), "03000090000003E80001FFFC00000020");
  EXPECT_EQ(sack.size(), 2u * (16 + 4 * 32));
}

// ---- TSNs

TEST(SctpReceiver, AGapAcrossTheWrapOfTsns) {
  ReceiverBench b({}, 0xfffffffe);
  EXPECT_EQ(b.answer(70, {{0xfffffffe}}), "03000010FFFFFFFE0001FFFC00000000");
  EXPECT_EQ(b.answer(80, {{1}}), "03000014FFFFFFFE0001FFF80001000000030003");
  EXPECT_EQ(b.answer(90, {{0xffffffff}}), "03000014FFFFFFFF0001FFF40001000000020002");
  EXPECT_EQ(b.packet(95, {{0xfffffffe}}).fate, Fate::kDuplicate);
  EXPECT_EQ(b.sack(), "03000018FFFFFFFF0001FFF40001000100020002FFFFFFFE");
  EXPECT_EQ(b.answer(100, {{0}}), "03000010000000010001FFF000000000");
}

TEST(SctpReceiver, TsnsFarAheadAreNotAcknowledged) {
  ReceiverBench b;
  b.answer(70, {{1000}});
  for (std::uint32_t ahead : {1025u, 0x7fff'ffffu, 0x8000'0000u}) {
    EXPECT_EQ(b.packet(80, {{1000 + ahead}}).fate, Fate::kBeyondWindow) << ahead;
    EXPECT_EQ(b.sack(), "03000010000003E80001FFFC00000000");
  }
  EXPECT_EQ(b.packet(80, {{1000 + 0x8000'0001u}}).fate, Fate::kDuplicate);
  EXPECT_EQ(b.sack(), "03000014000003E80001FFFC00000001800003E9");
  EXPECT_EQ(b.packet(90, {{2024}}).fate, Fate::kMessage);
  EXPECT_EQ(b.sack(), "03000014000003E80001FFF80001000004000400");
}

// ---- Chunks that are not handed up

TEST(SctpReceiver, AMessageBehindAGapIsHandedUpAtOnce) {
  ReceiverBench b;
  TestChunk chunk;
  chunk.tsn = 1007;
  chunk.stream = 3;
  chunk.octets = {0, 1, 0x41, 0x43};
  chunk.ppid = 17;
  const ReceivedData data = b.packet(70, {chunk});
  EXPECT_EQ(data.fate, Fate::kMessage);
  EXPECT_THAT(std::vector<std::uint8_t>(data.message.begin(), data.message.end()), ElementsAre(0, 1, 0x41, 0x43));
  EXPECT_EQ(data.header.tsn, 1007u);
  EXPECT_EQ(data.header.stream, 3u);
  EXPECT_EQ(data.header.ppid, 17u);
  EXPECT_TRUE(data.unordered);
  EXPECT_THAT(data.ended, IsEmpty());
  EXPECT_EQ(b.sack(), "03000014000003E70001FFFC0001000000080008");
}

TEST(SctpReceiver, OrderedMessagesAreToldApart) {
  ReceiverBench b;
  const ReceivedData data = b.packet(70, {{1000, 0x03}});
  EXPECT_EQ(data.fate, Fate::kMessage);
  EXPECT_FALSE(data.unordered);
}

TEST(SctpReceiver, ADataChunkWithoutUserData) {
  ReceiverBench b;
  const ReceivedData data = b.packet(70, {chunk_of(1000, kWhole, 0)});
  EXPECT_EQ(data.fate, Fate::kNoUserData);
  EXPECT_EQ(data.header.tsn, 1000u);
  EXPECT_EQ(b.receiver.cumulative_tsn(), 999u);
  EXPECT_EQ(b.sack(), "");
}

TEST(SctpReceiver, ADataChunkTooShortForItsHeader) {
  ReceiverBench b;
  BufferPool pool(64);
  for (std::size_t length = 4; length < 16; ++length) {
    EXPECT_EQ(b.raw(pool.take(), length).fate, Fate::kMalformed) << length;
  }
  EXPECT_EQ(b.receiver.cumulative_tsn(), 999u);
}

TEST(SctpReceiver, AnUnknownStreamIsAcknowledgedAndNotHandedUp) {
  ReceiverBench b;
  EXPECT_EQ(b.packet(70, {{1000, kWhole, 15}}).fate, Fate::kMessage);
  EXPECT_EQ(b.sack(), "03000010000003E80001FFFC00000000");
  const ReceivedData data = b.packet(80, {{1001, kWhole | kI, 16}});
  EXPECT_EQ(data.fate, Fate::kUnknownStream);
  EXPECT_TRUE(data.message.empty());
  EXPECT_EQ(data.header.stream, 16u);
  EXPECT_EQ(b.sack(), "03000010000003E90001FFFC00000000");
}

TEST(SctpReceiver, NothingIsTakenBeforeAndAfterTheStatesThatTakeData) {
  ReceiverBench b;
  b.receiver.set_mode(Mode::kDrop);
  EXPECT_EQ(b.packet(70, {{1000}, chunk_of(1001, kWhole, 0)}).fate, Fate::kIgnored);
  EXPECT_FALSE(b.receiver.sack_pending());
  EXPECT_EQ(b.receiver.cumulative_tsn(), 999u);
  EXPECT_EQ(DataReceiver().deadline(), kNever);
}

// ---- Messages that the upper layer refuses

TEST(SctpReceiver, ARefusedMessageNeverCame) {
  ReceiverBench b;
  b.answer(70, {{1000}, {1002}});
  EXPECT_EQ(b.refused(80, {1001}), "03000014000003E80001FFF80001000000020002");
  EXPECT_EQ(b.refused(80, {1004}), "03000014000003E80001FFF80001000000020002");
  EXPECT_EQ(b.answer(90, {{1001}}), "03000010000003EA0001FFF400000000");
  EXPECT_EQ(b.refused(100, {1003}), "03000010000003EA0001FFF400000000");  // the same without a gap
}

TEST(SctpReceiver, AMessageIsAcceptedOrRefusedBeforeAnythingElse) {
  ReceiverBench b;
  EXPECT_THROW(b.receiver.accept(b.memory), InternalError);
  EXPECT_THROW(b.receiver.refuse(b.memory), InternalError);
  BufferPool pool(64);
  const BufferRef packet = pool.take();
  std::uint8_t octets[17] = {0, kWhole, 0, 17, 0, 0, 3, 0xe8};
  const wire::SctpChunk chunk{wire::SctpChunkType::kData, kWhole, ByteSpan(octets).subspan(4), octets};
  EXPECT_EQ(b.receiver.on_data(b.settings, b.memory, packet, chunk).fate, Fate::kMessage);
  EXPECT_THROW(b.receiver.on_data(b.settings, b.memory, packet, chunk), InternalError);
  EXPECT_THROW(b.receiver.end_packet(b.settings, 70), InternalError);
}

// ---- SHUTDOWN

TEST(SctpReceiver, InShutdownSentTheAnsweringShutdownAcknowledges) {
  ReceiverBench b;
  b.answer(70, {{1000}});
  b.receiver.set_mode(Mode::kShutdownSent);
  EXPECT_EQ(b.answer(80, {{1001, kWhole | kI}}), "");
  EXPECT_EQ(b.receiver.deadline(), kNever);
  EXPECT_EQ(b.receiver.cumulative_tsn(), 1001u);
}

TEST(SctpReceiver, InShutdownSentGapsAndDuplicatesNeedASackToo) {
  ReceiverBench b;
  b.answer(70, {{1000}});
  b.receiver.set_mode(Mode::kShutdownSent);
  EXPECT_EQ(b.answer(80, {{1002}}), "03000014000003E80001FFF80001000000020002");
  EXPECT_EQ(b.answer(90, {{1001}}), "");
  EXPECT_EQ(b.answer(100, {{1001}}), "03000014000003EA0001FFF400000001000003E9");
  EXPECT_EQ(b.answer(110, {{9000}}), "03000010000003EA0001FFF400000000");  // beyond the window
}

TEST(SctpReceiver, ShutdownAcknowledgesWhatADelayedSackWould) {
  ReceiverBench b;
  b.answer(70, {{1000}});
  b.answer(80, {{1001}});
  b.receiver.shutdown_sent();
  EXPECT_FALSE(b.receiver.sack_pending());
}

TEST(SctpReceiver, ShutdownDoesNotStandForAListOfDuplicates) {
  ReceiverBench b;
  b.answer(70, {{1000}});
  b.answer(80, {{1000}, {1001}});
  b.receiver.shutdown_sent();
  EXPECT_EQ(b.receiver.deadline(), 205u);
  b.receiver.on_delay_over(205);
  EXPECT_EQ(b.sack(), "03000014000003E90001FFF800000001000003E8");
}

// ---- State

TEST(SctpReceiver, StartsAnewWhenThePeerDoes) {
  ReceiverBench b;
  b.packet(70, {{1003}, {1003}, chunk_of(1005, kFirst, 9)});
  EXPECT_EQ(b.packets_held(), 1u);
  b.receiver.start(b.settings, b.memory, 7, 2);
  EXPECT_EQ(b.packets_held(), 0u);
  EXPECT_EQ(b.packet(80, {{7, kWhole, 2}}).fate, Fate::kUnknownStream);
  EXPECT_EQ(b.sack(), "03000010000000070002000000000000");
}

TEST(SctpReceiver, TheBufferHasToHoldALongMessage) {
  SctpConfig config;
  config.receive_buffer = 1935;  // less a quarter: 1452, a DDP-SSN and a segment of 1450
  EXPECT_NO_THROW(ReceiverBench(config, 1, 1500));
  config.receive_buffer = 1934;
  EXPECT_THROW(ReceiverBench(config, 1, 1500), ConfigError);
}

TEST(SctpReceiver, OfWhatWasNotHandedUpNothingCanBeConsumed) {
  ReceiverBench b;
  b.packet(70, {{1000}});
  EXPECT_THROW(b.receiver.consume(b.settings, 5), InternalError);
}

TEST(SctpReceiver, TheContextOfAnAssociation) { EXPECT_LE(DataReceiver::context_bytes(1024), 336u); }

}  // namespace
}  // namespace rnic::sctp
