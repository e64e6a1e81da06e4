// A guest's clock and network card, with this test as the guest: what is said in which order.
#include <cstring>
#include <filesystem>

#include <gmock/gmock.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "model/env/external/external_peer.h"
#include "model/env/external/guest_clock.h"
#include "model/env/external/vhost_user.h"

namespace rnic::external {
namespace {

using Bytes = std::vector<std::uint8_t>;
enum Op : std::uint32_t { kAck, kStart, kRequest, kWait, kGet, kUpdate, kRun, kFreeUntil, kGetTimeOfDay };

struct Message {
  std::uint32_t op, sequence;
  std::uint64_t time_ns;
};

Descriptor connected(const std::string& path) {
  sockaddr_un a{};
  a.sun_family = AF_UNIX;
  std::memcpy(a.sun_path, path.c_str(), path.size());
  Descriptor socket(::socket(AF_UNIX, SOCK_STREAM, 0));
  EXPECT_EQ(::connect(socket.get(), reinterpret_cast<const sockaddr*>(&a), sizeof(a)), 0);
  return socket;
}

class GuestTest : public testing::Test {
 protected:
  GuestTest() : folder(::mkdtemp(folder_name.data())) {}
  ~GuestTest() override { std::filesystem::remove_all(folder); }
  std::string folder_name = testing::TempDir() + "rnicsim.XXXXXX";
  const std::string folder;
};

class GuestClockTest : public GuestTest {
 protected:
  GuestClockTest() : guest(connected(folder + "/clock")) { clock.serve(0); }
  // Says it to the clock at `now_ns`; what the acknowledgement says.
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
  GuestClock clock{folder + "/clock"};
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
  // Its words are in the stream already: another request, and then the acknowledgement.
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
  for (const std::uint64_t ns : {(std::uint64_t{1} << 63) - 1, GuestClock::kNever / 1000}) {  // beyond what ps can say
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

// A guest's memory with both queues of its card: 4 entries each, the receive queue's parts at 0x1000, the transmit
// queue's at 0x2000, frames from 0x4000 on.
class VhostUserTest : public GuestTest {
 protected:
  static constexpr std::uint64_t kBase = 0x10000, kSize = 0x8000;

  VhostUserTest() : guest(connected(folder + "/card")), file(::memfd_create("guest", 0)) {
    EXPECT_EQ(::ftruncate(file.get(), kSize), 0);
    memory = static_cast<std::uint8_t*>(::mmap(nullptr, kSize, PROT_READ | PROT_WRITE, MAP_SHARED, file.get(), 0));
    EXPECT_EQ(::socketpair(AF_UNIX, SOCK_STREAM, 0, interrupts), 0);
    card.serve({});
    Bytes table(8 + 32);
    table[0] = 1;
    put64(table, 8, kBase), put64(table, 16, kSize);
    tell(5, table, file.get());
    for (std::uint32_t q = 0; q < 2; ++q) {
      const std::uint64_t at = kBase + 0x1000 * (q + 1);
      tell(8, words({q, 4}));
      Bytes addresses(40);
      addresses[0] = static_cast<std::uint8_t>(q);
      put64(addresses, 8, at), put64(addresses, 16, at + 0x200), put64(addresses, 24, at + 0x100);
      tell(9, addresses);
      tell(10, words({q, 0}));
      tell(18, words({q, 1}));
    }
    tell(21, {}, interrupts[1]);
    ::close(interrupts[1]);
  }
  ~VhostUserTest() override {
    ::munmap(memory, kSize);
    ::close(interrupts[0]);
  }
  static void put64(Bytes& b, std::size_t at, std::uint64_t v) { store_le64(b.data() + at, v); }
  static Bytes words(std::initializer_list<std::uint32_t> list) {
    Bytes b;
    for (const std::uint32_t w : list) {
      b.resize(b.size() + 4);
      store_le32(b.data() + b.size() - 4, w);
    }
    return b;
  }
  void tell(std::uint32_t request, const Bytes& payload, int fd = -1) {
    Bytes octets = words({request, 1, static_cast<std::uint32_t>(payload.size())});
    octets.insert(octets.end(), payload.begin(), payload.end());
    iovec data{octets.data(), octets.size()};
    msghdr message{};
    message.msg_iov = &data;
    message.msg_iovlen = 1;
    alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int))]{};
    if (fd >= 0) {
      message.msg_control = control;
      message.msg_controllen = sizeof(control);
      cmsghdr* const c = CMSG_FIRSTHDR(&message);
      c->cmsg_level = SOL_SOCKET;
      c->cmsg_type = SCM_RIGHTS;
      c->cmsg_len = CMSG_LEN(sizeof(int));
      std::memcpy(CMSG_DATA(c), &fd, sizeof(int));
    }
    ASSERT_EQ(::sendmsg(guest.get(), &message, 0), ssize_t(octets.size()));
    card.serve([this](ByteSpan f) { sent.emplace_back(f.begin(), f.end()); });
  }
  // Makes descriptor `d` of a queue available.
  void offer(unsigned queue, std::uint16_t d, std::uint64_t address, std::uint32_t bytes, std::uint16_t next_flag = 0) {
    std::uint8_t* const table = memory + 0x1000 * (queue + 1) + 16 * d;
    store_le64(table, kBase + address);
    store_le32(table + 8, bytes);
    store_le32(table + 12, next_flag == 0 ? 0u : 1u | std::uint32_t{d + 1u} << 16);
  }
  void make_available(unsigned queue, std::uint16_t head) {
    std::uint8_t* const ring = memory + 0x1000 * (queue + 1) + 0x100;
    ring[4 + 2 * (ring[2] % 4)] = static_cast<std::uint8_t>(head);
    ++ring[2];
  }
  std::uint8_t used_index(unsigned queue) const { return memory[0x1000 * (queue + 1) + 0x200 + 2]; }

  VhostUser card{folder + "/card"};
  Descriptor guest, file;
  std::uint8_t* memory = nullptr;
  int interrupts[2] = {-1, -1};
  std::vector<Bytes> sent;
};

TEST_F(VhostUserTest, TakesFramesBehindTheirHeaderFromChainedBuffers) {
  offer(1, 0, 0x4000, 12, 1);
  offer(1, 1, 0x4100, 3);
  for (unsigned i = 0; i < 3; ++i) memory[0x4100 + i] = static_cast<std::uint8_t>(10 + i);
  make_available(1, 0);
  tell(35, words({1, 0}));
  EXPECT_THAT(sent, testing::ElementsAre(Bytes{10, 11, 12}));
  EXPECT_EQ(used_index(1), 1);
}

TEST_F(VhostUserTest, PutsAFrameIntoABufferAndInterrupts) {
  const Bytes frame{1, 2, 3, 4};
  EXPECT_FALSE(card.receive({frame.data(), frame.size()})) << "the guest has no buffer";
  EXPECT_FALSE(card.begin_interrupt());
  offer(0, 2, 0x5000, 64);
  make_available(0, 2);
  EXPECT_TRUE(card.receive({frame.data(), frame.size()}));
  EXPECT_EQ(Bytes(memory + 0x5000, memory + 0x5000 + 16), (Bytes{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 1, 2, 3, 4}));
  EXPECT_EQ(used_index(0), 1);
  EXPECT_EQ(load_le32(memory + 0x1204), 2u) << "which buffer";
  EXPECT_EQ(load_le32(memory + 0x1208), 16u) << "and how much of it";
  EXPECT_TRUE(card.begin_interrupt());
  EXPECT_FALSE(card.begin_interrupt()) << "once";
  Bytes call(20);
  ASSERT_EQ(::recv(interrupts[0], call.data(), call.size(), MSG_DONTWAIT), 20);
  EXPECT_EQ(call, words({4, 1 | 8, 8, 0, 0}));
}

TEST_F(VhostUserTest, AGuestThatPollsIsNotInterrupted) {
  offer(0, 0, 0x5000, 64);
  make_available(0, 0);
  memory[0x1100] = 1;
  const Bytes frame{1};
  EXPECT_TRUE(card.receive({frame.data(), frame.size()}));
  EXPECT_FALSE(card.begin_interrupt());
}

TEST_F(VhostUserTest, AddressesOutsideOfTheGuestAreRefused) {
  offer(1, 0, kSize - 4, 12);
  make_available(1, 0);
  EXPECT_THROW(tell(35, words({1, 0})), PeerError);
}

TEST_F(VhostUserTest, ABufferThatIsLongerThanAnyPacketIsRefused) {
  for (const std::uint16_t d : {0, 1, 2, 3}) offer(1, d, 0, kSize, d < 3);
  make_available(1, 0);
  tell(35, words({1, 0}));
  EXPECT_EQ(sent.size(), 1u) << "128 KiB are a buffer";
  VhostUserTest::tell(8, words({1, 8}));
  for (const std::uint16_t d : {0, 1, 2, 3, 4}) offer(1, d, 0, kSize, d < 4);
  make_available(1, 0);
  EXPECT_THROW(tell(35, words({1, 0})), PeerError);
}

TEST_F(VhostUserTest, MemoryBeyondItsFileIsRefused) {
  const std::uint64_t far = ~std::uint64_t{0} - kSize + 1;
  for (const auto& [bytes, offset] :
       {std::pair{kSize + 1, std::uint64_t{0}}, {kSize, std::uint64_t{1}}, {kSize, far}}) {
    Bytes table(8 + 32);
    table[0] = 1;
    put64(table, 8, kBase), put64(table, 16, bytes), put64(table, 32, offset);
    EXPECT_THROW(tell(5, table, file.get()), PeerError) << bytes << " from " << offset;
  }
}

TEST_F(VhostUserTest, MessagesThatAreTooShortAreRefused) {
  EXPECT_THROW(tell(24, words({0, 8})), PeerError) << "a question for the configuration without its flags";
  EXPECT_THROW(tell(9, words({0, 0, 0, 0})), PeerError);
  EXPECT_THROW(tell(35, {}), PeerError);
  EXPECT_THROW(tell(8, words({2, 4})), PeerError) << "no third queue";
}

}  // namespace
}  // namespace rnic::external
