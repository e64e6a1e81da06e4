#include "model/rnic/tx/marker_inserter.h"

#include "testbench/support/mpa_tx_chain.h"

namespace rnic::test {
namespace {

using testing::ElementsAre;

constexpr FlowId kMarked{1}, kPlain{2};

// Framer and CRC surround the stage: their timing is exact, and other tests check their octets.
class MarkerInserterTest : public StageTest, public testing::WithParamInterface<unsigned> {
 protected:
  MpaTxChain tx{clk, GetParam()};

  MarkerInserterTest() {
    tx.set_flow(kMarked, true, true);
    tx.set_flow(kPlain, false, true);
  }
  // Sends the ULPDUs on one flow and returns what went over the wire.
  std::vector<Bytes> wires(FlowId flow, const std::vector<Bytes>& ulpdus) {
    for (const Bytes& ulpdu : ulpdus) tx.send(flow, ulpdu);
    run_until_idle();
    std::vector<Bytes> out;
    for (const SentFpdu& fpdu : tx.sent()) out.push_back(fpdu.wire);
    return out;
  }
  // FPDUPTRs by stream position.
  static std::vector<std::pair<std::size_t, unsigned>> markers(const Bytes& stream) {
    std::vector<std::pair<std::size_t, unsigned>> found;
    for (std::size_t pos = 0; pos < stream.size(); pos += 512) found.push_back({pos, load_be32(&stream[pos])});
    return found;
  }
};

using MarkerInserter64 = MarkerInserterTest;
INSTANTIATE_TEST_SUITE_P(BeatBytes, MarkerInserter64, testing::Values(64u));

TEST_P(MarkerInserter64, BeatLeavesTwoCyclesAfterItEnters) {
  tx.send(kPlain, Bytes(2 * 64 - 6));
  tx.send(kPlain, Bytes(58));
  run_until_idle();
  EXPECT_EQ(tx.sink.cycles(), in_a_row(MpaTxChain::kThrough, 3));
  tx.sent();
  EXPECT_EQ(tx.pool.in_use(), 0u);
}

TEST_P(MarkerInserter64, MarkersCostACycleOnlyWhereTheyFillABeat) {
  tx.send(kMarked, Bytes(58));      // 17 words: a beat and one word
  tx.send(kMarked, Bytes(58 - 4));  // 15 words
  tx.send(kPlain, Bytes(58));
  run_until_idle();
  std::vector<unsigned> words;
  for (const FpduBeat& b : tx.sink) words.push_back(b.words);
  EXPECT_THAT(words, ElementsAre(16, 1, 15, 16));
  EXPECT_EQ(tx.sink.cycles(), in_a_row(MpaTxChain::kThrough, 4));
}

TEST_P(MarkerInserter64, SixteenMarkersCostOneCycle) {
  const Bytes ulpdu(16 * 508 - 6);  // 127 beats
  tx.send(kPlain, ulpdu);
  tx.send(kMarked, ulpdu);
  tx.send(kPlain, ulpdu);
  run_until_idle();
  EXPECT_EQ(tx.inserter.counters().markers, 16u);
  ASSERT_EQ(tx.sink.size(), 127u + 128u + 127u);
  EXPECT_EQ(tx.sink.cycles()[127], MpaTxChain::kThrough + 127);
  EXPECT_EQ(tx.sink.cycles()[127 + 128], MpaTxChain::kThrough + 127 + 128);
}

// 6 slots after crc_insert, 3 after the stage, a beat in the accumulator, 3 slots before it.
TEST_P(MarkerInserter64, AbsorbsNothingWhileABeatIsPending) {
  tx.sink.pause(window(0, 100));
  tx.send(kPlain, Bytes(40 * 64 - 6));
  sc_core::sc_start(sc_core::sc_time::from_value(50 * clk.period_ps()));
  EXPECT_EQ(tx.framer.out->pushed(), 6u + 3u + 1u + 3u);
  EXPECT_EQ(tx.inserter.waiting_for(), "room for 16 words of an FPDU of flow 2");
  run_until_idle();
  EXPECT_EQ(tx.sent()[0].wire.size(), 40u * 64u);
}

INSTANTIATE_TEST_SUITE_P(BeatBytes, MarkerInserterTest, testing::Values(16u, 32u, 64u, 128u));

// Worked by hand.
TEST_P(MarkerInserterTest, SeveralMarkersOfOneFpduPointToItsLengthField) {
  const Bytes stream = joined(wires(kMarked, {Bytes(1218)}));
  EXPECT_THAT(markers(stream), ElementsAre(std::pair(0u, 0u), std::pair(512u, 508u), std::pair(1024u, 1020u)));
}
TEST_P(MarkerInserterTest, AMarkerBetweenTwoFpdusBelongsToTheSecond) {
  const std::vector<Bytes> fpdus = wires(kMarked, {Bytes(502), Bytes(26)});
  EXPECT_EQ(fpdus[0].size(), 512u);
  EXPECT_THAT(markers(joined(fpdus)), ElementsAre(std::pair(0u, 0u), std::pair(512u, 0u)));
}
TEST_P(MarkerInserterTest, AMarkerBehindThePadStandsBeforeTheCrc) {
  const std::vector<Bytes> fpdus = wires(kMarked, {Bytes(506)});
  EXPECT_EQ(fpdus[0].size(), 520u);
  EXPECT_THAT(markers(fpdus[0]), ElementsAre(std::pair(0u, 0u), std::pair(512u, 508u)));
}

// Every position at which an FPDU can start in an interval, FPDUs with no, one and several markers.
TEST_P(MarkerInserterTest, EveryStartPositionEqualsTheReference) {
  std::vector<Bytes> ulpdus, expected;
  MpaReference reference{true, true, 0};
  for (std::size_t i = 0; i < 128; ++i) {
    for (const std::size_t n : {std::size_t{500}, std::size_t{2} + i % 4, std::size_t{1400}, std::size_t{114}}) {
      ulpdus.push_back(counting(n, static_cast<std::uint8_t>(i)));
      expected.push_back(reference.fpdu(ulpdus.back()));
    }
  }
  EXPECT_EQ(wires(kMarked, ulpdus), expected);
  EXPECT_EQ(tx.pool.in_use(), 0u);
}

TEST_P(MarkerInserterTest, AStreamWithoutMarkersKeepsItsBuffer) {
  const Ulpdu ulpdu = tx.next(kPlain, counting(1000));
  const std::uint8_t* const bytes = ulpdu.buf->bytes();
  tx.source.send(ulpdu);
  run_until_idle();
  EXPECT_EQ(tx.sink.front().data, bytes + kFrameHeadroom);
}

TEST_P(MarkerInserterTest, AMarkedFpduLeavesAtTheHeadroomOfAFreshBuffer) {
  tx.send(kMarked, counting(1000));
  run_until_idle();
  const FpduBeat& first = tx.sink.front();
  EXPECT_EQ(first.data, first.buf->bytes() + kFrameHeadroom);
  EXPECT_EQ(tx.pool.in_use(), 1u);  // the old one was released
}

TEST_P(MarkerInserterTest, FlowsKeepTheirOwnPositionsUnderBackpressure) {
  tx.sink.pause(at_random(3, 40));
  tx.source.pause(at_random(4, 30));
  Prng rng(11);
  std::vector<MpaReference> references(8);
  std::vector<Bytes> expected;
  std::vector<bool> completes;
  for (std::uint32_t f = 0; f < 8; ++f) {
    references[f].markers = f % 3 != 0;
    references[f].crc = f != 5;
    tx.set_flow(FlowId{f}, references[f].markers, references[f].crc);
  }
  for (int i = 0; i < 400; ++i) {
    const auto f = static_cast<std::uint32_t>(rng.below(8));
    const Bytes ulpdu = random_bytes(rng, rng.below(4) == 0 ? rng.below(30) : rng.below(1460));
    expected.push_back(references[f].fpdu(ulpdu));
    completes.push_back(rng.below(2) != 0);
    tx.send(FlowId{f}, ulpdu, completes.back());
  }
  run_until_idle();
  const auto sent = tx.sent();
  ASSERT_EQ(sent.size(), expected.size());
  for (std::size_t i = 0; i < sent.size(); ++i) {
    ASSERT_EQ(sent[i].wire, expected[i]) << "FPDU " << i;
    ASSERT_EQ(sent[i].completes_wqe, completes[i]) << "FPDU " << i;
  }
  EXPECT_EQ(tx.pool.in_use(), 0u);
  EXPECT_EQ(tx.inserter.waiting_for(), "");
}

TEST_P(MarkerInserterTest, TimingIsThatOfItsBeatsMarkersOrNot) {
  for (const std::size_t n : {1u, 700u, 58u, 1400u, 3u, 122u, 506u}) {
    tx.send(kMarked, Bytes(n));
    tx.send(kPlain, Bytes(n));
  }
  run_until_idle();
  const auto& cycles = tx.sink.cycles();
  EXPECT_EQ(cycles.front(), MpaTxChain::kThrough);
  EXPECT_EQ(cycles.back() - cycles.front() + 1, cycles.size());  // no bubble anywhere
}

// RFC 5044 figure 6: the stream is taken over at position 492.
TEST_P(MarkerInserterTest, AStreamCanBeTakenOverAtAnyPosition) {
  tx.streams[kMarked.v].position = 492;
  const Bytes ulpdu = from_hex(
      "4143 00000000 00000000 00000002 00000000 0000 0000 00000000 00000000 00000000"
      "00000000 00000000");
  EXPECT_THAT(wires(kMarked, {ulpdu}),
              ElementsAre(from_hex("002a4143 00000000 00000000 00000002 00000000 00000014 00000000 00000000 00000000"
                                   "00000000 00000000 00000000 84925898")));
}

TEST_P(MarkerInserterTest, OrderOfCallsAndRunningAheadDoNotMatter) {
  ClockDomain shuffled_clk("shuffled_clk", {});
  shuffled_clk.shuffle(99);
  MpaTxChain shuffled(shuffled_clk, GetParam(), "shuffled");
  ClockDomain stepped_clk("stepped_clk", {4000, 1, false});
  MpaTxChain stepped(stepped_clk, GetParam(), "stepped");
  for (MpaTxChain* chain : {&tx, &shuffled, &stepped}) {
    chain->set_flow(kMarked, true, true);
    chain->sink.pause(at_random(5, 30));
    for (std::size_t n = 0; n < 1400; n += 37) chain->send(n % 2 != 0 ? kMarked : kPlain, counting(n));
  }
  run_until_idle();
  EXPECT_EQ(shuffled.sink.cycles(), tx.sink.cycles());
  EXPECT_EQ(stepped.sink.cycles(), tx.sink.cycles());
  EXPECT_GT(stepped_clk.activity().ticks, clk.activity().ticks);
  const auto sent = tx.sent(), sent_shuffled = shuffled.sent();
  ASSERT_EQ(sent.size(), sent_shuffled.size());
  for (std::size_t i = 0; i < sent.size(); ++i) EXPECT_EQ(sent[i].wire, sent_shuffled[i].wire);
}

}  // namespace
}  // namespace rnic::test
