// Two chips and two programs set up a connection, with every outcome (RFC 5044 section 7.1, RFC 6581).
#include <cerrno>

#include "testbench/system/two_node_bench.h"

namespace rnic::test {
namespace {

using abi::ConnectStatus;
using host::CmEventType;
using testing::ElementsAre;

constexpr std::uint8_t kEnhanced = abi::kCmCrc | abi::kCmEnhanced;

class SetupTest : public TwoNodeBench {
 protected:
  SetupTest() {
    for (End* end : {&server, &client}) end->create(64).create(64);
    client.flags = server.flags = kEnhanced;
    server.holds_requests = true;
  }
  void listen(std::uint16_t backlog = 0) {
    server.run([=] {
      listener =
          &server.node.context.listen(End::kPort, server.flags, server.channel, abi::Personality::kDevice, backlog);
    });
    client.wait_us(20);  // the server listens by then
  }
  void connect_with(std::size_t n, const host::ConnParam& param) {
    client.run([=] {
      EXPECT_EQ(client.node.context.connect(*client.streams[n].qp, kServerIp, End::kPort, param, client.channel), 0);
    });
  }
  void await_event(End& end, std::size_t n, std::size_t count = 1) {
    end.then([&end, n, count] { return end.streams[n].events.size() >= count; });
  }
  void await_request(std::size_t count = 1) {
    server.then([=] { return server.requests.size() >= count; });
  }
  void accept_with(std::size_t n, const host::ConnParam& param, int expected = 0) {
    server.run([=] {
      EXPECT_EQ(
          server.node.context.accept(server.requests.back().connection, *server.streams[n].qp, param, server.channel),
          expected);
    });
  }
  static host::ConnParam enhanced(std::uint16_t ird = 16, std::uint16_t ord = 16, std::uint8_t more = 0) {
    host::ConnParam param;
    param.flags = static_cast<std::uint8_t>(kEnhanced | more);
    param.responder_resources = ird;
    param.initiator_depth = ord;
    return param;
  }
  const host::CmEvent& first_event(End& end, std::size_t n) { return end.streams[n].events.at(0); }

  host::Listener* listener = nullptr;
};

TEST_F(SetupTest, BothHostsHearThePeersDepths) {
  listen();
  connect_with(0, enhanced(3, 20));
  await_request();
  host::ConnParam param;
  param.responder_resources = 5;
  param.initiator_depth = 7;
  accept_with(0, param);
  await_event(client, 0);
  await_event(server, 0);
  move_octets(0);
  run();
  const host::CmEvent& at_client = first_event(client, 0);
  EXPECT_EQ(at_client.peer_ird, 20) << "raised to what the client wants to use";
  EXPECT_EQ(at_client.peer_ord, 3);
  EXPECT_EQ(at_client.ird, 3);
  EXPECT_EQ(at_client.ord, 20);
  EXPECT_EQ(server.requests[0].peer_ird, 3);
  EXPECT_EQ(server.requests[0].peer_ord, 20);
  EXPECT_EQ(first_event(server, 0).ird, 20);
  EXPECT_EQ(first_event(server, 0).ord, 3);
  expect_octets_moved(0);
}

// RFC 6581 section 10: the responder closes, both hosts hear of it, and the initiator tries again with revision 1.
TEST_F(SetupTest, FallsBackToRevisionOne) {
  server.flags = abi::kCmCrc;
  listen();
  host::ConnParam param = enhanced(16, 16, abi::kCmPeerToPeer);
  param.fall_back = true;
  param.private_data = {1, 2, 3};
  connect_with(0, param);
  await_request();
  accept_with(0, {});
  await_event(client, 0);
  await_event(server, 0);
  move_octets(0);
  run();
  ASSERT_EQ(server.never_accepted.size(), 1u);
  EXPECT_EQ(server.never_accepted[0].status, ConnectStatus::kBadRevision);
  EXPECT_EQ(server.never_accepted[0].terminate.cause, wire::mpa::kInvalidStartupFrame);
  EXPECT_THAT(server.requests[0].private_data, ElementsAre(1, 2, 3));
  EXPECT_EQ(first_event(client, 0).mpa_revision, 1);
  expect_octets_moved(0);
}

TEST_F(SetupTest, WithoutLeaveToFallBackTheCloseIsReportedAtBothEnds) {
  server.flags = abi::kCmCrc;
  listen();
  connect_with(0, enhanced());
  await_event(client, 0);
  server.then([this] { return server.never_accepted.size() == 1; });
  run();
  EXPECT_EQ(first_event(client, 0).type, CmEventType::kConnectError);
  EXPECT_EQ(first_event(client, 0).status, ConnectStatus::kReset);
  EXPECT_EQ(client.streams[0].qp->state(), host::QpState::kIdle);
  EXPECT_TRUE(server.requests.empty());
}

// RFC 6581 section 9.1. The initiator learns the required IRD, and offers it.
TEST_F(SetupTest, AResponderThatNeedsMoreIrd) {
  listen();
  connect_with(0, enhanced(2));
  await_request();
  host::ConnParam needs;
  needs.need_ord = 6;
  accept_with(0, needs);
  await_event(client, 0);
  await_event(server, 0);
  connect_with(0, enhanced(6));
  await_request(2);
  accept_with(0, needs);
  await_event(client, 0, 2);
  await_event(server, 0, 2);
  run();
  EXPECT_EQ(first_event(client, 0).type, CmEventType::kRejected);
  EXPECT_EQ(first_event(client, 0).peer_ord, 6);
  EXPECT_EQ(first_event(server, 0).type, CmEventType::kConnectError);
  EXPECT_EQ(first_event(server, 0).status, ConnectStatus::kInsufficientIrd);
  EXPECT_EQ(first_event(server, 0).terminate.cause, wire::mpa::kInsufficientIrd);
  EXPECT_EQ(client.streams[0].events[1].type, CmEventType::kEstablished);
  EXPECT_EQ(server.streams[0].events[1].type, CmEventType::kEstablished);
}

// RFC 6581 section 9.2: Terminate 2/0/7, and the responder gets it although nothing was established.
TEST_F(SetupTest, NoCommonRtr) {
  server.flags = kEnhanced | abi::kCmRtrWrite | abi::kCmRtrRead;
  listen();
  connect_with(0, enhanced(16, 16, abi::kCmPeerToPeer | abi::kCmRtrSend));
  await_request();
  accept_with(0, {});
  await_event(client, 0, 2);
  await_event(server, 0, 2);
  run();
  EXPECT_EQ(first_event(client, 0).status, ConnectStatus::kNoMatchingRtr);
  EXPECT_EQ(first_event(client, 0).terminate.cause, wire::mpa::kNoMatchingRtr);
  EXPECT_EQ(client.streams[0].events[1].type, CmEventType::kDisconnected);
  EXPECT_EQ(first_event(server, 0).type, CmEventType::kQpError);
  EXPECT_EQ(first_event(server, 0).terminate.origin, abi::TerminateOrigin::kPeer);
  EXPECT_EQ(first_event(server, 0).terminate.cause, wire::mpa::kNoMatchingRtr);
  EXPECT_EQ(server.streams[0].events[1].type, CmEventType::kConnectError);
}

// RFC 6581 section 9.3: the queue pair fails while its request waits for the reply; Terminate 2/0/5.
TEST_F(SetupTest, ALocalFailureIsToldToThePeer) {
  listen();
  connect_with(0, enhanced());
  client.wait_us(50);
  client.run([this] { client.node.context.modify_qp(*client.streams[0].qp, {abi::QpState::kError, {}}); });
  await_request();
  server.wait_us(100);
  accept_with(0, {});
  await_event(client, 0, 2);
  await_event(server, 0, 3);
  run();
  EXPECT_EQ(first_event(client, 0).type, CmEventType::kConnectError);
  EXPECT_EQ(first_event(client, 0).status, ConnectStatus::kLocalFailure);
  EXPECT_EQ(first_event(client, 0).terminate.cause, wire::mpa::kLocalCatastrophic);
  EXPECT_EQ(client.streams[0].qp->state(), host::QpState::kError);
  EXPECT_THAT(server.streams[0].event_types(),
              ElementsAre(CmEventType::kEstablished, CmEventType::kQpError, CmEventType::kDisconnected));
  EXPECT_EQ(server.streams[0].events[1].terminate.cause, wire::mpa::kLocalCatastrophic);
}

// Every kind establishes the responder, and completes nothing there.
class EveryRtr : public SetupTest, public testing::WithParamInterface<abi::RtrKind> {};

TEST_P(EveryRtr, EstablishesAPeerToPeerConnection) {
  const std::uint8_t kinds = abi::kCmRtrSend | abi::kCmRtrWrite | abi::kCmRtrRead;
  server.flags = kEnhanced | kinds;
  listen();
  host::ConnParam param = enhanced(4, 4, abi::kCmPeerToPeer | kinds);
  param.rtr_order = abi::rtr_order(GetParam());
  connect_with(0, param);
  await_request();
  accept_with(0, {});
  await_event(client, 0);
  await_event(server, 0);
  client.run([this] { client.post_receives(0, 1, 1); });
  server.wait_us(50);
  server.run([this] { EXPECT_EQ(server.streams[0].qp->post_send(server.request(7, abi::WrOpcode::kSend, 0, 8)), 0); });
  client.then([this] { return client.streams[0].completions.size() == 1; });
  server.then([this] { return server.streams[0].completions.size() == 1; });
  run();
  EXPECT_THAT(client.streams[0].succeeded(), ElementsAre(1));
  EXPECT_THAT(server.streams[0].succeeded(), ElementsAre(7)) << "the responder speaks first";
}
INSTANTIATE_TEST_SUITE_P(Kinds, EveryRtr,
                         testing::Values(abi::RtrKind::kSend, abi::RtrKind::kWrite, abi::RtrKind::kRead),
                         [](const auto& kind) { return std::string(1, "-SWR"[static_cast<int>(kind.param)]); });

TEST_F(SetupTest, DisconnectWhileConnecting) {
  listen();
  connect_with(0, enhanced());
  client.wait_us(100);
  client.run([this] { EXPECT_EQ(client.node.context.disconnect(*client.streams[0].qp), 0); });
  await_event(client, 0);
  server.then([this] { return server.never_accepted.size() == 1; });
  accept_with(0, {}, EINVAL);
  run();
  EXPECT_EQ(first_event(client, 0).type, CmEventType::kConnectError);
  EXPECT_EQ(first_event(client, 0).status, ConnectStatus::kCancelled);
  EXPECT_EQ(client.streams[0].qp->state(), host::QpState::kIdle);
  EXPECT_EQ(server.never_accepted[0].connection, server.requests[0].connection);
}

TEST_F(SetupTest, NobodyListens) {
  client.wait_us(20);
  connect_with(0, enhanced());
  await_event(client, 0);
  run();
  EXPECT_EQ(first_event(client, 0).status, ConnectStatus::kRefused);
}

TEST_F(SetupTest, ARequestOutlivesItsListener) {
  listen();
  connect_with(0, enhanced());
  await_request();
  server.run([this] { server.node.context.unlisten(*listener); });
  server.then([this] { return listener->destroyed(); });
  accept_with(0, {});
  await_event(client, 0);
  await_event(server, 0);
  move_octets(0);
  run();
  expect_octets_moved(0);
}

TEST_F(SetupTest, TheBacklogIsFull) {
  listen(1);
  connect_with(0, enhanced());
  await_request();
  client.wait_us(100);
  connect_with(1, enhanced());
  await_event(client, 1);
  run();
  EXPECT_EQ(first_event(client, 1).type, CmEventType::kConnectError);
  EXPECT_EQ(first_event(client, 1).status, ConnectStatus::kReset);
  EXPECT_EQ(server.requests.size(), 1u);
}

TEST_F(SetupTest, QueuePairsAreDestroyedInAnyState) {
  listen();
  connect_with(0, enhanced());
  await_request();
  accept_with(0, {});
  await_event(client, 0);
  connect_with(1, enhanced());
  client.run([this] {
    for (const auto& stream : client.streams) client.node.context.destroy_qp(*stream.qp);
  });
  client.then([this] { return client.streams[0].qp->destroyed() && client.streams[1].qp->destroyed(); });
  await_event(server, 0, 2);
  run();
  EXPECT_THAT(client.streams[0].event_types(), ElementsAre(CmEventType::kEstablished));
  EXPECT_TRUE(client.streams[1].events.empty());
  EXPECT_THAT(server.streams[0].event_types(), ElementsAre(CmEventType::kEstablished, CmEventType::kDisconnected));
}

// Both programs end the connection before they hear of each other's end.
TEST_F(SetupTest, SimultaneousClose) {
  listen();
  connect_with(0, enhanced());
  await_request();
  accept_with(0, {});
  for (End* end : {&server, &client}) {
    await_event(*end, 0);
    end->then([end] { return end->core.wake_at(400'000'000), end->core.time_ps() >= 400'000'000; });
    end->run([end] { EXPECT_EQ(end->node.context.disconnect(*end->streams[0].qp), 0); });
    await_event(*end, 0, 2);
  }
  run();
  for (End* end : {&server, &client}) {
    EXPECT_THAT(end->streams[0].event_types(), ElementsAre(CmEventType::kEstablished, CmEventType::kDisconnected));
    EXPECT_EQ(end->streams[0].events[1].status, ConnectStatus::kOk);
  }
}

}  // namespace
}  // namespace rnic::test
