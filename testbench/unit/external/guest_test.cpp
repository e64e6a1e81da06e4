// A guest's clock and network card, with this test as the guest: their messages in order.
#include "testbench/unit/external/guest.h"

#include <gmock/gmock.h>

#include "model/external/external_peer.h"
#include "model/external/guest_clock.h"
#include "model/external/vhost_user.h"

namespace rnic::external {
namespace {

using namespace test;

constexpr std::chrono::milliseconds kPatience{50};

class GuestClockTest : public GuestTest {
 protected:
  GuestClockTest() : guest(connected(folder + "/clock")) { clock.serve(0); }
  // Sends the message to the clock at `now_ns`; returns the time in the acknowledgement.
  std::uint64_t ask(Op op, std::uint64_t time_ns, std::uint64_t now_ns = 0) {
    const Message m{op, ++sequence, time_ns};
    ::send(guest.get(), &m, sizeof(m), 0);
    clock.serve(now_ns);
    Message answer{};
    EXPECT_EQ(::recv(guest.get(), &answer, sizeof(answer), MSG_DONTWAIT), ssize_t(sizeof(answer)));
    EXPECT_EQ(answer.op, kAck);
    EXPECT_EQ(answer.sequence, sequence);
    return answer.time_ns;
  }
  GuestClock clock{folder + "/clock", kPatience};
  Descriptor guest;
  std::uint32_t sequence = 100;
};

TEST_F(GuestClockTest, SleepsUntilTheTimeItAskedForLast) {
  ask(kStart, 1);
  EXPECT_FALSE(clock.waiting());
  ask(kRequest, 5000);
  ask(kRequest, 3000);
  EXPECT_FALSE(clock.waiting());
  ask(kWait, 0);
  EXPECT_TRUE(clock.waiting());
  EXPECT_EQ(clock.wake_ns(), 3000u);
  EXPECT_EQ(ask(kGet, 0, 1234), 1234u);
}

TEST_F(GuestClockTest, RunsWhenToldAndSaysMoreBeforeItAgrees) {
  ask(kRequest, 3000);
  ask(kWait, 0);
  // The guest's messages are in the stream already: another request, and then the acknowledgement.
  const Message said[] = {{kRequest, 7, 9000}, {kAck, 1, 0}};
  ::send(guest.get(), said, sizeof(said), 0);
  clock.run(3000);
  EXPECT_FALSE(clock.waiting());
  EXPECT_EQ(clock.wake_ns(), 9000u);
  Message heard[2];
  ASSERT_EQ(::recv(guest.get(), heard, sizeof(heard), MSG_DONTWAIT), ssize_t(sizeof(heard)));
  EXPECT_EQ(heard[0].op, kRun);
  EXPECT_EQ(heard[0].time_ns, 3000u);
  EXPECT_EQ(heard[1].op, kAck);
  EXPECT_EQ(heard[1].sequence, 7u);
}

TEST_F(GuestClockTest, NeverIsNever) {
  for (const std::uint64_t ns : {(std::uint64_t{1} << 63) - 1, GuestClock::kNever / 1000}) {  // too large for ps
    ask(kRequest, ns);
    EXPECT_EQ(clock.wake_ns(), GuestClock::kNever);
  }
}

TEST_F(GuestClockTest, TheTimeOfDayIsThatOfSimulatedTime) {
  const std::uint64_t start = ask(kGetTimeOfDay, 0, 0);
  EXPECT_EQ(ask(kGetTimeOfDay, 0, 77), start + 77);
}

TEST_F(GuestClockTest, AGuestThatRunsAheadIsRefused) {
  ask(kUpdate, 50, 50);
  const Message m{kUpdate, 1, 51};
  ::send(guest.get(), &m, sizeof(m), 0);
  EXPECT_THROW(clock.serve(50), PeerError);
}

TEST_F(GuestClockTest, AGuestThatLeavesIsGone) {
  guest.close();
  clock.serve(0);
  EXPECT_TRUE(clock.gone());
}

TEST_F(GuestClockTest, HalfAMessageIsWaitedForWithPatience) {
  ::send(guest.get(), "octets", 6, 0);
  EXPECT_THROW(clock.serve(0), PeerError);
}

TEST_F(GuestClockTest, AnAnswerThatDoesNotComeIsWaitedForWithPatience) {
  ask(kWait, 0);
  EXPECT_THROW(clock.run(0), PeerError);
}

class VhostUserTest : public GuestTest {
 protected:
  VhostUserTest() : guest(folder + "/card") {
    card.serve({});
    guest.set_up([this](std::uint32_t request, const Bytes& payload, int fd) { tell(request, payload, fd); });
  }
  void tell(std::uint32_t request, const Bytes& payload, int fd = -1) {
    guest.send(request, payload, fd);
    card.serve([this](ByteSpan f) { sent.emplace_back(f.begin(), f.end()); });
  }
  VhostUser card{folder + "/card", kPatience};
  GuestCard guest;
  std::uint8_t* const memory = guest.memory;
  std::vector<Bytes> sent;
};

TEST_F(VhostUserTest, TakesFramesBehindTheirHeaderFromChainedBuffers) {
  guest.offer(1, 0, 0x4000, 12, 1);
  guest.offer(1, 1, 0x4100, 3);
  for (unsigned i = 0; i < 3; ++i) memory[0x4100 + i] = static_cast<std::uint8_t>(10 + i);
  guest.make_available(1, 0);
  tell(35, words({1, 0}));
  EXPECT_THAT(sent, testing::ElementsAre(Bytes{10, 11, 12}));
  EXPECT_EQ(guest.used_index(1), 1);
}

TEST_F(VhostUserTest, PutsAFrameIntoABufferAndInterrupts) {
  const Bytes frame{1, 2, 3, 4};
  EXPECT_FALSE(card.receive({frame.data(), frame.size()})) << "the guest has no buffer";
  EXPECT_FALSE(card.begin_interrupt());
  guest.offer(0, 2, 0x5000, 64);
  guest.make_available(0, 2);
  EXPECT_TRUE(card.receive({frame.data(), frame.size()}));
  EXPECT_EQ(Bytes(memory + 0x5000, memory + 0x5000 + 16), (Bytes{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 1, 2, 3, 4}));
  EXPECT_EQ(guest.used_index(0), 1);
  EXPECT_EQ(load_le32(memory + 0x1204), 2u) << "which buffer";
  EXPECT_EQ(load_le32(memory + 0x1208), 16u) << "and how much of it";
  EXPECT_TRUE(card.begin_interrupt());
  EXPECT_FALSE(card.begin_interrupt()) << "once";
  Bytes call(20);
  ASSERT_EQ(::recv(guest.interrupts.get(), call.data(), call.size(), MSG_DONTWAIT), 20);
  EXPECT_EQ(call, words({4, 1 | 8, 8, 0, 0}));
}

TEST_F(VhostUserTest, AGuestThatPollsIsNotInterrupted) {
  guest.offer(0, 0, 0x5000, 64);
  guest.make_available(0, 0);
  memory[0x1100] = 1;
  const Bytes frame{1};
  EXPECT_TRUE(card.receive({frame.data(), frame.size()}));
  EXPECT_FALSE(card.begin_interrupt());
}

TEST_F(VhostUserTest, AddressesOutsideOfTheGuestAreRefused) {
  guest.offer(1, 0, GuestCard::kSize - 4, 12);
  guest.make_available(1, 0);
  EXPECT_THROW(tell(35, words({1, 0})), PeerError);
}

TEST_F(VhostUserTest, ABufferThatIsLongerThanAnyPacketIsRefused) {
  for (const std::uint16_t d : {0, 1, 2, 3}) guest.offer(1, d, 0, GuestCard::kSize, d < 3);
  guest.make_available(1, 0);
  tell(35, words({1, 0}));
  EXPECT_EQ(sent.size(), 1u) << "128 KiB are a buffer";
  tell(8, words({1, 8}));
  for (const std::uint16_t d : {0, 1, 2, 3, 4}) guest.offer(1, d, 0, GuestCard::kSize, d < 4);
  guest.make_available(1, 0);
  EXPECT_THROW(tell(35, words({1, 0})), PeerError);
}

TEST_F(VhostUserTest, MemoryBeyondItsFileIsRefused) {
  const std::uint64_t far = ~std::uint64_t{0} - GuestCard::kSize + 1;
  for (const auto& [bytes, offset] : {std::pair{GuestCard::kSize + 1, std::uint64_t{0}},
                                      {GuestCard::kSize, std::uint64_t{1}},
                                      {GuestCard::kSize, far}}) {
    Bytes table(8 + 32);
    table[0] = 1;
    GuestCard::put64(table, 8, GuestCard::kBase), GuestCard::put64(table, 16, bytes),
        GuestCard::put64(table, 32, offset);
    EXPECT_THROW(tell(5, table, guest.file.get()), PeerError) << bytes << " from " << offset;
  }
}

TEST_F(VhostUserTest, AGuestThatCutsOffItsMemoryIsRefused) {
  guest.offer(1, 0, 0x4000, 64);
  guest.make_available(1, 0);
  ASSERT_EQ(::ftruncate(guest.file.get(), 0x3000), 0);
  EXPECT_THROW(tell(35, words({1, 0})), PeerError);
}

TEST_F(VhostUserTest, AQueueIsAsLongAsVirtioAllows) {
  tell(8, words({1, Virtqueue::kMaxEntries}));
  EXPECT_THROW(tell(8, words({1, Virtqueue::kMaxEntries + 1})), PeerError);
}

// Each descriptor is empty, so no length reveals the loop.
TEST_F(VhostUserTest, DescriptorsThatGoRoundInACircleAreRefused) {
  guest.offer(1, 0, 0, 0, 1);
  guest.offer(1, 1, 0, 0, 1);
  store_le32(memory + 0x2000 + 16 + 12, 1);  // and back to 0
  guest.make_available(1, 0);
  tell(8, words({1, Virtqueue::kMaxEntries}));
  EXPECT_THROW(tell(35, words({1, 0})), PeerError);
}

TEST_F(VhostUserTest, ADescriptorBehindTheTableIsRefused) {
  guest.offer(1, 4, 0x4000, 64);
  guest.make_available(1, 4);
  EXPECT_THROW(tell(35, words({1, 0})), PeerError);
}

TEST_F(VhostUserTest, HalfAMessageIsWaitedForWithPatience) {
  const Bytes whole = words({10, 1, 8, 1, 0});
  for (const std::size_t octets : {1, 11, 12, 19}) {
    SCOPED_TRACE(octets);
    VhostUser other(folder + "/other", kPatience);
    const Descriptor socket = connected(folder + "/other");
    other.serve({});
    ::send(socket.get(), whole.data(), octets, 0);
    EXPECT_THROW(other.serve({}), PeerError);
  }
}

TEST_F(VhostUserTest, AGuestThatDoesNotReadIsNotWaitedForForEver) {
  const auto ask = [&] {
    for (unsigned i = 0; i < 1000; ++i) tell(24, words({0, 4096, 0}));
  };
  EXPECT_THROW(ask(), PeerError);
}

TEST_F(VhostUserTest, HalfAnAnswerToAnInterruptIsWaitedForWithPatience) {
  guest.offer(0, 0, 0x5000, 64);
  guest.make_available(0, 0);
  const Bytes frame{1};
  EXPECT_TRUE(card.receive({frame.data(), frame.size()}));
  EXPECT_TRUE(card.begin_interrupt());
  ::send(guest.interrupts.get(), frame.data(), 1, 0);
  EXPECT_THROW(card.end_interrupt(), PeerError);
}

TEST_F(VhostUserTest, MessagesThatAreTooShortAreRefused) {
  EXPECT_THROW(tell(24, words({0, 8})), PeerError) << "a question for the configuration without its flags";
  EXPECT_THROW(tell(9, words({0, 0, 0, 0})), PeerError);
  EXPECT_THROW(tell(35, {}), PeerError);
  EXPECT_THROW(tell(8, words({2, 4})), PeerError) << "no third queue";
}

}  // namespace
}  // namespace rnic::external
