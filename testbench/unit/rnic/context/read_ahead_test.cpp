// Stages that run ahead read a flow's context for future cycles, so it must not change until then.
#include "model/rnic/context/context.h"
#include "testbench/support/stage_test.h"

namespace rnic {
namespace {

class ReadAheadTest : public test::StageTest {
 protected:
  ContextStore contexts{clk, {}};
  const FlowId flow{3};

  void SetUp() override {
    if (!kSanitized) GTEST_SKIP() << "checked with sanitizers only";
    contexts.flow(flow, 5);  // the current cycle is 0
  }
  void write(void (*change)(FlowContext&), FlowId to) {
    FlowContext c = contexts.flow(to);
    change(c);
    contexts.write(to, c);
  }
};

TEST_F(ReadAheadTest, WhatTheDatapathReadsMustNotChange) {
  for (auto change : {+[](FlowContext& c) { c.tx_markers = !c.tx_markers; }, +[](FlowContext& c) { c.crc = !c.crc; },
                      +[](FlowContext& c) { c.rx_markers = !c.rx_markers; }, +[](FlowContext& c) { ++c.epoch; }}) {
    EXPECT_THROW(write(change, flow), InternalError);
  }
}

TEST_F(ReadAheadTest, TheRestMayAndSoMayOtherFlows) {
  write([](FlowContext& c) { c.qpn = Qpn{7}; }, flow);
  write([](FlowContext& c) { ++c.epoch; }, FlowId{4});
}

TEST_F(ReadAheadTest, AResetEndsIt) {
  contexts.reset();
  write([](FlowContext& c) { ++c.epoch; }, flow);
}

}  // namespace
}  // namespace rnic
