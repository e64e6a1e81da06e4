// The whole path: the driver's port, root complex, link, endpoint and the chip's stages.
#include <map>
#include <string>

#include "model/config/resolve.h"
#include "testbench/unit/rnic/pcie/pcie_bench.h"

namespace rnic::test {
namespace {

using testing::ElementsAre;
using testing::Pair;
using testing::UnorderedElementsAre;
using Entry = HostLog::Entry;

class PcieTest : public StageTest {
 protected:
  PcieBench bench;
};

// What a port has sent, by purpose.
std::map<std::string, std::uint64_t> sent(const pcie::PciePort& port) {
  std::map<std::string, std::uint64_t> tlps;
  for (unsigned i = 0; i < pcie::kPurposes; ++i) {
    const std::uint64_t n = port.counters(static_cast<pcie::Purpose>(i)).tlps;
    if (n != 0) tlps[pcie::kPurposeNames[i]] = n;
  }
  return tlps;
}

// 20 ns to the root port; 28 + 2 octets at 32500/1024 ps = 953 ps; 150 ns of propagation; the next edge of the chip's
// clock is 172 ns, 43 cycles.
TEST_F(PcieTest, DoorbellsArriveInOrderAfterTheLinksLatency) {
  PcieSystem s("s", bench);
  s.host.mmio_write(regs::SqDoorbell::kOffset, regs::SqDoorbell{7, 9}.pack(), 0);
  s.host.mmio_write(regs::SqDoorbell::kOffset, regs::SqDoorbell{8, 4095}.pack(), 0);
  s.host.mmio_write(regs::RqDoorbell::kOffset, regs::RqDoorbell{0xfffff, 1}.pack(), 0);
  s.host.mmio_write(regs::CqArm::kOffset, regs::CqArm{5, true, 2047}.pack(), 0);
  s.host.mmio_write(regs::CmdqDoorbell::kOffset, regs::CmdqDoorbell{12}.pack(), 0);
  run_until_idle();
  const Cycle first = 43 + bench.config.rx_cycles + kToEnd;
  EXPECT_THAT(s.sq.cycles(), ElementsAre(first, first + 1));
  EXPECT_EQ(s.sq[0].qpn, Qpn{7});
  EXPECT_EQ(s.sq[0].producer, 9u);
  EXPECT_EQ(s.sq[1].producer, 4095u);
  EXPECT_THAT(s.rq.cycles(), ElementsAre(first + 2));
  EXPECT_EQ(s.rq[0].rqn, Rqn(Qpn{0xfffff}));
  EXPECT_THAT(s.arms.cycles(), ElementsAre(first + 3));
  EXPECT_TRUE(s.arms[0].solicited_only);
  EXPECT_EQ(s.arms[0].consumer, 2047u);
  EXPECT_THAT(s.commands.cycles(), ElementsAre(first + 4));
  EXPECT_EQ(s.commands[0].producer, 12u);
}

TEST_F(PcieTest, RegisterReadGoesThereAndBack) {
  PcieSystem s("s", bench);
  s.host.mmio_read(regs::Id::kOffset, 77, 1000);
  run_until_idle();
  // 21 ns; 22 octets of wire, 699 ps; 150 ns: 172 ns. 4 cycles in and 4 out: 204 ns; 26 octets, 826 ps; 150 ns.
  EXPECT_THAT(s.log.entries, ElementsAre(Entry{Entry::kRead, 77, regs::Id::kReset, true, 355000}));
}

TEST_F(PcieTest, AccessErrorsAreUnsupportedRequestsAndCounted) {
  PcieSystem s("s", bench);
  s.host.mmio_read(0x0ffc, 1, 0);
  s.host.mmio_read(regs::SqDoorbell::kOffset, 2, 0);
  s.host.mmio_read(regs::kBarBytes, 3, 0);
  s.host.mmio_read(regs::Id::kOffset + 2, 4, 0);
  s.host.mmio_write(regs::Id::kOffset, 5, 0);
  s.host.mmio_write(0x0ffc, 5, 0);
  s.host.mmio_read(regs::UnsupportedRequests::kOffset, 5, 2000000);
  s.host.mmio_read(regs::BadSizeAccesses::kOffset, 6, 2000000);
  s.host.mmio_read(regs::ReadOnlyWrites::kOffset, 7, 2000000);
  s.host.mmio_read(regs::ReadOnlyWrites::kOffset, 8, 2000000);
  run_until_idle();
  ASSERT_EQ(s.log.entries.size(), 8u);
  for (unsigned i = 0; i < 4; ++i) {
    EXPECT_EQ(s.log.entries[i].what, i + 1);
    EXPECT_FALSE(s.log.entries[i].ok);
    EXPECT_EQ(s.log.entries[i].value, 0xffffffffu);
  }
  EXPECT_EQ(s.log.entries[4].value, 4u);
  EXPECT_EQ(s.log.entries[5].value, 1u);
  EXPECT_EQ(s.log.entries[6].value, 1u);
  EXPECT_EQ(s.log.entries[7].value, 0u);  // reading cleared it
  EXPECT_EQ(s.pcie.regs.get<regs::Id>().pack(), regs::Id::kReset);
}

TEST_F(PcieTest, MoreRegisterReadsThanTagsAreAllAnswered) {
  PcieSystem s("s", bench);
  s.pcie.regs.strap(regs::MaxQps{300});
  for (std::uint32_t i = 0; i < 100; ++i) s.host.mmio_read(regs::MaxQps::kOffset, i, 0);
  run_until_idle();
  ASSERT_EQ(s.log.entries.size(), 100u);
  for (std::uint32_t i = 0; i < 100; ++i) {
    EXPECT_EQ(s.log.entries[i].what, i);
    EXPECT_EQ(s.log.entries[i].value, 300u);
  }
}

TEST_F(PcieTest, ReadsBringTheOctetsOfHostMemory) {
  PcieSystem s("s", bench);
  const std::uint64_t from = s.filled(1428 + 3, 5) + 3;
  std::vector<std::uint8_t> to(1430);
  s.reads().send(DmaReadRequest{from, 1428, to.data() + 1, {}, 42});
  run_until_idle();
  ASSERT_EQ(s.read_answers().size(), 1u);
  EXPECT_EQ(s.read_answers()[0].tag, 42u);
  EXPECT_TRUE(s.read_answers()[0].ok);
  EXPECT_EQ(std::memcmp(to.data() + 1, s.memory.find(from, 1428), 1428), 0);
  EXPECT_EQ(to[0], 0);
  EXPECT_EQ(to[1429], 0);
  EXPECT_EQ(s.pcie.dma_read.counters().tlps, 3u);  // 509, 512, 407
  EXPECT_EQ(s.host.port.counters().tlps, 6u);      // 253 256 | 256 256 | 256 151
}

// Each register of a ring is a doorbell, and an answer belongs to what it answers, also if it is a refusal.
TEST_F(PcieTest, AccessesOfTheHostAreDoorbellsOrRegisters) {
  PcieSystem s("s", bench);
  for (const std::uint32_t ring : {regs::SqDoorbell::kOffset, regs::RqDoorbell::kOffset, regs::SrqDoorbell::kOffset,
                                   regs::CqArm::kOffset, regs::CmdqDoorbell::kOffset, regs::EvqCi::kOffset}) {
    s.host.mmio_write(ring, 0, 0);
  }
  s.host.mmio_write(regs::Scratch::kOffset, 1, 0);
  s.host.mmio_read(regs::Scratch::kOffset, 1, 0);
  s.host.mmio_read(regs::SqDoorbell::kOffset, 2, 0);
  s.host.config_read(0, 3, 0);
  s.host.config_write(pcie::ConfigRegisters::kCommand, 2, 0, 4, 0);
  run_until_idle();
  EXPECT_THAT(sent(s.host.port), UnorderedElementsAre(Pair("doorbell", 6), Pair("register", 5)));
  EXPECT_THAT(sent(s.pcie.endpoint.port), UnorderedElementsAre(Pair("register", 4)));
}

// Rows of page lists and other rows are of one client: the row says which they are.
TEST_F(PcieTest, TlpsOfAClientAndTheirCompletionsHaveItsPurpose) {
  bench.readers = bench.writers = 2;
  PcieSystem s("s", bench);
  s.pcie.dma_read.serves(0, pcie::Purpose::kWqe);
  s.pcie.dma_read.serves(1, pcie::Purpose::kContext);
  s.pcie.dma_write.serves(1, pcie::Purpose::kContext);
  const auto row = [](abi::ContextKind kind) {
    return RequestId(1, RequestId::Kind::kContext, static_cast<std::uint32_t>(kind), 0, 5);
  };
  const std::uint64_t memory = s.filled(4096, 1);
  std::uint8_t to[1024];
  s.reads(0).send(DmaReadRequest{memory, 1024, to, {}, 0});
  s.reads(0).send(DmaReadRequest{0, 64, to, {}, 1});
  for (const auto kind :
       {abi::ContextKind::kPages, abi::ContextKind::kPages, abi::ContextKind::kQp, abi::ContextKind::kStag}) {
    s.reads(1).send(DmaReadRequest{memory, 64, to, {}, 0, row(kind)});
    DmaWriteRequest written = s.write_request(memory, 64, 2);
    written.src = s.pool.take(row(kind));
    s.writes(1).send(written);
  }
  s.writes(0).send(s.write_request(memory, 300, 3));
  s.pcie.regs.strap(regs::MsixAddressLo{0xfee00000}, 3);
  s.pcie.regs.strap(regs::MsixControl{false}, 3);
  s.interrupts.send(MsixRequest{3});
  run_until_idle();
  EXPECT_THAT(sent(s.pcie.endpoint.port),
              UnorderedElementsAre(Pair("wqe", 3), Pair("context", 4), Pair("translation", 4), Pair("payload", 2),
                                   Pair("interrupt", 1)));
  EXPECT_THAT(sent(s.host.port), UnorderedElementsAre(Pair("wqe", 5), Pair("context", 2), Pair("translation", 2)));
}

TEST_F(PcieTest, ReadOutsideMemoryFailsAndTheNextOneDoesNot) {
  PcieSystem s("s", bench);
  const std::uint64_t good = s.filled(64, 1);
  std::uint8_t to[2][128] = {};
  s.reads().send({DmaReadRequest{good + 32, 64, to[0], {}, 1}, DmaReadRequest{good, 64, to[1], {}, 2}});
  run_until_idle();
  ASSERT_EQ(s.read_answers().size(), 2u);
  EXPECT_FALSE(s.read_answers()[0].ok);
  EXPECT_TRUE(s.read_answers()[1].ok);
  EXPECT_TRUE(PcieSystem::matches(to[1], 64, 1));
  EXPECT_EQ(s.host.counters().refused_reads, 1u);
}

TEST_F(PcieTest, PayloadIsInMemoryBeforeItsCompletionEntryAndThatBeforeTheInterrupt) {
  bench.writers = 2;
  PcieSystem s("s", bench);
  const std::uint64_t payload = s.memory.alloc(4096), cqe = s.memory.alloc(64);
  s.pcie.regs.strap(regs::MsixAddressLo{0xfee00000}, 3);
  s.pcie.regs.strap(regs::MsixData{3}, 3);
  s.pcie.regs.strap(regs::MsixControl{false}, 3);
  DmaWriteRequest first = s.write_request(payload, 1428, 1), second = s.write_request(cqe, 32, 2);
  first.notify = second.notify = true;
  s.writes(0).send(first);
  run_until_idle();
  ASSERT_EQ(s.write_answers(0).cycles().size(), 1u);
  s.writes(1).send_at(s.clk.now() + 1, second);
  s.interrupts.send_at(s.clk.now() + 2, MsixRequest{3});
  run_until_idle();
  std::vector<std::uint64_t> order;
  for (const Entry& e : s.log.entries) order.push_back(e.what);
  EXPECT_THAT(
      order, ElementsAre(payload, payload + 256, payload + 512, payload + 768, payload + 1024, payload + 1280, cqe, 3));
  EXPECT_TRUE(s.holds(payload, 1428, 1));
  EXPECT_TRUE(s.holds(cqe, 32, 2));
}

// Mixed traffic of all users of a system, and all that host and chip saw of it, with times.
struct MixedTraffic {
  static constexpr unsigned kClients = 2, kRequests = 30;
  PcieSystem system;
  std::vector<std::vector<std::uint8_t>> sinks{kClients * kRequests, std::vector<std::uint8_t>(4000)};

  MixedTraffic(sc_core::sc_module_name nm, const PcieBench& bench) : system(nm, bench) {
    Prng random(11);
    for (unsigned client = 0; client < kClients; ++client) {
      std::vector<DmaReadRequest> reads;
      std::vector<DmaWriteRequest> writes;
      for (unsigned i = 0; i < kRequests; ++i) {
        const auto n = static_cast<std::uint32_t>(random.between(1, 4000));
        const std::uint64_t from = system.filled(8192, i) + random.below(4000);
        reads.push_back({from, n, sinks[client * kRequests + i].data(), {}, i});
        writes.push_back(system.write_request(system.memory.alloc(n, 1), n, i, i));
        writes.back().notify = i % 3 == 0;
      }
      system.reads(client).send(reads);
      system.writes(client).send(writes);
    }
    for (std::uint32_t i = 0; i < 20; ++i) system.host.mmio_read(regs::Id::kOffset, i, i * 50000);
  }
};

class PcieShuffle : public PcieTest, public testing::WithParamInterface<std::uint64_t> {};

// For any order of calls within a cycle, and for domains any distance ahead of the kernel, including credits of a few
// TLPs.
TEST_P(PcieShuffle, OrderOfCallsAndLookaheadChangeNothing) {
  bench.readers = bench.writers = MixedTraffic::kClients;
  bench.config.link.host_credits = {6, 40, 3, 0, 0};
  MixedTraffic expected("expected", bench);
  bench.shuffle = GetParam();
  if (GetParam() % 2 == 1) bench.chip_lookahead = bench.host_lookahead = 1;
  MixedTraffic actual("actual", bench);
  run_until_idle();
  EXPECT_EQ(actual.system.log.entries, expected.system.log.entries);
  EXPECT_EQ(actual.sinks, expected.sinks);
  for (unsigned c = 0; c < MixedTraffic::kClients; ++c) {
    EXPECT_EQ(actual.system.read_answers(c).cycles(), expected.system.read_answers(c).cycles());
    EXPECT_EQ(actual.system.write_answers(c).cycles(), expected.system.write_answers(c).cycles());
    EXPECT_EQ(actual.system.read_answers(c).size(), MixedTraffic::kRequests);
    EXPECT_EQ(actual.system.write_answers(c).size(), MixedTraffic::kRequests / 3);
  }
  EXPECT_EQ(actual.system.pool.in_use(), 0u);
  EXPECT_GT(actual.system.pcie.endpoint.port.counters().credit_stalls, 0u);
}
INSTANTIATE_TEST_SUITE_P(Seeds, PcieShuffle, testing::Values(1, 2, 3, 4, 5));

TEST_F(PcieTest, RestCostsNoKernelEvents) {
  PcieSystem s("s", bench);
  const std::uint64_t from = s.filled(4096, 5);
  std::uint8_t to[4096];
  s.reads().send(DmaReadRequest{from, 4096, to, {}, 0});
  run_until_idle();
  const auto chip = s.clk.activity().activations, hosts = s.host_clk.activity().activations;
  EXPECT_LT(sc_core::sc_time_stamp().value(), 2'000'000u);  // no timeout remains
  sc_core::sc_start(1, sc_core::SC_SEC);
  EXPECT_EQ(s.clk.activity().activations, chip);
  EXPECT_EQ(s.host_clk.activity().activations, hosts);
}

// Both directions at once, 1428 octets at a time, as at full Ethernet rate.
TEST_F(PcieTest, SustainsMoreThanAHundredGigabitsBothWays) {
  PcieSystem s("s", bench);
  constexpr std::uint32_t kBytes = 1428, kCount = 4000;
  const std::uint64_t from = s.filled(65536, 5), to = s.memory.alloc(65536);
  std::vector<std::uint8_t> sink(kBytes);
  std::vector<DmaReadRequest> reads;
  std::vector<DmaWriteRequest> writes;
  const BufferRef buffer = s.pool.take();
  for (std::uint32_t i = 0; i < kCount; ++i) {
    const std::uint32_t at = i * kBytes % 60000;
    reads.push_back({from + at, kBytes, sink.data(), {}, i});
    writes.push_back({to + at, kBytes, buffer, at, i, true});
  }
  s.reads().send(reads);
  s.writes().send(writes);
  run_until_idle();
  const auto gbps = [](const std::vector<Cycle>& done) {
    return std::uint64_t{kBytes} * 8 * (kCount / 2) * 1000 / ((done[kCount - 1] - done[kCount / 2 - 1]) * 4000);
  };
  EXPECT_GT(gbps(s.read_answers().cycles()), 120u);
  EXPECT_GT(gbps(s.write_answers().cycles()), 120u);
}

TEST(PcieConfig, EveryFieldCanBeSetAndBadValuesAreRefused) {
  Overlay good;
  good.set("pcie.link.generation=5");
  good.set("pcie.link.host_credits.posted_headers=7");
  good.set("host.memory.size_mib=3");
  const auto config = resolve<pcie::PcieConfig>(good, "pcie");
  EXPECT_EQ(config.link.generation, 5u);
  EXPECT_EQ(config.link.host_credits.posted_headers, 7u);
  EXPECT_EQ(config.link.device_credits.posted_headers, 128u);
  EXPECT_EQ(resolve<host::HostMemoryConfig>(good, "host.memory").size_mib, 3u);
  EXPECT_EQ(resolve<host::RootComplexConfig>(good, "host.root_complex").memory_read_ns, 250u);
  for (const char* bad : {"pcie.link.generation=6", "pcie.link.width=12", "pcie.link.max_payload_bytes=8192",
                          "pcie.dma_read.max_tags=257", "pcie.rx_cycles=0"}) {
    Overlay overlay;
    overlay.set(bad);
    EXPECT_THROW(resolve<pcie::PcieConfig>(overlay, "pcie"), ConfigError) << bad;
  }
}

}  // namespace
}  // namespace rnic::test
