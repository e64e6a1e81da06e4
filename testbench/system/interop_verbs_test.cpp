// Two chips that support both versions of DDP and RDMAP: queue pairs of different versions side by side, what may
// change when, and how streams of version 0 end.
#include "testbench/support/captured_stream.h"
#include "testbench/system/two_node_bench.h"

namespace rnic::test {
namespace {

using abi::CommandStatus;
using abi::Markers;
using abi::Personality;
using host::CmEventType;
using testing::Each;
using testing::ElementsAre;

constexpr abi::StreamAttr kRdmacStream{Personality::kRdmac, Markers::kOpen, Markers::kOpen};
constexpr abi::StreamAttr kIetfStream{Personality::kIetf, Markers::kOpen, Markers::kOpen};

NodeConfig permissive() {
  NodeConfig config;
  config.rnic.fwcpu.personality = Personality::kPermissive;
  return config;
}

class InteropVerbs : public TwoNodeBench {
 protected:
  InteropVerbs() : TwoNodeBench(permissive(), permissive()) { server.flags = client.flags = 0; }
  void make(End& end, abi::StreamAttr stream = {}) { end.create(64, host::CqOverrun::kPrevented, -1, stream); }
  void expect_answer(End& end, const host::QpModifyAttr& attr, CommandStatus expected) {
    end.run([&end, attr] { end.node.context.modify_qp(*end.streams[0].qp, attr); });
    end.then([&end] { return end.streams[0].qp->answered(); });
    end.run([&end, expected] { EXPECT_EQ(end.streams[0].qp->answer(), expected); });
  }
};

// RFC 5044 section 4.4: two default devices, and programs that do not mention CRC.
TEST_F(InteropVerbs, CrcIsOnUnlessAnAdministratorTurnsItOff) {
  make(server), make(client);
  connect(1);
  move_octets(0);
  run();
  expect_octets_moved(0);
  EXPECT_TRUE(client.node.context.query_device().crc);
  for (const Node* node : {&a, &b}) {
    EXPECT_GT(node->chip.crc_check.counters().good, 0u);
    EXPECT_EQ(node->chip.crc_check.counters().unchecked, 0u);
  }
}

// Section 6.2: the version belongs to the queue pair.
TEST_F(InteropVerbs, QueuePairsOfBothVersionsSideBySide) {
  for (End* end : {&server, &client}) make(*end), make(*end);
  client.run([this] {
    client.node.context.modify_qp(*client.streams[0].qp, {abi::QpState::kIdle, kRdmacStream});
    client.node.context.modify_qp(*client.streams[1].qp, {abi::QpState::kIdle, kIetfStream});
  });
  client.then([this] { return client.streams[0].qp->answered() && client.streams[1].qp->answered(); });
  connect(2);
  move_octets(0);
  move_octets(1);
  run();
  for (std::size_t n = 0; n < 2; ++n) {
    expect_octets_moved(n);
    EXPECT_EQ(client.streams[n].events[0].ddp_version, n);
    EXPECT_EQ(server.streams[n].events[0].ddp_version, n);
  }
}

TEST_F(InteropVerbs, AnIdleQueuePairOnlyMayBeModified) {
  make(server);
  make(client);
  expect_answer(client, {abi::QpState::kIdle, kIetfStream}, CommandStatus::kOk);
  expect_answer(client, {abi::QpState::kIdle, {Personality::kDevice, Markers::kOff, Markers::kOpen}},
                CommandStatus::kOk);
  expect_answer(client, {abi::QpState::kIdle, kRdmacStream}, CommandStatus::kMarkersRequired);
  expect_answer(client, {abi::QpState::kRts, {}}, CommandStatus::kBadState);
  connect(1);
  expect_answer(client, {abi::QpState::kIdle, kRdmacStream}, CommandStatus::kBadState);
  move_octets(0);
  run();
  expect_octets_moved(0);
}

// RFC 5044 section 7.1.2 rule 4: not even a Terminate.
TEST_F(InteropVerbs, AResponderThatFailsSaysNothingBeforeTheFirstFpdu) {
  CapturedStreams captured;
  cable.tap(captured);
  make(server);
  make(client);
  connect(1);
  server.run([this] { server.node.context.modify_qp(*server.streams[0].qp, {abi::QpState::kError, {}}); });
  for (End* end : {&server, &client}) end->then([end] { return end->streams[0].ended(); });
  run();
  EXPECT_THAT(captured.sent_by(0).behind_startup(), testing::IsEmpty());
  EXPECT_THAT(server.streams[0].event_types(),
              ElementsAre(CmEventType::kEstablished, CmEventType::kQpError, CmEventType::kDisconnected));
}

class StreamOfVersionZero : public InteropVerbs {
 protected:
  StreamOfVersionZero() {
    cable.tap(captured);
    make(server);
    make(client, kRdmacStream);
    client.run([this] { client.post_receives(0, 300, 2); });
    server.run([this] { server.post_receives(0, 400, 2); });
    connect(1);
  }
  // The client's stream ends with this Terminate, followed by a FIN; so does the server's.
  void expect_terminate(const std::string& header) {
    for (const unsigned port : {0u, 1u}) EXPECT_TRUE(captured.sent_by(port).fin && !captured.sent_by(port).reset);
    const auto ulpdus = ulpdus_of(captured.sent_by(1).behind_startup(), true, true);
    ASSERT_TRUE(ulpdus && !ulpdus->empty());
    EXPECT_EQ(ulpdus->back(), from_hex("4007 00000000 00000002 00000001 00000000" + header));
    for (const End* end : {&server, &client}) {
      EXPECT_THAT(end->streams[0].event_types(),
                  ElementsAre(CmEventType::kEstablished, CmEventType::kQpError, CmEventType::kDisconnected));
      EXPECT_EQ(end->streams[0].qp->state(), host::QpState::kError);
    }
    EXPECT_EQ(client.streams[0].events[1].terminate.origin, abi::TerminateOrigin::kLocal);
    EXPECT_EQ(server.streams[0].events[1].terminate.origin, abi::TerminateOrigin::kPeer);
    EXPECT_THAT(server.streams[0].statuses(), testing::AllOf(testing::SizeIs(2), Each(abi::WcStatus::kWrFlushErr)));
  }
  CapturedStreams captured;
};

TEST_F(StreamOfVersionZero, EndsWhenItsProgramSaysSo) {
  move_octets(0);
  client.run([this] { client.node.context.modify_qp(*client.streams[0].qp, {abi::QpState::kError, {}}); });
  client.then([this] { return client.streams[0].ended() && client.streams[0].completions.size() == 4; });
  server.then([this] { return server.streams[0].ended() && server.streams[0].completions.size() == 2; });
  run();
  EXPECT_EQ(client.streams[0].qp->answer(), CommandStatus::kOk);
  EXPECT_THAT(client.streams[0].statuses(), ElementsAre(abi::WcStatus::kSuccess, abi::WcStatus::kSuccess,
                                                        abi::WcStatus::kWrFlushErr, abi::WcStatus::kWrFlushErr));
  expect_terminate("00000000");
}

// Wire-facts 8.28: RFC 7306 is not for RDMAC peers, so the request does not leave.
TEST_F(StreamOfVersionZero, HasNoAtomics) {
  client.run([this] {
    host::SendWr wr = client.request(100, abi::WrOpcode::kFetchAdd, 0, 8);
    wr.remote_addr = server.address;
    wr.rkey = server.mr->rkey();
    EXPECT_EQ(client.streams[0].qp->post_send(wr), 0);
  });
  client.then([this] { return client.streams[0].ended(); });
  run();
  ASSERT_FALSE(client.streams[0].completions.empty());
  EXPECT_EQ(client.streams[0].completions[0].status, abi::WcStatus::kLocQpOpErr);
  const auto ulpdus = ulpdus_of(captured.sent_by(1).behind_startup(), true, true);
  ASSERT_TRUE(ulpdus.has_value());
  for (const Bytes& ulpdu : *ulpdus) EXPECT_NE(ulpdu[1] & 15, 0xa);
}

TEST_F(InteropVerbs, AQueuePairWithoutAStreamIsPutInError) {
  make(client);
  client.run([this] { client.post_receives(0, 1, 3); });
  expect_answer(client, {abi::QpState::kError, {}}, CommandStatus::kOk);
  client.then([this] { return client.streams[0].completions.size() == 3; });
  client.run([this] { client.node.context.destroy_qp(*client.streams[0].qp); });
  client.then([this] { return client.streams[0].qp->destroyed(); });
  run();
  EXPECT_THAT(client.streams[0].statuses(), Each(abi::WcStatus::kWrFlushErr));
}

// An RDMAC responder takes no enhanced request: its private data begins with a word unknown to RDMAC.
TEST_F(InteropVerbs, AnEnhancedRequestClosesAtAnRdmacListener) {
  CapturedStreams captured;
  cable.tap(captured);
  make(server);
  make(client);
  server.run([this] { server.node.context.listen(End::kPort, 0, server.channel, Personality::kRdmac); });
  client.wait_us(20);
  client.run([this] {
    host::ConnParam param;
    param.flags = abi::kCmCrc | abi::kCmEnhanced;
    client.node.context.connect(*client.streams[0].qp, kServerIp, End::kPort, param, client.channel);
  });
  client.then([this] { return !client.streams[0].events.empty(); });
  server.then([this] { return !server.never_accepted.empty(); });
  run();
  EXPECT_EQ(server.never_accepted[0].status, abi::ConnectStatus::kBadRevision);
  EXPECT_EQ(client.streams[0].events[0].type, CmEventType::kConnectError);
  EXPECT_TRUE(captured.sent_by(0).octets.empty());
  EXPECT_TRUE(captured.sent_by(0).fin);
}

// With a second attempt without enhancements (RFC 6581 section 10) the two can connect.
TEST_F(InteropVerbs, AnEnhancedInitiatorFallsBackToAnRdmacListener) {
  make(server);
  make(client);
  server.run([this] { server.node.context.listen(End::kPort, 0, server.channel, Personality::kRdmac); });
  client.wait_us(20);
  client.run([this] {
    host::ConnParam param;
    param.flags = abi::kCmCrc | abi::kCmEnhanced;
    param.fall_back = true;
    client.node.context.connect(*client.streams[0].qp, kServerIp, End::kPort, param, client.channel);
  });
  client.then([this] { return !client.streams[0].events.empty(); });
  server.then([this] { return !server.streams[0].events.empty(); });
  move_octets(0);
  run();
  expect_octets_moved(0);
  EXPECT_EQ(client.streams[0].events[0].ddp_version, 0);
  EXPECT_EQ(client.streams[0].events[0].mpa_revision, 0);
  ASSERT_EQ(server.never_accepted.size(), 1u);
  EXPECT_EQ(server.never_accepted[0].status, abi::ConnectStatus::kBadRevision) << "the first attempt";
}

// The default device speaks version 1 only.
class IetfDevices : public TwoNodeBench {};
TEST_F(IetfDevices, RefuseVersionZero) {
  EXPECT_FALSE(client.node.context.query_device().version_selectable);
  client.create(64, host::CqOverrun::kPrevented, -1, kRdmacStream);
  run();
  EXPECT_TRUE(client.streams[0].qp->failed());
  EXPECT_EQ(client.streams[0].qp->status(), CommandStatus::kVersionNotSupported);
  EXPECT_EQ(client.node.context.query_device().ddp_version, 1);
  EXPECT_FALSE(client.node.context.query_device().version_selectable);
}

// Devices of one kind only: the verbs that an RDMAC device refuses.
class RdmacDevices : public TwoNodeBench {
 protected:
  static NodeConfig rdmac() {
    NodeConfig config;
    config.rnic.fwcpu.personality = Personality::kRdmac;
    return config;
  }
  RdmacDevices() : TwoNodeBench(rdmac(), rdmac()) {}
};
TEST_F(RdmacDevices, RefuseVersionOneAndToGoWithoutMarkers) {
  client.create(64, host::CqOverrun::kPrevented, -1, kIetfStream);
  client.create(64, host::CqOverrun::kPrevented, -1, {Personality::kDevice, Markers::kOpen, Markers::kOff});
  run();
  EXPECT_EQ(client.streams[0].qp->status(), CommandStatus::kVersionNotSupported);
  EXPECT_EQ(client.streams[1].qp->status(), CommandStatus::kMarkersRequired);
  EXPECT_EQ(client.node.context.query_device().ddp_version, 0);
  EXPECT_TRUE(client.node.context.query_device().receive_markers);
}

}  // namespace
}  // namespace rnic::test
