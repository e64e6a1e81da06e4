// The endpoint between a scripted root port and the ends of its links: sorting, ordering, one TLP a cycle each way.
#include "model/rnic/pcie/pcie_endpoint.h"

#include <vector>

#include "model/common/ring.h"
#include "testbench/support/stage_test.h"
#include "testbench/unit/rnic/pcie/short_tlps.h"

namespace rnic::pcie {
namespace {

using test::collect;
using test::drive;
using test::kToEnd;
using test::Sink;
using test::Source;
using testing::ElementsAre;

// Sends its TLPs as soon as the wire is free, and keeps what arrives.
class RootPort final : public Stage {
 public:
  PciePort port;
  bool takes_reads = true;
  std::vector<Cycle> sent;
  std::vector<Tlp> got;

  RootPort(sc_core::sc_module_name nm, ClockDomain& clk, const PcieLinkConfig& link)
      : Stage(nm, clk), port(*this, link, PcieSide::kHost) {}
  void send(Tlp tlp) {
    todo_.push(std::move(tlp));
    wake(clock().next());
  }
  Wake tick() override {
    for (const FlowClass c : {FlowClass::kPosted, FlowClass::kNonPosted, FlowClass::kCompletion}) {
      while (port.can_pop(c) && (takes_reads || c != FlowClass::kNonPosted)) got.push_back(port.pop(c));
    }
    if (todo_.empty()) return Wake::on_traffic();
    const Tlp* const head = &todo_.front();
    if (port.choose(&head, 1) == 0) {
      sent.push_back(now());
      port.send(todo_.pop(), now());
      port.wake_when_free();
    }
    return Wake::on_traffic();
  }

 private:
  Ring<Tlp> todo_;
};

// The wire: when a TLP arrives whose octets begin at a cycle's edge.
class PcieEndpointTest : public test::StageTest {
 protected:
  explicit PcieEndpointTest(PcieLinkConfig l = test::short_tlps()) : link(l) {
    host.port.out.bind(dut.port.in);
    dut.port.out.bind(host.port.in);
  }
  static Tlp completion(std::uint16_t tag) { return Tlp::completion(Tlp::read(0x1000, 64, tag), 0x1000, 64); }
  static Tlp message(std::uint64_t to, Cycle issued) {
    Tlp t = Tlp::write32(to, 0);
    t.issued = issued;
    return t;
  }
  Cycle arrival(Cycle sent, const Tlp& tlp) const {
    const std::uint64_t ps = LinkTiming(link).ticks(tlp) / LinkTiming::kTicksPerPs + 1000u * link.propagation_ns;
    return clk.cycle_at_or_after(sent * clk.period_ps() + ps);
  }
  std::vector<std::uint64_t> addresses(const Sink<Tlp>& sink) const {
    std::vector<std::uint64_t> all;
    for (const Tlp& t : sink) all.push_back(t.address);
    return all;
  }

  PcieLinkConfig link;
  ConfigSpace config{clk, link};
  PcieEndpoint dut{"dut", clk, link, config};
  RootPort host{"host", clk, link};
  Source<Tlp> dma_writes = drive(dut.dma_writes), messages = drive(dut.messages),
              mmio_completions = drive(dut.mmio_completions), dma_reads = drive(dut.dma_reads);
  Sink<Tlp> mmio = collect(dut.mmio), read_completions = collect(dut.read_completions);
};

TEST_F(PcieEndpointTest, SortsRequestsAndCompletionsInTheCycleOfTheirArrival) {
  const Tlp request = Tlp::write32(0x10, 1);
  host.send(request);
  host.send(completion(5));
  run_until_idle();
  EXPECT_THAT(mmio.cycles(), ElementsAre(arrival(host.sent.at(0), request) + kToEnd));
  EXPECT_THAT(read_completions.cycles(), ElementsAre(arrival(host.sent.at(1), completion(5)) + kToEnd));
  EXPECT_EQ(read_completions[0].tag, 5);
}

TEST_F(PcieEndpointTest, ReadsAndWritesKeepTheOrderOfTheirArrival) {
  const std::vector<std::uint64_t> order = {0x10, 0x14, 0x18, 0x1c, 0x20};
  mmio.pause(test::every(8, 7));  // they pile up in two receive buffers
  host.send(Tlp::write32(order[0], 0));
  host.send(Tlp::read(order[1], 4, 1));
  host.send(Tlp::read(order[2], 4, 2));
  host.send(Tlp::write32(order[3], 0));
  host.send(Tlp::read(order[4], 4, 3));
  run_until_idle();
  EXPECT_EQ(addresses(mmio), order);
}

TEST_F(PcieEndpointTest, CompletionsPassRegisterAccessesThatAreNotTaken) {
  mmio.pause(test::every(4000, 3999));
  for (std::uint64_t i = 0; i < 20; ++i) host.send(Tlp::write32(4 * i, 0));
  host.send(completion(9));
  run_until_idle();
  ASSERT_EQ(read_completions.size(), 1u);
  EXPECT_EQ(read_completions.cycles()[0], arrival(host.sent.back(), completion(9)) + kToEnd);
  EXPECT_GT(mmio.cycles().back(), read_completions.cycles()[0] + 4000);
}

TEST_F(PcieEndpointTest, SendsOneTlpACycleTheOldestFirstAndAPostedOneOfTheSameAge) {
  Tlp read = Tlp::read(0x3000, 64, 0);
  read.issued = 7;
  dma_reads.send(read);
  messages.send(message(0x2000, 7));
  dma_writes.send(message(0x1000, 6));
  run_until_idle();
  ASSERT_EQ(host.got.size(), 3u);
  EXPECT_EQ(host.got[0].address, 0x1000u);
  EXPECT_EQ(host.got[1].address, 0x2000u);
  EXPECT_EQ(host.got[2].address, 0x3000u);
  EXPECT_EQ(dut.port.counters().tlps, 3u);
}

class FewCredits : public PcieEndpointTest {
 protected:
  FewCredits() : PcieEndpointTest(few()) {}
  static PcieLinkConfig few() {
    PcieLinkConfig l = test::short_tlps();
    l.host_credits.non_posted_headers = 2;
    return l;
  }
};
TEST_F(FewCredits, PostedRequestsPassAReadForWhichTheHostHasNone) {
  host.takes_reads = false;
  for (std::uint16_t tag = 0; tag < 3; ++tag) dma_reads.send(Tlp::read(0x3000, 64, tag));
  dma_writes.send(message(0x1000, 100));
  run_until_idle();
  EXPECT_THAT(host.got, ElementsAre(testing::Field(&Tlp::address, 0x1000)));
  EXPECT_EQ(dut.waiting_for(), "credits of the host");
  host.takes_reads = true;
  host.send(Tlp::write32(0, 0));  // it looks again
  run_until_idle();
  EXPECT_EQ(host.got.size(), 4u);
  EXPECT_EQ(dut.waiting_for(), "");
}

// All that was received and not yet handed on is lost with the link, in the cycle of the reset; what comes later is
// not.
TEST_F(PcieEndpointTest, AResetOfTheLinkLosesWhatLiesInTheReceiveBuffers) {
  mmio.pause(test::every(100'000, 99'999));
  for (std::uint64_t i = 0; i < 40; ++i) host.send(Tlp::write32(4 * i, 0));
  sc_core::sc_start(sc_core::sc_time::from_value(400 * clk.period_ps()));
  const std::size_t in_the_link = Netlist::kFew.depth;
  host.port.reset_link(false);
  run_until_idle();
  host.send(Tlp::write32(0x1000, 0));
  run_until_idle();
  EXPECT_EQ(mmio.size(), in_the_link + 1);
  EXPECT_EQ(mmio.back().address, 0x1000u);
  EXPECT_EQ(config.get().bar0(), 0u);  // as after power-on
}

}  // namespace
}  // namespace rnic::pcie
