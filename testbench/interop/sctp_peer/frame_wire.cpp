#include "testbench/interop/sctp_peer/frame_wire.h"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <stdexcept>
#include <thread>
#include <utility>

#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

namespace far_end {
namespace {

constexpr std::size_t kEthernetBytes = 14, kIpBytes = 20, kArpBytes = 28;
constexpr std::uint8_t kEchoRequest = 8, kEchoReply = 0;
constexpr std::array<std::uint8_t, 6> kBroadcast{0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF};

[[noreturn]] void fail(const std::string& what) { throw std::runtime_error(what + ": " + std::strerror(errno)); }

int open_socket(const Options& o) {
  sockaddr_un path{};
  path.sun_family = AF_UNIX;
  if (o.wire.size() >= sizeof path.sun_path) throw std::runtime_error("wire: the path is too long");
  std::copy(o.wire.begin(), o.wire.end(), path.sun_path);
  const auto* address = reinterpret_cast<const sockaddr*>(&path);
  const int fd = ::socket(AF_UNIX, SOCK_SEQPACKET, 0);
  if (fd < 0) fail("socket");
  if (!o.wire_listen) {
    // The socket exists a moment before its owner listens.
    for (unsigned tries = 0; ::connect(fd, address, sizeof path) != 0; ++tries) {
      if (errno != ECONNREFUSED || tries == 100) fail(o.wire);
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
    }
    return fd;
  }
  if (::bind(fd, address, sizeof path) != 0 || ::listen(fd, 1) != 0) fail(o.wire);
  pollfd waiting{fd, POLLIN, 0};
  const auto ms = std::chrono::milliseconds(o.patience).count();
  if (::poll(&waiting, 1, static_cast<int>(ms)) != 1) throw std::runtime_error("nobody came to the wire");
  const int peer = ::accept(fd, nullptr, nullptr);
  if (peer < 0) fail("accept");
  ::close(fd);
  return peer;
}

// RFC 1071.
std::uint16_t internet_checksum(const std::uint8_t* octets, std::size_t bytes) {
  std::uint32_t sum = 0;
  for (std::size_t i = 0; i < bytes; ++i) sum += static_cast<std::uint32_t>(octets[i]) << (i % 2 == 0 ? 8 : 0);
  while (sum > 0xFFFF) sum = (sum & 0xFFFF) + (sum >> 16);
  return static_cast<std::uint16_t>(~sum);
}

void set_checksum(Bytes& octets, std::size_t at, std::size_t bytes) {
  const std::uint16_t sum = internet_checksum(octets.data(), bytes);
  octets[at] = static_cast<std::uint8_t>(sum >> 8);
  octets[at + 1] = static_cast<std::uint8_t>(sum);
}

template <class T>
void write_raw(std::FILE* file, T value) {
  std::fwrite(&value, sizeof value, 1, file);
}

}  // namespace

FrameWire::FrameWire(const Options& options, Take take)
    : options_(options),
      take_(std::move(take)),
      mac_{2,
           0x57,
           static_cast<std::uint8_t>(options.ip >> 24),
           static_cast<std::uint8_t>(options.ip >> 16),
           static_cast<std::uint8_t>(options.ip >> 8),
           static_cast<std::uint8_t>(options.ip)},
      fd_(open_socket(options)),
      random_(options.seed) {
  if (options_.pcap.empty()) return;
  pcap_ = std::fopen(options_.pcap.c_str(), "wb");
  if (pcap_ == nullptr) fail(options_.pcap);
  for (const std::uint32_t word : {0xA1B2C3D4U, 4U << 16 | 2U, 0U, 0U, 65535U, 1U}) write_raw(pcap_, word);
}

FrameWire::~FrameWire() {
  ::close(fd_);
  if (pcap_ != nullptr) std::fclose(pcap_);
}

void FrameWire::ping() {
  Bytes echo{kEchoRequest, 0, 0, 0, 0, 1, 0, 1};
  set_checksum(echo, 2, echo.size());
  send_ip(kIcmp, std::move(echo));
}

void FrameWire::receive(int ms) {
  pollfd fd{fd_, POLLIN, 0};
  if (gone_ || ::poll(&fd, 1, ms) <= 0) return;
  for (;;) {
    Bytes frame(16384);
    const ssize_t n = ::recv(fd_, frame.data(), frame.size(), MSG_DONTWAIT);
    if (n < 0 && (errno == EAGAIN || errno == EINTR)) return;
    if (n <= 0) {
      gone_ = true;
      return;
    }
    frame.resize(static_cast<std::size_t>(n));
    record(frame);
    if (!muted_) take_frame(frame);
  }
}

void FrameWire::take_frame(const Bytes& frame) {
  if (frame.size() < kEthernetBytes) return;
  const auto type = get<2>(&frame[12]);
  if (type == kArp) return take_arp(frame);
  const std::uint8_t* const ip = frame.data() + kEthernetBytes;
  if (type != kIpv4 || frame.size() < kEthernetBytes + kIpBytes || ip[0] != 0x45) return;
  const std::size_t length = get<2>(ip + 2);
  if (length < kIpBytes || kEthernetBytes + length > frame.size() || get<4>(ip + 16) != options_.ip) return;
  if (internet_checksum(ip, kIpBytes) != 0) return;
  Bytes packet(ip + kIpBytes, ip + length);
  if (ip[9] == kSctp) take_(packet);
  if (ip[9] != kIcmp || packet.empty()) return;
  pinged_ |= packet[0] == kEchoRequest;
  answered_ |= packet[0] == kEchoReply;
}

// RFC 826: 0 hardware(2), protocol(2), lengths(2), 6 operation(2), 8 sender(6 + 4), 18 target(6 + 4).
void FrameWire::take_arp(const Bytes& frame) {
  if (frame.size() < kEthernetBytes + kArpBytes) return;
  const std::uint8_t* const arp = frame.data() + kEthernetBytes;
  if (get<4>(arp + 14) != options_.peer || get<4>(arp + 24) != options_.ip) return;
  std::copy_n(arp + 8, peer_mac_.size(), peer_mac_.begin());
  peer_known_ = true;
  if (get<2>(arp + 6) == 1) send_arp(2, peer_mac_, peer_mac_);
  for (const Bytes& packet : std::exchange(waiting_, {})) {
    Bytes whole = frame_to(peer_mac_, kIpv4);
    append(whole, packet);
    send_frame(whole);
  }
}

void FrameWire::send_arp(std::uint16_t operation, const Mac& to, const Mac& target) {
  Bytes frame = frame_to(to, kArp);
  for (const std::uint64_t half : {1U, std::uint32_t{kIpv4}, 0x0604U, std::uint32_t{operation}}) put<2>(frame, half);
  frame.insert(frame.end(), mac_.begin(), mac_.end());
  put<4>(frame, options_.ip);
  frame.insert(frame.end(), target.begin(), target.end());
  put<4>(frame, options_.peer);
  send_frame(frame);
}

void FrameWire::send_ip(std::uint8_t protocol, Bytes payload) {
  Bytes packet{0x45, 0};
  put<2>(packet, kIpBytes + payload.size());
  put<2>(packet, identification_++);
  put<2>(packet, 0x4000);  // don't fragment
  packet.push_back(64);
  packet.push_back(protocol);
  put<2>(packet, 0);
  put<4>(packet, options_.ip);
  put<4>(packet, options_.peer);
  set_checksum(packet, 10, kIpBytes);
  append(packet, payload);
  if (!peer_known_) {
    waiting_.push_back(std::move(packet));
    return send_arp(1, kBroadcast, Mac{});
  }
  Bytes frame = frame_to(peer_mac_, kIpv4);
  append(frame, packet);
  send_frame(frame);
}

Bytes FrameWire::frame_to(const Mac& to, std::uint16_t type) const {
  Bytes frame(to.begin(), to.end());
  frame.insert(frame.end(), mac_.begin(), mac_.end());
  put<2>(frame, type);
  return frame;
}

void FrameWire::send_frame(const Bytes& frame) {
  if (muted_) return;
  record(frame);
  if (random_() % 1'000'000 < options_.lose_ppm) return;
  // Frames that do not fit into the peer's socket are lost, as on a wire.
  if (::send(fd_, frame.data(), frame.size(), MSG_DONTWAIT | MSG_NOSIGNAL) < 0 && errno == EPIPE) gone_ = true;
}

void FrameWire::record(const Bytes& frame) {
  if (pcap_ == nullptr) return;
  const auto us =
      std::chrono::duration_cast<std::chrono::microseconds>(std::chrono::system_clock::now().time_since_epoch())
          .count();
  const auto bytes = static_cast<std::uint32_t>(frame.size());
  for (const std::uint32_t word :
       {static_cast<std::uint32_t>(us / 1'000'000), static_cast<std::uint32_t>(us % 1'000'000), bytes, bytes}) {
    write_raw(pcap_, word);
  }
  std::fwrite(frame.data(), 1, frame.size(), pcap_);
}

}  // namespace far_end
