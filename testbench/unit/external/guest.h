// A guest's side of its clock and of its network card: its messages, octet by octet.
#pragma once

#include <cstring>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "model/common/bytes.h"
#include "model/external/descriptor.h"

namespace rnic::external::test {

using Bytes = std::vector<std::uint8_t>;
enum Op : std::uint32_t { kAck, kStart, kRequest, kWait, kGet, kUpdate, kRun, kFreeUntil, kGetTimeOfDay };

struct Message {
  std::uint32_t op, sequence;
  std::uint64_t time_ns;
};

inline Descriptor connected(const std::string& path) {
  sockaddr_un a{};
  a.sun_family = AF_UNIX;
  std::memcpy(a.sun_path, path.c_str(), path.size());
  Descriptor socket(::socket(AF_UNIX, SOCK_STREAM, 0));
  EXPECT_EQ(::connect(socket.get(), reinterpret_cast<const sockaddr*>(&a), sizeof(a)), 0);
  return socket;
}

inline Bytes words(std::initializer_list<std::uint32_t> list) {
  Bytes b;
  for (const std::uint32_t w : list) {
    b.resize(b.size() + 4);
    store_le32(b.data() + b.size() - 4, w);
  }
  return b;
}

// A folder for sockets.
class GuestTest : public testing::Test {
 protected:
  GuestTest() : folder(::mkdtemp(folder_name.data())) {}
  ~GuestTest() override { std::filesystem::remove_all(folder); }
  std::string folder_name = testing::TempDir() + "rnicsim.XXXXXX";
  const std::string folder;
};

// The card's driver: a memory with both queues, 4 entries each. The receive queue's parts start at 0x1000, the transmit
// queue's at 0x2000, and frames at 0x4000.
class GuestCard {
 public:
  static constexpr std::uint64_t kBase = 0x10000, kSize = 0x8000;

  explicit GuestCard(const std::string& path) : socket(connected(path)), file(::memfd_create("guest", 0)) {
    EXPECT_EQ(::ftruncate(file.get(), kSize), 0);
    memory = static_cast<std::uint8_t*>(::mmap(nullptr, kSize, PROT_READ | PROT_WRITE, MAP_SHARED, file.get(), 0));
    int ends[2];
    EXPECT_EQ(::socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
    interrupts = Descriptor(ends[0]);
    interrupts_given_ = Descriptor(ends[1]);
  }
  ~GuestCard() { ::munmap(memory, kSize); }

  static void put64(Bytes& b, std::size_t at, std::uint64_t v) { store_le64(b.data() + at, v); }

  void send(std::uint32_t request, const Bytes& payload, int fd = -1, std::uint32_t flags = 1) {
    Bytes octets = words({request, flags, static_cast<std::uint32_t>(payload.size())});
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
    ASSERT_EQ(::sendmsg(socket.get(), &message, MSG_NOSIGNAL), ssize_t(octets.size()));
  }

  // Sends all addresses; `tell` sends one message, in the way that the test chooses.
  template <class Tell>
  void set_up(const Tell& tell) {
    Bytes table(8 + 32);
    table[0] = 1;
    put64(table, 8, kBase), put64(table, 16, kSize);
    tell(5, table, file.get());
    for (std::uint32_t q = 0; q < 2; ++q) {
      const std::uint64_t at = kBase + 0x1000 * (q + 1);
      tell(8, words({q, 4}), -1);
      Bytes addresses(40);
      addresses[0] = static_cast<std::uint8_t>(q);
      put64(addresses, 8, at), put64(addresses, 16, at + 0x200), put64(addresses, 24, at + 0x100);
      tell(9, addresses, -1);
      tell(10, words({q, 0}), -1);
      tell(18, words({q, 1}), -1);
    }
    tell(21, {}, interrupts_given_.get());
    interrupts_given_.close();
  }

  // Makes descriptor `d` of a queue.
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

  Descriptor socket, file, interrupts;
  std::uint8_t* memory = nullptr;

 private:
  Descriptor interrupts_given_;
};

}  // namespace rnic::external::test
