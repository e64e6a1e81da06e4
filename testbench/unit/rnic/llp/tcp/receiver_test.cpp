// The receiving half of a connection, without a network: what happens to each segment (RFC 9293 section 3.10.7.4).
#include "model/rnic/llp/tcp/receiver.h"

#include <vector>

#include <gmock/gmock.h>

namespace rnic::tcp {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using wire::TcpHeader;
using Answer = Receiver::Answer;
using Verdict = Receiver::Verdict;

// ---- ReceiveWindow

TEST(ReceiveWindow, HoldsWhatIsBetweenItsEdges) {
  ReceiveWindow window;
  window.open(0xffffff00, 0x200, 100);
  EXPECT_FALSE(window.holds(0xfffffeff));
  EXPECT_TRUE(window.holds(0xffffff00));
  EXPECT_TRUE(window.holds(0xff));
  EXPECT_FALSE(window.holds(0x100));
}

// RFC 9293 table 6: each case at both edges.
TEST(ReceiveWindow, AcceptsASegmentWithAnOctetInTheWindow) {
  ReceiveWindow window;
  window.open(1000, 500, 100);
  EXPECT_FALSE(window.accepts(999, 0));
  EXPECT_TRUE(window.accepts(1000, 0));
  EXPECT_TRUE(window.accepts(1499, 0));
  EXPECT_FALSE(window.accepts(1500, 0));
  EXPECT_FALSE(window.accepts(900, 100));
  EXPECT_TRUE(window.accepts(900, 101));
  EXPECT_TRUE(window.accepts(1499, 100));
  EXPECT_FALSE(window.accepts(1500, 100));
  EXPECT_TRUE(window.accepts(900, 1000));  // covers the whole window
}

TEST(ReceiveWindow, AClosedWindowAcceptsWhatIsAtRcvNxt) {
  ReceiveWindow window;
  window.open(1000, 0, 100);
  for (const std::uint32_t length : {0u, 100u}) {
    EXPECT_TRUE(window.accepts(1000, length));
    EXPECT_FALSE(window.accepts(999 - length, length));
    EXPECT_FALSE(window.accepts(1001, length));
  }
  EXPECT_EQ(window.part_of(1000, 100, true).bytes, 0u);
  EXPECT_FALSE(window.part_of(1000, 0, true).fin);
}

TEST(ReceiveWindow, TakesOffWhatWasReceivedBefore) {
  ReceiveWindow window;
  window.open(1000, 500, 100);
  const ReceiveWindow::Part fin = window.part_of(900, 100, true);  // only its FIN is new
  EXPECT_TRUE(fin.fin);
  EXPECT_EQ(fin.skip, 100u);
  EXPECT_EQ(fin.bytes, 0u);
  const ReceiveWindow::Part part = window.part_of(900, 150, false);
  EXPECT_EQ(part.skip, 100u);
  EXPECT_EQ(part.bytes, 50u);
  EXPECT_FALSE(part.beyond);
}

TEST(ReceiveWindow, TakesOffWhatIsBeyondItsEdge) {
  ReceiveWindow window;
  window.open(1000, 500, 100);
  const ReceiveWindow::Part exact = window.part_of(1400, 99, true);
  EXPECT_EQ(exact.bytes, 99u);
  EXPECT_TRUE(exact.fin);
  EXPECT_FALSE(exact.beyond);
  const ReceiveWindow::Part fin = window.part_of(1400, 100, true);  // a FIN takes a sequence number, too
  EXPECT_EQ(fin.bytes, 100u);
  EXPECT_FALSE(fin.fin);
  EXPECT_TRUE(fin.beyond);
  const ReceiveWindow::Part part = window.part_of(1400, 101, false);
  EXPECT_EQ(part.bytes, 100u);
  EXPECT_TRUE(part.beyond);
  EXPECT_EQ(window.part_of(900, 1000, false).bytes, 500u);  // cut on both sides
}

TEST(ReceiveWindow, ReportsRoomFromAStepOn) {
  ReceiveWindow window;
  window.open(1000, 500, 50);
  EXPECT_FALSE(window.give_room(99, 100));
  EXPECT_FALSE(window.reported());
  EXPECT_TRUE(window.give_room(1, 100));
  EXPECT_EQ(window.report(), 1600u);
  EXPECT_TRUE(window.reported());
  EXPECT_FALSE(window.give_room(99, 100));
}

// RFC 9293 section 3.8.6.2.2: the edge stays until there is this much room, and octets beyond it are not taken.
TEST(ReceiveWindow, ItsEdgeMovesByASegmentOrHalfOfTheWindow) {
  for (const std::uint32_t mss : {100u, 1000u}) {
    ReceiveWindow window;
    window.open(1000, 500, mss);
    const std::uint32_t step = mss == 100 ? 100 : 250;
    window.give_room(step - 1, 1000);
    EXPECT_TRUE(window.reported());
    EXPECT_EQ(window.report(), 1500u);
    EXPECT_FALSE(window.holds(1500));
    window.give_room(1, 1000);
    EXPECT_FALSE(window.reported());
    EXPECT_EQ(window.edge(), 1500u);
    EXPECT_EQ(window.report(), 1500 + step);
    EXPECT_TRUE(window.holds(1500));
  }
}

// ---- Paws

constexpr PawsTime kNow{1'000'000, 100};

TEST(Paws, WhatIsOlderThanTheLastInOrderIsOld) {
  Paws paws;
  paws.start(100, kNow);
  EXPECT_TRUE(paws.is_old(99, kNow));
  EXPECT_FALSE(paws.is_old(100, kNow));
  paws.note(105, 1010, 1010, kNow);
  EXPECT_TRUE(paws.is_old(104, kNow));
}

TEST(Paws, LearnsOnlyFromSegmentsThatHaveRcvNxt) {
  Paws paws;
  paws.start(100, kNow);
  paws.note(200, 1001, 1000, kNow);  // out of order
  EXPECT_FALSE(paws.is_old(100, kNow));
  paws.note(110, 900, 1000, kNow);
  EXPECT_TRUE(paws.is_old(109, kNow));
}

TEST(Paws, TimestampsWrap) {
  Paws paws;
  paws.start(0xfffffff0, kNow);
  EXPECT_FALSE(paws.is_old(5, kNow));
  paws.note(5, 1000, 1000, kNow);
  EXPECT_TRUE(paws.is_old(0xfffffff0, kNow));
}

// RFC 7323 section 5.5.
TEST(Paws, TheLastOneSaysNothingAfterItsLife) {
  Paws paws;
  paws.start(100, {1000, 50});
  EXPECT_TRUE(paws.is_old(99, {1050, 50}));
  EXPECT_FALSE(paws.is_old(99, {1051, 50}));
  paws.note(100, 1000, 1000, {1040, 50});
  EXPECT_TRUE(paws.is_old(99, {1090, 50}));
  EXPECT_FALSE(paws.is_old(99, {1091, 50}));
  EXPECT_EQ(PawsTime::life_of(1'000'000), 24u * 86'400);
  EXPECT_EQ(PawsTime::life_of(1'000'000'000), 24u * 86'400);
  EXPECT_EQ(PawsTime::life_of(1000), 2147u);  // half of the timestamp circle
}

// ---- Receiver

// The peer's stream begins at kFirst. In ours, kUna is the first octet that is not acknowledged, and kNxt the next one
// to send.
constexpr std::uint32_t kFirst = 1000, kWindow = 2000;
constexpr std::uint32_t kUna = 0xfffffff0, kNxt = 500, kPeerWindow = 3000;
constexpr FlowId kFlow{3};

class ReceiverTest : public testing::Test {
 protected:
  ReceiverTest() {
    command.established = true;
    open();
  }
  ~ReceiverTest() override { receiver.clear(memory); }

  void open() {
    command.agreed.emss = 50;
    command.agreed.scale = 4;
    command.agreed.ts_recent = 500;
    command.rcv_nxt = kFirst;
    command.snd_una = kUna;
    command.peer_window = kPeerWindow;
    receiver.open(command, kWindow, kNow);
  }
  static ReceivedSegment segment(std::uint32_t seq, std::uint32_t bytes, std::uint8_t flags = TcpHeader::kAck) {
    static const std::uint8_t octets[4096] = {};
    ReceivedSegment s;
    s.header.seq = seq;
    s.header.ack = kNxt;
    s.header.flags = flags;
    s.payload = {octets, bytes};
    return s;
  }
  Receiver::Arrival receive(const ReceivedSegment& s) {
    const BufferRef buf = buffers.take();
    last = s;
    const Receiver::Arrival a = receiver.on_segment(memory, s, buf, snd_nxt, kNow);
    if (a.fills_gap) {
      for (llp::ReceivedOctets octets; receiver.take_next(memory, octets);) from_queue.push_back(octets.bytes);
    }
    return a;
  }
  Receiver::Arrival receive(std::uint32_t seq, std::uint32_t bytes, std::uint8_t flags = TcpHeader::kAck) {
    return receive(segment(seq, bytes, flags));
  }

  static constexpr std::uint8_t kFin = TcpHeader::kFin | TcpHeader::kAck;
  RxCommand command;
  std::uint32_t snd_nxt = kNxt;
  BufferPool buffers{4096};
  ReassemblyMemory memory{1 << 16, 100};
  Receiver receiver;
  ReceivedSegment last;
  std::vector<std::uint32_t> from_queue;  // octets of each piece, in order
};

TEST_F(ReceiverTest, TakesWhatIsInOrder) {
  const Receiver::Arrival a = receive(kFirst, 100);
  EXPECT_EQ(a.verdict, Verdict::kAcceptable);
  EXPECT_EQ(a.in_order.size(), 100u);
  EXPECT_EQ(a.in_order_seq, kFirst);
  EXPECT_EQ(a.answer, Answer::kSoon);
  EXPECT_TRUE(a.for_sender && a.acks);
  EXPECT_FALSE(a.fills_gap || a.trimmed || a.duplicate || a.out_of_order || a.beyond_window || a.fin);
  EXPECT_EQ(receiver.rcv_nxt(), kFirst + 100);
}

TEST_F(ReceiverTest, OwesNoAnswerForAnEmptySegmentOfTheWindow) {
  for (const std::uint32_t seq : {kFirst, kFirst + kWindow - 1}) {
    const Receiver::Arrival a = receive(seq, 0);
    EXPECT_EQ(a.verdict, Verdict::kAcceptable);
    EXPECT_EQ(a.answer, Answer::kNone);
    EXPECT_TRUE(a.for_sender && a.acks);
  }
}

// RFC 9293 section 3.10.7.4, first step. The segment just before RCV.NXT is a keepalive, or a probe of our window.
TEST_F(ReceiverTest, AnswersWhatIsOutsideOfTheWindowAndBelievesNothingOfIt) {
  struct Outside {
    std::uint32_t seq, bytes;
    std::uint8_t flags;
  };
  for (const Outside& o :
       {Outside{kFirst - 1, 0, TcpHeader::kAck}, Outside{kFirst + kWindow, 0, TcpHeader::kAck},
        Outside{kFirst - 100, 100, TcpHeader::kAck}, Outside{kFirst - 1, 0, kFin}, Outside{kFirst + kWindow, 100, kFin},
        Outside{kFirst + kWindow, 0, kFin}, Outside{kFirst - 1, 0, 0}, Outside{kFirst + kWindow, 100, 0}}) {
    ReceivedSegment s = segment(o.seq, o.bytes, o.flags);
    s.header.options.timestamps = wire::TcpTimestamps{1, 0};
    const Receiver::Arrival a = receive(s);
    EXPECT_EQ(a.verdict, Verdict::kOutside) << o.seq;
    EXPECT_EQ(a.answer, Answer::kNow);
    EXPECT_TRUE(a.for_sender);
    EXPECT_FALSE(a.acks || a.fin || a.out_of_order);
    EXPECT_THAT(a.in_order, IsEmpty());
    EXPECT_EQ(receiver.rcv_nxt(), kFirst);
    EXPECT_FALSE(receiver.feedback(kFlow, last, a).timestamps);
  }
  EXPECT_TRUE(receive(kFirst - 100, 100).duplicate);
  EXPECT_TRUE(receive(kFirst + kWindow, 100).beyond_window);
}

// The same step, "special allowance".
TEST_F(ReceiverTest, AClosedWindowTakesAnAckAndNoOctets) {
  receive(kFirst, kWindow);
  const Receiver::Arrival a = receive(kFirst + kWindow, 100, kFin);
  EXPECT_EQ(a.verdict, Verdict::kAcceptable);
  EXPECT_TRUE(a.acks && a.beyond_window);
  EXPECT_EQ(a.answer, Answer::kNow);
  EXPECT_FALSE(a.fin || a.out_of_order);
  EXPECT_THAT(a.in_order, IsEmpty());
  EXPECT_EQ(receive(kFirst + kWindow, 0).answer, Answer::kNone);
  EXPECT_EQ(receive(kFirst + kWindow + 1, 0).verdict, Verdict::kOutside);
  EXPECT_EQ(receiver.rcv_nxt(), kFirst + kWindow);
}

// ---- The ACK (RFC 9293 section 3.10.7.4, fifth; RFC 5961 section 5)

TEST_F(ReceiverTest, TakesAnAckOfTheWindowsThatWereAndOfWhatWasSent) {
  const auto verdict = [this](std::uint32_t ack) {
    ReceivedSegment s = segment(kFirst, 0);
    s.header.ack = ack;
    return receive(s).verdict;
  };
  EXPECT_EQ(verdict(kUna - kPeerWindow - 1), Verdict::kBadAck);
  EXPECT_EQ(verdict(kUna - kPeerWindow), Verdict::kAcceptable);
  EXPECT_EQ(verdict(kUna + 1), Verdict::kAcceptable);
  EXPECT_EQ(verdict(kNxt + 1), Verdict::kBadAck);
  EXPECT_EQ(verdict(kNxt), Verdict::kAcceptable);
  EXPECT_EQ(verdict(kNxt - kPeerWindow - 1), Verdict::kBadAck);
  ReceivedSegment s = segment(kFirst, 0);
  s.header.window = 1000;  // 16000 octets
  EXPECT_EQ(receive(s).verdict, Verdict::kAcceptable);
  EXPECT_EQ(verdict(kNxt - 16000), Verdict::kAcceptable);
  EXPECT_EQ(verdict(kNxt - 16001), Verdict::kBadAck);
}

TEST_F(ReceiverTest, TakesNothingOfASegmentWhoseAckIsBad) {
  for (const std::uint32_t ack : {kNxt + 1, kUna - kPeerWindow - 1}) {
    ReceivedSegment s = segment(kFirst, 100, kFin);
    s.header.ack = ack;
    const Receiver::Arrival a = receive(s);
    EXPECT_EQ(a.verdict, Verdict::kBadAck);
    EXPECT_EQ(a.answer, Answer::kChallenge);
    EXPECT_TRUE(a.for_sender);
    EXPECT_FALSE(a.acks || a.fin);
    EXPECT_THAT(a.in_order, IsEmpty());
    EXPECT_EQ(receiver.rcv_nxt(), kFirst);
  }
}

class SynReceived : public ReceiverTest {
 protected:
  explicit SynReceived(bool passive = true) {
    command.established = false;
    command.passive = passive;
    snd_nxt = kUna + 1;
    open();
  }
  ReceivedSegment with_ack(std::uint32_t ack, std::uint32_t seq, std::uint32_t bytes, std::uint8_t flags) {
    ReceivedSegment s = segment(seq, bytes, flags);
    s.header.ack = ack;
    return s;
  }
};
class ActiveSynReceived : public SynReceived {
 protected:
  ActiveSynReceived() : SynReceived(false) {}
};

TEST_F(SynReceived, RefusesWhatDoesNotAcknowledgeTheSyn) {
  for (const std::uint32_t ack : {kUna, kUna + 2, kUna - 1}) {
    const Receiver::Arrival a = receive(with_ack(ack, kFirst, 100, TcpHeader::kAck));
    EXPECT_EQ(a.verdict, Verdict::kRefused);
    EXPECT_FALSE(a.for_sender || a.acks);
    EXPECT_EQ(receiver.rcv_nxt(), kFirst);
  }
  EXPECT_EQ(receive(with_ack(kUna + 1, kFirst, 100, TcpHeader::kAck)).in_order.size(), 100u);
  EXPECT_EQ(receive(with_ack(kUna, kFirst + 100, 0, TcpHeader::kAck)).verdict, Verdict::kAcceptable);
}

TEST_F(SynReceived, ASynOfTheWindowEndsIt) {
  EXPECT_EQ(receive(kFirst - 1, 0, TcpHeader::kSyn).verdict, Verdict::kBadSyn);  // the known SYN
  EXPECT_EQ(receive(kFirst + kWindow, 0, TcpHeader::kSyn).verdict, Verdict::kBadSyn);
  EXPECT_EQ(receive(kFirst + 10, 0, TcpHeader::kSyn).verdict, Verdict::kReset);
}

TEST_F(ActiveSynReceived, ASynIsChallenged) {
  const Receiver::Arrival a = receive(kFirst + 10, 0, TcpHeader::kSyn);
  EXPECT_EQ(a.verdict, Verdict::kBadSyn);
  EXPECT_EQ(a.answer, Answer::kChallenge);
}

// RFC 9293 figure 8.
TEST_F(ActiveSynReceived, TheSynThatIsKnownAcknowledgesOurs) {
  constexpr std::uint8_t kSynAck = TcpHeader::kSyn | TcpHeader::kAck;
  EXPECT_FALSE(receive(with_ack(kUna, kFirst - 1, 0, kSynAck)).acks);
  EXPECT_FALSE(receive(with_ack(kUna + 1, kFirst, 0, kSynAck)).acks);
  const Receiver::Arrival a = receive(with_ack(kUna + 1, kFirst - 1, 0, kSynAck));
  EXPECT_TRUE(a.acks);
  EXPECT_EQ(a.answer, Answer::kChallenge);
  EXPECT_FALSE(receive(with_ack(kUna + 1, kFirst - 1, 0, kSynAck)).acks);  // only once
}

// ---- Octets

TEST_F(ReceiverTest, AnswersADuplicateAtOnce) {
  receive(kFirst, 100);
  const Receiver::Arrival a = receive(kFirst, 100);
  EXPECT_TRUE(a.duplicate);
  EXPECT_FALSE(a.acks);
  EXPECT_EQ(a.answer, Answer::kNow);
  EXPECT_THAT(a.in_order, IsEmpty());
}

TEST_F(ReceiverTest, TakesTheNewOctetsOfASegment) {
  receive(kFirst, 100);
  const Receiver::Arrival a = receive(kFirst + 50, 100);
  EXPECT_TRUE(a.trimmed);
  EXPECT_EQ(a.in_order.size(), 50u);
  EXPECT_EQ(a.answer, Answer::kSoon);
  EXPECT_EQ(receiver.rcv_nxt(), kFirst + 150);
}

TEST_F(ReceiverTest, TakesWhatTheWindowHolds) {
  const Receiver::Arrival a = receive(kFirst, kWindow + 1, kFin);
  EXPECT_TRUE(a.beyond_window);
  EXPECT_EQ(a.in_order.size(), kWindow);
  EXPECT_FALSE(a.fin);
  EXPECT_EQ(a.answer, Answer::kNow);
  receiver.give_room(50, 100);
  receiver.window_update(kFlow);
  EXPECT_EQ(receive(kFirst + kWindow, 60).in_order.size(), 50u);
}

// ---- Out of order

TEST_F(ReceiverTest, KeepsWhatIsOutOfOrderAndReportsTheRun) {
  const Receiver::Arrival a = receive(kFirst + 100, 50);
  EXPECT_TRUE(a.out_of_order);
  EXPECT_EQ(a.answer, Answer::kNow);
  EXPECT_EQ(a.kept.left, kFirst + 100);
  EXPECT_EQ(a.kept.right, kFirst + 150);
  EXPECT_EQ(a.offered.size(), 50u);
  EXPECT_EQ(a.offered_distance, 100u);
  EXPECT_EQ(receiver.rcv_nxt(), kFirst);
  EXPECT_THAT(receive(kFirst + 100, 60).offered, IsEmpty());  // only a part is new
}

TEST_F(ReceiverTest, SaysThatSomeDidNotFit) {
  memory.max_bytes = 10;
  const Receiver::Arrival a = receive(kFirst + 100, 50);
  EXPECT_TRUE(a.dropped);
  EXPECT_EQ(a.kept.left, a.kept.right);
  EXPECT_THAT(a.offered, IsEmpty());
}

TEST_F(ReceiverTest, FillsAGapAndAnswersAtOnce) {
  receive(kFirst + 100, 50);
  receive(kFirst + 150, 50);
  receive(kFirst + 300, 50);
  const Receiver::Arrival a = receive(kFirst, 100);
  EXPECT_EQ(a.in_order.size(), 100u);
  EXPECT_EQ(a.answer, Answer::kNow);
  EXPECT_THAT(from_queue, ElementsAre(50u, 50u));
  EXPECT_EQ(receiver.rcv_nxt(), kFirst + 200);
}

// RFC 5681 section 4.2: this also holds for a segment that fills part of the gap.
TEST_F(ReceiverTest, AnswersAtOnceWhileAGapIsLeft) {
  receive(kFirst + 300, 50);
  EXPECT_EQ(receive(kFirst, 100).answer, Answer::kNow);
}

// Kept octets go on from the queue, so a segment that overlaps them is in order only up to there.
TEST_F(ReceiverTest, TakesInOrderWhatComesBeforeWhatIsKept) {
  receive(kFirst + 100, 50);
  const Receiver::Arrival a = receive(kFirst, 200, kFin);
  EXPECT_EQ(a.in_order.size(), 100u);
  EXPECT_THAT(from_queue, ElementsAre(50u, 50u));
  EXPECT_EQ(a.kept.left, a.kept.right);  // nothing is out of order now
  EXPECT_THAT(a.offered, IsEmpty());
  EXPECT_TRUE(receiver.finished());
  EXPECT_EQ(receiver.rcv_nxt(), kFirst + 201);
}

TEST_F(ReceiverTest, GivesBackAllMemory) {
  receive(kFirst + 100, 50);
  receive(kFirst + 200, 50);
  receiver.clear(memory);
  EXPECT_EQ(memory.bytes, 0u);
  EXPECT_EQ(buffers.in_use(), 0u);
}

// ---- FIN

TEST_F(ReceiverTest, TakesAFinInOrder) {
  const Receiver::Arrival a = receive(kFirst, 100, kFin);
  EXPECT_TRUE(a.fin);
  EXPECT_EQ(a.answer, Answer::kNow);
  EXPECT_EQ(a.in_order.size(), 100u);
  EXPECT_TRUE(receiver.finished());
  EXPECT_EQ(receiver.rcv_nxt(), kFirst + 101);
}

TEST_F(ReceiverTest, TakesAFinWithoutOctets) {
  EXPECT_TRUE(receive(kFirst, 0, kFin).fin);
  EXPECT_EQ(receiver.rcv_nxt(), kFirst + 1);
}

TEST_F(ReceiverTest, KeepsAFinOutOfOrder) {
  EXPECT_FALSE(receive(kFirst + 100, 0, kFin).fin);
  EXPECT_FALSE(receiver.finished());
  const Receiver::Arrival a = receive(kFirst, 100);
  EXPECT_FALSE(a.fin);
  EXPECT_EQ(a.answer, Answer::kNow);
  EXPECT_TRUE(receiver.finished());
  EXPECT_EQ(receiver.rcv_nxt(), kFirst + 101);
}

TEST_F(ReceiverTest, ReportsARepeatedFin) {
  receive(kFirst, 100, kFin);
  const Receiver::Arrival a = receive(kFirst, 100, kFin);
  EXPECT_TRUE(a.fin);
  EXPECT_TRUE(a.duplicate);
  EXPECT_EQ(receiver.rcv_nxt(), kFirst + 101);
  EXPECT_FALSE(receive(kFirst + 50, 50).fin);
  EXPECT_FALSE(receive(kFirst, 50, kFin).fin);  // the FIN of older octets
}

TEST_F(ReceiverTest, TakesNothingBehindAFin) {
  receive(kFirst + 200, 50);
  receive(kFirst, 100, kFin);
  EXPECT_EQ(memory.bytes, 0u);
  const Receiver::Arrival a = receive(kFirst + 101, 50);
  EXPECT_TRUE(a.duplicate);
  EXPECT_TRUE(a.acks);
  EXPECT_FALSE(a.fin);
  EXPECT_EQ(receiver.rcv_nxt(), kFirst + 101);
}

// ---- RST and SYN (RFC 5961)

TEST_F(ReceiverTest, ObeysARstAtRcvNxtOnly) {
  EXPECT_EQ(receive(kFirst + 1, 0, TcpHeader::kRst).verdict, Verdict::kBadReset);
  const Receiver::Arrival a = receive(kFirst, 0, TcpHeader::kRst | TcpHeader::kAck);
  EXPECT_EQ(a.verdict, Verdict::kReset);
  EXPECT_TRUE(a.for_sender);  // the sending half falls silent
  EXPECT_FALSE(a.acks || a.answer != Answer::kNone);
  EXPECT_FALSE(receiver.is_open());  // nothing is accepted now
}

TEST_F(ReceiverTest, ChallengesARstOfTheWindowOnly) {
  const Receiver::Arrival a = receive(kFirst + kWindow - 1, 0, TcpHeader::kRst | TcpHeader::kAck);
  EXPECT_EQ(a.answer, Answer::kChallenge);
  EXPECT_TRUE(a.for_sender);
  EXPECT_FALSE(a.acks);
  EXPECT_FALSE(receive(kFirst + kWindow, 0, TcpHeader::kRst).for_sender);
  EXPECT_FALSE(receive(kFirst - 1, 0, TcpHeader::kRst).for_sender);
}

TEST_F(ReceiverTest, ChallengesASyn) {
  const Receiver::Arrival a = receive(kFirst, 100, TcpHeader::kSyn);
  EXPECT_EQ(a.verdict, Verdict::kBadSyn);
  EXPECT_EQ(a.answer, Answer::kChallenge);
  EXPECT_FALSE(a.acks);
  EXPECT_THAT(a.in_order, IsEmpty());
  for (const std::uint32_t seq : {kFirst - 1, kFirst, kFirst + kWindow}) {
    const Receiver::Arrival with_ack = receive(seq, 0, TcpHeader::kSyn | TcpHeader::kAck);
    EXPECT_EQ(with_ack.answer, Answer::kChallenge);
    EXPECT_FALSE(with_ack.acks);
  }
  EXPECT_EQ(receiver.rcv_nxt(), kFirst);
}

TEST_F(ReceiverTest, IgnoresASegmentWithoutAck) {
  const Receiver::Arrival a = receive(kFirst, 100, TcpHeader::kPsh);
  EXPECT_EQ(a.verdict, Verdict::kNoAck);
  EXPECT_FALSE(a.for_sender);
  EXPECT_EQ(receiver.rcv_nxt(), kFirst);
}

// ---- Timestamps

class TimestampsTest : public ReceiverTest {
 protected:
  TimestampsTest() {
    command.agreed.timestamps = true;
    open();
  }
  Receiver::Arrival receive_at(std::uint32_t value, std::uint32_t seq, std::uint32_t bytes,
                               std::uint8_t flags = TcpHeader::kAck) {
    ReceivedSegment s = segment(seq, bytes, flags);
    s.header.options.timestamps = wire::TcpTimestamps{value, 0};
    return receive(s);
  }
};

TEST_F(TimestampsTest, IgnoresASegmentWithoutTimestamp) {
  const Receiver::Arrival a = receive(kFirst, 100);
  EXPECT_EQ(a.verdict, Verdict::kNoTimestamp);
  EXPECT_FALSE(a.for_sender);
  EXPECT_EQ(receiver.rcv_nxt(), kFirst);
}

TEST_F(TimestampsTest, AcknowledgesAnOldSegmentAndTakesNothingOfIt) {
  const Receiver::Arrival a = receive_at(499, kFirst, 100);
  EXPECT_EQ(a.verdict, Verdict::kOldTimestamp);
  EXPECT_EQ(a.answer, Answer::kNow);
  EXPECT_TRUE(a.for_sender);
  EXPECT_FALSE(a.acks);
  EXPECT_EQ(receiver.rcv_nxt(), kFirst);
  EXPECT_FALSE(receiver.feedback(kFlow, last, a).timestamps);
}

TEST_F(TimestampsTest, LearnsFromSegmentsInOrder) {
  receive_at(600, kFirst, 100);
  EXPECT_EQ(receive_at(599, kFirst + 100, 100).verdict, Verdict::kOldTimestamp);
  EXPECT_TRUE(receiver.feedback(kFlow, last, receive_at(600, kFirst + 100, 100)).timestamps);
}

TEST_F(TimestampsTest, LearnsNothingFromWhatIsDropped) {
  receive_at(600, kFirst, 100);
  receive_at(700, kFirst, 100);
  ReceivedSegment s = segment(kFirst + 100, 0);
  s.header.options.timestamps = wire::TcpTimestamps{700, 0};
  s.header.ack = kNxt + 1;
  EXPECT_EQ(receive(s).verdict, Verdict::kBadAck);
  EXPECT_EQ(receive_at(650, kFirst + 100, 0).verdict, Verdict::kAcceptable);
}

TEST_F(TimestampsTest, AResetNeedsNone) {
  EXPECT_EQ(receive_at(499, kFirst + 1, 0, TcpHeader::kRst).verdict, Verdict::kBadReset);
  EXPECT_EQ(receive(kFirst, 0, TcpHeader::kRst).verdict, Verdict::kReset);
}

TEST_F(TimestampsTest, AnOldOneIsAsGoodForAReset) {
  EXPECT_EQ(receive_at(499, kFirst, 0, TcpHeader::kRst).verdict, Verdict::kReset);
}

TEST_F(ReceiverTest, TakesTimestampsThatWereNotAgreedOn) {
  ReceivedSegment s = segment(kFirst, 100);
  s.header.options.timestamps = wire::TcpTimestamps{1, 0};
  EXPECT_EQ(receive(s).verdict, Verdict::kAcceptable);
}

// ---- What the sending half learns

TEST_F(ReceiverTest, TellsTheSendingHalfOfTheSegment) {
  ReceivedSegment s = segment(kFirst, 100);
  s.header.ack = 77;  // between kUna and kNxt
  s.header.window = 5;
  s.header.options.sack_blocks = 1;
  s.header.options.sack[0] = {10, 20};
  s.ecn = wire::kCongestionExperienced;
  const Receiver::Arrival a = receive(s);
  const RxFeedback fb = receiver.feedback(kFlow, s, a);
  EXPECT_EQ(fb.flow, kFlow);
  EXPECT_TRUE(fb.acks && fb.ce);
  EXPECT_EQ(fb.answer, Answer::kSoon);
  EXPECT_EQ(fb.payload, 100u);
  EXPECT_EQ(fb.seq, kFirst);
  EXPECT_EQ(fb.ack, 77u);
  EXPECT_EQ(fb.window, 5u << 4);
  EXPECT_EQ(fb.sack_blocks, 1u);
  EXPECT_EQ(fb.sack[0].right, 20u);
  EXPECT_EQ(fb.rcv_nxt, kFirst + 100);
  EXPECT_EQ(fb.rcv_edge, kFirst + kWindow);
}

TEST_F(ReceiverTest, AWindowHasThirtyBits) {
  command.agreed.scale = 14;
  receiver.open(command, kWindow, kNow);
  ReceivedSegment s = segment(kFirst, 0);
  s.header.window = 0xffff;
  EXPECT_EQ(receiver.feedback(kFlow, s, receive(s)).window, 0x3fffc000u);
  s.header.ack = kNxt - 0x3fffc000u;  // the oldest ACK number accepted
  EXPECT_EQ(receive(s).verdict, Verdict::kAcceptable);
  --s.header.ack;
  EXPECT_EQ(receive(s).verdict, Verdict::kBadAck);
}

TEST_F(ReceiverTest, AWindowOfASynIsNotScaled) {
  ReceivedSegment s = segment(kFirst, 0, TcpHeader::kSyn | TcpHeader::kAck);
  s.header.window = 5;
  EXPECT_EQ(receiver.feedback(kFlow, s, receive(s)).window, 5u);
}

TEST_F(ReceiverTest, ReportsAnOpenedWindowOnce) {
  EXPECT_FALSE(receiver.give_room(99, 100));
  EXPECT_TRUE(receiver.give_room(1, 100));
  EXPECT_FALSE(receiver.window_reported());
  const RxFeedback fb = receiver.window_update(kFlow);
  EXPECT_EQ(fb.rcv_edge, kFirst + kWindow + 100);
  EXPECT_EQ(fb.rcv_nxt, kFirst);
  EXPECT_FALSE(fb.acks);
  EXPECT_TRUE(receiver.window_reported());
}

// ---- The life of a connection

TEST(Receiver, IsOpenFromTheHandshakeOn) {
  Receiver receiver;
  EXPECT_FALSE(receiver.in_use() || receiver.is_open());
  receiver.await_syn();
  EXPECT_TRUE(receiver.in_use());
  EXPECT_FALSE(receiver.is_open());
  receiver.open({}, 100, kNow);
  EXPECT_TRUE(receiver.in_use() && receiver.is_open());
}

}  // namespace
}  // namespace rnic::tcp
