#include "model/cable/ethernet_link.h"

#include "testbench/unit/rnic/llp/tcp/tcp_chip.h"

namespace rnic::test {
namespace {

using testing::ElementsAre;

class EthernetLinkTest : public testing::Test {
 protected:
  EthernetLinkTest() {
    cable.attach(0, tx0.out, rx0);
    cable.attach(1, tx1.out, rx1);
    cable.tap(tap);
  }
  Frame frame(std::uint32_t bytes) { return {pool.take(), 0, bytes, true}; }
  // Direction and length of each frame.
  std::vector<std::pair<unsigned, std::size_t>> seen() const {
    std::vector<std::pair<unsigned, std::size_t>> v;
    for (const Seen& s : tap.seen) v.emplace_back(s.direction, s.frame.size());
    return v;
  }
  void run() { sc_core::sc_start(sc_core::SC_ZERO_TIME); }

  BufferPool pool{2048};
  RawSender tx0{"tx0"}, tx1{"tx1"};
  RawReceiver rx0{"rx0"}, rx1{"rx1"};
  static EthernetLinkConfig config() {
    EthernetLinkConfig c;
    c.delay_ns = 750;
    return c;
  }
  EthernetLink cable{"cable", config()};
  Recorder tap;
};

TEST_F(EthernetLinkTest, CarriesBothDirectionsWithItsDelay) {
  run();
  tx0.out.send(frame(100), 1000);
  tx1.out.send(frame(200), 2000);
  EXPECT_THAT(rx1.times(), ElementsAre(751'000));
  EXPECT_THAT(rx0.times(), ElementsAre(752'000));
  EXPECT_THAT(seen(), ElementsAre(std::pair(0u, std::size_t{100}), std::pair(1u, std::size_t{200})));
  EXPECT_EQ(tap.seen[0].ps, 751'000u);
}

TEST_F(EthernetLinkTest, AFrameThatIsLostIsNotSeenAtTheEnd) {
  unsigned n = 0;
  cable.impair([&n](unsigned direction, Frame&) { return direction == 1 || ++n != 2; });
  run();
  for (std::uint32_t bytes : {100u, 200u, 300u}) tx0.out.send(frame(bytes), bytes * 1000);
  tx1.out.send(frame(400), 1000);
  EXPECT_THAT(rx1.times(), ElementsAre(850'000, 1'050'000));
  EXPECT_THAT(rx0.times(), ElementsAre(751'000));
  EXPECT_THAT(seen(), ElementsAre(std::pair(0u, std::size_t{100}), std::pair(0u, std::size_t{300}),
                                  std::pair(1u, std::size_t{400})));
}

TEST_F(EthernetLinkTest, AFrameCanBeReplacedOnTheWay) {
  cable.impair([this](unsigned, Frame& f) {
    f = frame(64);
    return true;
  });
  run();
  tx0.out.send(frame(100), 1000);
  EXPECT_EQ(rx1.got.seen.at(0).frame.size(), 64u);
}

}  // namespace
}  // namespace rnic::test
