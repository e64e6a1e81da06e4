// An association on the sockets of RFC 6458, one-to-one style, which libusrsctp and Linux both have: the same names of
// constants and structures, but different headers and calls. Include one of the headers before this one, in a separate
// source file; `Api` has the calls.
#pragma once

#include <array>
#include <cerrno>
#include <cstring>
#include <thread>

#include <fmt/format.h>
#include <sys/socket.h>

#include "testbench/interop/sctp_peer/sctp.h"

namespace far_end {
namespace {  // separate in each source file, as the names in it are

template <class Api>
class SocketSctp : public Sctp {
 public:
  using Socket = typename Api::Socket;

  bool send(std::uint16_t stream, std::uint32_t ppid, const Bytes& octets) override {
    struct sctp_sndinfo info = {};
    info.snd_sid = stream;
    info.snd_ppid = htonl(ppid);
    info.snd_flags = SCTP_UNORDERED;
    if (Api::send(socket_, octets, info) >= 0) {
      dry_ = false;
      return true;
    }
    if (errno == EAGAIN || errno == EWOULDBLOCK || errno == ENOBUFS) return false;
    // The association may be lost; the events say so.
    read_events();
    throw Ended(state_ == State::kLost ? "the association is lost" : fmt::format("send: {}", std::strerror(errno)));
  }
  bool idle() override {
    if (state_ == State::kShutDown) return true;  // it was not before
    struct sctp_status status = {};
    socklen_t bytes = sizeof status;
    return dry_ && Api::get(socket_, SCTP_STATUS, &status, &bytes) == 0 && status.sstat_unackdata == 0;
  }
  void shut_down() override { Api::shut_down(socket_); }
  void abort() override {
    Api::close(socket_);  // an ABORT, due to SO_LINGER
    socket_ = Api::kNone;
  }

 protected:
  explicit SocketSctp(const Options& options) : Sctp(options), options_(options) {}

  // For when nothing else shows that the peer listens.
  void delay() const { std::this_thread::sleep_for(std::chrono::milliseconds(options_.delay_ms)); }
  // A socket at the port with all options that must be set before the association's set-up.
  Socket make(const struct sockaddr* me, socklen_t bytes, int family) {
    const Socket s = Api::open(family);
    if (s == Api::kNone) throw Ended(fmt::format("there is no SCTP here: {}", std::strerror(errno)));
    for (const int type : {SCTP_ASSOC_CHANGE, SCTP_ADAPTATION_INDICATION, SCTP_SENDER_DRY_EVENT}) {
      struct sctp_event event = {};
      event.se_assoc_id = SCTP_FUTURE_ASSOC;
      event.se_type = static_cast<std::uint16_t>(type);
      event.se_on = 1;
      set(s, IPPROTO_SCTP, SCTP_EVENT, event);
    }
    struct sctp_initmsg streams = {};
    streams.sinit_num_ostreams = streams.sinit_max_instreams = 16;
    set(s, IPPROTO_SCTP, SCTP_INITMSG, streams);
    struct sctp_rtoinfo rto = {};
    rto.srto_initial = options_.rto_ms;
    rto.srto_min = options_.rto_min_ms;
    rto.srto_max = 60'000;
    set(s, IPPROTO_SCTP, SCTP_RTOINFO, rto);
    const struct sctp_setadaptation adaptation = {options_.adaptation};
    if (options_.adaptation != 0) set(s, IPPROTO_SCTP, SCTP_ADAPTATION_LAYER, adaptation);
    for (const int name : {SCTP_NODELAY, SCTP_DISABLE_FRAGMENTS, SCTP_RECVRCVINFO}) set(s, IPPROTO_SCTP, name, 1);
    set(s, SOL_SOCKET, SO_SNDBUF, 1 << 20);
    set(s, SOL_SOCKET, SO_RCVBUF, 1 << 20);
    const struct linger at_once = {1, 0};  // close() is an ABORT
    set(s, SOL_SOCKET, SO_LINGER, at_once);
    Api::prepare(s, options_);
    if (Api::bind(s, me, bytes) != 0) throw Ended(fmt::format("bind: {}", std::strerror(errno)));
    return s;
  }
  template <class T>
  static void set(Socket s, int level, int name, const T& value) {
    if (Api::set(s, level, name, &value, sizeof value) != 0) {
      throw Ended(fmt::format("option {} of {}: {}", name, level, std::strerror(errno)));
    }
  }

  void read_events() {
    while (socket_ != Api::kNone) {
      struct sctp_rcvinfo info = {};
      int flags = 0;
      const ssize_t n = Api::receive(socket_, buffer_.data(), buffer_.size(), info, flags);
      if (n < 0 && errno == ECONNRESET) state_ = State::kLost;
      if (n <= 0) return;
      if ((flags & MSG_NOTIFICATION) != 0) {
        take_event(static_cast<std::size_t>(n));
      } else {
        if ((flags & MSG_EOR) == 0) throw Ended("a message longer than any may be");
        received_.push_back({info.rcv_sid, ntohl(info.rcv_ppid), (info.rcv_flags & SCTP_UNORDERED) != 0,
                             Bytes(buffer_.begin(), buffer_.begin() + n)});
      }
    }
  }

  const Options options_;
  Socket socket_ = Api::kNone;

 private:
  void take_event(std::size_t bytes) {
    union sctp_notification event = {};
    std::memcpy(&event, buffer_.data(), std::min(sizeof event, bytes));
    if (event.sn_header.sn_type == SCTP_ADAPTATION_INDICATION) {
      adaptation_ = event.sn_adaptation_event.sai_adaptation_ind;
    } else if (event.sn_header.sn_type == SCTP_SENDER_DRY_EVENT) {
      dry_ = true;
    } else if (event.sn_header.sn_type == SCTP_ASSOC_CHANGE) {
      const auto& change = event.sn_assoc_change;
      if (change.sac_state == SCTP_SHUTDOWN_COMP) state_ = State::kShutDown;
      if (change.sac_state == SCTP_COMM_LOST || change.sac_state == SCTP_CANT_STR_ASSOC) state_ = State::kLost;
      if (change.sac_state == SCTP_RESTART) {
        restarted_ = dry_ = true;
        received_.clear();  // later messages belong to the new association
      }
      if (change.sac_state != SCTP_COMM_UP) return;
      state_ = State::kUp;
      streams_out_ = change.sac_outbound_streams;
      streams_in_ = change.sac_inbound_streams;
    }
  }

  bool dry_ = true;
  std::array<std::uint8_t, 65536> buffer_{};
};

}  // namespace
}  // namespace far_end
