// Interrupts: the table's masks, pending bits and messages.
#include "model/rnic/pcie/msix.h"

#include <functional>
#include <utility>

#include "model/common/bytes.h"
#include "testbench/support/stage_test.h"

namespace rnic::pcie {
namespace {

using test::collect;
using test::drive;
using test::Sink;
using test::Source;
using testing::ElementsAre;

// Performs one action in one cycle.
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

constexpr Cycle kThrough = test::kToEnd + test::kToEnd;  // a request is answered in the cycle in which it arrives

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
// Offset and value of the word that stops all vectors; writing its previous value releases them.
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
