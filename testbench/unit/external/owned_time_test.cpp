// The order of execution when a guest's clock is the simulated time. The guest is a script in its own thread, and both
// sides of every exchange keep it in step.
#include "model/external/owned_time.h"

#include <functional>
#include <thread>

#include <gmock/gmock.h>

#include "testbench/unit/external/guest.h"
#include "testbench/unit/external/wire_bench.h"

namespace rnic::external {
namespace {

using namespace test;
using testing::ElementsAre;
using testing::Pair;

constexpr std::uint64_t kNever = (std::uint64_t{1} << 63) - 1;  // as a guest encodes it
constexpr std::uint32_t kKick = 35, kNeedReply = 1 | 8;

// The guest's actions; each call ends when it has been answered.
class Guest {
 public:
  explicit Guest(const std::string& folder) : clock_(connected(folder + "/clock")), card(folder + "/card") {
    ask(kStart, 1);
    card.set_up([this](std::uint32_t request, const Bytes& payload, int fd) { tell(request, payload, fd); });
  }
  // Returns the time in the acknowledgement.
  std::uint64_t ask(Op op, std::uint64_t time_ns = 0) {
    const Message m{op, ++sequence_, time_ns};
    ::send(clock_.get(), &m, sizeof(m), MSG_NOSIGNAL);
    const Message answer = hear();
    EXPECT_EQ(answer.op, kAck);
    EXPECT_EQ(answer.sequence, sequence_);
    return answer.time_ns;
  }
  void tell(std::uint32_t request, const Bytes& payload, int fd = -1) {
    card.send(request, payload, fd, kNeedReply);
    std::uint8_t reply[20];
    EXPECT_EQ(::recv(card.socket.get(), reply, sizeof(reply), MSG_WAITALL), 20);
  }
  // Sleeps until then, or until an interrupt has requested an earlier time; returns when it may run.
  std::uint64_t sleep_until(std::uint64_t time_ns) {
    ask(kRequest, time_ns);
    ask(kWait);
    return told_to_run();
  }
  std::uint64_t told_to_run() {
    const Message m = hear();
    EXPECT_EQ(m.op, kRun);
    const Message agreed{kAck, m.sequence, 0};
    ::send(clock_.get(), &agreed, sizeof(agreed), MSG_NOSIGNAL);
    return m.time_ns;
  }
  // Takes an interrupt while it sleeps: reads the clock and asks to run at once. Returns that time.
  std::uint64_t interrupted() {
    std::uint8_t call[20];
    EXPECT_EQ(::recv(card.interrupts.get(), call, sizeof(call), MSG_WAITALL), 20);
    const std::uint64_t now = ask(kGet);
    ask(kRequest, now);
    ::send(card.interrupts.get(), call, sizeof(call), MSG_NOSIGNAL);
    return now;
  }
  // Without an interrupt when the card has taken the frame.
  void transmit(std::uint16_t d, const Bytes& octets) {
    card.memory[0x2100] = 1;
    const std::uint64_t at = 0x4000 + 0x100 * std::uint64_t{d};
    std::copy(octets.begin(), octets.end(), card.memory + at + 12);
    card.offer(1, d, at, static_cast<std::uint32_t>(12 + octets.size()));
    card.make_available(1, d);
    tell(kKick, words({1, 0}));
  }
  void offer_receive(std::uint16_t d) {
    card.offer(0, d, 0x5000 + 0x100 * std::uint64_t{d}, 64);
    card.make_available(0, d);
  }
  // Sleeps until the other side has gone.
  void sleep_for_ever() {
    ask(kRequest, kNever);
    ask(kWait);
    Message m{};
    EXPECT_LE(::recv(clock_.get(), &m, sizeof(m), MSG_WAITALL), 0);
  }

 private:
  Message hear() {
    Message m{};
    EXPECT_EQ(::recv(clock_.get(), &m, sizeof(m), MSG_WAITALL), ssize_t(sizeof(m)));
    return m;
  }
  Descriptor clock_;
  std::uint32_t sequence_ = 100;

 public:
  GuestCard card;
};

class OwnedTimeTest : public GuestTest {
 protected:
  OwnedTimeTest() : peer(std::make_unique<OwnedTime>(folder + "/card", folder + "/clock", 1)) {
    bench.peer = peer.get();
    sc_core::sc_start(sc_core::SC_ZERO_TIME);
  }
  ~OwnedTimeTest() override {
    peer.reset();
    if (thread.joinable()) thread.join();
  }
  void guest_does(std::function<void(Guest&)> script) {
    thread = std::thread([this, script = std::move(script)] {
      Guest guest(folder);
      script(guest);
    });
  }
  void advance_us(std::uint64_t us) { peer->advance(us * 1'000'000, bench.wire); }
  std::unique_ptr<OwnedTime> peer;
  WireBench bench{"bench"};
  std::thread thread;
};

TEST_F(OwnedTimeTest, TheGuestRunsWhenItWantedTo) {
  guest_does([](Guest& g) {
    EXPECT_EQ(g.sleep_until(3000), 3000u);
    EXPECT_EQ(g.ask(kGet), 3000u);
    EXPECT_EQ(g.sleep_until(3001), 3001u);
    EXPECT_EQ(g.sleep_until(12'345), 12'345u);
    g.sleep_for_ever();
  });
  advance_us(10);
  EXPECT_EQ(now_ps(), 10'000'000u);
  advance_us(20);
  EXPECT_EQ(now_ps(), 20'000'000u);
  EXPECT_FALSE(peer->gone());
}

TEST_F(OwnedTimeTest, ItComputesInNoTimeAndItsFramesLeaveWhereTheyWereSent) {
  guest_does([](Guest& g) {
    g.sleep_until(3000);
    g.transmit(0, {1, 2});
    g.transmit(1, {3});
    g.sleep_until(4500);
    g.transmit(2, {4});
    g.sleep_for_ever();
  });
  advance_us(10);
  EXPECT_THAT(bench.seen,
              ElementsAre(Pair(3'000'000, Bytes{1, 2}), Pair(3'000'000, Bytes{3}), Pair(4'500'000, Bytes{4})));
}

TEST_F(OwnedTimeTest, AFrameInterruptsItAtItsNanosecond) {
  guest_does([](Guest& g) {
    g.offer_receive(0);
    g.ask(kRequest, 9000);
    g.ask(kWait);
    EXPECT_EQ(g.interrupted(), 7301u);
    EXPECT_EQ(g.told_to_run(), 7301u);
    EXPECT_EQ(Bytes(g.card.memory + 0x500c, g.card.memory + 0x500e), (Bytes{8, 9}));
    g.transmit(0, {10});
    g.sleep_for_ever();
  });
  bench.send({8, 9}, 7'300'400);
  advance_us(20);
  EXPECT_EQ(now_ps(), 20'000'000u);
  EXPECT_THAT(bench.seen, ElementsAre(Pair(7'301'000, Bytes{10})));
  EXPECT_EQ(peer->lost(), 0u);
}

TEST_F(OwnedTimeTest, EachFrameHasItsInterruptBeforeTimeGoesOn) {
  guest_does([](Guest& g) {
    for (const std::uint16_t d : {0, 1, 2}) g.offer_receive(d);
    for (const std::uint64_t ns : {2000u, 2001u, 5000u}) {
      g.ask(kRequest, kNever);
      g.ask(kWait);
      EXPECT_EQ(g.interrupted(), ns);
      EXPECT_EQ(g.told_to_run(), ns);
    }
    EXPECT_EQ(g.card.used_index(0), 3);
    g.sleep_for_ever();
  });
  for (const std::uint64_t ps : {2'000'000u, 2'000'001u, 5'000'000u}) bench.send({1}, ps);
  bench.send({1}, 6'000'000);  // the guest has no buffer for it
  advance_us(10);
  EXPECT_EQ(peer->lost(), 1u);
}

TEST_F(OwnedTimeTest, TimeGoesOnWithoutAGuestThatHasLeft) {
  guest_does([](Guest& g) { g.sleep_until(3000); });
  advance_us(10);
  EXPECT_EQ(now_ps(), 10'000'000u);
  EXPECT_TRUE(peer->gone());
  bench.send({1}, 11'000'000);
  advance_us(20);
  EXPECT_EQ(peer->lost(), 0u) << "nobody is there to miss it";
}

TEST_F(OwnedTimeTest, AGuestThatSaysNothingIsNotWaitedForForEver) {
  EXPECT_THROW(advance_us(1), PeerError);
  EXPECT_EQ(now_ps(), 0u);
}

}  // namespace
}  // namespace rnic::external
