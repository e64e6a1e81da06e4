// The scenarios of traces/ on two hosts with fake devices: they parse, run to their end, and compare every octet.
#include <gmock/gmock.h>

#include "model/programs/workload/workload.h"
#include "model/system/scenario.h"
#include "testbench/support/stage_test.h"
#include "testbench/unit/host/driver/fake_device.h"

namespace rnic::test {
namespace {

class ScenarioFileTest : public StageTest, public testing::WithParamInterface<const char*> {};

TEST_P(ScenarioFileTest, RunsToItsEnd) {
  const Scenario s = read_scenario(std::string(TRACES_DIR) + "/" + GetParam() + ".json");
  EXPECT_EQ(s.name, GetParam());
  ASSERT_EQ(s.nodes.size(), 2u);
  FakeHost a(clk, "a", 1024), b(clk, "b", 1024);
  FakeDevice::join(a.device, b.device);
  workload::Workload workload(s.plan, {{&a.context, s.nodes[0].ip}, {&b.context, s.nodes[1].ip}}, {});
  sc_core::sc_start(1, sc_core::SC_SEC);
  EXPECT_TRUE(workload.done()) << workload.waiting_for();
  EXPECT_THAT(workload.errors(), testing::IsEmpty());
  EXPECT_EQ(a.device.sends_without_receive + b.device.sends_without_receive, 0u);
  for (const ScenarioCheck& check : s.checks) {
    if (check.kind != CheckKind::kData) continue;
    for (const CheckResult& r : evaluate({check}, workload.results(), {})) EXPECT_TRUE(r.passed) << r.text;
  }
}
INSTANTIATE_TEST_SUITE_P(Traces, ScenarioFileTest,
                         testing::Values("quickstart", "send_pingpong", "write_pingpong", "write_bw", "read_bw_ord1",
                                         "read_bw_ord16", "qps16", "bidirectional", "churn"));

}  // namespace
}  // namespace rnic::test
