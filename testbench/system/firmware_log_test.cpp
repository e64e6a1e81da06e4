// A program reads the firmware's log while the device runs.
#include "model/abi/log_text.h"
#include "testbench/system/two_node_bench.h"

namespace rnic::test {
namespace {

class FirmwareLogEndToEnd : public TwoNodeBench {
 protected:
  void read_log(std::vector<std::string>& lines) {
    client.run([this] { client.node.context.firmware_log().read(); });
    client.then([this] { return client.node.context.firmware_log().done(); });
    client.run([&] {
      for (const LogEntry& e : client.node.context.firmware_log().take()) lines.push_back(log_text(e));
    });
  }
};

TEST_F(FirmwareLogEndToEnd, EveryStateOfASetupAtTheFinestLevel) {
  std::vector<std::string> before, after, again;
  server.create(64);
  client.run([this] { client.node.context.firmware_log().set_level(fw::LogLevel::kDebug); });
  client.create(64);
  read_log(before);
  connect(1);
  read_log(after);
  read_log(again);
  run();
  EXPECT_THAT(before, testing::IsEmpty());
  EXPECT_THAT(after, testing::ElementsAre("connection_state: connection 0x80000000: free -> tcp_opening",
                                          "connection_state: connection 0x80000000: tcp_opening -> wait_reply",
                                          "connection_state: connection 0x80000000: wait_reply -> rts"));
  EXPECT_THAT(again, testing::IsEmpty());
  EXPECT_EQ(client.node.context.firmware_log().lost(), 0u);
}

TEST_F(FirmwareLogEndToEnd, NothingOfItAtTheLevelOfTheReset) {
  std::vector<std::string> lines;
  server.create(64);
  client.create(64);
  connect(1);
  read_log(lines);
  run();
  EXPECT_THAT(lines, testing::IsEmpty());
}

TEST_F(FirmwareLogEndToEnd, TheDriverKnowsTheFirmwareAndItsLimits) {
  server.create(64);
  client.create(64);
  run();
  const host::DeviceAttr& attr = client.node.context.query_device();
  EXPECT_THAT(attr.firmware_version, testing::ElementsAre(1, 0, 0));
  EXPECT_EQ(attr.max_connections, 256u);  // flows, which are fewer
}

}  // namespace
}  // namespace rnic::test
