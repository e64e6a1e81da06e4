// The injector before a cable: which frames reach the other end, in which order and when.
#include "model/cable/cable_faults.h"
#include "testbench/unit/rnic/llp/tcp/tcp_chip.h"

namespace rnic::test {
namespace {

using testing::ElementsAre;

class FaultInjectorTest : public testing::Test {
 protected:
  // Uses a cable of 750 ns.
  void build(EthernetLinkConfig config) {
    config.delay_ns = 750;
    cable = std::make_unique<EthernetLink>("cable", config);
    faults = std::make_unique<CableFaults>(config, 7);
    faults->attach(*cable, 0, tx0.out, rx0);
    faults->attach(*cable, 1, tx1.out, rx1);
    cable->tap(tap);
    sc_core::sc_start(sc_core::SC_ZERO_TIME);
  }
  Frame frame(std::uint32_t bytes) { return {pool.take(), 0, bytes, true}; }
  void run() { sc_core::sc_start(sc_core::sc_time(1, sc_core::SC_MS)); }
  std::vector<std::size_t> arrived(const RawReceiver& rx) const {
    std::vector<std::size_t> lengths;
    for (const Seen& s : rx.got.seen) lengths.push_back(s.frame.size());
    return lengths;
  }

  BufferPool pool{2048};
  RawSender tx0{"tx0"}, tx1{"tx1"};
  RawReceiver rx0{"rx0"}, rx1{"rx1"};
  Recorder tap;
  std::unique_ptr<EthernetLink> cable;
  std::unique_ptr<CableFaults> faults;
};

TEST_F(FaultInjectorTest, AFrameThatIsHeldBackIsOvertaken) {
  EthernetLinkConfig config;
  config.forward.delay.reorder_ns = 100;
  config.forward.reorder.frames = "1";
  build(config);
  for (std::uint32_t bytes : {100u, 150u, 250u}) tx0.out.send(frame(bytes), bytes * 1000);  // ahead of the kernel
  tx1.out.send(frame(400), 1000);
  run();
  EXPECT_THAT(arrived(rx1), ElementsAre(150, 100, 250));
  EXPECT_THAT(rx1.times(), ElementsAre(900'000, 950'000, 1'000'000));
  EXPECT_THAT(rx0.times(), ElementsAre(751'000)) << "the other direction has no faults";
  EXPECT_EQ(faults->counters(0)->reordered, 1u);
  EXPECT_EQ(faults->counters(1), nullptr);
}

TEST_F(FaultInjectorTest, TheSecondCopyComesBehindTheFirstAndCapturesSeeBoth) {
  EthernetLinkConfig config;
  config.forward.duplicate.frames = "1";
  config.forward.loss.frames = "2";
  build(config);
  tx0.out.send(frame(100), 1000);
  tx0.out.send(frame(200), 2000);
  tx0.out.send(frame(300), 2000);
  run();
  EXPECT_THAT(arrived(rx1), ElementsAre(100, 100, 300));
  EXPECT_THAT(rx1.times(), ElementsAre(751'000, 751'000, 752'000));
  EXPECT_EQ(tap.seen.size(), 3u);
}

TEST_F(FaultInjectorTest, SymmetricFaultsStrikeBothDirectionsFromStreamsOfTheirOwn) {
  EthernetLinkConfig config;
  config.symmetric = true;
  config.forward.loss.ppm = 500'000;
  build(config);
  for (std::uint32_t i = 1; i <= 64; ++i) {
    tx0.out.send(frame(100 + i), i * 1000);
    tx1.out.send(frame(100 + i), i * 1000);
  }
  run();
  EXPECT_NE(arrived(rx0), arrived(rx1));
  EXPECT_EQ(faults->counters(0)->lost, 64 - arrived(rx1).size());
  EXPECT_EQ(faults->counters(1)->lost, 64 - arrived(rx0).size());
}

// RFC 1191: the ICMP takes the other direction, with that direction's delay but not its faults.
class NarrowWayTest : public FaultInjectorTest {
 protected:
  // 02:..:01 at 10.0.0.1 to 02:..:02 at 10.0.0.2; the checksum is that of a packet of 1000 octets with DF.
  Frame packet(std::uint16_t bytes) {
    static constexpr std::uint8_t kHeaders[] = {
        2, 0,    0,    0,  0, 2, 2, 0,  0, 0, 0, 1,    8,    0,    0x45, 0,    0x03, 0xe8, 0,    7, 0x40, 0, 64,
        6, 0x23, 0x07, 10, 0, 0, 1, 10, 0, 0, 2, 0xa0, 0x28, 0x13, 0x88, 0x01, 0x02, 0x03, 0x04, 0, 0,    0, 0};
    Frame f = frame(14u + bytes);
    std::copy(std::begin(kHeaders), std::end(kHeaders), f.buf->bytes());
    store_be16(f.buf->bytes() + 16, bytes);
    return f;
  }
  static EthernetLinkConfig narrow() {
    EthernetLinkConfig config;
    config.forward.mtu.bytes = 600;
    return config;
  }
};

TEST_F(NarrowWayTest, TheSenderHearsOfIt) {
  EthernetLinkConfig config = narrow();
  config.reverse.delay.ns = 50;
  config.reverse.loss.frames = "1";
  build(config);
  tx0.out.send(packet(600), 500'000);
  tx0.out.send(packet(1000), 1'000'000);
  tx1.out.send(packet(100), 900'000);
  tx1.out.send(packet(100), 1'000'000);
  run();
  EXPECT_THAT(arrived(rx1), ElementsAre(614));
  EXPECT_THAT(arrived(rx0), ElementsAre(114, 70)) << "the sender's own frame first";
  EXPECT_THAT(rx0.times(), ElementsAre(1'800'000, 1'800'000));
  const Bytes expected = {2,    0,    0,    0,    0,  1,  2,    0,    0,    0,    0,    2,     // back to the sender
                          8,    0,    0x45, 0,    0,  56, 0,    0,    0x40, 0,    64,   1,     // ICMP
                          0x6e, 0xc3, 192,  0,    2,  1,  10,   0,    0,    1,                 // from the router
                          3,    4,    0x42, 0xed, 0,  0,  0x02, 0x58,                          // MTU 600
                          0x45, 0,    0x03, 0xe8, 0,  7,  0x40, 0,    64,   6,    0x23, 0x07,  // the original packet
                          10,   0,    0,    1,    10, 0,  0,    2,    0xa0, 0x28, 0x13, 0x88, 0x01, 0x02, 0x03, 0x04};
  EXPECT_EQ(rx0.got.seen.at(1).frame, expected);
  EXPECT_EQ(tap.seen.size(), 3u) << "captures see it";
  EXPECT_EQ(faults->counters(0)->too_long, 1u);
  EXPECT_EQ(faults->counters(0)->icmp_sent, 1u);
  EXPECT_EQ(faults->counters(1)->frames, 2u) << "the router's are not counted";
}

// RFC 1812 section 4.3.2.7, and packets that a router would fragment.
TEST_F(NarrowWayTest, NobodyHearsOfPacketsThatMayHaveNoAnswer) {
  build(narrow());
  const auto send = [this](unsigned at, std::uint8_t octet, std::uint64_t us) {
    Frame f = packet(1000);
    f.buf->bytes()[at] = octet;
    tx0.out.send(std::move(f), us * 1'000'000);
  };
  send(0, 3, 1);      // multicast
  send(12, 0x86, 2);  // not IPv4
  send(20, 0, 3);     // may be fragmented
  send(21, 1, 4);     // a fragment
  send(23, 1, 5);     // ICMP
  run();
  EXPECT_THAT(arrived(rx0), ElementsAre());
  EXPECT_EQ(faults->counters(0)->too_long, 5u);
  EXPECT_EQ(faults->counters(0)->icmp_sent, 0u);
}

TEST_F(NarrowWayTest, ABlackHoleSaysNothing) {
  EthernetLinkConfig config = narrow();
  config.forward.mtu.icmp = false;
  build(config);
  tx0.out.send(packet(1000), 1'000'000);
  run();
  EXPECT_THAT(arrived(rx0), ElementsAre());
  EXPECT_EQ(faults->counters(1), nullptr);
}

}  // namespace
}  // namespace rnic::test
