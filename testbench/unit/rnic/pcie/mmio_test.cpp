// Accesses to registers and to configuration space, between scripted neighbours.
#include "model/rnic/pcie/mmio.h"

#include "model/common/bytes.h"
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

constexpr Cycle kThrough = test::kToEnd + test::kToEnd;  // an access is done in the cycle in which it arrives

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
  for (const std::uint32_t skew : {1u, 2u, 3u}) {  // across two registers
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
  for (unsigned i : {0u, 1u, 3u}) {  // section 2.2.9: for requests other than memory reads
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

}  // namespace
}  // namespace rnic::pcie
