// One stream of an SCTP association and the DDP stream session on it. Decides which control messages are valid, what is
// sent and when, and when the stream id may be reused (RFC 5043 section 6; session.md has the table). Control messages
// come in the order of their DDP-SSNs; segments never come here.
#pragma once

#include <cstddef>
#include <cstdint>

#include "firmware/conn/session_negotiation.h"

namespace rnic::fw {

enum class SessionState : std::uint8_t {
  kIdle,
  kInitSent,
  kPending,  // the host decides
  kOpen,
  kTermSent,  // ended by this side, in order
  kClosing,   // over, but acknowledgements or the peer's Terminate are missing
};
const char* to_string(SessionState state);

// Actions for hardware and host, in this order.
struct SessionAction {
  enum class Kind : std::uint8_t {
    kSend,       // `message`, to which the caller adds private data
    kSendRdmap,  // an RDMAP Terminate for `error`; the kSend that follows is sent after it
    kBegin,      // like the next four, a function of rnic::sctp::DdpStreams
    kOpen,
    kDiscard,
    kEndRun,
    kRestart,
    // For the host.
    kRequest,      // from a peer: accept() or reject()
    kEstablished,  // with ird, ord and the RTR message to be sent first
    kRejected,     // by the peer's host; `message` has its word, if there is one
    kRefused,      // by a session Terminate
    kBadReply,     // the answer fits no sequence
    kSetupFailed,  // for `error`
    kWithdrawn,    // the peer withdrew a session that was not answered yet
    kClosed,       // by the peer, or by both
    kBroken,       // the peer violated the sequence of a session
    kLost,         // with the association
  };
  Kind kind = Kind::kSend;
  SetupError error = SetupError::kNone;
  std::uint16_t ird = 0, ord = 0;
  Rtr rtr = Rtr::kNone;
  bool absorbs_rtr_send = false;  // responder: the first Send may be an RTR message
  wire::SessionMessage message;   // with the private data of the received message, or none
};

class SessionActions {
 public:
  static constexpr std::size_t kMost = 6;
  void add(const SessionAction& action) {
    if (count_ < kMost) actions_[count_++] = action;
  }
  void add(SessionAction::Kind kind) {
    SessionAction action;
    action.kind = kind;
    add(action);
  }
  const SessionAction* begin() const { return actions_; }
  const SessionAction* end() const { return actions_ + count_; }
  std::size_t size() const { return count_; }

 private:
  SessionAction actions_[kMost];
  std::size_t count_ = 0;
};

// The action for the host; there is at most one. nullptr: none.
constexpr bool is_for_host(SessionAction::Kind kind) { return kind >= SessionAction::Kind::kRequest; }
inline const SessionAction* host_part(const SessionActions& actions) {
  for (const SessionAction& action : actions) {
    if (is_for_host(action.kind)) return &action;
  }
  return nullptr;
}

class StreamSession {
 public:
  SessionState state() const { return state_; }
  // Chunks that did not fit, in this session or without one.
  std::uint32_t strays() const { return strays_; }

  // The host's calls. connect() on a stream in use, or an answer without a request, does nothing and returns nothing.
  SessionActions connect(const SessionPolicy& local);
  SessionActions accept(const SessionPolicy& local);
  SessionActions reject(const SessionPolicy& local);
  // No further segment is handed to SCTP. In order: the peer's segments are still delivered. Otherwise they are
  // dropped: an RDMAP Terminate was the last one.
  SessionActions close(bool in_order);

  // A control message, in order. `local` is the listener's policy, `room` whether another request may wait.
  SessionActions control(const wire::SessionDecode& decode, const SessionPolicy& local, bool room);
  // A chunk that violates a rule, or has an invalid number; `terminate`: it is a session Terminate.
  SessionActions violation(bool terminate);
  // A chunk without a session; `terminate`: it is a session Terminate.
  SessionActions stray(bool terminate);
  // The peer's SCTP has acknowledged a control message.
  SessionActions acknowledged();
  SessionActions association_lost();

 private:
  using Kind = SessionAction::Kind;

  void send(SessionActions& out, const wire::SessionMessage& message);
  void send_last(SessionActions& out, const wire::SessionMessage& message);
  void terminate(SessionActions& out);
  void close_with(SessionActions& out, Kind event, SetupError error = SetupError::kNone);
  void end_by_violation(SessionActions& out, Kind event);
  void settle(SessionActions& out);
  void initiated(SessionActions& out, const wire::SessionMessage& initiate, const SessionPolicy& local, bool room);
  void replied(SessionActions& out, const wire::SessionDecode& decode);
  void answered_after_cancel(SessionActions& out, const wire::SessionDecode& decode);
  void refuse_stray(SessionActions& out, bool terminate);

  SessionState state_ = SessionState::kIdle;
  bool opened_ = false;              // this session has been open
  bool answered_ = false;            // the peer has answered our Initiate
  bool terminate_due_ = false;       // waits for the acknowledgement of the control message before it
  bool own_last_ = false;            // this side has sent its last chunk
  bool peer_last_ = false;           // the peer's last chunk and all before it have arrived
  std::uint8_t unacknowledged_ = 0;  // control messages
  std::uint32_t strays_ = 0;
  SessionPolicy policy_;           // initiator
  wire::SessionMessage initiate_;  // ours or the peer's; without private data
};

}  // namespace rnic::fw
