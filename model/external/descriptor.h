// A file descriptor that is closed on destruction, and Unix sockets that remove their files.
#pragma once

#include <chrono>
#include <string>
#include <utility>

#include <sys/types.h>

#include "model/common/bytes.h"

namespace rnic::external {

class Descriptor {
 public:
  Descriptor() = default;
  explicit Descriptor(int fd) : fd_(fd) {}
  Descriptor(Descriptor&& o) noexcept : fd_(std::exchange(o.fd_, -1)), file_(std::exchange(o.file_, {})) {}
  Descriptor& operator=(Descriptor&& o) noexcept {
    std::swap(fd_, o.fd_);
    std::swap(file_, o.file_);
    return *this;
  }
  ~Descriptor();
  // Sets the socket's file, which is removed when the socket is closed, unless another file has replaced it.
  void owns(const std::string& path);
  int get() const { return fd_; }
  bool open() const { return fd_ >= 0; }
  void close() { *this = Descriptor(); }

 private:
  struct File {
    std::string path;  // empty: none
    dev_t device = 0;
    ino_t number = 0;
  };
  // The file at `path` now.
  static File file_at(const std::string& path);

  int fd_ = -1;
  File file_;
};

// Throws ConfigError with `what` and errno's reason.
[[noreturn]] void fail_errno(const std::string& what);

// A socket bound to `path` while it is open. An earlier socket there is removed first. `type` is SOCK_STREAM and so on;
// the socket listens unless it is SOCK_DGRAM.
Descriptor bound_unix_socket(const std::string& path, int type);
// A socket connected to the listener at `path`.
Descriptor connected_unix_socket(const std::string& path, int type);
// The waiting connection, or a closed descriptor. If a peer stops in the middle of a message, a call fails after five
// minutes, so that no run hangs forever.
Descriptor accept_waiting(const Descriptor& listener);

// Receives all octets of a message; false if the peer leaves before its end. PeerError after `patience` without data.
bool receive_whole(const Descriptor& connection, MutableByteSpan octets, std::chrono::milliseconds patience);
// Sends all octets; a departed peer gets nothing. Throws PeerError if the peer does not read.
void send_whole(const Descriptor& connection, ByteSpan octets, std::chrono::milliseconds patience);

}  // namespace rnic::external
