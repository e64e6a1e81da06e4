// The injector before a cable: what reaches the other end, in which order and when.
#include "model/env/link/cable_faults.h"
#include "testbench/unit/llp/tcp_chip.h"

namespace rnic::test {
namespace {

using testing::ElementsAre;

class FaultInjectorTest : public testing::Test {
 protected:
  // Begins with a cable of 750 ns.
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

}  // namespace
}  // namespace rnic::test
