#include "model/rnic/fwcpu/gdb/gdb_server.h"

#include <cerrno>
#include <cstring>

#include <arpa/inet.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "model/common/check.h"

namespace rnic {

GdbServer::GdbServer(std::uint16_t port, std::function<bool()> stop)
    : stop_(std::move(stop)), listener_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t bytes = sizeof address;
  auto* const a = reinterpret_cast<sockaddr*>(&address);
  const int on = 1;
  if (listener_ < 0 || ::setsockopt(listener_, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on) != 0 ||
      ::bind(listener_, a, bytes) != 0 || ::listen(listener_, 1) != 0 || ::getsockname(listener_, a, &bytes) != 0) {
    const std::string why = std::strerror(errno);
    if (listener_ >= 0) ::close(listener_);
    throw ConfigError(fmt::format("--gdb {}: {}", port, why));
  }
  port_ = ntohs(address.sin_port);
}

GdbServer::~GdbServer() {
  ::close(listener_);
  if (socket_ >= 0) ::close(socket_);
}

// A signal that comes just before the call would not end it, so it checks now and then.
bool GdbServer::wait_for(int descriptor) const {
  constexpr int kLookUpMs = 200;
  pollfd fd{descriptor, POLLIN, 0};
  while (!stop_ || !stop_()) {
    if (::poll(&fd, 1, kLookUpMs) > 0) return true;
  }
  return false;
}

bool GdbServer::accept() {
  if (!wait_for(listener_)) return false;
  do socket_ = ::accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
  while (socket_ < 0 && errno == EINTR);
  if (socket_ < 0) throw ConfigError(fmt::format("--gdb {}: {}", port_, std::strerror(errno)));
  const int on = 1;
  ::setsockopt(socket_, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  return true;
}

// A departed debugger is noticed when receiving.
void GdbServer::send(std::string_view octets) {
  while (!octets.empty()) {
    const ssize_t sent = ::send(socket_, octets.data(), octets.size(), MSG_NOSIGNAL);
    if (sent < 0 && errno == EINTR) continue;
    if (sent <= 0) return;
    octets.remove_prefix(static_cast<std::size_t>(sent));
  }
}

bool GdbServer::receive(std::string& octets, bool wait) {
  char buffer[4096];
  if (wait && !wait_for(socket_)) return false;
  for (;;) {
    const ssize_t got = ::recv(socket_, buffer, sizeof buffer, wait ? 0 : MSG_DONTWAIT);
    if (got > 0) return octets.append(buffer, static_cast<std::size_t>(got)), true;
    if (got < 0 && errno == EINTR) continue;
    return got < 0 && !wait && (errno == EAGAIN || errno == EWOULDBLOCK);
  }
}

}  // namespace rnic
