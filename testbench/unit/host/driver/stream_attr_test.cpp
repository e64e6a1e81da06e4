// The verbs of draft-carrier-rddp-rnic-interop-00 section 6.2, and a queue pair that a program puts into error.
#include <cerrno>

#include "testbench/unit/host/driver/driver_test.h"

namespace rnic::test {
namespace {

using abi::CommandOp;
using abi::CommandStatus;
using abi::Markers;
using abi::Personality;
using host::CmEventType;

class StreamAttrTest : public DriverTest {
 protected:
  host::Qp* create(abi::StreamAttr stream) {
    host::QpInitAttr attr;
    attr.pd = a.pd;
    attr.send_cq = attr.recv_cq = a.host.context.create_cq(2, host::CqMode::kPolled);
    attr.max_send_wr = attr.max_recv_wr = 1;
    attr.stream = stream;
    return a.host.context.create_qp(attr);
  }
  void modify(const host::QpModifyAttr& attr) {
    a.script.run([=] { a.host.context.modify_qp(*a.qp, attr); });
    a.script.then([this] { return a.qp->answered(); });
  }
  const abi::Command& last(CommandOp op) const {
    const auto& all = a.host.device.commands;
    return *std::find_if(all.rbegin(), all.rend(), [=](const abi::Command& c) { return c.op == op; });
  }
};

TEST_F(StreamAttrTest, TheDeviceTellsWhatItCan) {
  constexpr std::uint32_t kFeatures = 0x8;
  a.host.device.registers[kFeatures] = 0xb0;  // both versions, and CRC on every stream
  b.host.device.registers[kFeatures] = 0x50;  // version 0 and a preference for markers
  a.wait_open();
  b.wait_open();
  run_until_idle();
  EXPECT_EQ(a.host.context.query_device().ddp_version, 1);
  EXPECT_TRUE(a.host.context.query_device().version_selectable);
  EXPECT_FALSE(a.host.context.query_device().receive_markers);
  EXPECT_TRUE(a.host.context.query_device().crc);
  EXPECT_FALSE(b.host.context.query_device().crc);
  EXPECT_EQ(b.host.context.query_device().ddp_version, 0);
  EXPECT_FALSE(b.host.context.query_device().version_selectable);
  EXPECT_TRUE(b.host.context.query_device().receive_markers);
}

TEST_F(StreamAttrTest, CreateSaysVersionAndMarkers) {
  a.create(4, 4);
  host::Qp* qp = nullptr;
  a.script.run([&] { qp = create({Personality::kRdmac, Markers::kOn, Markers::kOpen}); });
  a.script.then([&] { return qp->ready(); });
  run_until_idle();
  EXPECT_TRUE(a.script.done());
  const abi::StreamAttr sent = last(CommandOp::kCreateQp).u.qp.stream;
  EXPECT_EQ(sent.personality, Personality::kRdmac);
  EXPECT_EQ(sent.rx_markers, Markers::kOn);
  EXPECT_EQ(sent.tx_markers, Markers::kOpen);
}

TEST_F(StreamAttrTest, RefusalsOfCreateHaveTheirOwnCodes) {
  a.host.device.refuse = [](const abi::Command& c) {
    if (c.op != CommandOp::kCreateQp || c.u.qp.stream.personality == Personality::kDevice) return CommandStatus::kOk;
    return c.u.qp.stream.rx_markers == Markers::kOff ? CommandStatus::kMarkersRequired
                                                     : CommandStatus::kVersionNotSupported;
  };
  a.create(4, 4);
  host::Qp *version = nullptr, *markers = nullptr;
  a.script.run([&] {
    version = create({Personality::kRdmac, Markers::kOpen, Markers::kOpen});
    markers = create({Personality::kRdmac, Markers::kOff, Markers::kOpen});
  });
  a.script.then([&] { return markers->failed() && version->failed(); });
  run_until_idle();
  EXPECT_TRUE(a.script.done());
  EXPECT_STREQ(host::command_status_str(version->status()), "version not supported");
  EXPECT_STREQ(host::command_status_str(markers->status()), "markers cannot be disabled");
}

TEST_F(StreamAttrTest, ModifyAndQuery) {
  a.host.device.answer = [](const abi::Command& c, abi::Event& done) {
    if (c.op != CommandOp::kQueryQp) return;
    done.qp_state = abi::QpState::kRts;
    done.ddp_version = 0;
    done.stream = {Personality::kPermissive, Markers::kOn, Markers::kOff};
  };
  a.create(4, 4);
  modify({abi::QpState::kIdle, {Personality::kPermissive, Markers::kOff, Markers::kOn}});
  a.script.run([this] {
    EXPECT_EQ(a.qp->answer(), CommandStatus::kOk);
    EXPECT_EQ(a.qp->state(), host::QpState::kIdle);
    a.host.context.query_qp(*a.qp);
    EXPECT_FALSE(a.qp->answered());
  });
  a.script.then([this] { return a.qp->answered(); });
  run_until_idle();
  EXPECT_TRUE(a.script.done());
  const auto& sent = last(CommandOp::kModifyQp).u.modify_qp;
  EXPECT_EQ(sent.to, abi::QpState::kIdle);
  EXPECT_EQ(sent.stream.personality, Personality::kPermissive);
  EXPECT_EQ(sent.stream.rx_markers, Markers::kOff);
  EXPECT_EQ(sent.stream.tx_markers, Markers::kOn);
  EXPECT_EQ(a.qp->queried().state, abi::QpState::kRts);
  EXPECT_EQ(a.qp->queried().ddp_version, 0);
  EXPECT_EQ(a.qp->queried().stream.rx_markers, Markers::kOn);
  EXPECT_EQ(a.qp->queried().stream.tx_markers, Markers::kOff);
}

TEST_F(StreamAttrTest, ARefusedModificationChangesNothing) {
  a.host.device.refuse = [](const abi::Command& c) {
    return c.op == CommandOp::kModifyQp ? CommandStatus::kBadState : CommandStatus::kOk;
  };
  a.create(4, 4);
  modify({abi::QpState::kError, {Personality::kDevice, Markers::kOn, Markers::kOpen}});
  run_until_idle();
  EXPECT_TRUE(a.script.done());
  EXPECT_EQ(a.qp->answer(), CommandStatus::kBadState);
  EXPECT_EQ(a.qp->state(), host::QpState::kIdle);
}

TEST_F(StreamAttrTest, AQueuePairInErrorTakesNoMoreRequests) {
  a.host.device.answer = [](const abi::Command& c, abi::Event& done) {
    if (c.op == CommandOp::kModifyQp) done.qp_state = c.u.modify_qp.to;
  };
  a.create(4, 4);
  modify({abi::QpState::kError, {}});
  a.script.run([this] {
    EXPECT_EQ(a.qp->state(), host::QpState::kError);
    EXPECT_EQ(a.qp->post_recv(a.recv_wr(1, 0, 8)), EINVAL);
  });
  run_until_idle();
  EXPECT_TRUE(a.script.done());
}

TEST_F(StreamAttrTest, AListenerSaysItsPersonalityAndHearsOfSetupsThatFail) {
  b.create(4, 4);
  b.script.run([this] { b.host.context.listen(7000, 0, b.channel, Personality::kIetf); });
  b.wait_event();
  b.script.core.wake();
  a.wait_open();
  a.script.run([this] { a.script.core.wake_at(40'000'000); });
  a.script.then([this] { return clk.now_ps() >= 40'000'000; });
  a.script.run([this] {
    abi::Event e;
    e.type = abi::EventType::kConnectError;
    e.status = static_cast<std::uint8_t>(abi::ConnectStatus::kBadRevision);
    e.id = 0x80000000;
    e.local_port = 7000;
    b.host.device.raise(e);
  });
  run_until_idle();
  EXPECT_TRUE(b.script.done());
  EXPECT_EQ(b.host.device.commands.back().u.cm.personality, Personality::kIetf);
  EXPECT_EQ(b.event.type, CmEventType::kConnectError);
  EXPECT_EQ(b.event.status, abi::ConnectStatus::kBadRevision);
  EXPECT_EQ(b.event.qp, nullptr);
}

}  // namespace
}  // namespace rnic::test
