// A completion queue without room for an entry is a catastrophe for its users only (RFC 5040 section 8.1.1).
#include "testbench/system/two_node_bench.h"

namespace rnic::test {
namespace {

using host::CmEventType;
using host::CqOverrun;
using testing::Each;
using testing::ElementsAre;

// At the end that overflows, streams 0 and 1 share an unpolled queue of 4 entries with queue pair 3, which has no
// connection; stream 2 has its own queue.
class CqOverflowTest : public TwoNodeBench {
 protected:
  void make(End& small, End& other) {
    small.create(4, CqOverrun::kPossible);
    small.create(4, CqOverrun::kPossible, 0);
    small.create(32);
    small.create(4, CqOverrun::kPossible, 0);
    for (int i = 0; i < 3; ++i) other.create(32);
  }
  static const host::Terminate& terminate(const End::Stream& s) {
    for (const host::CmEvent& e : s.events) {
      if (e.type == CmEventType::kQpError) return e.terminate;
    }
    throw std::runtime_error("no error was reported");
  }
  void expect_ended(End& small, End& other) {
    EXPECT_TRUE(small.streams[0].cq->in_error());
    EXPECT_FALSE(small.streams[2].cq->in_error());
    for (std::size_t n = 0; n < 2; ++n) {
      EXPECT_THAT(small.streams[n].event_types(),
                  ElementsAre(CmEventType::kEstablished, CmEventType::kQpError, CmEventType::kDisconnected));
      EXPECT_EQ(terminate(small.streams[n]).origin, abi::TerminateOrigin::kLocal);
      EXPECT_EQ(terminate(other.streams[n]).origin, abi::TerminateOrigin::kPeer);
      EXPECT_EQ(terminate(other.streams[n]).cause, wire::rdma::kLocalCatastrophic);
      EXPECT_EQ(other.streams[n].events.back().type, CmEventType::kDisconnected);
      EXPECT_EQ(small.streams[n].qp->state(), host::QpState::kError);
    }
    EXPECT_EQ(small.streams[3].qp->state(), host::QpState::kError);
    EXPECT_EQ(small.node.chip.cqe_writer.counters().overruns, 1u);
  }
  void use_bystander() {
    client.then([this] { return client.streams[0].ended() && client.streams[1].ended(); });
    move_octets(2);
  }
};

TEST_F(CqOverflowTest, OfSendCompletionsEndsTheStreamsThatUseTheQueueAndNoOther) {
  make(client, server);
  connect(3);
  client.run([this] {
    for (std::uint64_t id = 1; id <= 6; ++id) {
      host::SendWr wr = client.request(id, abi::WrOpcode::kRdmaWrite, 0, 64);
      wr.remote_addr = server.address;
      wr.rkey = server.mr->rkey();
      EXPECT_EQ(client.streams[0].qp->post_send(wr), 0);
    }
  });
  use_bystander();
  client.run([this] {
    EXPECT_EQ(client.streams[0].qp->post_send(client.request(7, abi::WrOpcode::kSend, 0, 8)), EINVAL);
    client.poll(client.streams[0]);
  });
  run();
  expect_ended(client, server);
  EXPECT_THAT(client.streams[0].succeeded(), ElementsAre(1, 2, 3, 4)) << "what there was room for, and nothing else";
  EXPECT_EQ(client.streams[0].completions.size(), 4u);
  expect_octets_moved(2);
}

TEST_F(CqOverflowTest, OfReceiveCompletionsEndsTheStreamsThatUseTheQueueAndNoOther) {
  make(server, client);
  connect(3);
  server.run([this] { server.post_receives(0, 1, 6); });
  client.wait_us(20);
  client.run([this] {  // without an FPDU the responder could not send its Terminate
    host::SendWr wr = client.request(100, abi::WrOpcode::kRdmaWrite, 0, 64);
    wr.remote_addr = server.address;
    wr.rkey = server.mr->rkey();
    EXPECT_EQ(client.streams[1].qp->post_send(wr), 0);
  });
  client.then([this] { return !client.streams[1].completions.empty(); });
  client.run([this] {
    for (std::uint64_t id = 1; id <= 6; ++id) {
      EXPECT_EQ(client.streams[0].qp->post_send(client.request(id, abi::WrOpcode::kSend, 0, 64)), 0);
    }
  });
  use_bystander();
  server.wait_us(500).run([this] { server.poll(server.streams[0]); });
  run();
  expect_ended(server, client);
  EXPECT_THAT(server.streams[0].succeeded(), ElementsAre(1, 2, 3, 4));
  expect_octets_moved(2);
}

// The same traffic and small queue, but the program polls it.
TEST_F(CqOverflowTest, AProgramThatPollsInTimeNeverOverflowsASmallQueue) {
  client.create(4, CqOverrun::kPossible);
  server.create(32);
  connect(1);
  client.run([this] { client.streams[0].polls = true; });
  for (std::uint64_t round = 0; round < 10; ++round) {
    client.run([this, round] {
      for (std::uint64_t id = 1; id <= 4; ++id) {
        host::SendWr wr = client.request(4 * round + id, abi::WrOpcode::kRdmaWrite, 0, 64);
        wr.remote_addr = server.address;
        wr.rkey = server.mr->rkey();
        EXPECT_EQ(client.streams[0].qp->post_send(wr), 0);
      }
    });
    client.then([this, round] { return client.streams[0].completions.size() == 4 * (round + 1); });
  }
  run();
  EXPECT_FALSE(client.streams[0].cq->in_error());
  EXPECT_THAT(client.streams[0].statuses(), Each(abi::WcStatus::kSuccess));
  EXPECT_EQ(client.streams[0].completions.size(), 40u);
}

TEST_F(CqOverflowTest, NoQueuePairCanBeMadeOnAQueueThatOverran) {
  make(client, server);
  connect(3);
  host::Qp* late = nullptr;
  client.run([this] {
    for (std::uint64_t id = 1; id <= 5; ++id) {
      host::SendWr wr = client.request(id, abi::WrOpcode::kRdmaWrite, 0, 0);
      EXPECT_EQ(client.streams[0].qp->post_send(wr), 0);
    }
  });
  client.then([this] { return client.streams[0].cq->in_error(); });
  client.run([&] {
    late = client.node.context.create_qp({client.pd, client.streams[0].cq, client.streams[0].cq, 1, 1});
  });
  client.then([&] { return late->failed(); });
  run();
  EXPECT_EQ(late->status(), abi::CommandStatus::kBadState);
}

}  // namespace
}  // namespace rnic::test
