// Register accesses and interrupts, each stage between scripted neighbours.
#include "model/rnic/pcie/mmio.h"

#include "model/common/bytes.h"
#include "model/rnic/pcie/msix.h"
#include "testbench/support/stage_test.h"

namespace rnic::pcie {
namespace {

using test::collect;
using test::drive;
using test::Sink;
using test::Source;
using test::stub;
using test::Stubs;
using testing::ElementsAre;

// Does one thing in one cycle.
class Agent final : public Stage {
 public:
  Agent(ClockDomain& clk, Cycle at, std::function<void()> act) : Stage("agent", clk), at_(at), act_(std::move(act)) {
    wake(at);
  }
  Wake tick() override {
    if (now() == at_) act_();
    return Wake::on_traffic();
  }

 private:
  const Cycle at_;
  const std::function<void()> act_;
};

constexpr Cycle kThrough = test::kToEnd + test::kToEnd;  // an access is done in the cycle in which it comes

class MmioTest : public test::StageTest {
 protected:
  static constexpr std::uint64_t kBar = 0xe0000000;
  regs::RegBank bank{clk};
  ConfigSpace space{clk, {}};
  Mmio dut{"dut", clk, space, bank};
  Source<Tlp> source = drive(dut.requests);
  Sink<Tlp> sink = collect(dut.completions);
  Sink<SqDoorbell> sq = collect(dut.sq_doorbells);
  const Stubs others = stub(dut.rq_doorbells, dut.cq_arms, dut.command_doorbells, dut.events_taken);

  static Tlp write(std::uint32_t offset, std::uint32_t value) { return Tlp::write32(kBar + offset, value); }
  static Tlp read(std::uint32_t offset, std::uint16_t tag) { return Tlp::read(kBar + offset, 4, tag); }
};

TEST_F(MmioTest, OneAccessPerCycleAndOneCycleEach) {
  source.send({write(regs::SqDoorbell::kOffset, 0x00100007), read(regs::Id::kOffset, 3),
               write(regs::Scratch::kOffset, 9), read(regs::Scratch::kOffset, 4)});
  run_until_idle();
  EXPECT_THAT(sq.cycles(), ElementsAre(kThrough));
  EXPECT_EQ(sq[0].qpn, Qpn{7});
  EXPECT_EQ(sq[0].producer, 1u);
  EXPECT_THAT(sink.cycles(), ElementsAre(kThrough + 1, kThrough + 3));
  EXPECT_EQ(sink[0].tag, 3u);
  EXPECT_EQ(load_le32(sink[0].data()), regs::Id::kReset);
  EXPECT_EQ(load_le32(sink[1].data()), 9u);
  EXPECT_EQ(sink[1].byte_count, 4u);
  EXPECT_EQ(sink[1].lower_address, regs::Scratch::kOffset & 127);
}

TEST_F(MmioTest, ADoorbellThatFindsNoRoomWaitsAndIsNotLost) {
  sq.pause(test::window(0, 50));
  std::vector<Tlp> script;
  for (std::uint32_t i = 0; i < 8; ++i) script.push_back(write(regs::SqDoorbell::kOffset, i));
  source.send(script);
  run_until_idle();
  ASSERT_EQ(sq.size(), 8u);
  for (std::uint32_t i = 0; i < 8; ++i) EXPECT_EQ(sq[i].qpn, Qpn{i});
  EXPECT_EQ(sq.cycles().front(), 50u);
}

TEST_F(MmioTest, RefusedReadsGetOneCompletionAndRefusedWritesNone) {
  Tlp wide = Tlp::read(kBar, 8, 1);
  Tlp poisoned = write(regs::Scratch::kOffset, 5);
  poisoned.poisoned = true;
  source.send({wide, read(0x0ffc, 2), Tlp::read(kBar - 4, 4, 3), write(regs::Id::kOffset, 1), poisoned});
  run_until_idle();
  ASSERT_EQ(sink.size(), 3u);
  for (std::uint16_t i = 0; i < 3; ++i) {
    EXPECT_EQ(sink[i].type, TlpType::kCpl);
    EXPECT_EQ(sink[i].status, CplStatus::kUr);
    EXPECT_EQ(sink[i].tag, i + 1);
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
  source.send(script);
  run_until_idle();
  ASSERT_EQ(sink.size(), 9u);
  for (unsigned i = 0; i < 8; ++i) EXPECT_EQ(sink[i].status, CplStatus::kUr) << i;
  EXPECT_EQ(dut.counters().refused, 16u);
  EXPECT_EQ(bank.get<regs::BadSizeAccesses>().value, 16u);
  EXPECT_EQ(load_le32(sink[8].data()), 7u) << "and the device goes on";
}

TEST_F(MmioTest, ConfigurationIsReadAndWrittenInTheOrderOfAllAccesses) {
  using R = ConfigRegisters;
  Tlp id = Tlp::config_read(R::kId);
  id.tag = 7;
  source.send({id, Tlp::config_write(R::kCommand, 2, R::kBusMaster), write(regs::Scratch::kOffset, 5),
               read(regs::Scratch::kOffset, 1), Tlp::config_read(R::kCommand)});
  run_until_idle();
  EXPECT_THAT(sink.cycles(), ElementsAre(kThrough, kThrough + 1, kThrough + 3, kThrough + 4));
  EXPECT_EQ(sink[0].type, TlpType::kCplD);
  EXPECT_EQ(sink[0].tag, 7u);
  EXPECT_EQ(load_le32(sink[0].data()), 0x50401234u);
  EXPECT_EQ(sink[1].type, TlpType::kCpl);
  EXPECT_EQ(sink[1].status, CplStatus::kSc);
  for (unsigned i : {0u, 1u, 3u}) {  // section 2.2.9: of other requests than memory reads
    EXPECT_EQ(sink[i].byte_count, 4u);
    EXPECT_EQ(sink[i].lower_address, 0u);
  }
  EXPECT_EQ(sink[2].status, CplStatus::kUr) << "memory space is disabled";
  EXPECT_EQ(dut.counters().refused, 2u);
  EXPECT_EQ(load_le32(sink[3].data()), 0x00100000u | R::kBusMaster);
  EXPECT_EQ(dut.counters().config, 3u);
  EXPECT_EQ(bank.get<regs::Scratch>().value, 0u);
}

TEST_F(MmioTest, TheRegistersMoveWithBar0) {
  using R = ConfigRegisters;
  source.send({Tlp::config_write(R::kBar0, 4, 0x40000000), Tlp::config_write(R::kBar0High, 4, 2),
               Tlp::read(0x240000000 + regs::Id::kOffset, 4, 1), read(regs::Id::kOffset, 2)});
  run_until_idle();
  ASSERT_EQ(sink.size(), 4u);
  EXPECT_EQ(load_le32(sink[2].data()), regs::Id::kReset);
  EXPECT_EQ(sink[3].status, CplStatus::kUr);
}

TEST_F(MmioTest, PoisonedConfigurationIsRefused) {
  Tlp poisoned = Tlp::config_write(ConfigRegisters::kCommand, 2, 0);
  poisoned.poisoned = true;
  source.send({poisoned, read(regs::Id::kOffset, 2)});
  run_until_idle();
  ASSERT_EQ(sink.size(), 2u);
  EXPECT_EQ(sink[0].status, CplStatus::kUr);
  EXPECT_EQ(sink[1].type, TlpType::kCplD);
  EXPECT_EQ(dut.counters().poisoned, 1u);
}

class MsixTest : public test::StageTest {
 protected:
  regs::RegBank bank{clk};
  ConfigSpace space{clk, {}};
  Msix dut{"dut", clk, space, bank};
  Source<MsixRequest> source = drive(dut.vectors);
  Sink<Tlp> sink = collect(dut.messages);

  MsixTest() {
    for (std::uint32_t v = 0; v < 4; ++v) {
      bank.strap(regs::MsixAddressLo{0xfee00000 + 16 * v}, v);
      bank.strap(regs::MsixData{100 + v}, v);
      bank.strap(regs::MsixControl{v == 2}, v);
    }
  }
};

TEST_F(MsixTest, ARequestBecomesTheWriteOfItsTableEntry) {
  bank.strap(regs::MsixAddressHi{1}, 3);
  source.send({MsixRequest{1}, MsixRequest{3}});
  run_until_idle();
  EXPECT_THAT(sink.cycles(), ElementsAre(kThrough, kThrough + 1));
  EXPECT_EQ(sink[0].address, 0xfee00010u);
  EXPECT_EQ(load_le32(sink[0].data()), 101u);
  EXPECT_EQ(sink[1].address, 0x1fee00030u);
  EXPECT_EQ(load_le32(sink[1].data()), 103u);
}

TEST_F(MsixTest, AMaskedVectorStaysPendingUntilItIsUnmasked) {
  source.send({MsixRequest{2}, MsixRequest{2}, MsixRequest{1}});
  run_until_idle();
  ASSERT_EQ(sink.size(), 1u);
  EXPECT_EQ(bank.get<regs::MsixPba>().value, 4u);
  bank.write(regs::MsixControl::offset(2), 4, 0);
  dut.wake(clk.now() + 2);  // the cycle after the one that commits the write
  run_until_idle();
  ASSERT_EQ(sink.size(), 2u);  // both requests in one message
  EXPECT_EQ(load_le32(sink[1].data()), 102u);
  EXPECT_EQ(bank.get<regs::MsixPba>().value, 0u);
  EXPECT_EQ(dut.counters().requests, 3u);
  EXPECT_EQ(dut.counters().messages, 2u);
}

struct MsixOff : MsixTest, testing::WithParamInterface<std::pair<std::uint32_t, std::uint32_t>> {};
// Offset and value of the word that stops all vectors; the word before gives them back.
TEST_P(MsixOff, AllVectorsWaitUntilConfigurationLetsThemGo) {
  const auto [offset, value] = GetParam();
  const std::uint32_t before = space.get().read(offset & ~3u) >> 8 * (offset & 3);
  space.write(Tlp::config_write(offset, 2, value));
  const Cycle begin = 100;
  Agent host{clk, begin, [&, o = offset] { space.write(Tlp::config_write(o, 2, before)); }};
  source.send_at(4, {MsixRequest{1}, MsixRequest{0}, MsixRequest{1}});
  sc_core::sc_start(sc_core::sc_time::from_value((begin - 1) * clk.period_ps()));
  EXPECT_TRUE(sink.empty());
  EXPECT_EQ(bank.get<regs::MsixPba>().value, 3u);
  run_until_idle();
  EXPECT_THAT(sink.cycles(), ElementsAre(begin + 1 + test::kToEnd, begin + 2 + test::kToEnd));
  EXPECT_EQ(bank.get<regs::MsixPba>().value, 0u);
}
INSTANTIATE_TEST_SUITE_P(Words, MsixOff,
                         testing::Values(std::pair{ConfigRegisters::kMsixControl, 0u},
                                         std::pair{ConfigRegisters::kMsixControl,
                                                   ConfigRegisters::kMsixEnable | ConfigRegisters::kFunctionMask},
                                         std::pair{ConfigRegisters::kCommand, ConfigRegisters::kMemorySpace}));

TEST_F(MsixTest, AResetForgetsWhatIsPending) {
  source.send(MsixRequest{2});
  run_until_idle();
  EXPECT_EQ(bank.get<regs::MsixPba>().value, 4u);
  clk.reset(dut);
  bank.write(regs::MsixControl::offset(2), 4, 0);
  dut.wake(clk.now() + 2);
  run_until_idle();
  EXPECT_TRUE(sink.empty());
}

TEST_F(MsixTest, AFullLinkMergesRequestsAndLosesNoVector) {
  sink.pause(test::window(0, 40));
  for (unsigned i = 0; i < 20; ++i) source.send(MsixRequest{i % 2});
  source.send(MsixRequest{3});
  run_until_idle();
  unsigned seen = 0;
  for (const Tlp& t : sink) seen |= 1u << (load_le32(t.data()) - 100);
  EXPECT_EQ(seen, 0b1011u);
  EXPECT_LT(sink.size(), 21u);
  EXPECT_EQ(bank.get<regs::MsixPba>().value, 0u);
}

}  // namespace
}  // namespace rnic::pcie
