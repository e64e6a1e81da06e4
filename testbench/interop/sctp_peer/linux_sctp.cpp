// Linux's own SCTP, inside the guest.
#include <algorithm>
#include <cstdlib>

#include <arpa/inet.h>
#include <linux/sctp.h>
#include <netinet/in.h>
#include <poll.h>
#include <unistd.h>

#include "testbench/interop/sctp_peer/socket_sctp.h"

namespace far_end {
namespace {

struct LinuxApi {
  using Socket = int;
  static constexpr Socket kNone = -1;

  static Socket open(int family) { return ::socket(family, SOCK_STREAM | SOCK_NONBLOCK, IPPROTO_SCTP); }
  // The path MTU is the network device's.
  static void prepare(Socket s, const Options&) {
    const int one = 1;
    set(s, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one);
  }
  static int bind(Socket s, const struct sockaddr* me, socklen_t bytes) { return ::bind(s, me, bytes); }
  static int set(Socket s, int level, int name, const void* value, socklen_t bytes) {
    return ::setsockopt(s, level, name, value, bytes);
  }
  static int get(Socket s, int name, void* value, socklen_t* bytes) {
    return ::getsockopt(s, IPPROTO_SCTP, name, value, bytes);
  }
  static ssize_t send(Socket s, const Bytes& octets, const struct sctp_sndinfo& info) {
    iovec piece{const_cast<std::uint8_t*>(octets.data()), octets.size()};
    alignas(cmsghdr) std::uint8_t control[CMSG_SPACE(sizeof info)] = {};
    msghdr message{};
    message.msg_iov = &piece;
    message.msg_iovlen = 1;
    message.msg_control = control;
    message.msg_controllen = sizeof control;
    cmsghdr* const head = CMSG_FIRSTHDR(&message);
    head->cmsg_level = IPPROTO_SCTP;
    head->cmsg_type = SCTP_SNDINFO;
    head->cmsg_len = CMSG_LEN(sizeof info);
    std::memcpy(CMSG_DATA(head), &info, sizeof info);
    return ::sendmsg(s, &message, MSG_NOSIGNAL);
  }
  static ssize_t receive(Socket s, std::uint8_t* octets, std::size_t bytes, struct sctp_rcvinfo& info, int& flags) {
    iovec piece{octets, bytes};
    alignas(cmsghdr) std::uint8_t control[256] = {};
    msghdr message{};
    message.msg_iov = &piece;
    message.msg_iovlen = 1;
    message.msg_control = control;
    message.msg_controllen = sizeof control;
    const ssize_t n = ::recvmsg(s, &message, 0);
    flags = message.msg_flags;
    for (cmsghdr* head = n < 0 ? nullptr : CMSG_FIRSTHDR(&message); head != nullptr;
         head = CMSG_NXTHDR(&message, head)) {
      if (head->cmsg_type == SCTP_RCVINFO) std::memcpy(&info, CMSG_DATA(head), sizeof info);
    }
    return n;
  }
  static void shut_down(Socket s) { ::shutdown(s, SHUT_WR); }
  static void close(Socket s) { ::close(s); }
};

class LinuxSctp final : public SocketSctp<LinuxApi> {
 public:
  explicit LinuxSctp(const Options& options) : SocketSctp(options) {
    if (options_.connect) {
      delay();
      connect();
    } else {
      listen();
    }
  }
  ~LinuxSctp() override {
    for (const int s : {listener_, socket_}) {
      if (s >= 0) ::close(s);
    }
  }
  // Without a route the ABORT cannot leave.
  void restart() override {
    route("add");
    abort();
    route("del");
    state_ = State::kSettingUp;
    received_.clear();
    connect();
  }

 private:
  static sockaddr_in address(std::uint32_t ip, std::uint16_t port) {
    sockaddr_in a{};
    a.sin_family = AF_INET;
    a.sin_port = htons(port);
    a.sin_addr.s_addr = htonl(ip);
    return a;
  }
  void route(const char* what) const {
    in_addr peer{htonl(options_.peer)};
    if (std::system(fmt::format("ip route {} blackhole {}", what, ::inet_ntoa(peer)).c_str()) != 0)
      throw Ended("ip route");
  }
  void listen() {
    const sockaddr_in me = address(options_.ip, options_.port);
    listener_ = make(reinterpret_cast<const sockaddr*>(&me), sizeof me, AF_INET);
    if (::listen(listener_, 1) != 0) throw Ended("listen");
  }
  void connect() {
    const sockaddr_in me = address(options_.ip, options_.local_port), peer = address(options_.peer, options_.port);
    socket_ = make(reinterpret_cast<const sockaddr*>(&me), sizeof me, AF_INET);
    if (::connect(socket_, reinterpret_cast<const sockaddr*>(&peer), sizeof peer) != 0 && errno != EINPROGRESS) {
      throw Ended(fmt::format("connect: {}", std::strerror(errno)));
    }
  }
  void pass() override {
    pollfd fd{socket_ >= 0 ? socket_ : listener_, POLLIN, 0};
    if (::poll(&fd, 1, 10) < 0 && errno != EINTR) throw Ended("poll");
    if (socket_ < 0 && listener_ >= 0) socket_ = ::accept4(listener_, nullptr, nullptr, SOCK_NONBLOCK);
    read_events();
    if (socket_ >= 0 && (fd.revents & (POLLHUP | POLLERR)) != 0 && state_ == State::kSettingUp) state_ = State::kLost;
  }

  int listener_ = -1;
};

}  // namespace

std::unique_ptr<Sctp> open_linux_sctp(const Options& options) { return std::make_unique<LinuxSctp>(options); }

}  // namespace far_end
