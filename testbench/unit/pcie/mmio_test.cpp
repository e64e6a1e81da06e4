// Register accesses and interrupts, each stage between scripted neighbours.
#include "model/rnic/pcie/mmio.h"

#include "model/common/bytes.h"
#include "model/rnic/pcie/msix.h"
#include "testbench/support/stage_test.h"

namespace rnic::pcie {
namespace {

using test::Sink;
using test::Source;
using testing::ElementsAre;

class MmioTest : public test::StageTest {
 protected:
  static constexpr std::uint64_t kBar = 0xe0000000;
  regs::RegBank bank{clk};
  Link<Tlp> requests{"requests", clk, {4, 1, 1}}, completions{"completions", clk, {2, 1, 1}};
  Link<SqDoorbell> sq_link{"sq", clk, {2, 1, 1}};
  Link<RqDoorbell> rq_link{"rq", clk, {2, 1, 1}};
  Link<CqArm> arm_link{"arm", clk, {2, 1, 1}};
  Link<CommandDoorbell> command_link{"command", clk, {2, 1, 1}};
  Link<EventsTaken> events_link{"events", clk, {2, 1, 1}};
  Source<Tlp> source{"source", clk};
  Sink<Tlp> sink{"sink", clk};
  Sink<SqDoorbell> sq{"sq_sink", clk};
  Sink<RqDoorbell> rq{"rq_sink", clk};
  Sink<CqArm> arms{"arm_sink", clk};
  Sink<CommandDoorbell> commands{"command_sink", clk};
  Sink<EventsTaken> events{"event_sink", clk};
  Mmio dut{"dut", clk, kBar, bank};

  MmioTest() {
    source.out(requests);
    dut.requests(requests);
    dut.completions(completions);
    sink.in(completions);
    dut.sq_doorbells(sq_link);
    sq.in(sq_link);
    dut.rq_doorbells(rq_link);
    rq.in(rq_link);
    dut.cq_arms(arm_link);
    arms.in(arm_link);
    dut.command_doorbells(command_link);
    commands.in(command_link);
    dut.events_taken(events_link);
    events.in(events_link);
  }
  static Tlp write(std::uint32_t offset, std::uint32_t value) { return Tlp::write32(kBar + offset, value); }
  static Tlp read(std::uint32_t offset, std::uint16_t tag) { return Tlp::read(kBar + offset, 4, tag); }
};

TEST_F(MmioTest, OneAccessPerCycleAndOneCycleEach) {
  source.script({write(regs::SqDoorbell::kOffset, 0x00100007), read(regs::Id::kOffset, 3),
                 write(regs::Scratch::kOffset, 9), read(regs::Scratch::kOffset, 4)});
  run_until_idle();
  EXPECT_THAT(sq.cycles(), ElementsAre(2));
  EXPECT_EQ(sq.beats()[0].qpn, Qpn{7});
  EXPECT_EQ(sq.beats()[0].producer, 1u);
  EXPECT_THAT(sink.cycles(), ElementsAre(3, 5));
  EXPECT_EQ(sink.beats()[0].tag, 3u);
  EXPECT_EQ(load_le32(sink.beats()[0].data()), regs::Id::kReset);
  EXPECT_EQ(load_le32(sink.beats()[1].data()), 9u);
  EXPECT_EQ(sink.beats()[1].byte_count, 4u);
  EXPECT_EQ(sink.beats()[1].lower_address, regs::Scratch::kOffset & 127);
}

TEST_F(MmioTest, ADoorbellThatFindsNoRoomWaitsAndIsNotLost) {
  sq.pause(test::window(0, 50));
  std::vector<Tlp> script;
  for (std::uint32_t i = 0; i < 8; ++i) script.push_back(write(regs::SqDoorbell::kOffset, i));
  source.script(script);
  run_until_idle();
  ASSERT_EQ(sq.beats().size(), 8u);
  for (std::uint32_t i = 0; i < 8; ++i) EXPECT_EQ(sq.beats()[i].qpn, Qpn{i});
  EXPECT_EQ(sq.cycles().front(), 50u);
}

TEST_F(MmioTest, RefusedReadsGetOneCompletionAndRefusedWritesNone) {
  Tlp wide = Tlp::read(kBar, 8, 1);
  Tlp poisoned = write(regs::Scratch::kOffset, 5);
  poisoned.poisoned = true;
  source.script({wide, read(0x0ffc, 2), Tlp::read(kBar - 4, 4, 3), write(regs::Id::kOffset, 1), poisoned});
  run_until_idle();
  ASSERT_EQ(sink.beats().size(), 3u);
  for (std::uint16_t i = 0; i < 3; ++i) {
    EXPECT_EQ(sink.beats()[i].type, TlpType::kCpl);
    EXPECT_EQ(sink.beats()[i].status, CplStatus::kUr);
    EXPECT_EQ(sink.beats()[i].tag, i + 1);
  }
  EXPECT_EQ(dut.counters().refused, 4u);
  EXPECT_EQ(dut.counters().poisoned, 1u);
  EXPECT_EQ(bank.get<regs::Scratch>().value, 0u);
  EXPECT_EQ(bank.get<regs::ReadOnlyWrites>().value, 1u);
}

TEST_F(MmioTest, OnlyAlignedWordsReachARegister) {
  static const std::uint8_t kOnes[16] = {0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff,
                                         0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff};
  const std::uint64_t at = kBar + regs::Scratch::kOffset;
  std::vector<Tlp> script;
  std::uint16_t tag = 0;
  for (const std::uint32_t bytes : {1u, 2u, 3u, 8u, 16u}) {
    script.push_back(Tlp::read(at, bytes, ++tag));
    script.push_back(Tlp::write(at, kOnes, bytes, {}));
  }
  for (const std::uint32_t skew : {1u, 2u, 3u}) {  // straddling two registers
    script.push_back(Tlp::read(at + skew, 4, ++tag));
    script.push_back(Tlp::write(at + skew, kOnes, 4, {}));
  }
  script.push_back(write(regs::Scratch::kOffset, 7));
  script.push_back(read(regs::Scratch::kOffset, 99));
  source.script(script);
  run_until_idle();
  ASSERT_EQ(sink.beats().size(), 9u);
  for (unsigned i = 0; i < 8; ++i) EXPECT_EQ(sink.beats()[i].status, CplStatus::kUr) << i;
  EXPECT_EQ(dut.counters().refused, 16u);
  EXPECT_EQ(bank.get<regs::BadSizeAccesses>().value, 16u);
  EXPECT_EQ(load_le32(sink.beats()[8].data()), 7u) << "and the device goes on";
}

class MsixTest : public test::StageTest {
 protected:
  regs::RegBank bank{clk};
  Link<MsixRequest> requests{"requests", clk, {2, 1, 1}};
  Link<Tlp> messages{"messages", clk, {2, 1, 1}};
  Source<MsixRequest> source{"source", clk};
  Sink<Tlp> sink{"sink", clk};
  Msix dut{"dut", clk, bank};

  MsixTest() {
    source.out(requests);
    dut.vectors(requests);
    dut.messages(messages);
    sink.in(messages);
    for (std::uint32_t v = 0; v < 4; ++v) {
      bank.strap(regs::MsixAddressLo{0xfee00000 + 16 * v}, v);
      bank.strap(regs::MsixData{100 + v}, v);
      bank.strap(regs::MsixControl{v == 2}, v);
    }
  }
};

TEST_F(MsixTest, ARequestBecomesTheWriteOfItsTableEntry) {
  bank.strap(regs::MsixAddressHi{1}, 3);
  source.script({MsixRequest{1}, MsixRequest{3}});
  run_until_idle();
  EXPECT_THAT(sink.cycles(), ElementsAre(2, 3));
  EXPECT_EQ(sink.beats()[0].address, 0xfee00010u);
  EXPECT_EQ(load_le32(sink.beats()[0].data()), 101u);
  EXPECT_EQ(sink.beats()[1].address, 0x1fee00030u);
  EXPECT_EQ(load_le32(sink.beats()[1].data()), 103u);
}

TEST_F(MsixTest, AMaskedVectorStaysPendingUntilItIsUnmasked) {
  source.script({MsixRequest{2}, MsixRequest{2}, MsixRequest{1}});
  run_until_idle();
  ASSERT_EQ(sink.beats().size(), 1u);
  EXPECT_EQ(bank.get<regs::MsixPba>().value, 4u);
  bank.write(regs::MsixControl::offset(2), 4, 0);
  dut.wake(clk.now() + 2);  // the cycle after the one that commits the write
  run_until_idle();
  ASSERT_EQ(sink.beats().size(), 2u);  // both requests in one message
  EXPECT_EQ(load_le32(sink.beats()[1].data()), 102u);
  EXPECT_EQ(bank.get<regs::MsixPba>().value, 0u);
  EXPECT_EQ(dut.counters().requests, 3u);
  EXPECT_EQ(dut.counters().messages, 2u);
}

TEST_F(MsixTest, AResetForgetsWhatIsPending) {
  source.script({MsixRequest{2}});
  run_until_idle();
  EXPECT_EQ(bank.get<regs::MsixPba>().value, 4u);
  clk.reset(dut);
  bank.write(regs::MsixControl::offset(2), 4, 0);
  dut.wake(clk.now() + 2);
  run_until_idle();
  EXPECT_TRUE(sink.beats().empty());
}

TEST_F(MsixTest, AFullLinkMergesRequestsAndLosesNoVector) {
  sink.pause(test::window(0, 40));
  for (unsigned i = 0; i < 20; ++i) source.script({MsixRequest{i % 2}});
  source.script({MsixRequest{3}});
  run_until_idle();
  unsigned seen = 0;
  for (const Tlp& t : sink.beats()) seen |= 1u << (load_le32(t.data()) - 100);
  EXPECT_EQ(seen, 0b1011u);
  EXPECT_LT(sink.beats().size(), 21u);
  EXPECT_EQ(bank.get<regs::MsixPba>().value, 0u);
}

}  // namespace
}  // namespace rnic::pcie
