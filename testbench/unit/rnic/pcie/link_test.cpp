// Wire time, credits and ordering of the transmitter, and the points where requests are cut.
#include <gmock/gmock.h>

#include "model/common/prng.h"
#include "model/rnic/pcie/cut.h"
#include "model/rnic/pcie/pcie_transmitter.h"
#include "testbench/support/stage_test.h"
#include "testbench/unit/rnic/pcie/short_tlps.h"

namespace rnic::pcie {
namespace {

using testing::ElementsAre;

// 1 / (rate x lanes / bits an octet): 2.5 GT/s with 10 bits is 4 ns a lane, 8 GT/s with 8 x 130/128 bits is 1015.625
// ps.
TEST(LinkTiming, OctetTimesOfEveryGeneration) {
  EXPECT_EQ(LinkTiming(1, 1, 0).ticks_per_octet(), 4000u * 1024);
  EXPECT_EQ(LinkTiming(2, 1, 0).ticks_per_octet(), 2000u * 1024);
  EXPECT_EQ(LinkTiming(3, 1, 0).ticks_per_octet(), 1040000u);  // 1015.625 ps
  EXPECT_EQ(LinkTiming(4, 1, 0).ticks_per_octet(), 520000u);
  EXPECT_EQ(LinkTiming(5, 1, 0).ticks_per_octet(), 260000u);
  EXPECT_EQ(LinkTiming(1, 16, 0).ticks_per_octet(), 256000u);  // 250 ps
  EXPECT_EQ(LinkTiming(3, 8, 0).ticks_per_octet(), 130000u);
  EXPECT_EQ(LinkTiming(4, 16, 0).ticks_per_octet(), 32500u);  // 31.738 ps: 31.5 GB/s
  EXPECT_EQ(LinkTiming(5, 16, 0).ticks_per_octet(), 16250u);
  EXPECT_THROW(LinkTiming(6, 16, 0), ConfigError);
  EXPECT_THROW(LinkTiming(4, 12, 0), ConfigError);
}

TEST(LinkTiming, WireOctetsOfATlp) {
  const LinkTiming timing(4, 16, 2);
  EXPECT_EQ(timing.wire_bytes(Tlp::read(0xffffffff, 512, 0)), 8u + 12 + 2);
  EXPECT_EQ(timing.wire_bytes(Tlp::read(0x100000000, 512, 0)), 8u + 16 + 2);
  EXPECT_EQ(timing.wire_bytes(Tlp::write(0x1000, nullptr, 256, {})), 8u + 12 + 256 + 2);
  EXPECT_EQ(timing.wire_bytes(Tlp::write(0x1003, nullptr, 2, {})), 8u + 12 + 8 + 2);  // touches two double words
  const Tlp request = Tlp::read(0x100000001, 10, 3);
  EXPECT_EQ(timing.wire_bytes(Tlp::completion(request, 0x100000001, 10)), 8u + 12 + 12 + 2);
  EXPECT_EQ(timing.wire_bytes(Tlp::answer(request, CplStatus::kUr)), 8u + 12 + 2);
  EXPECT_EQ(Tlp::write(0x1003, nullptr, 14, {}).data_credits(), 2u);
  EXPECT_EQ(Tlp::write(0x1000, nullptr, 16, {}).data_credits(), 1u);
}

TEST(Cut, AgreesWithCountingOctets) {
  Prng random(3);
  for (int round = 0; round < 20000; ++round) {
    const std::uint64_t address = random.between(0x10000, 0x14000);
    const auto left = static_cast<std::uint32_t>(random.between(1, 9000));
    const std::uint32_t limit = 128u << random.below(6);
    // Octet by octet: stop before a page's first octet, and before the double word that would exceed the limit.
    std::uint32_t expected = 1;
    while (expected < left && (address + expected) % 4096 != 0 && (address + expected) / 4 - address / 4 < limit / 4) {
      ++expected;
    }
    ASSERT_EQ(cut(address, left, limit), expected) << address << " " << left << " " << limit;
  }
}

// Offers the heads of its queues every time it is called, and records what left and when.
class Sender final : public Stage {
 public:
  struct Sent {
    std::uint16_t tag;
    Cycle cycle;
    std::uint64_t arrival_ps;
    friend bool operator==(const Sent& a, const Sent& b) {
      return a.tag == b.tag && a.cycle == b.cycle && a.arrival_ps == b.arrival_ps;
    }
    friend std::ostream& operator<<(std::ostream& os, const Sent& s) {
      return os << "{" << s.tag << ", " << s.cycle << ", " << s.arrival_ps << "}";
    }
  };
  PcieTransmitter transmitter;
  std::vector<Sent> sent;

  Sender(sc_core::sc_module_name nm, ClockDomain& clk, const PcieLinkConfig& link)
      : Stage(nm, clk), transmitter(*this, link, link.host_credits) {}
  void offer(unsigned queue, Tlp tlp, std::uint16_t tag, Cycle issued) {
    tlp.tag = tag;
    tlp.issued = issued;
    queues_[queue].push(std::move(tlp));
    wake(0);
  }
  Wake tick() override {
    const Tlp* heads[3];
    for (unsigned i = 0; i < 3; ++i) heads[i] = queues_[i].empty() ? nullptr : &queues_[i].front();
    const int chosen = transmitter.choose(heads, 3);
    if (chosen < 0) return Wake::on_traffic();
    const Tlp tlp = queues_[chosen].pop();
    sent.push_back({tlp.tag, now(), transmitter.send(tlp, tlp.issued)});
    transmitter.wake_when_free();
    return Wake::on_traffic();
  }

 private:
  Ring<Tlp> queues_[3];
};

class TransmitterTest : public test::StageTest {
 protected:
  static constexpr unsigned kP = 0, kC = 1, kN = 2;
  PcieLinkConfig link = test::short_tlps();
  std::vector<std::uint16_t> tags(const Sender& s) {
    std::vector<std::uint16_t> all;
    for (const auto& sent : s.sent) all.push_back(sent.tag);
    return all;
  }
  static Tlp posted(std::uint32_t bytes = 4) { return Tlp::write(0x1000, nullptr, bytes, {}); }
  static Tlp non_posted() { return Tlp::read(0x1000, 64, 0); }
  static Tlp completed() { return Tlp::completion(Tlp::read(0x1000, 64, 0), 0x1000, 64); }
};

// 278 octets at 32500/1024 ps are 8823.24 ps. The wire is free again in cycles 2, 4 and 6, and each write starts where
// the previous one ended.
TEST_F(TransmitterTest, BackToBackWritesLeaveNoGapOnTheWire) {
  Sender s("s", clk, link);
  for (std::uint16_t i = 0; i < 4; ++i) s.offer(kP, posted(256), i, 0);
  run_until_idle();
  EXPECT_THAT(s.sent, ElementsAre(Sender::Sent{0, 0, 158824}, Sender::Sent{1, 2, 167647}, Sender::Sent{2, 4, 176470},
                                  Sender::Sent{3, 6, 185293}));
  EXPECT_EQ(s.transmitter.counters().wire_bytes, 4u * 278);
  EXPECT_EQ(s.transmitter.counters().data_bytes, 4u * 256);
}

// 278, 86 and 22 octets. A read and a younger completion entry have no credit: the stall is of the read, also when
// the entry has passed it.
TEST_F(TransmitterTest, TlpsAndStallsCountForTheirPurpose) {
  link.host_credits = {1, 0, 1, 0, 0};
  Sender s("s", clk, link);
  const auto offer = [&](unsigned queue, Tlp tlp, Purpose purpose, Cycle issued) {
    tlp.purpose = purpose;
    s.offer(queue, tlp, 0, issued);
  };
  offer(kP, posted(256), Purpose::kPayload, 0);
  offer(kN, non_posted(), Purpose::kWqe, 0);
  offer(kN, non_posted(), Purpose::kCommand, 1);
  offer(kP, posted(64), Purpose::kCqe, 2);
  run_until_idle();
  const auto counted = [&](Purpose of) {
    const TransmitCounters& c = s.transmitter.counters(of);
    return std::vector<std::uint64_t>{c.tlps, c.data_bytes, c.wire_bytes, c.credit_stalls};
  };
  EXPECT_THAT(counted(Purpose::kPayload), ElementsAre(1, 256, 278, 0));
  EXPECT_THAT(counted(Purpose::kWqe), ElementsAre(1, 0, 22, 0));
  EXPECT_THAT(counted(Purpose::kCommand), ElementsAre(0, 0, 0, 1));
  EXPECT_THAT(counted(Purpose::kCqe), ElementsAre(0, 0, 0, 0));
  s.transmitter.credit_returned(posted(256), 1'000'000);
  run_until_idle();
  EXPECT_THAT(counted(Purpose::kCqe), ElementsAre(1, 64, 86, 0));
  s.transmitter.credit_returned(non_posted(), 2'000'000);
  run_until_idle();
  EXPECT_THAT(counted(Purpose::kCommand), ElementsAre(1, 0, 22, 2));
  EXPECT_EQ(s.transmitter.counters().tlps, 4u);
  EXPECT_EQ(s.transmitter.counters().data_bytes, 256u + 64);
  EXPECT_EQ(s.transmitter.counters().wire_bytes, 278u + 22 + 22 + 86);
  EXPECT_EQ(s.transmitter.counters().credit_stalls, 2u);
  // The first read waited for the write's octets; the other two were refused in cycle 3, when both were gone.
  const auto waited = [&](const TransmitCounters& c) { return std::pair(c.wait_ps, c.credit_wait_ps); };
  const std::uint64_t cycle = clk.period_ps();
  EXPECT_EQ(waited(s.transmitter.counters(Purpose::kPayload)), std::pair(0ul, 0ul));
  EXPECT_EQ(waited(s.transmitter.counters(Purpose::kWqe)), std::pair(8823ul, 0ul));
  EXPECT_EQ(waited(s.transmitter.counters(Purpose::kCqe)), std::pair(1'000'000 - 2 * cycle, 1'000'000 - 3 * cycle));
  EXPECT_EQ(waited(s.transmitter.counters(Purpose::kCommand)), std::pair(2'000'000 - cycle, 2'000'000 - 3 * cycle));
  EXPECT_EQ(waited(s.transmitter.counters()), std::pair(8823 + 3'000'000 - 3 * cycle, 3'000'000 - 6 * cycle));
}

TEST_F(TransmitterTest, ShortOnesLeaveOneACycle) {
  Sender s("s", clk, link);
  for (std::uint16_t i = 0; i < 3; ++i) s.offer(kN, non_posted(), i, 0);
  run_until_idle();
  // 22 octets are 698.24 ps.
  EXPECT_THAT(s.sent, ElementsAre(Sender::Sent{0, 0, 150699}, Sender::Sent{1, 1, 154699}, Sender::Sent{2, 2, 158699}));
}

TEST_F(TransmitterTest, TheOldestGoesFirstAndAPostedOneOfTheSameAge) {
  Sender s("s", clk, link);
  s.offer(kN, non_posted(), 1, 5);
  s.offer(kC, completed(), 2, 4);
  s.offer(kP, posted(), 3, 5);
  s.offer(kP, posted(), 4, 6);
  run_until_idle();
  EXPECT_THAT(tags(s), ElementsAre(2, 3, 1, 4));
}

TEST_F(TransmitterTest, NothingPassesAnOlderPostedRequestWithoutCredit) {
  link.host_credits = {1, 0, 0, 0, 0};
  Sender s("s", clk, link);
  s.offer(kP, posted(), 1, 0);
  s.offer(kP, posted(), 2, 1);
  s.offer(kN, non_posted(), 3, 2);
  s.offer(kC, completed(), 4, 2);
  run_until_idle();
  EXPECT_THAT(tags(s), ElementsAre(1));
  s.transmitter.credit_returned(posted(), 1'000'000);
  run_until_idle();
  EXPECT_THAT(tags(s), ElementsAre(1, 2, 4, 3));
  EXPECT_EQ(s.sent[1].cycle, 250u);
  const Account::Totals all = s.transmitter.headers(FlowClass::kPosted, 300).totals(300);
  EXPECT_EQ(all.busy, 1 + 50);  // in cycle 0, and from the second one on
  EXPECT_EQ(all.blocked, 249);
  EXPECT_EQ(all.empty, 0);
}

// An update counts from its own time on, not from the next TLP on.
TEST_F(TransmitterTest, ACreditIsInUseUntilItsUpdate) {
  link.host_credits = {2, 0, 0, 0, 0};
  Sender s("s", clk, link);
  s.offer(kP, posted(), 1, 0);
  run_until_idle();
  s.transmitter.credit_returned(posted(), 40'001);  // seen in cycle 11
  const auto totals = [&](Cycle at) { return s.transmitter.headers(FlowClass::kPosted, at).totals(at); };
  EXPECT_EQ(totals(8).busy, 8);
  EXPECT_EQ(totals(100).busy, 11);
  EXPECT_EQ(totals(100).empty, 89);
  EXPECT_EQ(totals(100).blocked, 0);
}

TEST_F(TransmitterTest, PostedRequestsAndCompletionsPassAReadWithoutCredit) {
  link.host_credits = {0, 0, 1, 0, 0};
  Sender s("s", clk, link);
  s.offer(kN, non_posted(), 1, 0);
  s.offer(kN, non_posted(), 2, 1);
  s.offer(kP, posted(), 3, 2);
  s.offer(kC, completed(), 4, 3);
  run_until_idle();
  EXPECT_THAT(tags(s), ElementsAre(1, 3, 4));
  s.transmitter.credit_returned(non_posted(), 100'000);
  run_until_idle();
  EXPECT_THAT(tags(s), ElementsAre(1, 3, 4, 2));
}

TEST_F(TransmitterTest, APostedRequestPassesACompletionWithoutCredit) {
  link.host_credits = {0, 0, 0, 1, 0};
  Sender s("s", clk, link);
  s.offer(kC, completed(), 1, 0);
  s.offer(kC, completed(), 2, 1);
  s.offer(kP, posted(), 3, 2);
  run_until_idle();
  EXPECT_THAT(tags(s), ElementsAre(1, 3));
}

// 256 octets are 16 data credits. Of 20, 4 are left, then 12, then 16: the next write leaves when the last credits are
// back.
TEST_F(TransmitterTest, DataCreditsCountUnitsOfSixteenOctets) {
  link.host_credits = {0, 20, 0, 0, 0};
  Sender s("s", clk, link);
  s.offer(kP, posted(256), 1, 0);
  s.offer(kP, posted(256), 2, 0);
  run_until_idle();
  EXPECT_THAT(tags(s), ElementsAre(1));
  s.transmitter.credit_returned(posted(128), 200'000);
  s.transmitter.credit_returned(posted(64), 400'001);
  run_until_idle();
  ASSERT_THAT(tags(s), ElementsAre(1, 2));
  EXPECT_EQ(s.sent[1].cycle, 101u);
}

TEST_F(TransmitterTest, CreditsThatHoldNoTlpAreAConfigurationError) {
  link.host_credits.posted_data = 15;
  EXPECT_THROW(Sender("s", clk, link), ConfigError);
}

}  // namespace
}  // namespace rnic::pcie
