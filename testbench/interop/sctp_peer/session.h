// One DDP stream session of RFC 5043 on one stream of an association: its messages by DDP-SSN, its set-up and its end,
// plain or enhanced (RFC 6581, 7). Calls wait until their work is done.
#pragma once

#include <map>
#include <optional>
#include <string>

#include "testbench/interop/sctp_peer/sctp.h"

namespace far_end {

enum class Code : std::uint16_t {
  kInitiate = 1,
  kAccept = 2,
  kReject = 3,
  kTerminate = 4,
  kEnhancedInitiate = 5,
  kEnhancedAccept = 6,
  kEnhancedReject = 7,
};

// The enhanced word.
struct Terms {
  static constexpr unsigned kNotNegotiated = 0x3FFF;
  enum Rtr : unsigned { kSend = 1, kWrite = 2, kRead = 4 };  // bits B, C, D
  bool enhanced = true;
  bool peer_to_peer = false;  // bit A
  unsigned ird = 0, ord = 0;
  unsigned rtr = 0;
};

class Session {
 public:
  Session(Sctp& sctp, std::uint16_t stream) : sctp_(sctp), stream_(stream) {}

  // The active side. True if the peer has accepted; otherwise `private_data()` is the peer's, and `refused()` says
  // whether something other than its host refused.
  bool initiate(const Terms& offered, const Bytes& private_data);
  // The passive side: waits for the Initiate.
  void await_initiate();
  void accept(const Terms& most, const Bytes& private_data);
  void reject(const Bytes& private_data);
  // For both ends. Answers if the peer has already ended the session.
  void terminate();

  const Terms& terms() const { return terms_; }  // the agreed terms, from this end's view
  const Bytes& private_data() const { return private_data_; }
  bool refused() const { return refused_; }

  void send_segment(const Bytes& segment) { send(kSegment, segment); }
  // The next segment by DDP-SSN; none if the peer has ended the session.
  std::optional<Bytes> next_segment();

 private:
  static constexpr std::uint32_t kSegment = 16, kControl = 17;
  struct Message {
    bool control = false;
    Bytes octets;  // after the DDP-SSN
  };

  void send(std::uint32_t ppid, const Bytes& octets);
  void control(Code code, const Bytes& octets);
  Message next();
  void collect();
  Code code_of(const Message& message);
  void take_terms(const Message& message, bool enhanced);
  [[noreturn]] void violation(const std::string& what);

  Sctp& sctp_;
  const std::uint16_t stream_;
  std::uint16_t sent_ = 0, next_ = 0;  // DDP-SSNs
  std::map<std::uint16_t, Message> come_;
  Terms terms_;
  Bytes private_data_;
  bool refused_ = false;
  bool terminated_ = false, peer_terminated_ = false;
};

}  // namespace far_end
