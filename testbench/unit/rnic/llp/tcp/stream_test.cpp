// Streaming mode and the switch out of it: the firmware reads the octets it asks for, and the deframer gets the very
// next octet.
#include "testbench/unit/rnic/llp/tcp/tcp_chip.h"

namespace rnic::test {
namespace {

using testing::ElementsAre;
using Kind = TcpEvents;

class StreamTest : public TcpTest {
 protected:
  void connect() {
    b.firmware.listen(5000);
    a.firmware.open(kIpB, 5000, 4791);
  }
};

TEST_F(StreamTest, TheFirmwareReadsExactlyWhatItAsksFor) {
  connect();
  const Bytes sent = counting_bytes(100);
  a.firmware.on_event = [&](const LlpEvent& e) {
    if (e.kind() == Kind::kConnected) a.firmware.send(e.flow(), sent);
  };
  b.firmware.on_event = [&](const LlpEvent& e) {
    if (e.kind() == Kind::kAccepted) b.firmware.read(e.flow(), 20);
    if (e.kind() == Kind::kStreamData && e.bytes() == 20) b.firmware.read(e.flow(), 80);
  };
  run_until_idle();
  EXPECT_THAT(b.firmware.kinds(), ElementsAre(Kind::kAccepted, Kind::kStreamData, Kind::kStreamData));
  EXPECT_EQ(b.firmware.events[1].bytes(), 20u);
  EXPECT_EQ(stream_data(b.firmware), sent);
  EXPECT_TRUE(b.deframer.stream.empty());
}

TEST_F(StreamTest, AReadIsAnsweredShortWhenThePeerCloses) {
  connect();
  a.firmware.on_event = [&](const LlpEvent& e) {
    if (e.kind() != Kind::kConnected) return;
    a.firmware.send(e.flow(), counting_bytes(7));
    a.firmware.close(e.flow());
  };
  b.firmware.on_event = [&](const LlpEvent& e) {
    if (e.kind() == Kind::kAccepted) b.firmware.read(e.flow(), 20);
  };
  run_until_idle();
  EXPECT_THAT(b.firmware.kinds(), ElementsAre(Kind::kAccepted, Kind::kStreamData, Kind::kPeerClosed));
  EXPECT_EQ(stream_data(b.firmware), counting_bytes(7));
}

TEST_F(StreamTest, PeerClosedWaitsForOctetsThatWereNotRead) {
  connect();
  a.firmware.on_event = [&](const LlpEvent& e) {
    if (e.kind() != Kind::kConnected) return;
    a.firmware.send(e.flow(), counting_bytes(40));
    a.firmware.close(e.flow());
  };
  b.firmware.on_event = [&](const LlpEvent& e) {
    if (e.kind() == Kind::kAccepted) b.firmware.read(e.flow(), 30, 20'000);
    if (e.kind() == Kind::kStreamData) b.firmware.read(e.flow(), 10, 30'000);
  };
  run_until_idle();
  EXPECT_THAT(b.firmware.kinds(),
              ElementsAre(Kind::kAccepted, Kind::kStreamData, Kind::kStreamData, Kind::kPeerClosed));
  EXPECT_GE(b.firmware.cycles[3], 30'000u);
}

TEST_F(StreamTest, ALongStartUpFrameIsCutAtTheMss) {
  connect();
  a.firmware.on_event = [&](const LlpEvent& e) {
    if (e.kind() == Kind::kConnected) a.firmware.send(e.flow(), counting_bytes(2000));
  };
  b.firmware.on_event = [&](const LlpEvent& e) {
    if (e.kind() == Kind::kAccepted) b.firmware.read(e.flow(), 2000);
  };
  run_until_idle();
  EXPECT_EQ(stream_data(b.firmware), counting_bytes(2000));
  EXPECT_THAT(wire.texts(), ElementsAre(">S", "<SA", ">A", ">A1460", ">PA540", "<A"));
}

// The octets of one segment: the firmware takes the first `split`, and the deframer gets the rest.
class SwitchAt : public StreamTest, public testing::WithParamInterface<unsigned> {};

TEST_P(SwitchAt, TheDeframerGetsTheVeryNextOctet) {
  const std::uint32_t split = GetParam();
  connect();
  const Bytes sent = counting_bytes(200);
  a.firmware.on_event = [&](const LlpEvent& e) {
    if (e.kind() != Kind::kConnected) return;
    a.firmware.send(e.flow(), sent);
    a.firmware.send(e.flow(), counting_bytes(3, 200));
  };
  b.firmware.on_event = [&](const LlpEvent& e) {
    if (e.kind() == Kind::kAccepted) b.firmware.read(e.flow(), split, 20'000);
    if (e.kind() == Kind::kStreamData) b.firmware.enter_rdma(e.flow());
  };
  run_until_idle();
  const Bytes all = counting_bytes(203);
  EXPECT_EQ(stream_data(b.firmware), Bytes(all.begin(), all.begin() + split));
  EXPECT_EQ(b.deframer.stream[0], Bytes(all.begin() + split, all.end()));
  b.firmware.events.clear();
  EXPECT_EQ(pool.in_use(), 0u);
}
INSTANTIATE_TEST_SUITE_P(Octets, SwitchAt,
                         testing::Values(1, 2, 3, 4, 19, 20, 21, 63, 64, 65, 127, 128, 129, 199, 200, 201, 202, 203));

// A read that was requested before our own frame does not take octets that come after that frame. They wait for the
// next reader, here the deframer, however late that is.
class AnswerToOurFrame : public StreamTest, public testing::WithParamInterface<Cycle> {};

TEST_P(AnswerToOurFrame, IsNotForAnEarlierRead) {
  connect();
  const Cycle switched = GetParam();
  a.firmware.on_event = [&](const LlpEvent& e) {
    if (e.kind() == Kind::kConnected) a.firmware.read(e.flow(), 20);
    if (e.kind() != Kind::kStreamData) return;
    a.firmware.enter_rdma(e.flow());
    a.segmenter.send(e.flow(), 3, 512);
  };
  b.firmware.on_event = [&](const LlpEvent& e) {
    if (e.kind() != Kind::kAccepted) return;
    b.firmware.read(e.flow(), 1);
    b.firmware.send(e.flow(), counting_bytes(20));
    b.firmware.enter_rdma(e.flow(), switched);
  };
  run_until_idle();
  EXPECT_EQ(stream_data(a.firmware), counting_bytes(20));
  EXPECT_TRUE(stream_data(b.firmware).empty());
  EXPECT_EQ(b.deframer.stream[0], counting_bytes(3 * 512));
}
INSTANTIATE_TEST_SUITE_P(Switched, AnswerToOurFrame, testing::Values(0, 1000, 1500, 2000, 3000, 20'000, 200'000));

TEST_F(StreamTest, FpdusRightBehindTheStartUpFrameReachTheDeframerInOrder) {
  connect();
  // a sends its start-up frame and FPDUs at once; b's firmware is slow, so all of it waits in tcp_rx.
  a.firmware.on_event = [&](const LlpEvent& e) {
    if (e.kind() != Kind::kConnected) return;
    a.firmware.send(e.flow(), counting_bytes(20));
    a.firmware.enter_rdma(e.flow());
    a.segmenter.send(e.flow(), 40, 512);
  };
  a.segmenter.send(FlowId{0}, 1, 512, 3000);
  b.firmware.on_event = [&](const LlpEvent& e) {
    if (e.kind() == Kind::kAccepted) b.firmware.read(e.flow(), 20, 3200);
    if (e.kind() == Kind::kStreamData) b.firmware.enter_rdma(e.flow());
  };
  run_until_idle();
  EXPECT_EQ(stream_data(b.firmware), counting_bytes(20));
  EXPECT_EQ(b.deframer.stream[0], counting_bytes(41 * 512));
  EXPECT_EQ(a.tcp_tx.counters().retransmissions, 0u);
}

}  // namespace
}  // namespace rnic::test
