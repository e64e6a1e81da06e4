// libusrsctp without threads: everything happens in calls of ours. Its packets (AF_CONN) travel on a FrameWire.
#include <algorithm>

#include <arpa/inet.h>
#include <usrsctp.h>

#include "testbench/interop/sctp_peer/frame_wire.h"
#include "testbench/interop/sctp_peer/socket_sctp.h"

namespace far_end {
namespace {

using Clock = std::chrono::steady_clock;

struct UsrsctpApi {
  using Socket = struct socket*;
  static constexpr Socket kNone = nullptr;

  static Socket open(int family) {
    return usrsctp_socket(family, SOCK_STREAM, IPPROTO_SCTP, nullptr, nullptr, 0, nullptr);
  }
  static void prepare(Socket s, const Options& options) {
    struct sctp_paddrparams path = {};
    path.spp_flags = SPP_PMTUD_DISABLE | SPP_HB_DISABLE;
    path.spp_pathmtu = options.mtu - 20;  // without the IP header
    if (set(s, IPPROTO_SCTP, SCTP_PEER_ADDR_PARAMS, &path, sizeof path) != 0) throw Ended("the path's parameters");
    usrsctp_set_non_blocking(s, 1);
  }
  static int bind(Socket s, const struct sockaddr* me, socklen_t bytes) {
    return usrsctp_bind(s, const_cast<struct sockaddr*>(me), bytes);
  }
  static int set(Socket s, int level, int name, const void* value, socklen_t bytes) {
    return usrsctp_setsockopt(s, level, name, value, bytes);
  }
  static int get(Socket s, int name, void* value, socklen_t* bytes) {
    return usrsctp_getsockopt(s, IPPROTO_SCTP, name, value, bytes);
  }
  static ssize_t send(Socket s, const Bytes& octets, const struct sctp_sndinfo& info) {
    struct sctp_sndinfo said = info;
    return usrsctp_sendv(s, octets.data(), octets.size(), nullptr, 0, &said, sizeof said, SCTP_SENDV_SNDINFO, 0);
  }
  static ssize_t receive(Socket s, std::uint8_t* octets, std::size_t bytes, struct sctp_rcvinfo& info, int& flags) {
    socklen_t info_bytes = sizeof info;
    unsigned type = 0;
    return usrsctp_recvv(s, octets, bytes, nullptr, nullptr, &info, &info_bytes, &type, &flags);
  }
  static void shut_down(Socket s) { usrsctp_shutdown(s, SHUT_WR); }
  static void close(Socket s) { usrsctp_close(s); }
};

class Usrsctp final : public SocketSctp<UsrsctpApi> {
 public:
  explicit Usrsctp(const Options& options)
      : SocketSctp(options),
        wire_(options, [this](Bytes& packet) { usrsctp_conninput(this, packet.data(), packet.size(), 0); }),
        spoil_(options.spoil_cookies) {
    usrsctp_init_nothreads(0, &Usrsctp::output, nullptr);
    usrsctp_sysctl_set_sctp_ecn_enable(0);
    usrsctp_sysctl_set_sctp_asconf_enable(0);
    usrsctp_sysctl_set_sctp_auth_enable(0);
    usrsctp_sysctl_set_sctp_reconfig_enable(0);
    usrsctp_sysctl_set_sctp_nrsack_enable(0);
    usrsctp_sysctl_set_sctp_pktdrop_enable(0);
    usrsctp_sysctl_set_sctp_pr_enable(0);
    usrsctp_register_address(this);
    if (options_.connect) {
      await_peer();
      connect();
    } else {
      listen();
    }
  }
  void restart() override {
    wire_.mute(true);  // closing would send an ABORT
    abort();
    wire_.mute(false);
    state_ = State::kSettingUp;
    received_.clear();
    connect();
  }
  // The sockets end with the process.

 private:
  static int output(void* self, void* packet, std::size_t bytes, std::uint8_t, std::uint8_t) {
    const auto* octets = static_cast<const std::uint8_t*>(packet);
    static_cast<Usrsctp*>(self)->send_packet(Bytes(octets, octets + bytes));
    return 0;
  }
  // Sends a wrong cookie with a correct checksum, which is least significant octet first.
  void send_packet(Bytes packet) {
    constexpr std::size_t kChecksum = 8, kChunk = 12, kInCookie = 20;
    constexpr std::uint8_t kCookieEcho = 10;
    if (packet[kChunk] == kCookieEcho && spoil_ != 0 && packet.size() > kInCookie) {
      --spoil_;
      packet[kInCookie] ^= 1;
      std::fill_n(packet.begin() + kChecksum, 4, std::uint8_t{0});
      const std::uint32_t checksum = usrsctp_crc32c(packet.data(), packet.size());
      std::memcpy(&packet[kChecksum], &checksum, sizeof checksum);
    }
    wire_.send(std::move(packet));
  }
  struct sockaddr_conn address(std::uint16_t port) {
    struct sockaddr_conn a = {};
    a.sconn_family = AF_CONN;
    a.sconn_port = htons(port);
    a.sconn_addr = this;
    return a;
  }
  void await_peer() {
    while (options_.ping && !wire_.pinged() && !wire_.gone()) wire_.receive(100);
    while (options_.probe && !wire_.answered() && !wire_.gone()) {
      wire_.ping();
      wire_.receive(100);
    }
    delay();
    handled_ = Clock::now();
  }
  void listen() {
    const struct sockaddr_conn me = address(options_.port);
    listener_ = make(reinterpret_cast<const struct sockaddr*>(&me), sizeof me, AF_CONN);
    if (usrsctp_listen(listener_, 1) != 0) throw Ended("listen");
    if (options_.ping) wire_.ping();
  }
  void connect() {
    const struct sockaddr_conn me = address(options_.local_port);
    struct sockaddr_conn peer = address(options_.port);
    socket_ = make(reinterpret_cast<const struct sockaddr*>(&me), sizeof me, AF_CONN);
    if (usrsctp_connect(socket_, reinterpret_cast<struct sockaddr*>(&peer), sizeof peer) != 0 && errno != EINPROGRESS) {
      throw Ended(fmt::format("connect: {}", std::strerror(errno)));
    }
  }
  void pass() override {
    wire_.receive(5);
    const Clock::time_point now = Clock::now();
    const auto ms = std::chrono::duration_cast<std::chrono::milliseconds>(now - handled_);
    if (ms.count() > 0) {
      handled_ += ms;
      usrsctp_handle_timers(static_cast<std::uint32_t>(ms.count()));
    }
    if (socket_ == nullptr && listener_ != nullptr) {
      socket_ = usrsctp_accept(listener_, nullptr, nullptr);
      if (socket_ != nullptr) usrsctp_set_non_blocking(socket_, 1);
    }
    read_events();
    if (wire_.gone() && state_ != State::kShutDown) state_ = State::kLost;
  }

  FrameWire wire_;
  unsigned spoil_;
  struct socket* listener_ = nullptr;
  Clock::time_point handled_ = Clock::now();
};

}  // namespace

std::unique_ptr<Sctp> open_usrsctp(const Options& options) { return std::make_unique<Usrsctp>(options); }

}  // namespace far_end
