// Where octets in order wait and where they go, and how a stream ends, without a network.
#include "model/rnic/llp/tcp/received_stream.h"

#include <vector>

#include <gmock/gmock.h>

namespace rnic::tcp {
namespace {

using testing::Each;
using Report = ReceivedStream::Report;

class ReceivedStreamTest : public testing::Test {
 protected:
  ~ReceivedStreamTest() override { stream.clear(pool); }

  void append(std::uint32_t bytes, std::uint8_t value = 0) {
    BufferRef buf = buffers.take();
    std::fill_n(buf->bytes(), bytes, value);
    const std::uint8_t* const data = buf->bytes();
    stream.append(pool, llp::received_octets(std::move(buf), {data, bytes}, next));
    next += bytes;
  }
  Report report(bool busy = false) { return stream.next_report(pool, busy); }

  BufferPool buffers{256};
  llp::ReceivedPool pool;
  ReceivedStream stream;
  std::uint32_t next = 0xfffffff0;
};

// ---- Streaming mode

TEST_F(ReceivedStreamTest, AnswersAReadWhenItsOctetsAreThere) {
  append(10, 1);
  EXPECT_EQ(report(), Report::kNothing);
  EXPECT_TRUE(stream.read(15));
  EXPECT_TRUE(stream.read_pending());
  EXPECT_EQ(report(), Report::kNothing);
  append(20, 2);
  ASSERT_EQ(report(), Report::kOctets);
  EXPECT_EQ(stream.end_read(pool), 15u);
  EXPECT_FALSE(stream.read_pending());
  std::vector<std::uint8_t> octets(15);
  stream.take(pool, {octets.data(), octets.size()});
  EXPECT_THAT(std::vector<std::uint8_t>(octets.begin(), octets.begin() + 10), Each(1));
  EXPECT_THAT(std::vector<std::uint8_t>(octets.begin() + 10, octets.end()), Each(2));
  EXPECT_EQ(stream.octets(pool), 15u);
  EXPECT_EQ(stream.front(pool).seq, 0xffffffffu);
  EXPECT_EQ(buffers.in_use(), 1u);
}

TEST_F(ReceivedStreamTest, AnswersAReadWithWhatAFinLeavesOfIt) {
  stream.read(15);
  append(10);
  stream.on_fin();
  ASSERT_EQ(report(), Report::kOctets);
  EXPECT_EQ(stream.end_read(pool), 10u);
  std::vector<std::uint8_t> octets(10);
  stream.take(pool, {octets.data(), octets.size()});
  EXPECT_EQ(report(), Report::kFin);
  EXPECT_EQ(report(), Report::kNothing);
}

TEST_F(ReceivedStreamTest, AReadOfNothingIsNotAnswered) {
  stream.read(15);
  stream.on_fin();
  EXPECT_EQ(report(), Report::kFin);
}

TEST_F(ReceivedStreamTest, ReportsAFinBehindAllOctets) {
  append(10);
  stream.on_fin();
  EXPECT_EQ(report(), Report::kNothing);
}

TEST_F(ReceivedStreamTest, ReportsEachRepetitionOfAFin) {
  stream.on_fin();
  EXPECT_EQ(report(), Report::kFin);
  stream.on_fin();
  EXPECT_EQ(report(), Report::kFin);
}

TEST_F(ReceivedStreamTest, ReportsAResetWhateverIsLeft) {
  append(10);
  stream.read(10);
  stream.on_reset();
  EXPECT_EQ(report(), Report::kReset);
  EXPECT_EQ(report(), Report::kOctets);
}

TEST_F(ReceivedStreamTest, DiscardsWhatNobodyReads) {
  append(10);
  append(20);
  stream.read(50);
  std::uint32_t room = 0;
  EXPECT_TRUE(stream.discard(pool, room));
  EXPECT_EQ(room, 30u);
  EXPECT_TRUE(stream.discards() && stream.empty());
  EXPECT_FALSE(stream.read_pending());
  EXPECT_EQ(buffers.in_use(), 0u);
  EXPECT_FALSE(stream.read(1));
  EXPECT_FALSE(stream.enter_rdma());
}

// ---- RDMA mode

TEST_F(ReceivedStreamTest, OctetsBeforeTheSwitchLeaveToTheDeframer) {
  append(10);
  stream.read(50);
  EXPECT_TRUE(stream.enter_rdma());
  EXPECT_FALSE(stream.read_pending());
  EXPECT_FALSE(stream.read(1));
  EXPECT_FALSE(stream.enter_rdma());
  EXPECT_EQ(stream.end(pool), 10u);
  EXPECT_EQ(stream.leave(stream.take_front(pool).bytes), 0u);
  EXPECT_TRUE(stream.empty());
  EXPECT_EQ(stream.end(pool), 10u);
  EXPECT_EQ(stream.leave(5), 10u);
  EXPECT_EQ(stream.leave(0), 15u);
}

TEST_F(ReceivedStreamTest, FpdusAreNotDiscarded) {
  stream.enter_rdma();
  append(10);
  std::uint32_t room = 7;
  EXPECT_FALSE(stream.discard(pool, room));
  EXPECT_EQ(room, 7u);
  EXPECT_TRUE(stream.rdma());
  EXPECT_EQ(stream.octets(pool), 10u);
}

TEST_F(ReceivedStreamTest, SendsABeatForTheFinBehindAllOctets) {
  stream.enter_rdma();
  append(10);
  stream.on_fin();
  EXPECT_EQ(report(), Report::kNothing);
  stream.take_front(pool);
  EXPECT_TRUE(stream.end_due());
  EXPECT_EQ(report(true), Report::kSendEnd);  // behind them, while they leave
  stream.on_end_sent();
  EXPECT_FALSE(stream.end_due());
  EXPECT_EQ(report(), Report::kNothing);
  stream.on_end_passed();
  EXPECT_EQ(report(), Report::kFin);
  EXPECT_TRUE(stream.end_passed());
  stream.on_fin();  // again: no second beat
  EXPECT_EQ(report(), Report::kFin);
}

// Octets that TCP has acknowledged are delivered first: they may include a Terminate.
TEST_F(ReceivedStreamTest, SendsABeatForTheResetBehindAllOctets) {
  stream.enter_rdma();
  append(10);
  stream.on_reset();
  EXPECT_EQ(report(), Report::kNothing);
  stream.take_front(pool);
  EXPECT_EQ(report(true), Report::kSendEnd);
  EXPECT_EQ(stream.end_kind(), StreamEnd::kReset);
  stream.on_end_sent();
  EXPECT_EQ(report(), Report::kNothing);
  stream.on_end_passed();
  EXPECT_EQ(report(), Report::kReset);
  EXPECT_EQ(report(), Report::kNothing);
}

TEST_F(ReceivedStreamTest, AResetBehindAFinIsReportedBehindIt) {
  stream.enter_rdma();
  stream.on_fin();
  EXPECT_EQ(report(), Report::kSendEnd);
  stream.on_reset();
  EXPECT_EQ(stream.end_kind(), StreamEnd::kInOrder);
  stream.on_end_sent();
  EXPECT_EQ(report(), Report::kNothing);
  stream.on_end_passed();
  EXPECT_EQ(report(), Report::kFin);
  EXPECT_TRUE(stream.reset_to_report());
  EXPECT_EQ(report(), Report::kReset);
  EXPECT_FALSE(stream.reset_to_report());
}

TEST_F(ReceivedStreamTest, AReleaseForgetsAllAndWaitsForWhatIsUnderWay) {
  append(10);
  stream.on_fin();
  stream.on_reset();
  stream.release(pool);
  EXPECT_EQ(buffers.in_use(), 0u);
  EXPECT_TRUE(stream.released());
  EXPECT_EQ(report(true), Report::kLater);
  EXPECT_EQ(report(), Report::kReleased);
  EXPECT_EQ(report(), Report::kNothing);
}

TEST_F(ReceivedStreamTest, AReleaseWaitsForTheBeatOfTheFin) {
  stream.enter_rdma();
  stream.on_fin();
  stream.on_end_sent();
  stream.release(pool);
  EXPECT_EQ(report(), Report::kNothing);
  stream.on_end_passed();
  EXPECT_EQ(report(), Report::kReleased);
}

TEST_F(ReceivedStreamTest, AReleaseDoesNotWaitForABeatThatPassed) {
  stream.enter_rdma();
  stream.on_fin();
  stream.on_end_sent();
  stream.on_end_passed();
  stream.release(pool);
  EXPECT_EQ(report(), Report::kReleased);
}

}  // namespace
}  // namespace rnic::tcp
