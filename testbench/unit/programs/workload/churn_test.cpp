// Programs that open and close connections, on fake devices.
#include "model/programs/workload/workload.h"
#include "testbench/support/stage_test.h"
#include "testbench/unit/host/driver/fake_device.h"

namespace rnic::workload {
namespace {

using abi::CommandOp;
using test::FakeDevice;
using test::FakeHost;
using testing::ElementsAre;
using testing::HasSubstr;

class ChurnTest : public test::StageTest {
 protected:
  ChurnTest() {
    FakeDevice::join(a.device, b.device);
    ConnectionSpec c;
    c.name = "c0";
    c.to = 1;
    plan.connections = {c};
    item.name = "churn";
    item.connections = {0};
    item.op = Op::kConnect;
    item.size = {SizeLaw::kUniform, 0, 300};
    item.count = 50;
    item.depth = 4;
  }
  void run() {
    plan.phases = {{item}};
    workload = std::make_unique<Workload>(
        plan, std::vector<HostNode>{{&a.context, 0x0a000001}, {&b.context, 0x0a000002}}, WireParams{});
    sc_core::sc_start(5, sc_core::SC_MS);
  }
  void expect_success() {
    EXPECT_TRUE(workload->done()) << workload->waiting_for();
    EXPECT_THAT(workload->errors(), testing::IsEmpty());
    EXPECT_EQ(workload->waiting_for(), "");
  }
  void expect_failure(const std::string& text) {
    EXPECT_FALSE(workload->done());
    ASSERT_FALSE(workload->errors().empty());
    EXPECT_THAT(workload->errors()[0], HasSubstr(text));
  }
  static unsigned count(const FakeHost& host, CommandOp op) {
    unsigned n = 0;
    for (const abi::Command& c : host.device.commands) n += c.op == op;
    return n;
  }

  FakeHost a{clk, "a"}, b{clk, "b"};
  Plan plan;
  WorkItem item;
  std::unique_ptr<Workload> workload;
};

TEST_F(ChurnTest, EachConnectionHasAQueuePairOfItsOwnAndNothingIsLeft) {
  run();
  expect_success();
  const WorkResult r = workload->results().at(0);
  EXPECT_TRUE(r.data_ok) << r.error;
  EXPECT_EQ(r.count, 50u);
  EXPECT_EQ(r.latency.count, 50u);
  EXPECT_THAT(r.outcomes, ElementsAre(50, 0, 0, 0));
  EXPECT_EQ(r.limit_gbps, 0);
  for (const FakeHost* host : {&a, &b}) {
    EXPECT_EQ(count(*host, CommandOp::kCreateQp), 1 + 50u);  // one stays
    EXPECT_EQ(count(*host, CommandOp::kDestroyQp), 50u);
    EXPECT_EQ(count(*host, CommandOp::kDeregisterMr), 1u);
    EXPECT_EQ(count(*host, CommandOp::kDestroyCq), 1u);
  }
  EXPECT_EQ(count(a, CommandOp::kConnect), 1 + 50u);
  EXPECT_EQ(count(b, CommandOp::kAccept), 1 + 50u);
}

TEST_F(ChurnTest, NotifiedProgramsDoTheSame) {
  plan.connections[0].notified = true;
  run();
  expect_success();
  EXPECT_TRUE(workload->results().at(0).data_ok);
}

TEST_F(ChurnTest, AtMostDepthAtATimeAndAtTheirPace) {
  item.count = 10;
  item.interval_ns = 100'000;
  run();
  expect_success();
  const WorkResult r = workload->results().at(0);
  EXPECT_GE(r.duration_ps, 9 * 100'000'000u);
  EXPECT_LT(r.duration_ps, 10 * 100'000'000u);
}

TEST_F(ChurnTest, EveryOutcomeIsTheOneThatWasMeant) {
  item.outcomes = {Outcome::kAccept, Outcome::kReject, Outcome::kNoListener};
  run();
  expect_success();
  const WorkResult r = workload->results().at(0);
  EXPECT_TRUE(r.data_ok) << r.error;
  EXPECT_EQ(r.count, 50u);
  EXPECT_EQ(r.latency.count, 17u);
  EXPECT_THAT(r.outcomes, ElementsAre(17, 17, 16, 0));
  EXPECT_EQ(count(b, CommandOp::kReject), 17u);
  EXPECT_EQ(count(b, CommandOp::kCreateQp), 1 + 17u);
}

// The third connect overall: the first belongs to the connection that stays.
TEST_F(ChurnTest, WithoutRoomInTheDeviceItIsTriedAgainLater) {
  a.device.refuse = [n = 0](const abi::Command& c) mutable {
    const bool full = c.op == CommandOp::kConnect && ++n == 3;
    return full ? abi::CommandStatus::kNoResources : abi::CommandStatus::kOk;
  };
  run();
  expect_success();
  const WorkResult r = workload->results().at(0);
  EXPECT_TRUE(r.data_ok);
  EXPECT_EQ(r.retries, 1u);
  EXPECT_EQ(r.count, 50u);
  EXPECT_EQ(count(a, CommandOp::kConnect), 1 + 51u);
}

TEST_F(ChurnTest, AnyOtherRefusalEndsTheRun) {
  a.device.refuse = [n = 0](const abi::Command& c) mutable {
    const bool bad = c.op == CommandOp::kConnect && ++n == 3;
    return bad ? abi::CommandStatus::kBadState : abi::CommandStatus::kOk;
  };
  run();
  expect_failure("churn on c0: connection 1: the connection failed: the device refused the command: bad state");
}

TEST_F(ChurnTest, AnOutcomeThatWasNotMeantEndsTheRun) {
  item.outcomes = {Outcome::kTimeout};
  b.device.refuse = {};
  item.count = 2;
  run();
  EXPECT_FALSE(workload->done());  // this device waits forever
  EXPECT_THAT(workload->waiting_for(), HasSubstr("connection 0: the answer of the other side"));
}

TEST_F(ChurnTest, AFlippedOctetOfTheSendIsFound) {
  item.size = {SizeLaw::kFixed, 100, 100};
  b.device.corrupt = [n = 0](std::uint8_t* p, std::uint32_t bytes) mutable {
    if (bytes == 100 && n++ == 7) p[42] ^= 1;
  };
  run();
  expect_failure("differs first at octet 42");
}

}  // namespace
}  // namespace rnic::workload
