// RFC 9293 section 3.10.7, segment by segment, with RFC 5961's answers to blind attacks.
#include "testbench/unit/rnic/llp/tcp/scripted_peer.h"

namespace rnic::test {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using Kind = TcpEvents;

constexpr std::uint32_t kWindow = 0xffff;  // the largest without scaling

class SegmentArrives : public ScriptedPeerTest {
 protected:
  void SetUp() override {
    establish();
    ASSERT_THAT(chip.firmware.kinds(), ElementsAre(Kind::kAccepted));
    chip.firmware.enter_rdma(FlowId{0});
    run_us(1);
  }
  Bytes stream() { return chip.deframer.stream[0]; }
  const TcpRxCounters& counters() const { return chip.tcp_rx.counters(); }
};

TEST_F(SegmentArrives, WhatWasReceivedBeforeIsCutOff) {
  const Bytes all = counting_bytes(300);
  send(PeerSegment{"A", seq, ack, Bytes(all.begin(), all.begin() + 100)});
  send(PeerSegment{"A", seq + 60, ack, Bytes(all.begin() + 60, all.begin() + 200)});
  send(PeerSegment{"A", seq, ack, Bytes(all.begin(), all.begin() + 150)});
  send(PeerSegment{"A", seq + 200, ack, Bytes(all.begin() + 200, all.end())});
  EXPECT_EQ(stream(), all);
  EXPECT_EQ(counters().trimmed, 1u);
  EXPECT_EQ(counters().duplicates, 1u);
  EXPECT_EQ(answers.seen.back().ack(), seq + 300);
  EXPECT_EQ(chip.deframer.beats.size(), 2u + 2u + 2u);  // 100, 100 and 100 octets
}

TEST_F(SegmentArrives, ASegmentBehindAHoleIsDroppedAndAnsweredAtOnce) {
  send(PeerSegment{"A", seq + 100, ack, counting_bytes(100, 100)});
  ASSERT_THAT(answers.texts(), ElementsAre("<A"));
  EXPECT_EQ(answers.seen[0].ack(), seq);
  EXPECT_EQ(counters().out_of_order, 1u);
  EXPECT_THAT(stream(), IsEmpty());
}

TEST_F(SegmentArrives, ARstExactlyAtTheNextOctetResets) {
  send(PeerSegment{"R", seq});
  EXPECT_THAT(chip.firmware.kinds(), ElementsAre(Kind::kAccepted, Kind::kReset));
  EXPECT_THAT(answers.texts(), IsEmpty());
}

// Octets that TCP has acknowledged are delivered first. The connection is over all the same: nothing is sent, and
// nothing is accepted.
TEST_F(SegmentArrives, ARstIsToldBehindTheOctetsBeforeIt) {
  chip.segmenter.send_now(FlowId{0}, 1, 100);
  run_us(5);
  ASSERT_EQ(answers.texts().size(), 1u);
  chip.deframer.pause = every(1, 1);
  send(PeerSegment{"A", seq, ack, counting_bytes(100)});
  answers.seen.clear();
  send(PeerSegment{"R", seq + 100});
  send(PeerSegment{"A", seq + 100, ack + 100, counting_bytes(100, 100)});
  send(PeerSegment{"R", seq + 100});
  chip.segmenter.send_now(FlowId{0}, 1, 100);
  run_us(20'000);  // retransmission timeouts
  EXPECT_THAT(answers.texts(), IsEmpty());
  EXPECT_THAT(chip.firmware.kinds(), ElementsAre(Kind::kAccepted));
  chip.deframer.pause = {};
  run_us(1);
  EXPECT_EQ(stream(), counting_bytes(100));
  EXPECT_THAT(chip.firmware.kinds(), ElementsAre(Kind::kAccepted, Kind::kReset));
  EXPECT_EQ(chip.connection.flows_in_use(), 0u);
  send(PeerSegment{"S", seq + 5000});  // the flow's number is free
  EXPECT_THAT(answers.texts(), ElementsAre("<SA"));
}

// Meanwhile the firmware gives up, or closes.
TEST_F(SegmentArrives, AnAbortBehindAResetSendsNothing) {
  chip.deframer.pause = every(1, 1);
  send(PeerSegment{"A", seq, ack, counting_bytes(100)});
  answers.seen.clear();
  send(PeerSegment{"R", seq + 100});
  chip.firmware.close(FlowId{0});
  chip.firmware.abort(FlowId{0});
  run_us(10);
  chip.deframer.pause = {};
  run_us(10);
  EXPECT_THAT(answers.texts(), IsEmpty());
  EXPECT_THAT(chip.firmware.kinds(), ElementsAre(Kind::kAccepted));
  EXPECT_EQ(chip.connection.flows_in_use(), 0u);
}

TEST_F(SegmentArrives, ARstElsewhereInTheWindowIsChallenged) {
  send(PeerSegment{"R", seq + 1000});
  EXPECT_THAT(answers.texts(), ElementsAre("<A"));
  send(PeerSegment{"R", seq - 1000});
  EXPECT_THAT(answers.texts(), ElementsAre("<A"));  // outside the window: no answer
  EXPECT_THAT(chip.firmware.kinds(), ElementsAre(Kind::kAccepted));
  EXPECT_EQ(counters().bad_reset, 2u);
}

TEST_F(SegmentArrives, ASynInsideAConnectionIsChallenged) {
  send(PeerSegment{"S", seq + 10});
  EXPECT_THAT(answers.texts(), ElementsAre("<A"));
  EXPECT_THAT(chip.firmware.kinds(), ElementsAre(Kind::kAccepted));
}

// RFC 5961 section 7: challenge ACKs for RST, SYN and ACK count together.
TEST_F(SegmentArrives, ChallengeAcksAreFewInAnInterval) {
  const TcpConfig config;
  const PeerSegment forged[] = {{"R", seq + 1000}, {"S", seq + 10}, {"A", seq, ack + 1000}};
  for (unsigned i = 0; i < config.challenge_acks + 5; ++i) send(forged[i % 3]);
  EXPECT_EQ(answers.seen.size(), config.challenge_acks);
  EXPECT_EQ(chip.tcp_tx.counters().challenges_withheld, 5u);
  run_us(config.challenge_interval_us);
  for (const PeerSegment& s : forged) send(s);
  EXPECT_EQ(answers.seen.size(), config.challenge_acks + 3);
  EXPECT_THAT(chip.firmware.kinds(), ElementsAre(Kind::kAccepted));
}

TEST_F(SegmentArrives, AnAckOfWhatWasNeverSentIsAnsweredAndItsOctetsDropped) {
  for (const char* flags : {"A", "FA"}) {
    answers.seen.clear();
    send(PeerSegment{flags, seq, ack + 1, counting_bytes(100)});
    ASSERT_THAT(answers.texts(), ElementsAre("<A"));
    EXPECT_EQ(answers.seen[0].seq(), ack);
    EXPECT_EQ(answers.seen[0].ack(), seq);
  }
  EXPECT_THAT(stream(), IsEmpty());
  EXPECT_EQ(counters().bad_ack, 2u);
  EXPECT_THAT(chip.firmware.kinds(), ElementsAre(Kind::kAccepted));
  send(PeerSegment{"A", seq, ack - 0xffff, counting_bytes(100)});  // one window old, the oldest allowed
  EXPECT_EQ(stream(), counting_bytes(100));
  send(PeerSegment{"A", seq + 100, ack - 0x10000, counting_bytes(100, 100)});
  EXPECT_EQ(stream().size(), 100u);
}

// No work completes, and the window does not open.
TEST_F(SegmentArrives, NothingIsBelievedOfASegmentOutsideOfTheWindow) {
  send(PeerSegment{"A", seq, ack, {}, 600});
  answers.seen.clear();
  chip.segmenter.send_now(FlowId{0}, 2, 500);
  run_us(10);
  ASSERT_THAT(answers.texts(), ElementsAre("<PA500"));
  const std::uint32_t edge = seq + kWindow;
  for (const std::uint32_t outside : {seq - 1, edge, edge + 100'000, seq + 0x80000000}) {
    send(PeerSegment{"A", outside, ack + 500, {}, 0xffff});
    send(PeerSegment{"A", outside - (outside == seq - 1), ack + 500, counting_bytes(1), 0xffff});
  }
  EXPECT_EQ(chip.segmenter.wqes[0], 0u);
  EXPECT_EQ(chip.tcp_tx.flow_state(FlowId{0}).unacknowledged, 1000u);
  EXPECT_EQ(chip.tcp_tx.flow_state(FlowId{0}).peer_window, 600u);
  EXPECT_THAT(stream(), IsEmpty());
  EXPECT_EQ(counters().outside, 4u);
  EXPECT_THAT(answers.texts(), ElementsAre("<PA500", "<A", "<A", "<A", "<A", "<A", "<A", "<A", "<A"));
  send(PeerSegment{"A", seq, ack + 500, {}, 0xffff});
  EXPECT_EQ(chip.segmenter.wqes[0], 1u);
  EXPECT_EQ(answers.texts().back(), "<PA500");
}

TEST_F(SegmentArrives, AClosedWindowTakesTheAckOfASegmentAndNotItsOctets) {
  chip.deframer.hold_until = 1u << 30;
  chip.segmenter.send_now(FlowId{0}, 1, 500);
  std::uint32_t at = 0;
  for (; at < kWindow; at += 1285) send(PeerSegment{"A", seq + at, ack, counting_bytes(1285, at)});
  ASSERT_EQ(answers.seen.back().window(), 0u);
  send(PeerSegment{"A", seq + at, ack + 500, counting_bytes(500, at)});
  EXPECT_EQ(chip.segmenter.wqes[0], 1u);
  EXPECT_EQ(stream().size(), kWindow);
  EXPECT_EQ(counters().beyond_window, 1u);
}

TEST_F(SegmentArrives, DataAndFinInOneSegment) {
  send(PeerSegment{"FPA", seq, ack, counting_bytes(50)});
  EXPECT_EQ(stream(), counting_bytes(50));
  ASSERT_THAT(answers.texts(), ElementsAre("<A"));
  EXPECT_EQ(answers.seen[0].ack(), seq + 51);
  EXPECT_THAT(chip.firmware.kinds(), ElementsAre(Kind::kAccepted, Kind::kPeerClosed));
  send(PeerSegment{"A", seq + 51, ack, counting_bytes(50)});  // nothing may follow a FIN
  EXPECT_EQ(stream(), counting_bytes(50));
}

TEST_F(SegmentArrives, AWrongChecksumIsSilentlyDropped) {
  Bytes tcp = PeerSegment{"A", seq, ack, counting_bytes(50)}.frame();
  tcp[70] ^= 1;
  send(tcp);
  Bytes ip = PeerSegment{"A", seq, ack, counting_bytes(50)}.frame();
  ip[22] ^= 1;  // TTL
  send(ip);
  EXPECT_THAT(answers.texts(), IsEmpty());
  EXPECT_THAT(stream(), IsEmpty());
  EXPECT_EQ(counters().bad_checksum, 1u);
  EXPECT_EQ(counters().bad_ipv4, 1u);
}

TEST_F(SegmentArrives, OtherProtocolsAreCountedAndDropped) {
  Bytes arp(60, 0);
  std::copy(kMacB.octets.begin(), kMacB.octets.end(), arp.begin());
  arp[12] = 8, arp[13] = 6;
  send(arp);
  Bytes udp = PeerSegment{"A", seq, ack}.frame();
  udp[23] = 17;
  udp[25] = static_cast<std::uint8_t>(udp[25] - 11);  // keeps the header's sum
  send(udp);
  EXPECT_EQ(counters().not_ipv4, 1u);
  EXPECT_EQ(counters().not_for_us + counters().bad_ipv4, 1u);
}

TEST_F(SegmentArrives, ASegmentOfNoConnectionIsRefused) {
  PeerSegment stray{"A", seq, 77};
  stray.peer_port = 4001;
  send(stray);
  ASSERT_THAT(answers.texts(), ElementsAre("<R"));
  EXPECT_EQ(answers.seen[0].seq(), 77u);
}

TEST_F(SegmentArrives, OctetsBeyondTheWindowHaveNoRoom) {
  chip.deframer.hold_until = 1u << 30;
  std::uint32_t at = 0;
  for (; at + 1000 <= kWindow; at += 1000) send(PeerSegment{"A", seq + at, ack, counting_bytes(1000, at)});
  send(PeerSegment{"A", seq + at, ack, counting_bytes(1000, at)});
  EXPECT_EQ(counters().beyond_window, 1u);
  EXPECT_EQ(stream().size(), kWindow);
  EXPECT_EQ(answers.seen.back().window(), 0u);
  EXPECT_EQ(answers.seen.back().ack(), seq + kWindow);
}

TEST_F(SegmentArrives, AnyMixOfSegmentsGivesThePrefixOfTheStream) {
  Prng prng(21);
  for (unsigned i = 0; i < 3000; ++i) {
    const std::uint32_t known = static_cast<std::uint32_t>(stream().size());
    const std::uint32_t back = static_cast<std::uint32_t>(prng.below(300));
    const std::uint32_t at = (known > back ? known - back : 0) + static_cast<std::uint32_t>(prng.below(200));
    PeerSegment s{"A", seq + at, ack + static_cast<std::uint32_t>(prng.below(3)) - 1};
    s.payload = counting_bytes(prng.below(300), at);
    s.window = static_cast<std::uint16_t>(prng.next());
    if (prng.below(10) == 0) s.flags = "SA";
    if (prng.below(10) == 0) s.flags = "P";
    if (prng.below(10) == 0 && at != known) s.flags = "R";
    Bytes frame = s.frame();
    if (prng.below(10) == 0)
      frame[14 + prng.below(frame.size() - 14)] ^= static_cast<std::uint8_t>(1 + prng.below(255));
    if (prng.below(20) == 0) frame.resize(14 + prng.below(frame.size() - 14));
    send(frame);
  }
  EXPECT_GT(stream().size(), 20'000u);
  EXPECT_EQ(stream(), counting_bytes(stream().size()));
  EXPECT_THAT(chip.firmware.kinds(), ElementsAre(Kind::kAccepted));
}

class Accepting : public ScriptedPeerTest {
 protected:
  void synchronize() {
    chip.firmware.listen(5000);
    run_us(1);
    send(PeerSegment{"S", seq - 1});
    ack = answers.seen.at(0).seq() + 1;
    answers.seen.clear();
  }
};

// RFC 9293 section 3.10.7.4, fifth step, in SYN-RECEIVED.
TEST_F(Accepting, WhatDoesNotAcknowledgeTheSynIsRefused) {
  synchronize();
  for (const std::uint32_t wrong : {ack - 1, ack + 1}) {
    answers.seen.clear();
    send(PeerSegment{"A", seq, wrong, counting_bytes(100)});
    ASSERT_THAT(answers.texts(), ElementsAre("<R"));
    EXPECT_EQ(answers.seen[0].seq(), wrong);
  }
  EXPECT_THAT(chip.firmware.kinds(), IsEmpty());
  answers.seen.clear();
  send(PeerSegment{"A", seq, ack});
  EXPECT_THAT(chip.firmware.kinds(), ElementsAre(Kind::kAccepted));
  EXPECT_THAT(answers.texts(), IsEmpty());
  EXPECT_EQ(chip.tcp_rx.counters().bad_ack, 2u);
}

// The same section, fourth step.
TEST_F(Accepting, ASynOfTheWindowForgetsTheConnectionThatIsNotEstablished) {
  synchronize();
  send(PeerSegment{"S", seq - 1});  // a retransmission
  EXPECT_THAT(answers.texts(), ElementsAre("<A"));
  EXPECT_EQ(chip.connection.flows_in_use(), 1u);
  send(PeerSegment{"S", seq + 100});
  EXPECT_THAT(answers.texts(), ElementsAre("<A"));
  EXPECT_EQ(chip.connection.flows_in_use(), 0u);
  send(PeerSegment{"S", seq + 100});
  EXPECT_THAT(answers.texts(), ElementsAre("<A", "<SA"));
  EXPECT_EQ(answers.seen[1].ack(), seq + 101);
}

// RFC 9293 section 3.10.7.2.
TEST_F(Accepting, AListenerIgnoresWhatIsNeitherSynNorAck) {
  chip.firmware.listen(5000);
  run_us(1);
  send(PeerSegment{"P", seq, 0, counting_bytes(10)});
  EXPECT_THAT(answers.texts(), IsEmpty());
  send(PeerSegment{"SA", seq, 5});
  ASSERT_THAT(answers.texts(), ElementsAre("<R"));
  EXPECT_EQ(answers.seen[0].seq(), 5u);
}

TEST_F(Accepting, StartUpFrameAndFpdusInOneSegment) {
  establish();
  chip.firmware.read(FlowId{0}, 20);
  chip.firmware.on_event = [this](const LlpEvent& e) {
    if (e.kind() == Kind::kStreamData) chip.firmware.enter_rdma(e.flow());
  };
  run_us(1);
  send(PeerSegment{"PA", seq, ack, counting_bytes(120)});
  EXPECT_THAT(chip.firmware.kinds(), ElementsAre(Kind::kAccepted, Kind::kStreamData));
  const Bytes all = counting_bytes(120);
  EXPECT_EQ(chip.deframer.stream[0], Bytes(all.begin() + 20, all.end()));
  EXPECT_EQ(chip.deframer.beats.at(0).offset, 0u);
}

TEST_F(Accepting, WithoutTheOptionWindowsAreNotScaled) {
  establish();
  EXPECT_EQ(chip.firmware.events.at(0).segment_limit(), 536);  // no MSS option either
  send(PeerSegment{"PA", seq, ack, counting_bytes(10)});
  EXPECT_EQ(answers.seen.back().window(), 0xffff - 10);
}

TEST_F(Accepting, AFinBehindTheHandshakeReachesTheFirmwareAfterTheConnection) {
  chip.firmware.listen(5000);
  run_us(1);
  send(PeerSegment{"S", seq - 1});
  ack = answers.seen.at(0).seq() + 1;
  send(PeerSegment{"FA", seq, ack});
  EXPECT_THAT(chip.firmware.kinds(), ElementsAre(Kind::kAccepted, Kind::kPeerClosed));
}

TEST_F(Accepting, MoreConnectionsThanFlowsAreNotAnswered) {
  chip.firmware.listen(5000);
  run_us(1);
  for (std::uint16_t i = 0; i < 5; ++i) {
    PeerSegment syn{"S", 1000u};
    syn.peer_port = static_cast<std::uint16_t>(4000 + i);
    send(syn);
  }
  EXPECT_THAT(answers.texts(), ElementsAre("<SA", "<SA", "<SA", "<SA"));
  EXPECT_EQ(chip.connection.counters().no_flow, 1u);
}

}  // namespace
}  // namespace rnic::test
