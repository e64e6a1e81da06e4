#include <cerrno>
#include <set>

#include "testbench/unit/host/driver/driver_test.h"

namespace rnic::test {
namespace {

using host::CmEventType;
using testing::ElementsAre;

class ConnectionTest : public DriverTest {
 protected:
  void listen() {
    b.create(4, 4);
    b.script.run([this] { b.host.context.listen(7000, abi::kCmMarkers | abi::kCmCrc, b.channel); });
  }
  void connect(std::uint16_t port, host::ConnParam param) {
    a.create(4, 4);
    a.script.run([this] { a.script.core.wake_at(40'000'000); });
    a.script.then([this] { return clk.now_ps() >= 40'000'000; });
    a.script.run([=] { a.host.context.connect(*a.qp, 0x0a000002, port, param, a.channel); });
    a.wait_event();
  }
};

TEST_F(ConnectionTest, PrivateDataAndDepthsGoBothWays) {
  listen();
  b.wait_event();
  std::vector<std::uint8_t> request;
  b.script.run([&] {
    EXPECT_EQ(b.event.type, CmEventType::kConnectRequest);
    EXPECT_EQ(b.event.peer_ird, 3);
    EXPECT_EQ(b.event.peer_ord, 5);
    request = b.event.private_data;
    b.host.context.accept(b.event.connection, *b.qp, {5, 3, 0, {9, 8}}, b.channel);
  });
  b.wait_event();
  connect(7000, {3, 5, abi::kCmCrc | abi::kCmEnhanced, {1, 2, 3}});
  run_until_idle();
  EXPECT_THAT(request, ElementsAre(1, 2, 3));
  EXPECT_EQ(a.event.type, CmEventType::kEstablished);
  EXPECT_THAT(a.event.private_data, ElementsAre(9, 8));
  EXPECT_EQ(b.event.type, CmEventType::kEstablished);
  EXPECT_EQ(a.qp->state(), host::QpState::kRts);
  EXPECT_EQ(b.qp->state(), host::QpState::kRts);
  const abi::Command& c = a.host.device.commands.back();
  EXPECT_EQ(c.op, abi::CommandOp::kConnect);
  EXPECT_EQ(c.flags, 6);
  EXPECT_EQ(c.u.cm.peer_ip, 0x0a000002u);
  EXPECT_EQ(c.u.cm.peer_port, 7000);
}

TEST_F(ConnectionTest, ARejectCarriesPrivateData) {
  listen();
  b.wait_event();
  b.script.run([&] {
    const std::vector<std::uint8_t> why{0x6e, 0x6f};
    b.host.context.reject(b.event.connection, why);
  });
  connect(7000, {});
  run_until_idle();
  EXPECT_EQ(a.event.type, CmEventType::kRejected);
  EXPECT_THAT(a.event.private_data, ElementsAre(0x6e, 0x6f));
}

TEST_F(ConnectionTest, APortWithoutListenerIsRefused) {
  listen();
  connect(7001, {});
  run_until_idle();
  EXPECT_EQ(a.event.type, CmEventType::kConnectError);
  EXPECT_EQ(a.event.status, abi::ConnectStatus::kRefused);
}

TEST_F(ConnectionTest, ARefusedConnectCommandIsAnEventToo) {
  listen();
  a.host.device.refuse = [](const abi::Command& c) {
    return c.op == abi::CommandOp::kConnect ? abi::CommandStatus::kNoResources : abi::CommandStatus::kOk;
  };
  connect(7000, {});
  run_until_idle();
  EXPECT_EQ(a.event.type, CmEventType::kConnectError);
  EXPECT_EQ(a.event.refused, abi::CommandStatus::kNoResources);
  EXPECT_STREQ(host::command_status_str(a.event.refused), "no resources");
}

TEST_F(ConnectionTest, ARequestAfterUnlistenIsRejected) {
  b.create(4, 4);
  host::Listener* listener = nullptr;
  b.script.run([&] { listener = &b.host.context.listen(7000, 0, b.channel); });
  b.script.then([&] { return listener->ready(); });
  b.script.run([&] { b.host.context.unlisten(*listener); });
  b.script.then([&] { return listener->destroyed(); });
  connect(7000, {});
  run_until_idle();
  EXPECT_TRUE(b.script.done());
  EXPECT_EQ(a.event.type, CmEventType::kConnectError);
}

// The second listener gets the first one's number.
TEST_F(ConnectionTest, AListenerOnAnotherPortTakesTheNumberOfOneThatIsGone) {
  b.create(4, 4);
  host::Listener* listener = nullptr;
  b.script.run([&] { listener = &b.host.context.listen(7001, 0, b.channel); });
  b.script.then([&] { return listener->ready(); });
  b.script.run([&] { b.host.context.unlisten(*listener); });
  b.script.then([&] { return listener->destroyed(); });
  b.script.run([&] { listener = &b.host.context.listen(7000, 0, b.channel); });
  b.script.then([&] { return listener->ready(); });
  b.wait_event();
  connect(7000, {});
  run_until_idle();
  EXPECT_EQ(b.event.type, CmEventType::kConnectRequest);
  EXPECT_EQ(b.event.local_port, 7000u);
}

TEST_F(ConnectionTest, DisconnectReachesBothSides) {
  connect_both(4, 4);
  b.wait_event();
  a.script.run([&] { a.host.context.disconnect(*a.qp); });
  a.wait_event();
  run_until_idle();
  EXPECT_EQ(a.event.type, CmEventType::kDisconnected);
  EXPECT_EQ(b.event.type, CmEventType::kDisconnected);
  EXPECT_EQ(a.qp->state(), host::QpState::kError);
}

// IBV_EVENT_DEVICE_FATAL: the connection ends, and outstanding and later requests fail.
TEST_F(ConnectionTest, AFirmwareThatStoppedEndsEverything) {
  connect_both(4, 4);
  host::Mr *outstanding = nullptr, *later = nullptr;
  a.script.run([&] {
    outstanding = a.host.context.reg_mr(a.pd, a.buffer, 64, 0);
    abi::Event fatal;
    fatal.type = abi::EventType::kDeviceFatal;
    fatal.status = static_cast<std::uint8_t>(abi::FaultCause::kBusFault);
    a.host.device.raise(fatal);
  });
  a.wait_event();
  a.script.run([&] { later = a.host.context.reg_mr(a.pd, a.buffer, 64, 0); });
  run_until_idle();
  EXPECT_TRUE(a.script.done());
  EXPECT_EQ(a.host.context.error(), "the device's firmware stopped: bus fault");
  EXPECT_FALSE(a.host.context.is_open());
  EXPECT_EQ(a.event.type, CmEventType::kDisconnected);
  EXPECT_EQ(a.event.status, abi::ConnectStatus::kLocalFailure);
  EXPECT_EQ(a.event.qp, a.qp);
  EXPECT_EQ(a.qp->state(), host::QpState::kError);
  EXPECT_TRUE(a.channel.empty());
  for (const host::Mr* mr : {outstanding, later}) {
    ASSERT_NE(mr, nullptr);
    EXPECT_TRUE(mr->failed());
    EXPECT_EQ(mr->status(), abi::CommandStatus::kDeviceFatal);
  }
  EXPECT_STREQ(host::command_status_str(later->status()), "the device's firmware stopped");
  EXPECT_TRUE(b.host.context.is_open());
}

TEST_F(ConnectionTest, AFirmwareThatStoppedFailsAConnectionThatIsBeingMade) {
  a.create(4, 4);
  a.host.device.refuse = [this](const abi::Command& c) {
    if (c.op == abi::CommandOp::kConnect) {
      abi::Event fatal;
      fatal.type = abi::EventType::kDeviceFatal;
      fatal.status = static_cast<std::uint8_t>(abi::FaultCause::kPanic);
      a.host.device.raise(fatal);
    }
    return abi::CommandStatus::kOk;
  };
  a.script.run([this] { a.host.context.connect(*a.qp, 0x0a000002, 7000, {}, a.channel); });
  a.wait_event();
  run_until_idle();
  EXPECT_TRUE(a.script.done());
  EXPECT_EQ(a.event.type, CmEventType::kConnectError);
  EXPECT_EQ(a.qp->state(), host::QpState::kError);
  EXPECT_TRUE(a.channel.empty()) << "told once";
}

// RFC 6581 section 10. The device answers like a peer without enhancements.
TEST_F(ConnectionTest, FallsBackWhenThePeerClosesOnEnhancements) {
  listen();
  a.host.device.closes_on_enhanced = true;
  b.wait_event();
  b.script.run([&] { b.host.context.accept(b.event.connection, *b.qp, {}, b.channel); });
  host::ConnParam param;
  param.flags = abi::kCmCrc | abi::kCmEnhanced | abi::kCmPeerToPeer;
  param.options = abi::kCmKeepIrd;
  param.private_data = {1, 2, 3};
  param.fall_back = true;
  connect(7000, param);
  run_until_idle();
  EXPECT_EQ(a.event.type, CmEventType::kEstablished);
  EXPECT_TRUE(a.channel.empty());
  EXPECT_THAT(b.event.private_data, ElementsAre(1, 2, 3));
  const abi::Command& c = a.host.device.commands.back();
  EXPECT_EQ(c.flags, abi::kCmCrc);
  EXPECT_EQ(c.u.cm.options, 0);
}

TEST_F(ConnectionTest, TheTransportIsAnOptionOfBothSidesCommands) {
  b.create(4, 4);
  host::Listener* listener = nullptr;
  b.script.run([&] {
    listener =
        &b.host.context.listen(7000, abi::kCmEnhanced, b.channel, abi::Personality::kDevice, 0, host::Transport::kSctp);
  });
  b.wait_event();
  b.script.run([&] {
    b.host.context.accept(b.event.connection, *b.qp, {}, b.channel);
    b.host.context.unlisten(*listener);
  });
  b.wait_event();
  host::ConnParam param;
  param.flags = abi::kCmEnhanced;
  param.options = abi::kCmKeepOrd;
  param.transport = host::Transport::kSctp;
  connect(7000, param);
  run_until_idle();
  EXPECT_EQ(a.event.type, CmEventType::kEstablished);
  const auto options = [](Side& side, abi::CommandOp op) -> int {
    for (const abi::Command& c : side.host.device.commands) {
      if (c.op == op) return c.u.cm.options;
    }
    return -1;
  };
  EXPECT_EQ(options(a, abi::CommandOp::kConnect), abi::kCmKeepOrd | abi::kCmSctp);
  EXPECT_EQ(options(b, abi::CommandOp::kListen), abi::kCmSctp);
  EXPECT_EQ(options(b, abi::CommandOp::kUnlisten), abi::kCmSctp);
  EXPECT_EQ(options(b, abi::CommandOp::kAccept), 0);
}

TEST_F(ConnectionTest, ASecondAttemptIsOverTheSameTransport) {
  listen();
  b.wait_event();
  b.script.run([&] { b.host.context.accept(b.event.connection, *b.qp, {}, b.channel); });
  b.wait_event();
  a.host.device.closes_on_enhanced = true;
  host::ConnParam param;
  param.flags = abi::kCmEnhanced;
  param.options = abi::kCmKeepIrd;
  param.fall_back = true;
  param.transport = host::Transport::kSctp;
  connect(7000, param);
  run_until_idle();
  EXPECT_EQ(a.event.type, CmEventType::kEstablished);
  EXPECT_EQ(a.host.device.commands.back().flags, 0);
  EXPECT_EQ(a.host.device.commands.back().u.cm.options, abi::kCmSctp);
}

TEST_F(ConnectionTest, DoesNotFallBackUnlessItMay) {
  listen();
  a.host.device.closes_on_enhanced = true;
  connect(7000, {16, 16, abi::kCmEnhanced, {}});
  run_until_idle();
  EXPECT_EQ(a.event.type, CmEventType::kConnectError);
  EXPECT_EQ(a.event.status, abi::ConnectStatus::kReset);
  EXPECT_EQ(a.qp->state(), host::QpState::kIdle) << "the program may try something else";
  EXPECT_FALSE(a.qp->has_connection());
}

TEST_F(ConnectionTest, WrongUseIsRefusedAndHasNoEffect) {
  connect_both(4, 4);
  a.script.run([&] {
    const std::size_t commands = a.host.device.commands.size();
    host::Context& context = a.host.context;
    EXPECT_EQ(context.connect(*a.qp, 0x0a000002, 7000, {}, a.channel), EISCONN);
    host::Qp* other = context.create_qp({a.pd, a.send_cq, a.recv_cq, 1, 1});
    EXPECT_EQ(other, nullptr) << "the completion queues are full";
    host::ConnParam param;
    param.private_data.resize(513);
    EXPECT_EQ(context.connect(*a.qp, 0x0a000002, 7000, param, a.channel), EINVAL);
    EXPECT_EQ(context.accept(0x80000000, *a.qp, {}, a.channel), EINVAL);
    EXPECT_EQ(context.reject(0x80000000, {}), EINVAL);
    EXPECT_EQ(a.host.device.commands.size(), commands);
  });
  run_until_idle();
  EXPECT_TRUE(a.script.done());
}

TEST_F(ConnectionTest, PrivateDataThatDoesNotFitIsRefused) {
  a.create(4, 4);
  a.script.run([&] {
    host::ConnParam param;
    param.private_data.resize(509);
    param.flags = abi::kCmEnhanced;
    EXPECT_EQ(a.host.context.connect(*a.qp, 0x0a000002, 7000, param, a.channel), EINVAL);
    EXPECT_EQ(a.host.context.disconnect(*a.qp), ENOTCONN);
    param.private_data.resize(508);
    EXPECT_EQ(a.host.context.connect(*a.qp, 0x0a000002, 7000, param, a.channel), 0);
  });
  a.wait_event();
  run_until_idle();
  EXPECT_EQ(a.event.status, abi::ConnectStatus::kRefused) << "nobody listens";
}

TEST_F(ConnectionTest, ARequestIsAnsweredOnce) {
  listen();
  b.wait_event();
  b.script.run([&] {
    host::Context& context = b.host.context;
    const std::vector<std::uint8_t> long_data(513);
    EXPECT_EQ(context.reject(b.event.connection, long_data), EINVAL);
    EXPECT_EQ(context.reject(b.event.connection, {}, 7), 0);
    EXPECT_EQ(context.reject(b.event.connection, {}), EINVAL);
    EXPECT_EQ(context.accept(b.event.connection, *b.qp, {}, b.channel), EINVAL);
  });
  connect(7000, {});
  run_until_idle();
  EXPECT_EQ(a.event.type, CmEventType::kRejected);
  EXPECT_EQ(b.host.device.commands.back().u.cm.need_ord, 7);
}

TEST_F(ConnectionTest, BothSidesMayLimitTcp) {
  listen();
  b.wait_event();
  b.script.run([&] {
    host::ConnParam param;
    param.tcp = {3, abi::KeepAlive::kOn};
    EXPECT_EQ(b.host.context.accept(b.event.connection, *b.qp, param, b.channel), 0);
  });
  host::ConnParam param;
  param.tcp = {5, abi::KeepAlive::kOff};
  connect(7000, param);
  run_until_idle();
  const auto& accept = b.host.device.commands.back().u.cm.tcp;
  EXPECT_EQ(accept.max_retries, 3);
  EXPECT_EQ(accept.keep_alive, abi::KeepAlive::kOn);
  const auto& connect = a.host.device.commands.back().u.cm.tcp;
  EXPECT_EQ(connect.max_retries, 5);
  EXPECT_EQ(connect.keep_alive, abi::KeepAlive::kOff);
}

TEST_F(ConnectionTest, ADestroyedQueuePairEndsItsConnectionFirst) {
  connect_both(4, 4);
  b.wait_event();
  a.script.run([&] {
    a.host.context.destroy_qp(*a.qp);
    a.host.context.destroy_qp(*a.qp);
    EXPECT_EQ(a.host.context.connect(*a.qp, 0x0a000002, 7000, {}, a.channel), EISCONN);
  });
  a.script.then([&] { return a.qp->destroyed(); });
  run_until_idle();
  EXPECT_TRUE(a.script.done());
  EXPECT_TRUE(a.channel.empty()) << "its program hears no more of it";
  EXPECT_EQ(b.event.type, CmEventType::kDisconnected);
  std::vector<abi::CommandOp> ops;
  for (const abi::Command& c : a.host.device.commands) ops.push_back(c.op);
  ASSERT_GE(ops.size(), 2u);
  EXPECT_EQ(ops[ops.size() - 2], abi::CommandOp::kDisconnect);
  EXPECT_EQ(ops.back(), abi::CommandOp::kDestroyQp);
}

TEST_F(ConnectionTest, ADestroyedQueuePairWhoseConnectIsRefused) {
  a.host.device.refuse = [](const abi::Command& c) {
    return c.op == abi::CommandOp::kConnect || c.op == abi::CommandOp::kDisconnect ? abi::CommandStatus::kBadState
                                                                                   : abi::CommandStatus::kOk;
  };
  a.create(4, 4);
  a.script.run([&] {
    EXPECT_EQ(a.host.context.connect(*a.qp, 0x0a000002, 7000, {}, a.channel), 0);
    a.host.context.destroy_qp(*a.qp);
  });
  a.script.then([&] { return a.qp->destroyed(); });
  run_until_idle();
  EXPECT_TRUE(a.script.done());
  EXPECT_TRUE(a.channel.empty());
}

TEST_F(ConnectionTest, CommandsBeyondTheRingWaitForASlot) {
  a.wait_open();
  std::vector<host::Mr*> mrs;
  a.script.run([&] {
    for (int i = 0; i < 150; ++i) mrs.push_back(a.host.context.reg_mr({}, 0x1000u * i, 0x1000, 1));
  });
  a.script.then([&] { return mrs.back()->ready(); });
  run_until_idle();
  EXPECT_TRUE(a.script.done());
  ASSERT_EQ(a.host.device.commands.size(), 150u);
  for (std::uint32_t i = 0; i < 150; ++i) {
    EXPECT_EQ(a.host.device.commands[i].cookie, i);
    EXPECT_EQ(a.host.device.commands[i].u.mr.address, 0x1000u * i);
  }
  EXPECT_EQ(a.host.device.values(0x74).back(), 150u);
}

TEST_F(ConnectionTest, ARegionOfAnOldIndexGetsAnotherKey) {
  a.wait_open();
  std::vector<host::Mr*> mrs;
  host::Mr* again = nullptr;
  a.script.run([&] {
    for (unsigned i = 0; i < 255; ++i) mrs.push_back(a.host.context.reg_mr({}, 0x1000, 16, 1));
    EXPECT_EQ(a.host.context.reg_mr({}, 0x1000, 16, 1), nullptr);  // the table is full
  });
  a.script.then([&] { return mrs.back()->ready(); });
  std::uint32_t first = 0;
  a.script.run([&] {
    first = mrs[7]->rkey();
    a.host.context.dereg_mr(*mrs[7]);
  });
  a.script.then([&] { return mrs[7]->destroyed(); });
  a.script.run([&] { again = a.host.context.reg_mr({}, 0x1000, 16, 1); });
  run_until_idle();
  EXPECT_EQ(again->rkey() >> 8, first >> 8);
  EXPECT_NE(again->rkey(), first);
}

// RFC 5040 section 8.1.1: 64 of 65280 STags.
TEST_F(ConnectionTest, StagsAreSpreadAndHardToPredict) {
  a.wait_open();
  std::vector<std::uint32_t> stags;
  a.script.run([&] {
    for (unsigned i = 0; i < 64; ++i) stags.push_back(a.host.context.reg_mr({}, 0x1000, 16, 1)->rkey());
  });
  run_until_idle();
  std::array<unsigned, 8> index{}, key{};
  std::set<std::uint32_t> steps;
  for (std::size_t i = 0; i < stags.size(); ++i) {
    ++index[(stags[i] >> 8) / 32];
    ++key[(stags[i] & 0xff) / 32];
    if (i != 0) steps.insert(stags[i] - stags[i - 1]);
  }
  for (unsigned eighth = 0; eighth < 8; ++eighth) {  // 8 of each are expected
    EXPECT_GE(index[eighth], 2u) << eighth;
    EXPECT_LE(index[eighth], 20u) << eighth;
    EXPECT_GE(key[eighth], 2u) << eighth;
    EXPECT_LE(key[eighth], 20u) << eighth;
  }
  EXPECT_GE(steps.size(), 60u);
}

TEST_F(ConnectionTest, TheDevicesRefusalShowsInTheObject) {
  a.host.device.refuse = [](const abi::Command&) { return abi::CommandStatus::kNoResources; };
  a.wait_open();
  host::Mr* mr = nullptr;
  a.script.run([&] { mr = a.host.context.reg_mr({}, 0, 1, 1); });
  a.script.then([&] { return mr->failed(); });
  run_until_idle();
  EXPECT_TRUE(a.script.done());
  EXPECT_EQ(mr->status(), abi::CommandStatus::kNoResources);
}

}  // namespace
}  // namespace rnic::test
