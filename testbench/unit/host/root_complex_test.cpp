// The root complex against a scripted device at the other end of the link.
#include "model/host/root_complex.h"

#include <cstring>
#include <memory>
#include <tuple>

#include "model/common/prng.h"
#include "testbench/support/stage_test.h"

namespace rnic::host {
namespace {

using pcie::CplStatus;
using pcie::FlowClass;
using pcie::Tlp;
using pcie::TlpType;
using testing::ElementsAre;

// Sends its script in order, one TLP a cycle, and keeps the received TLPs.
class Device final : public Stage {
 public:
  struct Arrival {
    Tlp tlp;
    std::uint64_t ps;
  };
  pcie::PciePort port;
  std::vector<Arrival> arrivals;
  bool takes_writes = true;

  Device(sc_core::sc_module_name nm, ClockDomain& clk, const pcie::PcieLinkConfig& link)
      : Stage(nm, clk), port(*this, link, pcie::PcieSide::kDevice) {}
  void send(Tlp tlp) {
    tlp.issued = 0;
    todo_.push(std::move(tlp));
    wake(now() + 1);
  }
  Wake tick() override {
    for (const FlowClass c : {FlowClass::kPosted, FlowClass::kNonPosted, FlowClass::kCompletion}) {
      if (c == FlowClass::kPosted && !takes_writes) continue;
      while (port.can_pop(c)) {
        const std::uint64_t ps = port.front_ps(c);
        arrivals.push_back({port.pop(c), ps});
      }
    }
    const Tlp* head = todo_.empty() ? nullptr : &todo_.front();
    if (head == nullptr || port.choose(&head, 1) < 0) return Wake::on_traffic();
    port.send(todo_.pop(), now());
    if (!todo_.empty()) port.wake_when_free();
    return Wake::on_traffic();
  }

 private:
  Ring<Tlp> todo_;
};

class Events final : public HostEvents {
 public:
  std::vector<std::string> log;
  void memory_written(std::uint64_t address, std::uint32_t bytes, std::uint64_t at_ps) override {
    log.push_back("write " + std::to_string(address) + " " + std::to_string(bytes) + " " + std::to_string(at_ps));
  }
  void msix(unsigned vector, std::uint64_t at_ps) override {
    log.push_back("msix " + std::to_string(vector) + " " + std::to_string(at_ps));
  }
  void mmio_read_done(std::uint32_t cookie, std::uint32_t value, bool ok, std::uint64_t at_ps) override {
    log.push_back("read " + std::to_string(cookie) + " " + std::to_string(value) + (ok ? " ok " : " failed ") +
                  std::to_string(at_ps));
  }
};

class RootComplexTest : public test::StageTest {
 protected:
  pcie::PcieLinkConfig link;
  RootComplexConfig config;
  ClockDomain host_clk{"host_clk", {1000, 1}};
  HostMemory memory{{0x10000, 16}};
  Events events;
  std::unique_ptr<Device> device;
  std::unique_ptr<RootComplex> dut;

  void build() {
    device = std::make_unique<Device>("device", clk, link);
    dut = std::make_unique<RootComplex>("dut", host_clk, config, link, memory);
    dut->attach(events);
    dut->port.out.bind(device->port.in);
    device->port.out.bind(dut->port.in);
  }
};

// Sent in cycle 1, 4 ns; 22 octets of wire, 699 ps; 150 ns; 250 ns of memory, seen at the next host edge, 405 ns; 86
// octets, 2730 ps, and 150 ns back.
TEST_F(RootComplexTest, AReadTakesLinkMemoryAndLink) {
  build();
  const std::uint64_t at = memory.alloc(64);
  device->send(Tlp::read(at, 64, 9));
  run_until_idle();
  ASSERT_EQ(device->arrivals.size(), 1u);
  EXPECT_EQ(device->arrivals[0].ps, 557730u);
  EXPECT_EQ(device->arrivals[0].tlp.tag, 9u);
}

class RootComplexSplit : public RootComplexTest, public testing::WithParamInterface<std::pair<unsigned, unsigned>> {};

// Split at every boundary that an independent walk over the octets finds, with the contents of memory.
TEST_P(RootComplexSplit, CompletionsEndAtReadCompletionBoundaries) {
  std::tie(link.max_payload_bytes, link.read_completion_boundary_bytes) = GetParam();
  build();
  const std::uint64_t base = memory.alloc(16384, 4096);
  for (std::uint32_t i = 0; i < 16384; ++i) memory.find(base, 16384)[i] = static_cast<std::uint8_t>(mix64(i) >> 3);
  Prng random(4);
  std::vector<Tlp> requests;
  for (std::uint16_t i = 0; i < 200; ++i) {
    const std::uint64_t at = base + random.below(8192);
    requests.push_back(Tlp::read(at, static_cast<std::uint32_t>(random.between(1, 4096 - (at & 4095))), i));
    device->send(requests.back());
  }
  run_until_idle();
  std::size_t next = 0;
  for (const Tlp& request : requests) {
    for (std::uint64_t at = request.address, end = at + request.bytes; at < end;) {
      ASSERT_LT(next, device->arrivals.size());
      const Tlp& tlp = device->arrivals[next++].tlp;
      ASSERT_EQ(tlp.type, TlpType::kCplD);
      ASSERT_EQ(tlp.tag, request.tag);
      ASSERT_EQ(tlp.byte_count, end - at);
      ASSERT_EQ(tlp.lower_address, at & 127);
      const std::uint64_t stop = at + tlp.bytes;
      ASSERT_TRUE(stop == end || stop % link.read_completion_boundary_bytes == 0);
      ASSERT_LE((stop + 3) / 4 - at / 4, link.max_payload_bytes / 4);
      ASSERT_EQ(std::memcmp(tlp.data(), memory.find(at, tlp.bytes), tlp.bytes), 0);
      // The pieces are as few and as large as possible.
      ASSERT_TRUE(stop == end || stop + link.read_completion_boundary_bytes > at + link.max_payload_bytes);
      at = stop;
    }
  }
  EXPECT_EQ(next, device->arrivals.size());
}
INSTANTIATE_TEST_SUITE_P(Sizes, RootComplexSplit,
                         testing::Values(std::pair{128u, 64u}, std::pair{128u, 128u}, std::pair{256u, 64u},
                                         std::pair{4096u, 64u}));

TEST_F(RootComplexTest, ReadsOutsideMemoryAreUnsupportedRequests) {
  build();
  const std::uint64_t at = memory.alloc(64);
  device->send(Tlp::read(at + 32, 64, 1));
  device->send(Tlp::read(at, 64, 2));
  device->send(Tlp::read(0, 4, 3));
  run_until_idle();
  ASSERT_EQ(device->arrivals.size(), 3u);
  EXPECT_EQ(device->arrivals[0].tlp.type, TlpType::kCpl);
  EXPECT_EQ(device->arrivals[0].tlp.status, CplStatus::kUr);
  EXPECT_EQ(device->arrivals[1].tlp.status, CplStatus::kSc);
  EXPECT_EQ(device->arrivals[2].tlp.status, CplStatus::kUr);
  EXPECT_EQ(dut->counters().refused_reads, 2u);
}

TEST_F(RootComplexTest, WritesLandWhenTheyArriveAndInterruptsStayBehindThem) {
  build();
  const std::uint64_t at = memory.alloc(256);
  std::uint8_t data[256];
  std::memset(data, 0x5a, sizeof data);
  Tlp poisoned = Tlp::write32(at, 0xffffffff);
  poisoned.poisoned = true;
  device->send(Tlp::write(at, data, 256, {}));
  device->send(poisoned);
  device->send(Tlp::write32(0x4000, 1));
  device->send(Tlp::write32(RootComplex::kMsiAddress + 0x1000, 17));
  run_until_idle();
  // 4 ns + 278 octets (8824 ps) + 150 ns; then 30 octets (953 ps) each: the third starts in cycle 4.
  EXPECT_THAT(events.log, ElementsAre("write 65536 256 163000", "msix 17 171000"));
  EXPECT_EQ(memory.find(at, 256)[0], 0x5a);
  EXPECT_EQ(memory.find(at, 256)[255], 0x5a);
  EXPECT_EQ(dut->counters().poisoned_writes, 1u);
  EXPECT_EQ(dut->counters().refused_writes, 1u);
}

TEST_F(RootComplexTest, AReadSeesTheWriteThatItFollows) {
  build();
  const std::uint64_t at = memory.alloc(4);
  device->send(Tlp::write32(at, 0xcafe));
  device->send(Tlp::read(at, 4, 0));
  run_until_idle();
  ASSERT_EQ(device->arrivals.size(), 1u);
  EXPECT_EQ(device->arrivals[0].tlp.data()[0], 0xfe);
  EXPECT_EQ(device->arrivals[0].tlp.data()[1], 0xca);
}

TEST_F(RootComplexTest, AWriteBurstWithoutCreditWaitsAndLosesNothing) {
  link.device_credits.posted_headers = 3;
  build();
  device->takes_writes = false;
  for (std::uint32_t i = 0; i < 10; ++i) dut->mmio_write(4 * i, i, 0);
  run_until_idle();
  EXPECT_EQ(dut->counters().mmio_writes, 3u);
  EXPECT_EQ(dut->waiting_for(), "credits of the device");
  device->takes_writes = true;
  device->wake(clk.now() + 1);
  run_until_idle();
  ASSERT_EQ(device->arrivals.size(), 10u);
  for (std::uint32_t i = 0; i < 10; ++i) {
    EXPECT_EQ(device->arrivals[i].tlp.address, link.bar0_address + 4 * i);
    EXPECT_EQ(device->arrivals[i].tlp.data()[0], i);
  }
  EXPECT_EQ(dut->waiting_for(), "");
}

TEST_F(RootComplexTest, AccessesNeverOvertakeEarlierCalls) {
  build();
  dut->mmio_write(0, 1, 5000);
  dut->mmio_write(4, 2, 1000);
  run_until_idle();
  ASSERT_EQ(device->arrivals.size(), 2u);
  EXPECT_EQ(device->arrivals[0].tlp.address, link.bar0_address);
}

// Reads that wait for a slow link count as answered, after 250 memory cycles of 1 ns each.
TEST_F(RootComplexTest, ReadsThatMemoryHasAnsweredAreTold) {
  link.generation = 1;
  link.width = 1;
  build();
  const std::uint64_t at = memory.alloc(8192, 4096);
  device->send(Tlp::read(at, 4096, 1));
  device->send(Tlp::read(at + 4096, 4096, 2));
  run_until_idle();
  const Cycle end = host_clk.next();
  const std::uint64_t pending = dut->pending_reads().totals(end).taken;
  const std::uint64_t answered = dut->answered_reads(end).totals(end).taken;
  EXPECT_GT(answered, 20000u) << "of the second one, eight octets in 32 ns";
  EXPECT_NEAR(static_cast<double>(pending - answered), 2 * 250, 2);
  EXPECT_EQ(dut->answered_reads(end).taken(), 0u);
}

TEST_F(RootComplexTest, FailedCompletionsReadAsAllOnes) {
  build();
  dut->mmio_read(8, 5, 0);
  run_until_idle();
  ASSERT_EQ(device->arrivals.size(), 1u);
  device->send(Tlp::answer(device->arrivals[0].tlp, CplStatus::kCa));
  run_until_idle();
  ASSERT_EQ(events.log.size(), 1u);
  EXPECT_EQ(events.log[0].substr(0, 25), "read 5 4294967295 failed ");
}

}  // namespace
}  // namespace rnic::host
