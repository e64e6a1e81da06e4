// Frames over real sockets: this test is the peer's end.
#include "model/external/frame_port.h"

#include <cstring>
#include <filesystem>
#include <string>

#include <fcntl.h>
#include <gmock/gmock.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "model/common/check.h"
#include "model/external/descriptor.h"

namespace rnic::external {
namespace {

using Bytes = std::vector<std::uint8_t>;

class FramePortTest : public testing::Test {
 protected:
  FramePortTest() { folder = ::mkdtemp(folder_name.data()); }
  ~FramePortTest() override { std::filesystem::remove_all(folder); }
  static sockaddr_un address(const std::string& path) {
    sockaddr_un a{};
    a.sun_family = AF_UNIX;
    std::memcpy(a.sun_path, path.c_str(), path.size());
    return a;
  }
  void open(WireKind kind) {
    config.wire = kind;
    config.path = folder + "/wire";
    config.peer_path = folder + "/peer";
    port = open_frame_port(config);
  }
  void connect(int type) {
    peer = Descriptor(::socket(AF_UNIX, type, 0));
    const sockaddr_un a = address(config.path);
    ASSERT_EQ(::connect(peer.get(), reinterpret_cast<const sockaddr*>(&a), sizeof(a)), 0);
  }
  void say(const Bytes& octets) {
    ASSERT_EQ(::send(peer.get(), octets.data(), octets.size(), 0), ssize_t(octets.size()));
  }
  Bytes hear() {
    Bytes b(4096);
    const ssize_t n = ::recv(peer.get(), b.data(), b.size(), MSG_DONTWAIT);
    b.resize(n > 0 ? static_cast<std::size_t>(n) : 0);
    return b;
  }
  static ByteSpan span(const Bytes& b) { return {b.data(), b.size()}; }

  std::string folder_name = testing::TempDir() + "rnicsim.XXXXXX";
  std::string folder;
  ExternalConfig config;
  std::unique_ptr<FramePort> port;
  Descriptor peer;
  Bytes frame;
};

TEST_F(FramePortTest, SeqpacketIsOnePacketAFrame) {
  open(WireKind::kSeqpacket);
  EXPECT_FALSE(port->receive(frame));
  EXPECT_FALSE(port->send(span({1, 2}))) << "nobody is there";
  connect(SOCK_SEQPACKET);
  say({1, 2, 3});
  say({4});
  EXPECT_TRUE(port->receive(frame));
  EXPECT_EQ(frame, (Bytes{1, 2, 3}));
  EXPECT_TRUE(port->receive(frame));
  EXPECT_EQ(frame, Bytes{4});
  EXPECT_FALSE(port->receive(frame));
  EXPECT_TRUE(port->send(span({5, 6})));
  EXPECT_EQ(hear(), (Bytes{5, 6}));
  EXPECT_FALSE(port->peer_gone());
  peer.close();
  EXPECT_FALSE(port->receive(frame));
  EXPECT_TRUE(port->peer_gone());
}

TEST_F(FramePortTest, EitherEndMayConnect) {
  for (const WireKind kind : {WireKind::kSeqpacket, WireKind::kStream}) {
    config.connect = false;
    open(kind);
    ExternalConfig other = config;
    other.connect = true;
    const std::unique_ptr<FramePort> connecting = open_frame_port(other);
    EXPECT_TRUE(connecting->send(span({1, 2, 3}))) << "before it is accepted";
    EXPECT_TRUE(port->receive(frame));
    EXPECT_EQ(frame, (Bytes{1, 2, 3}));
    EXPECT_TRUE(port->send(span({4})));
    EXPECT_TRUE(connecting->receive(frame));
    EXPECT_EQ(frame, Bytes{4});
    port.reset();
    EXPECT_FALSE(connecting->receive(frame));
    EXPECT_TRUE(connecting->peer_gone());
    EXPECT_EQ(connecting->descriptor(), -1);
  }
}

TEST_F(FramePortTest, AStreamHasALengthBeforeEachFrameAndMayBeCutAnywhere) {
  open(WireKind::kStream);
  connect(SOCK_STREAM);
  for (const std::uint8_t octet : Bytes{0, 0, 0, 3, 7, 8, 9, 0, 0, 0}) {
    EXPECT_FALSE(port->receive(frame) && frame != (Bytes{7, 8, 9}));
    say({octet});
  }
  say({1, 42});
  std::vector<Bytes> all;
  for (int i = 0; i < 20; ++i) {
    if (port->receive(frame)) all.push_back(frame);
  }
  EXPECT_EQ(all.back(), Bytes{42});
  EXPECT_TRUE(port->send(span({5, 6})));
  EXPECT_EQ(hear(), (Bytes{0, 0, 0, 2, 5, 6}));
  say({0xff, 0, 0, 0});
  while (port->receive(frame)) {
  }
  EXPECT_TRUE(port->peer_gone()) << "no frame has so many octets";
}

TEST_F(FramePortTest, APacketOfNoOctetsIsNoFarewell) {
  open(WireKind::kSeqpacket);
  connect(SOCK_SEQPACKET);
  say({1, 2});
  say({});
  say({3});
  EXPECT_TRUE(port->receive(frame));
  EXPECT_FALSE(port->receive(frame));
  EXPECT_FALSE(port->peer_gone());
  EXPECT_TRUE(port->receive(frame));
  EXPECT_EQ(frame, Bytes{3});
  peer.close();
  EXPECT_FALSE(port->receive(frame));
  EXPECT_TRUE(port->peer_gone());
}
// The port then loses frames, as on a wire, and only whole ones.
TEST_F(FramePortTest, AStreamThatNobodyReadsHoldsNobodyUp) {
  open(WireKind::kStream);
  connect(SOCK_STREAM);
  const Bytes sent(1500, 0x5a);
  unsigned taken = 0;
  for (int i = 0; i < 4000; ++i) taken += port->send(span(sent));
  EXPECT_GT(taken, 500u);
  EXPECT_LT(taken, 3000u);
  EXPECT_FALSE(port->peer_gone());
  std::size_t heard = 0;
  for (Bytes b; heard < taken * 1504u;) {
    b = hear();
    heard += b.size();
    if (b.empty()) port->receive(frame);  // sends what was waiting
  }
  EXPECT_EQ(heard, taken * 1504u);
  EXPECT_TRUE(port->send(span(sent)));
}
TEST_F(FramePortTest, ASocketOfALivingProcessIsLeftAlone) {
  open(WireKind::kDgram);
  const auto first = std::exchange(port, nullptr);
  for (const WireKind kind : {WireKind::kDgram, WireKind::kSeqpacket}) EXPECT_THROW(open(kind), ConfigError);
  EXPECT_TRUE(std::filesystem::exists(config.path));
  const std::filesystem::path path = config.path;  // also under another name
  config.path = path.parent_path() / "." / path.filename();
  EXPECT_THROW(open(WireKind::kDgram), ConfigError);
  EXPECT_TRUE(std::filesystem::exists(path));
}

TEST_F(FramePortTest, DatagramsGoBetweenTwoNames) {
  open(WireKind::kDgram);
  EXPECT_FALSE(port->send(span({1}))) << "nobody is there";
  peer = bound_unix_socket(config.peer_path, SOCK_DGRAM);
  EXPECT_TRUE(port->send(span({1, 2})));
  EXPECT_EQ(hear(), (Bytes{1, 2}));
  const sockaddr_un a = address(config.path);
  const Bytes said{9, 8};
  ::sendto(peer.get(), said.data(), said.size(), 0, reinterpret_cast<const sockaddr*>(&a), sizeof(a));
  EXPECT_TRUE(port->receive(frame));
  EXPECT_EQ(frame, said);
  EXPECT_FALSE(port->receive(frame));
}

TEST_F(FramePortTest, MistakesNameThePath) {
  const auto message = [this](WireKind kind, const std::string& path) {
    config.wire = kind;
    config.path = path;
    try {
      open_frame_port(config);
    } catch (const ConfigError& e) {
      return std::string(e.what());
    }
    return std::string();
  };
  EXPECT_EQ(message(WireKind::kSeqpacket, ""), "external: '' is not a path of 1 to 107 octets for a socket");
  config.connect = true;
  EXPECT_EQ(message(WireKind::kStream, folder + "/wire"), folder + "/wire: No such file or directory");
  config.connect = false;
  EXPECT_EQ(message(WireKind::kStream, "/no/such/folder/wire"), "/no/such/folder/wire: No such file or directory");
  EXPECT_THAT(message(WireKind::kTap, "a-name-that-is-far-too-long"),
              testing::AnyOf(testing::HasSubstr("TAP device"), testing::HasSubstr("/dev/net/tun")));
}

}  // namespace
}  // namespace rnic::external
