#include "model/system/acknowledgements.h"

#include <gmock/gmock.h>

namespace rnic::test {
namespace {

using testing::ElementsAre;
using Kind = RequestId::Kind;

// Node 1 has sent requests on flow 7; node 2, which has them on flow 9, acknowledges.
class AcknowledgementsTest : public testing::Test {
 protected:
  static RequestId request(std::uint64_t n) { return {1, Kind::kSend, 3, 0, n}; }
  static constexpr RequestId kAcks{2, Kind::kFlow, 9, 0, 0};
  static constexpr FlowId kThere{7}, kBack{9};
  Acknowledgements acks{2};

  void sends(std::uint64_t n, std::uint32_t end) { acks.written(1, {request(n), kThere, 0, true, 0, 0}, end); }
  void writes_ack(std::uint32_t ack, std::uint64_t ps) { acks.written(2, {kAcks, kBack, ack, true, ps, 0}, 1); }
  void acknowledges(std::uint32_t ack, std::uint64_t ps) {
    writes_ack(ack, ps);
    acks.taken(2, kAcks, ps + 1);
  }
  // The requests that frame `serial` covers, as it is at the port.
  std::vector<std::uint64_t> arrives(std::uint32_t serial, RequestId owner = kAcks) {
    std::vector<std::uint64_t> covered;
    acks.at_port(1, serial, owner, [&](RequestId id, const Acknowledgements::Segment& segment) {
      covered.push_back(id.sequence());
      written = segment.written;
    });
    return covered;
  }
  std::vector<std::uint64_t> learns(std::uint32_t una) {
    std::vector<std::uint64_t> ended;
    acks.learned(1, kThere, una, [&](RequestId id) { ended.push_back(id.sequence()); });
    return ended;
  }
  void SetUp() override { acks.delivered(2, kBack, 1, kThere); }
  std::uint64_t written = 0;  // of the newest frame that covered a request
};

TEST_F(AcknowledgementsTest, OneMayCoverSeveralRequests) {
  for (std::uint32_t n = 0; n < 4; ++n) sends(n, 100 * (n + 1));
  acknowledges(350, 70);
  EXPECT_THAT(arrives(1), ElementsAre(0, 1, 2));
  EXPECT_EQ(written, 70u);
  EXPECT_THAT(arrives(1), ElementsAre());  // a copy that the cable has made
  EXPECT_THAT(learns(350), ElementsAre(0, 1, 2));
  EXPECT_THAT(learns(400), ElementsAre(3));
  EXPECT_THAT(learns(400), ElementsAre());
}

TEST_F(AcknowledgementsTest, ALaterFrameMayComeFirst) {
  for (std::uint32_t n = 0; n < 2; ++n) sends(n, 100 * (n + 1));
  acknowledges(100, 70);
  acknowledges(200, 80);
  EXPECT_THAT(arrives(2), ElementsAre(0, 1));
  EXPECT_EQ(written, 80u);
  EXPECT_THAT(arrives(1), ElementsAre());
}

// Of an owner that the sender's frame with that number has not.
TEST_F(AcknowledgementsTest, AFrameIsKnownByNumberAndOwner) {
  sends(0, 100);
  acks.taken(2, {2, Kind::kFlow, 1, 0, 0}, 60);  // frame 1, which tcp_tx has not written
  acknowledges(100, 70);
  EXPECT_THAT(arrives(1), ElementsAre());
  EXPECT_THAT(arrives(2, request(0)), ElementsAre());
  EXPECT_THAT(arrives(3), ElementsAre());
  EXPECT_THAT(arrives(2), ElementsAre(0));
}

// What waited for mac_tx never leaves.
TEST_F(AcknowledgementsTest, AResetDiscardsWhatWaits) {
  sends(0, 100);
  acks.written(2, {{2, Kind::kFlow, 4, 0, 0}, FlowId{4}, 50, true, 60, 0}, 1);
  acknowledges(100, 70);
  EXPECT_THAT(arrives(1), ElementsAre(0));
  EXPECT_EQ(written, 70u);
}

TEST_F(AcknowledgementsTest, SequenceNumbersAndRequestsGoRound) {
  const std::uint64_t last = (std::uint64_t{1} << RequestId::kSequenceBits) - 1;
  sends(last, 0xffff'fff0);
  sends(last + 1, 0x10);
  acknowledges(0xffff'fff0, 70);
  EXPECT_THAT(arrives(1), ElementsAre(last));
  EXPECT_THAT(learns(0xffff'fff0), ElementsAre(last));
  acknowledges(0x10, 80);
  EXPECT_THAT(arrives(2), ElementsAre(0));
  EXPECT_THAT(learns(0x10), ElementsAre(0));
}

// Of one that is overtaken by a thousand others nothing is known; the newest always are.
TEST_F(AcknowledgementsTest, FramesThatNeverArriveAreForgotten) {
  sends(0, 100);
  for (unsigned n = 0; n < 70'000; ++n) acknowledges(50, n);
  EXPECT_THAT(arrives(1), ElementsAre());
  acknowledges(100, 70'001);
  acknowledges(100, 70'002);
  EXPECT_THAT(arrives(70'002), ElementsAre(0));
  EXPECT_EQ(written, 70'002u);
  EXPECT_THAT(learns(100), ElementsAre(0));
}

}  // namespace
}  // namespace rnic::test
