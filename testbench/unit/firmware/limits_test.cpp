// A fixed number of connections, and of concurrent setups: further ones are refused on both sides, until one ends.
#include "testbench/unit/firmware/firmware_test.h"

namespace rnic::fw::test {
namespace {

class Limits : public FirmwareTest {
 protected:
  // As configured, below this firmware's capacity.
  static Settings with(std::uint32_t connections, std::uint32_t setups) {
    Settings s = settings_of(abi::Personality::kIetf);
    s.connections = connections;
    s.setups = setups;
    return s;
  }
  struct Limited {
    explicit Limited(const Settings& s) : fw(bus, s) {
      abi::Command cq = command(abi::CommandOp::kCreateCq, 0);
      cq.u.cq = {0x1000, 4};
      fw.on(HostCommand{cq});
      for (std::uint32_t qpn = kQp; qpn < kQp + 4; ++qpn) {
        abi::Command c = command(abi::CommandOp::kCreateQp, qpn);
        c.u.qp = {0x10000, 0x20000, 6, 5, 7, 0, 0, 0, {}};
        fw.on(HostCommand{c});
      }
      abi::Command c = command(abi::CommandOp::kListen, 0);
      c.u.cm.local_port = 7000;
      fw.on(HostCommand{c});
      bus.take();
    }
    void connect(std::uint32_t qpn) {
      abi::Command c = FirmwareTest::connect(0);
      c.qpn = qpn;
      fw.on(HostCommand{c});
    }
    void arrive(std::uint32_t flow) { fw.on(TcpAccepted{FlowId{flow}, 0x0a000002, 40000, 7000, 1460}); }
    // Gives the reply, in one piece of 20 octets.
    void reply(std::uint32_t flow) {
      bus.put_read_octets(hex(kRepKey + "00010000"));
      fw.on(TcpStreamData{FlowId{flow}, 20});
    }
    RecordingBus bus{SmallCapacity::kSetups};
    Firmware<RecordingBus, SmallCapacity> fw;
  };
  static constexpr const char* kRefused = "event done status 5 id 0 cookie 77";
};

TEST_F(Limits, AnActiveSetupTooManyIsRefusedByItsStatus) {
  Limited chip(with(2, 0));
  chip.connect(5);
  chip.connect(6);
  chip.bus.take();
  chip.connect(7);
  EXPECT_THAT(chip.bus.take(), ElementsAre(kRefused));
  EXPECT_EQ(chip.fw.connections(), 2u);
  chip.fw.on(TcpOpenFailed{0x80000001, OpenFailure::kRefused});
  chip.bus.take();
  chip.connect(7);
  EXPECT_THAT(chip.bus.take(),
              ElementsAre("event done status 0 id 0 cookie 77", "open 0a000001:7000 from 0 cookie 80010001"));
}

// The peer, whose TCP connection is open already, gets a reset before any octet.
TEST_F(Limits, APassiveSetupTooManyIsResetAndLogged) {
  Limited chip(with(1, 0));
  chip.connect(5);
  chip.bus.take();
  chip.arrive(4);
  EXPECT_THAT(chip.bus.take(), ElementsAre("log no_resources", "abort flow 4"));
  EXPECT_EQ(chip.fw.connections(), 1u);
  chip.fw.on(TcpOpenFailed{0x80000000, OpenFailure::kRefused});
  chip.bus.take();
  chip.arrive(4);
  EXPECT_THAT(chip.bus.take(), ElementsAre("timer 0 10000000us", "read flow 4 20"));
}

// An established connection does not count as a setup.
TEST_F(Limits, SetupsAtATimeAreLimitedOnTheirOwn) {
  Limited chip(with(0, 1));
  chip.connect(5);
  chip.bus.take();
  chip.connect(6);
  EXPECT_THAT(chip.bus.take(), ElementsAre(kRefused));
  chip.arrive(4);
  EXPECT_THAT(chip.bus.take(), ElementsAre("log no_resources", "abort flow 4"));
  chip.fw.on(TcpConnected{FlowId{3}, 0x80000000, 41000, 1460});
  chip.reply(3);
  EXPECT_EQ(chip.fw.setups(), 0u);
  chip.bus.take();
  chip.arrive(4);
  EXPECT_THAT(chip.bus.take(), ElementsAre("timer 1 10000000us", "read flow 4 20"));
  EXPECT_EQ(chip.fw.connections(), 2u);
}

// Peers that connect but send nothing are reset in the order of their arrival, to make room for other peers and for our
// own connections. A connection of ours stays.
TEST_F(Limits, PeersWithoutARequestKeepNobodyOut) {
  Limited chip(with(0, 3));
  for (std::uint32_t flow = 1; flow <= 3; ++flow) chip.arrive(flow);
  chip.bus.take();
  chip.arrive(4);
  EXPECT_THAT(chip.bus.take(),
              ElementsAre("log silent_peer", "abort flow 1", "event connect_error status 2 id 80000000",
                          "cancel timer 0", "timer 0 10000000us", "read flow 4 20"));
  chip.connect(5);
  EXPECT_THAT(
      chip.bus.take(),
      ElementsAre("log silent_peer", "abort flow 2", "event connect_error status 2 id 80000001", "cancel timer 1",
                  "event done status 0 id 0 cookie 77", "open 0a000001:7000 from 0 cookie 80010001"));
  chip.arrive(6);
  EXPECT_THAT(chip.bus.take(),
              ElementsAre("log silent_peer", "abort flow 3", "event connect_error status 2 id 80000002",
                          "cancel timer 2", "timer 2 10000000us", "read flow 6 20"));
  chip.connect(6);
  chip.connect(7);
  chip.bus.take();
  chip.arrive(7);  // none is silent
  EXPECT_THAT(chip.bus.take(), ElementsAre("log no_resources", "abort flow 7"));
  EXPECT_EQ(chip.fw.setups(), 3u);
}

TEST_F(Limits, NorDoTheyFillABacklog) {
  Limited chip(with(0, 0));
  abi::Command c = command(abi::CommandOp::kListen, 0);
  c.u.cm.local_port = 7001;
  c.u.cm.backlog = 1;
  chip.fw.on(HostCommand{c});
  chip.arrive(1);  // at the other listener
  chip.fw.on(TcpAccepted{FlowId{2}, 0x0a000002, 40000, 7001, 1460});
  chip.bus.take();
  chip.fw.on(TcpAccepted{FlowId{3}, 0x0a000002, 40001, 7001, 1460});
  EXPECT_THAT(chip.bus.take(),
              ElementsAre("log silent_peer", "abort flow 2", "event connect_error status 2 id 80000001",
                          "cancel timer 1", "timer 1 10000000us", "read flow 3 20"));
}

TEST_F(Limits, WithoutASettingTheFirmwareKeepsWhatItCan) {
  Limited chip(with(0, 0));
  for (std::uint32_t qpn = 5; qpn < 8; ++qpn) chip.connect(qpn);
  EXPECT_EQ(chip.fw.setups(), SmallCapacity::kSetups);
  chip.bus.take();
  chip.connect(8);
  EXPECT_THAT(chip.bus.take(), ElementsAre(kRefused));
}

TEST_F(Limits, MoreThanTheFirmwareCanKeepDoesNotFit) {
  EXPECT_TRUE(fits<SmallCapacity>(with(SmallCapacity::kConnections, SmallCapacity::kSetups)));
  EXPECT_FALSE(fits<SmallCapacity>(with(SmallCapacity::kConnections + 1, 1)));
  EXPECT_FALSE(fits<SmallCapacity>(with(1, SmallCapacity::kSetups + 1)));
}

}  // namespace
}  // namespace rnic::fw::test
