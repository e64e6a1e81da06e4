// A file descriptor that closes itself, and Unix sockets that leave no file behind.
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
  // The socket's file, which is removed when the socket is closed, unless it is another one by then.
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
  // What is at that path now.
  static File file_at(const std::string& path);

  int fd_ = -1;
  File file_;
};

// Throws ConfigError naming what could not be done, with errno's reason.
[[noreturn]] void fail_errno(const std::string& what);

// A socket bound to `path` as long as it is open, which is removed first if a socket is there; `type` is SOCK_STREAM
// and so on. It listens, unless it is SOCK_DGRAM.
Descriptor bound_unix_socket(const std::string& path, int type);
// A socket connected to the one that listens at `path`.
Descriptor connected_unix_socket(const std::string& path, int type);
// The waiting connection, or a closed descriptor. On either, a peer that stops in the middle of a message makes a call
// fail after five minutes, so that no run hangs forever.
Descriptor accept_waiting(const Descriptor& listener);

// All octets of a message; false if the peer has left before its end. Throws PeerError when it says nothing for too
// long.
bool receive_whole(const Descriptor& connection, MutableByteSpan octets, std::chrono::milliseconds patience);
// The opposite direction. A departed peer gets nothing; PeerError when it does not read.
void send_whole(const Descriptor& connection, ByteSpan octets, std::chrono::milliseconds patience);

}  // namespace rnic::external
