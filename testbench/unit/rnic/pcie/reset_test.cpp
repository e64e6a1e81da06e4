// Configuration space and resets over the whole path, with traffic of all users in flight.
#include <map>
#include <memory>

#include "testbench/support/described.h"
#include "testbench/unit/rnic/pcie/pcie_bench.h"

namespace rnic::test {
namespace {

using host::ResetKind;
using pcie::ConfigRegisters;
using testing::ElementsAre;
using Entry = HostLog::Entry;

class PcieResetTest : public StageTest {
 protected:
  PcieBench bench;
};

// 20 ns to the root port; 22 octets of wire, 699 ps; 150 ns: the chip's edge at 172 ns. 4 cycles in and 4 out: 204 ns;
// 26 octets, 826 ps; 150 ns; the host's edge. The write: 26 octets, 825 ps; the same on the chip; 22 octets of answer.
TEST_F(PcieResetTest, ConfigurationIsThereAndBackLikeARegister) {
  PcieSystem s("s", bench);
  s.host.config_read(ConfigRegisters::kId, 1, 0);
  s.host.config_write(ConfigRegisters::kCommand, 2, ConfigRegisters::kMemorySpace, 2, 1'000'000);
  s.host.config_read(ConfigRegisters::kCommand, 3, 2'000'000);
  run_until_idle();
  EXPECT_THAT(s.log.entries, ElementsAre(Entry{Entry::kConfig, 1, 0x50401234, true, 355'000},
                                         Entry{Entry::kConfig, 2, 0, true, 1'355'000},
                                         Entry{Entry::kConfig, 3, 0x00100002, true, 2'355'000}));
  EXPECT_EQ(s.host.counters().config_accesses, 3u);
  EXPECT_EQ(s.pcie.mmio.counters().config, 3u);
}

// The order reaches the device 170 ns after the call and takes effect at its edge of 172 ns. After training and the way
// back both ends are up. An access that is at the root port then is sent; one that is there a cycle earlier is not.
TEST_F(PcieResetTest, TheLinkIsUpAfterItsTraining) {
  bench.config.link.training_us = 1;
  PcieSystem s("s", bench);
  const std::uint64_t up_ps = 172'000 + 1'000'000 + bench.config.link.propagation_ns * 1000;
  s.host.mmio_write(regs::Scratch::kOffset, 9, 0);
  s.host.reset_device(ResetKind::kPerst, 0);  // overtakes the write, which is still on the wire
  s.host.config_read(ConfigRegisters::kId, 1, up_ps - 21'000);
  s.host.config_read(ConfigRegisters::kId, 2, up_ps - 20'000);
  run_until_idle();
  EXPECT_THAT(s.log.entries, ElementsAre(Entry{Entry::kConfig, 1, 0xffffffff, false, up_ps - 1000},
                                         Entry{Entry::kConfig, 2, 0x50401234, true, up_ps + 337'000}));
  EXPECT_EQ(s.host.counters().link_resets, 1u);
  EXPECT_EQ(s.host.counters().lost_accesses, 1u);
  EXPECT_EQ(s.pcie.regs.get<regs::Scratch>().value, 0u);
}

// One lane of 2.5 GT/s: the write occupies the wire from 20 to 124 ns. The pin's order reaches the device 150 ns after
// the root port's 21 ns, the other order 150 ns after the wire is free: at the device's edges of 172 and 276 ns.
TEST_F(PcieResetTest, AHotResetWaitsForTheWireAndPerstDoesNot) {
  bench.config.link.generation = 1;
  bench.config.link.width = 1;
  bench.config.link.training_us = 1;
  PcieSystem pin("pin", bench), wire("wire", bench);
  for (const auto& [s, kind, edge_ps] :
       {std::tuple{&pin, ResetKind::kPerst, 172'000u}, std::tuple{&wire, ResetKind::kHot, 276'000u}}) {
    const std::uint64_t up_ps = edge_ps + 1'000'000 + bench.config.link.propagation_ns * 1000;
    s->host.mmio_write(regs::Scratch::kOffset, 9, 0);
    s->host.reset_device(kind, 1000);
    s->host.config_read(ConfigRegisters::kId, 1, up_ps - 21'000);
    s->host.config_read(ConfigRegisters::kId, 2, up_ps - 20'000);
  }
  run_until_idle();
  for (PcieSystem* s : {&pin, &wire}) {
    ASSERT_EQ(s->log.entries.size(), 2u);
    EXPECT_FALSE(s->log.entries[0].ok);
    EXPECT_TRUE(s->log.entries[1].ok);
    EXPECT_EQ(s->pcie.regs.get<regs::Scratch>().value, 0u);
  }
}

TEST_F(PcieResetTest, AccessesToALinkThatIsDownAreLostAndReadsFail) {
  PcieSystem s("s", bench);
  s.host.reset_device(ResetKind::kPerst, 0);
  s.host.mmio_write(regs::Scratch::kOffset, 1, 10'000);
  s.host.mmio_read(regs::Scratch::kOffset, 5, 10'000);
  s.host.reset_device(ResetKind::kHot, 20'000);  // part of the previous reset
  s.host.config_write(ConfigRegisters::kCommand, 2, 6, 6, 30'000);
  run_until_idle();
  EXPECT_THAT(s.log.entries, ElementsAre(Entry{Entry::kRead, 5, 0xffffffff, false, 30'000},
                                         Entry{Entry::kConfig, 6, 0xffffffff, false, 50'000}));
  EXPECT_EQ(s.host.counters().lost_accesses, 3u);
  EXPECT_EQ(s.host.counters().link_resets, 1u);
}

TEST_F(PcieResetTest, WithoutTheBusMasterNothingLeavesUntilItIsBack) {
  PcieSystem s("s", bench);
  const std::uint64_t from = s.filled(64, 5), to = s.memory.alloc(64);
  std::uint8_t read[64] = {};
  s.host.config_write(ConfigRegisters::kCommand, 2, ConfigRegisters::kMemorySpace, 1, 0);
  s.host.mmio_read(regs::Id::kOffset, 2, 1'000'000);
  s.reads().send_at(200, DmaReadRequest{from, 64, read, {}, 1});
  s.writes().send_at(200, s.write_request(to, 64, 6));
  sc_core::sc_start(5, sc_core::SC_US);
  EXPECT_EQ(s.pcie.endpoint.port.counters().tlps, 2u) << "answers only";
  s.host.config_write(ConfigRegisters::kCommand, 2, 6, 3, 5'000'000);
  run_until_idle();
  EXPECT_EQ(s.read_answers().size(), 1u);
  EXPECT_TRUE(PcieSystem::matches(read, 64, 5));
  EXPECT_TRUE(s.holds(to, 64, 6));
}

// One system whose host resets the device once during traffic both ways, sets it up again and uses it.
struct Reset {
  static constexpr unsigned kReads = 20, kAccesses = 30;
  static constexpr std::uint64_t kNewBar = 0x290000000;
  PcieSystem system;
  std::vector<std::vector<std::uint8_t>> old{kReads, std::vector<std::uint8_t>(700)};
  std::uint64_t from, to, reset_ps, back_ps = 0;

  Reset(sc_core::sc_module_name nm, const PcieBench& bench, ResetKind kind, std::uint64_t at_ps)
      : system(nm, bench), from(system.filled(700, 5)), to(system.memory.alloc(8192)), reset_ps(at_ps) {
    system.log.on_config = [this](std::uint32_t cookie, bool ok, std::uint64_t ps) { step(cookie, ok, ps); };
    for (unsigned i = 0; i < kReads; ++i) {
      system.reads().send_at(40 + i, DmaReadRequest{from, 700, old[i].data(), {}, i});
      DmaWriteRequest write = system.write_request(to, 700, 6);
      write.notify = i % 3 == 0;
      system.writes().send_at(40 + i, write);
    }
    const auto access = [&](unsigned i) {
      system.host.mmio_write(regs::Scratch::kOffset, 0x5a5a, i * 20'000);
      system.host.mmio_read(regs::Id::kOffset, 1000 + i, i * 20'000);
    };
    unsigned i = 0;
    for (; i < kAccesses && i * 20'000 <= reset_ps; ++i) access(i);
    system.host.reset_device(kind, reset_ps);
    for (; i < kAccesses; ++i) access(i);
    system.host.config_read(ConfigRegisters::kId, kFind, std::max<std::uint64_t>(reset_ps, kAccesses * 20'000) + 1000);
  }

  static constexpr std::uint32_t kFind = 0, kLast = 4;
  void step(std::uint32_t cookie, bool ok, std::uint64_t ps) {
    if (cookie == kFind && !ok) return system.host.config_read(ConfigRegisters::kId, kFind, ps + 5'000'000);
    EXPECT_TRUE(ok);
    if (cookie == kLast) back_ps = ps;
    if (cookie != kFind) return;
    system.host.config_write(ConfigRegisters::kBar0, 4, static_cast<std::uint32_t>(kNewBar), 1, ps);
    system.host.config_write(ConfigRegisters::kBar0High, 4, kNewBar >> 32, 2, ps);
    system.host.config_write(ConfigRegisters::kMsixControl, 2, ConfigRegisters::kMsixEnable, 3, ps);
    system.host.config_write(ConfigRegisters::kCommand, 2, 6, kLast, ps);
  }
  // Each access before the reset is answered, exactly once.
  void expect_every_read_answered() {
    std::map<std::uint64_t, unsigned> answers;
    for (const Entry& e : system.log.entries) answers[e.what] += e.kind == Entry::kRead;
    for (unsigned i = 0; i < kAccesses; ++i) EXPECT_EQ(answers[1000 + i], 1u) << i;
  }
  std::vector<std::uint32_t> fresh_tags() {
    std::vector<std::uint32_t> tags;
    for (const DmaReadDone& d : system.read_answers()) {
      if (d.tag >= 100) tags.push_back(d.tag);
    }
    return tags;
  }
};

class PcieResetAmid : public PcieResetTest,
                      public testing::WithParamInterface<std::tuple<ResetKind, std::uint64_t, std::uint64_t>> {};

// At many distances from the traffic, with credits for a few TLPs: no credit and no tag is lost for good, and no old
// octet arrives once the host has found the device again.
TEST_P(PcieResetAmid, TheDeviceIsAsNewWheneverItComes) {
  const auto [kind, first_ps, shuffle] = GetParam();
  bench.config.link.host_credits = {3, 40, 2, 0, 0};
  bench.config.link.device_credits = {3, 40, 2, 0, 0};
  bench.config.dma_read.max_tags = 4;
  bench.config.link.training_us = 20;
  bench.shuffle = shuffle;
  if (shuffle % 2 == 1) bench.chip_lookahead = bench.host_lookahead = 1;
  std::vector<std::unique_ptr<Reset>> resets;
  for (std::uint64_t at_ps = first_ps; at_ps < 1'200'000; at_ps += 67'000) {
    resets.push_back(std::make_unique<Reset>(sc_core::sc_gen_unique_name("s"), bench, kind, at_ps));
  }
  run_until_idle();
  for (const auto& r : resets) {
    SCOPED_TRACE(r->reset_ps);
    PcieSystem& s = r->system;
    ASSERT_NE(r->back_ps, 0u);
    r->expect_every_read_answered();
    EXPECT_EQ(s.pcie.regs.get<regs::Scratch>().value, 0u);
    if (kind != ResetKind::kFlr) {
      EXPECT_EQ(s.pcie.mmio.counters().refused, 0u) << "something of before has come to the device";
    }
    std::fill_n(s.memory.find(r->to, 8192), 8192, std::uint8_t{0});
    s.log.entries.clear();
  }
  std::vector<std::vector<std::uint8_t>> fresh(resets.size(), std::vector<std::uint8_t>(700));
  sc_core::sc_start(1, sc_core::SC_US);  // domains may be ahead of the kernel
  const auto now_ps = static_cast<std::uint64_t>(sc_core::sc_time_stamp().value());
  for (std::size_t i = 0; i < resets.size(); ++i) {
    PcieSystem& s = resets[i]->system;
    std::fill(fresh[i].begin(), fresh[i].end(), std::uint8_t{0});
    const std::uint64_t other = s.filled(700, 11);
    const Cycle soon = s.clk.cycle_at_or_after(now_ps) + 1;
    s.reads().send_at(soon, DmaReadRequest{other, 700, fresh[i].data(), {}, 100});
    s.writes().send_at(soon, s.write_request(resets[i]->to, 700, 12));
    s.host.mmio_write(regs::Scratch::kOffset, 3, now_ps);
    s.host.mmio_read(regs::Scratch::kOffset, 1, now_ps);
  }
  run_until_idle();
  for (std::size_t i = 0; i < resets.size(); ++i) {
    SCOPED_TRACE(resets[i]->reset_ps);
    PcieSystem& s = resets[i]->system;
    EXPECT_THAT(resets[i]->fresh_tags(), ElementsAre(100u));
    EXPECT_TRUE(PcieSystem::matches(fresh[i].data(), 700, 11));
    EXPECT_TRUE(s.holds(resets[i]->to, 700, 12));
    EXPECT_EQ(s.memory.find(resets[i]->to, 8192)[700], 0);
    EXPECT_EQ(s.pcie.dma_read.counters().unexpected + s.pcie.dma_read.counters().malformed, 0u);
    EXPECT_EQ(s.pcie.dma_read.counters().timeouts, 0u);
    EXPECT_EQ(account_of(s.pcie.dma_read, "pcie.tags").taken(), 0u);
    EXPECT_EQ(account_of(s.pcie.endpoint, "pcie.to_host.posted_headers", s.clk.now() + 1000).taken(), 0u);
    EXPECT_EQ(account_of(s.pcie.endpoint, "pcie.to_host.non-posted_headers", s.clk.now() + 1000).taken(), 0u);
    EXPECT_EQ(account_of(s.host, "pcie.to_device.posted_headers", s.host_clk.now() + 1000).taken(), 0u);
    EXPECT_EQ(account_of(s.host, "pcie.to_device.non-posted_headers", s.host_clk.now() + 1000).taken(), 0u);
    EXPECT_EQ(account_of(s.host, "host.memory_reads").taken(), 0u);
    const Entry& last = s.log.entries.back();
    EXPECT_EQ(last.kind, Entry::kRead);
    EXPECT_EQ(last.value, 3u);
    EXPECT_EQ(s.pool.in_use(), 0u);
  }
}
INSTANTIATE_TEST_SUITE_P(Kinds, PcieResetAmid,
                         testing::Combine(testing::Values(ResetKind::kPerst, ResetKind::kHot, ResetKind::kFlr),
                                          testing::Values(0, 21'000, 44'000), testing::Values(0, 1, 2)));

}  // namespace
}  // namespace rnic::test
