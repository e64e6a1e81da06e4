// DDP (RFC 5041) and RDMAP (RFC 5040) on a session: in DDP-SSN order, one message after the other, waiting for each
// Read. Written to be read, not to be fast.
#pragma once

#include <deque>
#include <map>
#include <optional>
#include <utility>

#include "testbench/interop/sctp_peer/session.h"

namespace far_end {

class Rdma {
 public:
  Rdma(Session& session, unsigned mtu);

  // Until withdrawal, the peer may read and write these octets by the STag, at tagged offsets from `base`.
  std::uint32_t expose(Bytes& memory, std::uint64_t base);
  void withdraw(std::uint32_t stag) { regions_.erase(stag); }
  bool exposed(std::uint32_t stag) const { return regions_.count(stag) != 0; }

  void write(std::uint32_t stag, std::uint64_t to, const Bytes& octets);
  void send(const Bytes& octets, std::optional<std::uint32_t> invalidate = std::nullopt);
  void read(std::uint32_t stag, std::uint64_t to, Bytes& sink);
  // The next Send; none if the session has ended. The peer's Writes and Read Requests before it are done by then.
  std::optional<Bytes> receive();
  // The ready-to-receive message of one of Terms' kinds, ours and the peer's.
  void send_rtr(unsigned kind);
  void absorb_rtr(unsigned kind) { absorb_send_ = kind == Terms::kSend; }
  // For errors of the set-up itself: an RDMAP Terminate of layer 2, and the session's.
  [[noreturn]] void fail_setup(std::uint8_t code) { fail(2, 0, code, nullptr); }
  const std::string& peer_terminate() const { return peer_terminate_; }

 private:
  enum Opcode : std::uint8_t {
    kWrite = 0,
    kReadRequest = 1,
    kReadResponse = 2,
    kSend = 3,
    kSendInvalidate = 4,
    kSendSolicited = 5,
    kSendSolicitedInvalidate = 6,
    kTerminate = 7,
  };
  static constexpr std::uint32_t kSendQueue = 0, kReadQueue = 1, kTerminateQueue = 2;
  struct Region {
    Bytes* memory;
    std::uint64_t base;
  };
  struct Layer {  // of an error: the Terminate's layer and type, and the codes for errors of an STag
    std::uint8_t layer, type, unknown, bounds;
  };

  // False if the session has ended.
  bool serve_next();
  void take_tagged(const Bytes& segment);
  void take_untagged(const Bytes& segment);
  void take_send(Opcode opcode, std::uint32_t invalidate);
  void take_read_request(const Bytes& segment);
  void take_terminate(const Bytes& segment);
  std::uint8_t* find(const Bytes& segment, std::uint32_t stag, std::uint64_t to, std::size_t bytes, Layer errors);
  void send_tagged(Opcode opcode, std::uint32_t stag, std::uint64_t to, const std::uint8_t* octets, std::size_t bytes);
  void send_untagged(Opcode opcode, std::uint32_t queue, std::uint32_t invalidate, const Bytes& octets);
  [[noreturn]] void fail(std::uint8_t layer, std::uint8_t type, std::uint8_t code, const Bytes* segment);

  Session& session_;
  const std::size_t mulpdu_;
  std::map<std::uint32_t, Region> regions_;
  std::uint32_t next_stag_ = 0x5C790000;
  std::map<std::uint32_t, std::uint32_t> sent_msn_, next_msn_;  // by queue
  Bytes message_;                                               // on queue 0, as far as received
  std::deque<Bytes> sends_;
  std::uint32_t reading_ = 0;  // the sink STag of the Read in progress
  bool absorb_send_ = false;
  std::string peer_terminate_;
};

}  // namespace far_end
