#include "model/external/frame_port.h"

#include <algorithm>
#include <cerrno>
#include <cstring>

#include <fcntl.h>
#include <linux/if.h>
#include <linux/if_tun.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "model/common/check.h"
#include "model/external/descriptor.h"

namespace rnic::external {
namespace {

// Accepts or connects to one peer, which does not return once it has left.
class ConnectedPort : public FramePort {
 public:
  ConnectedPort(const ExternalConfig& config, int type) {
    if (config.connect) peer_ = connected_unix_socket(config.path, type);
    else listener_ = bound_unix_socket(config.path, type);
  }
  int descriptor() const override { return peer_.open() ? peer_.get() : listener_.get(); }
  bool peer_gone() const override { return gone_; }

 protected:
  bool connected() {
    if (!peer_.open() && !gone_) peer_ = accept_waiting(listener_);
    return peer_.open();
  }
  void lose_peer() {
    peer_.close();
    gone_ = true;
  }
  Descriptor peer_;

 private:
  Descriptor listener_;
  bool gone_ = false;
};

// One packet is one frame: the "bess" transport of User-Mode Linux.
class SeqpacketPort final : public ConnectedPort {
 public:
  explicit SeqpacketPort(const ExternalConfig& config) : ConnectedPort(config, SOCK_SEQPACKET) {}
  bool receive(std::vector<std::uint8_t>& frame) override {
    if (!connected()) return false;
    frame.resize(kMaxFrame);
    const ssize_t n = ::recv(peer_.get(), frame.data(), frame.size(), MSG_DONTWAIT);
    if ((n == 0 && hung_up()) || (n < 0 && errno != EAGAIN && errno != EINTR)) lose_peer();
    frame.resize(n > 0 ? static_cast<std::size_t>(n) : 0);
    return n > 0;
  }
  bool send(ByteSpan frame) override {
    return connected() && ::send(peer_.get(), frame.data(), frame.size(), MSG_DONTWAIT | MSG_NOSIGNAL) > 0;
  }

 private:
  // Distinguishes a hang-up from an empty packet.
  bool hung_up() const {
    pollfd fd{peer_.get(), POLLRDHUP, 0};
    return ::poll(&fd, 1, 0) > 0 && (fd.revents & (POLLHUP | POLLRDHUP)) != 0;
  }
};

// Frames after a 32-bit big-endian length: QEMU's -netdev stream.
class StreamPort final : public ConnectedPort {
 public:
  explicit StreamPort(const ExternalConfig& config) : ConnectedPort(config, SOCK_STREAM) {}
  bool receive(std::vector<std::uint8_t>& frame) override {
    if (!connected()) return false;
    flush();
    if (take(frame)) return true;
    std::uint8_t block[65536];
    const ssize_t n = ::recv(peer_.get(), block, sizeof(block), MSG_DONTWAIT);
    if (n > 0) octets_.insert(octets_.end(), block, block + n);
    else if (n == 0 || (errno != EAGAIN && errno != EINTR)) lose_peer();
    return take(frame);
  }
  bool send(ByteSpan frame) override {
    if (!connected()) return false;
    flush();
    if (!peer_.open() || unsent_.size() > kMostUnsent) return false;
    std::uint8_t length[kLengthBytes];
    store_be32(length, static_cast<std::uint32_t>(frame.size()));
    unsent_.insert(unsent_.end(), length, length + kLengthBytes);
    unsent_.insert(unsent_.end(), frame.data(), frame.data() + frame.size());
    flush();
    return peer_.open();
  }

 private:
  static constexpr std::size_t kLengthBytes = 4, kMostUnsent = 1 << 20;
  // Keeps unsent octets: a partial frame would corrupt the stream, and a peer that does not read must not block us.
  void flush() {
    while (!unsent_.empty()) {
      const ssize_t n = ::send(peer_.get(), unsent_.data(), unsent_.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
      if (n < 0 && errno == EINTR) continue;
      if (n < 0 && errno == EAGAIN) return;
      if (n <= 0) return lose_peer();
      unsent_.erase(unsent_.begin(), unsent_.begin() + n);
    }
  }
  bool take(std::vector<std::uint8_t>& frame) {
    if (octets_.size() < kLengthBytes) return false;
    const std::size_t length = load_be32(octets_.data());
    if (length > kMaxFrame) return lose_peer(), false;
    if (octets_.size() < kLengthBytes + length) return false;
    const auto begin = octets_.begin() + kLengthBytes;
    frame.assign(begin, begin + static_cast<std::ptrdiff_t>(length));
    octets_.erase(octets_.begin(), begin + static_cast<std::ptrdiff_t>(length));
    return true;
  }
  std::vector<std::uint8_t> octets_, unsent_;
};

// One datagram is one frame, between two named sockets: QEMU's -netdev dgram.
class DgramPort final : public FramePort {
 public:
  DgramPort(const std::string& path, const std::string& peer_path) : socket_(bound_unix_socket(path, SOCK_DGRAM)) {
    peer_.sun_family = AF_UNIX;
    if (peer_path.empty() || peer_path.size() >= sizeof(peer_.sun_path)) {
      throw ConfigError("external.peer_path: '" + peer_path + "' is not a path of 1 to 107 octets for a socket");
    }
    std::memcpy(peer_.sun_path, peer_path.c_str(), peer_path.size());
  }
  int descriptor() const override { return socket_.get(); }
  bool receive(std::vector<std::uint8_t>& frame) override {
    frame.resize(kMaxFrame);
    const ssize_t n = ::recv(socket_.get(), frame.data(), frame.size(), MSG_DONTWAIT);
    frame.resize(n > 0 ? static_cast<std::size_t>(n) : 0);
    return n > 0;
  }
  bool send(ByteSpan frame) override {
    return ::sendto(socket_.get(), frame.data(), frame.size(), MSG_DONTWAIT | MSG_NOSIGNAL,
                    reinterpret_cast<const sockaddr*>(&peer_), sizeof(peer_)) > 0;
  }

 private:
  Descriptor socket_;
  sockaddr_un peer_{};
};

class TapPort final : public FramePort {
 public:
  explicit TapPort(const std::string& name) : device_(::open("/dev/net/tun", O_RDWR | O_NONBLOCK | O_CLOEXEC)) {
    if (!device_.open()) fail_errno("/dev/net/tun");
    ifreq request{};
    request.ifr_flags = IFF_TAP | IFF_NO_PI;
    if (name.empty() || name.size() >= IFNAMSIZ) throw ConfigError("external.path: '" + name + "' names no TAP device");
    std::memcpy(request.ifr_name, name.c_str(), name.size());
    if (::ioctl(device_.get(), TUNSETIFF, &request) != 0) fail_errno("TAP device " + name);
  }
  int descriptor() const override { return device_.get(); }
  bool receive(std::vector<std::uint8_t>& frame) override {
    frame.resize(kMaxFrame);
    const ssize_t n = ::read(device_.get(), frame.data(), frame.size());
    frame.resize(n > 0 ? static_cast<std::size_t>(n) : 0);
    return n > 0;
  }
  bool send(ByteSpan frame) override { return ::write(device_.get(), frame.data(), frame.size()) > 0; }

 private:
  Descriptor device_;
};

}  // namespace

std::unique_ptr<FramePort> open_frame_port(const ExternalConfig& config) {
  switch (config.wire) {
    case WireKind::kSeqpacket:
      return std::make_unique<SeqpacketPort>(config);
    case WireKind::kStream:
      return std::make_unique<StreamPort>(config);
    case WireKind::kDgram:
      return std::make_unique<DgramPort>(config.path, config.peer_path);
    case WireKind::kTap:
      return std::make_unique<TapPort>(config.path);
    case WireKind::kVhostUser:
      break;
  }
  RNIC_CHECK_MSG(false, "a guest that follows simulated time has no frame port");
  return nullptr;
}

}  // namespace rnic::external
