#include "model/rnic/fwcpu/command_fetch.h"

#include <cstring>

#include "testbench/support/fake_dma.h"

namespace rnic::test {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

class CommandFetchTest : public StageTest {
 protected:
  static constexpr std::uint64_t kRing = 0x1000, kData = 0x2000;
  void put(std::uint32_t slot, std::uint32_t cookie, const std::string& private_data = "") {
    abi::Command c;
    c.op = abi::CommandOp::kConnect;
    c.cookie = cookie;
    c.private_bytes = static_cast<std::uint16_t>(private_data.size());
    std::memcpy(&dma.memory[kRing + slot * 64], &c, sizeof c);
    std::memcpy(&dma.memory[kData + slot * 512], private_data.data(), private_data.size());
  }
  std::vector<std::uint32_t> cookies() const {
    std::vector<std::uint32_t> out;
    for (const auto& b : sink) out.push_back(b.command.cookie);
    return out;
  }

  QueueRegs regs{true, 2, 0, kRing, kData, 0, 0};
  BufferPool pool{1024};
  CommandFetch dut{"dut", clk, [this] { return regs; }, pool};
  Source<CommandDoorbell> source = drive(dut.doorbells);
  Sink<FetchedCommand> sink = collect(dut.commands, {2, 1, 1});
  FakeDma dma{dut.read, dut.read_done};

  CommandFetchTest() { dma.latency = 8; }
};

TEST_F(CommandFetchTest, OneCommandWithoutPrivateData) {
  put(0, 11);
  source.send({1});
  run_until_idle();
  EXPECT_THAT(dma.reads(), ElementsAre(std::pair(kRing, 64u)));
  EXPECT_THAT(cookies(), ElementsAre(11));
  // Doorbell 1, request 1, memory's answer 9, command 1.
  EXPECT_THAT(sink.cycles(), ElementsAre(12));
  EXPECT_FALSE(sink[0].private_data);
}

TEST_F(CommandFetchTest, PrivateDataComesFromTheParallelSlot) {
  put(0, 11);
  put(1, 12, "hello");
  source.send({2});
  run_until_idle();
  EXPECT_THAT(dma.reads(), ElementsAre(std::pair(kRing, 64u), std::pair(kRing + 64, 64u), std::pair(kData + 512, 5u)));
  ASSERT_THAT(cookies(), ElementsAre(11, 12));
  EXPECT_EQ(std::memcmp(sink[1].private_data->bytes(), "hello", 5), 0);
  EXPECT_THAT(sink.cycles(), ElementsAre(12, 12 + 10 + 10));
}

TEST_F(CommandFetchTest, RingOfFourWrapsAndMayBeFull) {
  for (std::uint32_t i = 0; i < 4; ++i) put(i, i);
  source.send({4});
  run_until_idle();
  EXPECT_THAT(cookies(), ElementsAre(0, 1, 2, 3));
  source.send({6});
  run_until_idle();
  EXPECT_THAT(cookies(), ElementsAre(0, 1, 2, 3, 0, 1));
}

TEST_F(CommandFetchTest, IndicesWrapAtTwoToTheSixteenth) {
  for (std::uint32_t i = 0; i < 4; ++i) put(i, i);
  for (std::uint32_t pi = 4; pi <= 0x10000 + 4; pi += 4) {
    source.send({pi & 0xffff});
    run_until_idle();
  }
  EXPECT_EQ(sink.size(), 0x10004u);
  EXPECT_EQ(sink.back().command.cookie, 3u);
}

TEST_F(CommandFetchTest, SlowFirmwareHoldsTheNextFetchBack) {
  for (std::uint32_t i = 0; i < 4; ++i) put(i, i);
  sink.pause(window(0, 200));  // two wait in the link, one in the stage, the fourth in host memory
  source.send({4});
  run_until_idle();
  EXPECT_THAT(cookies(), ElementsAre(0, 1, 2, 3));
  EXPECT_THAT(sink.cycles(), ElementsAre(200, 201, 202, 212));
}

TEST_F(CommandFetchTest, TooLongPrivateDataIsCutHereAndRefusedByTheFirmware) {
  put(0, 11, std::string(600, 'x'));
  source.send({1});
  run_until_idle();
  EXPECT_EQ(dma.reads().back(), std::pair(kData, 512u));
  EXPECT_EQ(sink[0].command.private_bytes, 600);
}

TEST_F(CommandFetchTest, FailedReadStopsTheQueue) {
  dma.fails.insert(0);
  source.send({2});
  run_until_idle();
  EXPECT_TRUE(dut.failed());
  EXPECT_EQ(dma.requests().size(), 1u);
  EXPECT_THAT(cookies(), IsEmpty());
}

TEST_F(CommandFetchTest, DoorbellOfADisabledDeviceIsIgnored) {
  regs.enabled = false;
  source.send({2});
  run_until_idle();
  EXPECT_THAT(dma.reads(), IsEmpty());
}

}  // namespace
}  // namespace rnic::test
