#include "model/rnic/fwcpu/command_fetch.h"

#include <cstring>

#include "testbench/support/stage_test.h"

namespace rnic::test {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

// Host memory behind a DMA engine of fixed latency.
class HostMemory final : public Stage {
 public:
  PopPort<DmaReadRequest> requests{*this, "requests"};
  PushPort<DmaReadDone> done{*this, "done"};
  static constexpr std::uint64_t kBase = 0x100000;

  HostMemory(sc_core::sc_module_name nm, ClockDomain& clk) : Stage(nm, clk), bytes_(0x10000) {}
  Wake tick() override {
    if (!requests->can_pop()) return Wake::on_traffic();
    const DmaReadRequest r = requests->pop();
    log.push_back({r.address, r.bytes});
    if (!fail) std::memcpy(r.dst, &bytes_.at(r.address - kBase), r.bytes);
    done->push({r.tag, !fail});
    return Wake::next_cycle();
  }
  void put(std::uint64_t address, const void* data, std::size_t bytes) {
    std::memcpy(&bytes_.at(address - kBase), data, bytes);
  }
  std::vector<std::pair<std::uint64_t, std::uint32_t>> log;
  bool fail = false;

 private:
  std::vector<std::uint8_t> bytes_;
};

class CommandFetchTest : public StageTest {
 protected:
  static constexpr std::uint64_t kRing = HostMemory::kBase, kData = HostMemory::kBase + 0x1000;
  CommandFetchTest() {
    source.out(doorbells);
    dut.doorbells(doorbells);
    dut.read(read);
    memory.requests(read);
    memory.done(read_done);
    dut.read_done(read_done);
    dut.commands(commands);
    sink.in(commands);
  }
  void put(std::uint32_t slot, std::uint32_t cookie, const std::string& private_data = "") {
    abi::Command c;
    c.op = abi::CommandOp::kConnect;
    c.cookie = cookie;
    c.private_bytes = static_cast<std::uint16_t>(private_data.size());
    memory.put(kRing + slot * 64, &c, sizeof c);
    memory.put(kData + slot * 512, private_data.data(), private_data.size());
  }
  std::vector<std::uint32_t> cookies() const {
    std::vector<std::uint32_t> out;
    for (const auto& b : sink.beats()) out.push_back(b.command.cookie);
    return out;
  }

  QueueRegs regs{true, 2, 0, kRing, kData, 0, 0};
  BufferPool pool{1024};
  Link<CommandDoorbell> doorbells{"doorbells", clk, {4, 1}};
  Link<DmaReadRequest> read{"read", clk, {2, 1}};
  Link<DmaReadDone> read_done{"read_done", clk, {2, 9}};
  Link<FetchedCommand> commands{"commands", clk, {2, 1}};
  Source<CommandDoorbell> source{"source", clk};
  HostMemory memory{"memory", clk};
  CommandFetch dut{"dut", clk, [this] { return regs; }, pool};
  Sink<FetchedCommand> sink{"sink", clk};
};

TEST_F(CommandFetchTest, OneCommandWithoutPrivateData) {
  put(0, 11);
  source.script({{1}});
  run_until_idle();
  EXPECT_THAT(memory.log, ElementsAre(std::pair(kRing, 64u)));
  EXPECT_THAT(cookies(), ElementsAre(11));
  // Doorbell 1, request 1, memory's answer 9, command 1.
  EXPECT_THAT(sink.cycles(), ElementsAre(12));
  EXPECT_FALSE(sink.beats()[0].private_data);
}

TEST_F(CommandFetchTest, PrivateDataComesFromTheParallelSlot) {
  put(0, 11);
  put(1, 12, "hello");
  source.script({{2}});
  run_until_idle();
  EXPECT_THAT(memory.log, ElementsAre(std::pair(kRing, 64u), std::pair(kRing + 64, 64u), std::pair(kData + 512, 5u)));
  ASSERT_THAT(cookies(), ElementsAre(11, 12));
  EXPECT_EQ(std::memcmp(sink.beats()[1].private_data->bytes(), "hello", 5), 0);
  EXPECT_THAT(sink.cycles(), ElementsAre(12, 12 + 10 + 10));
}

TEST_F(CommandFetchTest, RingOfFourWrapsAndMayBeFull) {
  for (std::uint32_t i = 0; i < 4; ++i) put(i, i);
  source.script({{4}});
  run_until_idle();
  EXPECT_THAT(cookies(), ElementsAre(0, 1, 2, 3));
  source.script({{6}}, clk.now() + 1);
  run_until_idle();
  EXPECT_THAT(cookies(), ElementsAre(0, 1, 2, 3, 0, 1));
}

TEST_F(CommandFetchTest, IndicesWrapAtTwoToTheSixteenth) {
  for (std::uint32_t i = 0; i < 4; ++i) put(i, i);
  for (std::uint32_t pi = 4; pi <= 0x10000 + 4; pi += 4) {
    source.script({{pi & 0xffff}}, clk.now() + 1);
    run_until_idle();
  }
  EXPECT_EQ(sink.beats().size(), 0x10004u);
  EXPECT_EQ(sink.beats().back().command.cookie, 3u);
}

TEST_F(CommandFetchTest, SlowFirmwareHoldsTheNextFetchBack) {
  for (std::uint32_t i = 0; i < 4; ++i) put(i, i);
  sink.pause(window(0, 200));  // two wait in the link, one in the stage, the fourth in host memory
  source.script({{4}});
  run_until_idle();
  EXPECT_THAT(cookies(), ElementsAre(0, 1, 2, 3));
  EXPECT_THAT(sink.cycles(), ElementsAre(200, 201, 202, 212));
}

TEST_F(CommandFetchTest, TooLongPrivateDataIsCutHereAndRefusedByTheFirmware) {
  put(0, 11, std::string(600, 'x'));
  source.script({{1}});
  run_until_idle();
  EXPECT_EQ(memory.log.back(), std::pair(kData, 512u));
  EXPECT_EQ(sink.beats()[0].command.private_bytes, 600);
}

TEST_F(CommandFetchTest, FailedReadStopsTheQueue) {
  memory.fail = true;
  source.script({{2}});
  run_until_idle();
  EXPECT_TRUE(dut.failed());
  EXPECT_EQ(memory.log.size(), 1u);
  EXPECT_THAT(cookies(), IsEmpty());
}

TEST_F(CommandFetchTest, DoorbellOfADisabledDeviceIsIgnored) {
  regs.enabled = false;
  source.script({{2}});
  run_until_idle();
  EXPECT_THAT(memory.log, IsEmpty());
}

}  // namespace
}  // namespace rnic::test
