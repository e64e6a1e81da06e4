// A program can overwrite its send queue without the driver's knowledge: its own stream may end, and nothing else
// happens.
#include "model/abi/rnic_regs.h"
#include "model/common/prng.h"
#include "testbench/system/two_node_bench.h"

namespace rnic::test {
namespace {

using host::CmEventType;
using testing::ElementsAre;

// Stream 0 has sent three messages; stream 1 is the bystander. Queue pair 2 has no connection. Send rings have 16
// entries.
class BadPostsTest : public TwoNodeBench {
 protected:
  static constexpr unsigned kSent = 3, kEntries = 16;

  BadPostsTest() {
    for (int i = 0; i < 2; ++i) server.create(32);
    for (int i = 0; i < 3; ++i) client.create(32);
    connect(2);
    server.run([this] { server.post_receives(0, 1, 8); });
    client.wait_us(50);
    client.run([this] {
      for (unsigned i = 1; i <= kSent; ++i) {
        EXPECT_EQ(client.streams[0].qp->post_send(client.request(i, abi::WrOpcode::kSend, 0, 64)), 0);
      }
    });
    client.then([this] { return client.streams[0].completions.size() == kSent; });
  }
  void ring(std::uint32_t qpn, std::uint32_t producer) {
    b.cpu.mmio_write(regs::SqDoorbell::kOffset, regs::SqDoorbell{qpn, producer & 0xfff}.pack());
  }
  std::uint32_t victim() const { return client.streams[0].qp->number().v; }
  void expect_victim_ended() {
    EXPECT_THAT(client.streams[0].event_types(),
                ElementsAre(CmEventType::kEstablished, CmEventType::kQpError, CmEventType::kDisconnected));
    EXPECT_EQ(client.streams[0].events[1].terminate.origin, abi::TerminateOrigin::kLocal);
    EXPECT_EQ(client.streams[0].events[1].terminate.cause, wire::rdma::kLocalCatastrophic);
    EXPECT_EQ(client.streams[0].qp->state(), host::QpState::kError);
    EXPECT_THAT(server.streams[0].event_types(),
                ElementsAre(CmEventType::kEstablished, CmEventType::kQpError, CmEventType::kDisconnected));
    EXPECT_THAT(server.streams[0].succeeded(), ElementsAre(1, 2, 3)) << "no entry was sent twice";
  }
};

class BadProducer : public BadPostsTest, public testing::WithParamInterface<int> {};
TEST_P(BadProducer, EndsItsStreamAndSendsNothingOld) {
  client.run([this] { ring(victim(), kSent + static_cast<std::uint32_t>(GetParam())); });
  client.then([this] { return client.streams[0].ended(); });
  move_octets(1);
  run();
  expect_victim_ended();
  EXPECT_EQ(b.chip.wqe_fetch.counters().overruns, 1u);
  expect_octets_moved(1);
}
INSTANTIATE_TEST_SUITE_P(Distances, BadProducer, testing::Values(-1, -3, 17, 18, 100, 2048, 4000));

TEST_F(BadPostsTest, DoorbellsOfQueuePairsThatDoNotExistDoNothing) {
  client.run([this] {
    for (const std::uint32_t qpn : {3u, 255u, 256u, 0xfffffu}) ring(qpn, 1);
  });
  move_octets(1);
  run();
  EXPECT_EQ(b.chip.wqe_fetch.counters().stray_doorbells, 4u);
  EXPECT_THAT(client.streams[0].event_types(), ElementsAre(CmEventType::kEstablished));
  expect_octets_moved(1);
}

TEST_F(BadPostsTest, AnOverrunWithoutAConnectionPutsTheQueuePairIntoErrorToo) {
  client.run([this] { ring(client.streams[2].qp->number().v, kEntries + 1); });
  client.wait_us(20).run(
      [this] { b.context.connect(*client.streams[2].qp, kServerIp, End::kPort, {}, client.channel); });
  client.then([this] { return !client.streams[2].events.empty(); });
  move_octets(1);
  run();
  EXPECT_EQ(client.streams[2].events[0].type, CmEventType::kConnectError);
  EXPECT_EQ(client.streams[2].events[0].refused, abi::CommandStatus::kBadState);
  expect_octets_moved(1);
}

// The driver's sequence number in the request's wr_id stays; all else is random.
class GarbageInTheRing : public BadPostsTest, public testing::WithParamInterface<std::uint64_t> {};
TEST_P(GarbageInTheRing, EndsInAnErrorCompletion) {
  client.run([this] {
    EXPECT_EQ(client.streams[0].qp->post_send(client.request(4, abi::WrOpcode::kSend, 0, 64)), 0);
    const MutableByteSpan entry =
        b.memory.span(client.streams[0].qp->sq().base() + kSent * abi::kWqeBytes, abi::kWqeBytes);
    Prng prng(GetParam());
    for (std::size_t i = 0; i < abi::kWqeBytes; ++i) {
      if (i < offsetof(abi::Wqe, wr_id) || i >= offsetof(abi::Wqe, wr_id) + 8) {
        entry.data()[i] = static_cast<std::uint8_t>(prng.below(256));
      }
    }
  });
  client.then([this] { return client.streams[0].ended() && client.streams[0].completions.size() == kSent + 1; });
  move_octets(1);
  run();
  expect_victim_ended();
  EXPECT_NE(client.streams[0].completions[kSent].status, abi::WcStatus::kSuccess);
  EXPECT_EQ(client.streams[0].completions[kSent].wr_id, 4u);
  expect_octets_moved(1);
}
INSTANTIATE_TEST_SUITE_P(Seeds, GarbageInTheRing, testing::Range<std::uint64_t>(1, 17));

}  // namespace
}  // namespace rnic::test
