#include "model/external/descriptor.h"

#include <cerrno>
#include <cstring>

#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#include "model/common/check.h"
#include "model/external/external_peer.h"

namespace rnic::external {
namespace {

constexpr timeval kStuck{300, 0};

void end_when_stuck(const Descriptor& connection) {
  for (const int option : {SO_RCVTIMEO, SO_SNDTIMEO}) {
    ::setsockopt(connection.get(), SOL_SOCKET, option, &kStuck, sizeof(kStuck));
  }
}

sockaddr_un address_of(const std::string& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.empty() || path.size() >= sizeof(address.sun_path)) {
    throw ConfigError("external: '" + path + "' is not a path of 1 to 107 octets for a socket");
  }
  std::memcpy(address.sun_path, path.c_str(), path.size());
  return address;
}

// True if a live process owns the socket; the file of a dead process remains. connect() uses a socket of another type:
// this makes no connection, but its error tells the two cases apart.
bool in_use(const sockaddr_un& address, int type) {
  const Descriptor asking(::socket(AF_UNIX, (type == SOCK_DGRAM ? SOCK_STREAM : SOCK_DGRAM) | SOCK_CLOEXEC, 0));
  if (!asking.open()) fail_errno(address.sun_path);
  return ::connect(asking.get(), reinterpret_cast<const sockaddr*>(&address), sizeof(address)) == 0 ||
         errno != ECONNREFUSED;
}

}  // namespace

Descriptor::~Descriptor() {
  if (!file_.path.empty()) {
    const File now = file_at(file_.path);
    if (now.device == file_.device && now.number == file_.number) ::unlink(file_.path.c_str());
  }
  if (fd_ >= 0) ::close(fd_);
}

void Descriptor::owns(const std::string& path) { file_ = file_at(path); }

Descriptor::File Descriptor::file_at(const std::string& path) {
  struct stat status {};
  return ::lstat(path.c_str(), &status) == 0 ? File{path, status.st_dev, status.st_ino} : File{};
}

void fail_errno(const std::string& what) { throw ConfigError(what + ": " + std::strerror(errno)); }

Descriptor bound_unix_socket(const std::string& path, int type) {
  const sockaddr_un address = address_of(path);
  Descriptor socket(::socket(AF_UNIX, type | SOCK_CLOEXEC, 0));
  if (!socket.open()) fail_errno(path);
  struct stat status {};
  if (::stat(path.c_str(), &status) == 0 && S_ISSOCK(status.st_mode)) {
    if (in_use(address, type)) throw ConfigError(path + ": another process has this socket");
    ::unlink(path.c_str());
  }
  if (::bind(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof(address)) != 0) fail_errno(path);
  socket.owns(path);
  if (type != SOCK_DGRAM && ::listen(socket.get(), 1) != 0) fail_errno(path);
  return socket;
}

Descriptor connected_unix_socket(const std::string& path, int type) {
  const sockaddr_un address = address_of(path);
  Descriptor socket(::socket(AF_UNIX, type | SOCK_CLOEXEC, 0));
  if (!socket.open()) fail_errno(path);
  if (::connect(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof(address)) != 0) fail_errno(path);
  end_when_stuck(socket);
  return socket;
}

Descriptor accept_waiting(const Descriptor& listener) {
  const int flags = ::fcntl(listener.get(), F_GETFL);
  ::fcntl(listener.get(), F_SETFL, flags | O_NONBLOCK);
  Descriptor peer(::accept4(listener.get(), nullptr, nullptr, SOCK_CLOEXEC));
  if (peer.open()) end_when_stuck(peer);
  return peer;
}

namespace {

// Waits until `connection` can be read or written.
void await(const Descriptor& connection, short events, std::chrono::steady_clock::time_point end) {
  using std::chrono::milliseconds;
  const auto left = std::chrono::ceil<milliseconds>(end - std::chrono::steady_clock::now());
  pollfd fd{connection.get(), events, 0};
  if (left <= milliseconds::zero() || ::poll(&fd, 1, static_cast<int>(left.count())) == 0)
    throw PeerError(events == POLLIN ? "the guest stops in the middle of a message" : "the guest does not read");
}

bool again() { return errno == EAGAIN || errno == EINTR; }

}  // namespace

bool receive_whole(const Descriptor& connection, MutableByteSpan octets, std::chrono::milliseconds patience) {
  const auto end = std::chrono::steady_clock::now() + patience;
  while (!octets.empty()) {
    const ssize_t n = ::recv(connection.get(), octets.data(), octets.size(), MSG_DONTWAIT);
    if (n > 0) octets = octets.subspan(static_cast<std::size_t>(n));
    else if (n < 0 && again()) await(connection, POLLIN, end);
    else return false;
  }
  return true;
}

void send_whole(const Descriptor& connection, ByteSpan octets, std::chrono::milliseconds patience) {
  const auto end = std::chrono::steady_clock::now() + patience;
  while (!octets.empty()) {
    const ssize_t n = ::send(connection.get(), octets.data(), octets.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
    if (n > 0) octets = octets.subspan(static_cast<std::size_t>(n));
    else if (n < 0 && again()) await(connection, POLLOUT, end);
    else return;
  }
}

}  // namespace rnic::external
