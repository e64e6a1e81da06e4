// sctp_session: DDP stream sessions of one end of an SCTP association, without SCTP itself.
#include <algorithm>
#include <deque>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "model/ends/session_end.h"
#include "model/golden/kind_of.h"
#include "model/golden/sctp_messages.h"

namespace rnic::golden {

template <>
struct Enumeration<fw::SessionAction::Kind> {
  static constexpr const char* kName = "session_event_kind";
  static const ValueWords& words() {
    static const ValueWords kWords{"send",         "send_rdmap", "begin",       "open",     "discard", "end_run",
                                   "restart",      "request",    "established", "rejected", "refused", "bad_reply",
                                   "setup_failed", "withdrawn",  "closed",      "broken",   "lost"};
    return kWords;
  }
};
template <>
struct Enumeration<fw::SetupError> {
  static constexpr const char* kName = "session_event_error";
  static const ValueWords& words() {
    static const ValueWords kWords{"none", "bad_frame", "insufficient_ird", "no_matching_rtr", "local_failure"};
    return kWords;
  }
};

namespace {

constexpr std::uint16_t kMostDepth = 0x3ffe;           // RFC 6581 section 4: 14 bits, all ones is none
constexpr std::size_t kMostPrivate = 508;              // RFC 5043 section 5.2.2, less the word of RFC 6581
constexpr std::uint32_t kMostUnacknowledged = 32'000;  // RFC 5043 section 5.2.1: 32,767, and what this end adds

struct SessionCommand : Payload {
  enum class Op : std::uint8_t { kListen, kConnect, kAccept, kReject, kClose, kAbort, kSegment };
  friend const ValueWords& value_words(Op) {
    static const ValueWords kWords{"listen", "connect", "accept", "reject", "close", "abort", "segment"};
    return kWords;
  }
  Op op = Op::kListen;
  std::uint16_t stream = 0;
  fw::SessionPolicy policy;

  static constexpr const char* kMessage = "session_command";
  template <class V, class M>
  static void fields(V& v, M& m) {
    auto& p = m.policy;
    v("op", 3, m.op);
    v("stream", 16, m.stream);
    v("enhanced", 1, p.enhanced);
    v("peer_to_peer", 1, p.peer_to_peer);
    v("rtr_send", 1, p.rtr.send);
    v("rtr_write", 1, p.rtr.write);
    v("rtr_read", 1, p.rtr.read);
    v("rtr_order", 8, p.rtr_order);
    v("ird", 16, p.ird);
    v("ord", 16, p.ord);
    v("max_ird", 16, p.max_ird);
    v("negotiate_ird", 1, p.negotiate_ird);
    v("negotiate_ord", 1, p.negotiate_ord);
    v("need_ord", 16, p.need_ord);
    v("reject_without_rtr", 1, p.reject_without_rtr);
  }
};
// What the host hears; the octets are the peer's private data.
struct SessionTold : Payload {
  SessionEnd::Told told;
  bool has_word = false;
  wire::MpaEnhanced word;  // the peer's

  static constexpr const char* kMessage = "session_event";
  template <class V, class M>
  static void fields(V& v, M& m) {
    v("kind", 5, m.told.kind);
    v("stream", 16, m.told.stream);
    v("error", 3, m.told.error);
    v("ird", 16, m.told.ird);
    v("ord", 16, m.told.ord);
    v("rtr", 2, m.told.rtr);
    v("absorbs_rtr_send", 1, m.told.absorbs_rtr_send);
    v("has_word", 1, m.has_word);
    v("peer_to_peer", 1, m.word.peer_to_peer);
    v("peer_ird", 14, m.word.ird);
    v("peer_ord", 14, m.word.ord);
  }
};
// A DDP segment, in the order of its stream.
struct SessionSegment : Payload {
  std::uint16_t ddp_ssn = 0;

  static constexpr const char* kMessage = "session_segment";
  template <class V, class M>
  static void fields(V& v, M& m) {
    v("ddp_ssn", 16, m.ddp_ssn);
  }
};

struct SctpSessionBench final : Bench {
  struct Config {
    std::uint16_t streams = sctp::StreamLimits{}.streams;
    template <class V>
    static void fields(V& v) {
      v("streams", &Config::streams, "DDP streams of the association", in_range(1, 1024), unit("streams"));
    }
  };
  explicit SctpSessionBench(const Config& c) : Bench(DatapathConfig{}.beat_bytes), end({}, limits(c)) {
    in<SessionCommand>("command", [this](const SessionCommand& m) { command(m); });
    in<UserMessage>("peer", [this](const UserMessage& m) { receive(m); });
    in<Acknowledged>("acknowledged", [this](const Acknowledged& m) { acknowledge(m.stream); });
    sent = &out<UserMessage>("to_peer");
    events = &out<SessionTold>("event");
    segments = &out<SessionSegment>("delivered");
  }

 private:
  static sctp::StreamLimits limits(const Config& c) {
    sctp::StreamLimits limits;
    limits.streams = c.streams;
    return limits;
  }
  void check_stream(std::uint16_t stream) {
    const unsigned streams = end.streams().limits().streams;
    require(stream < streams, fmt::format("the association has streams 0 to {}, and no {}", streams - 1, stream));
    require(end.streams().unacknowledged(stream) < kMostUnacknowledged,
            fmt::format("stream {} has {} chunks that are not acknowledged", stream, kMostUnacknowledged));
  }
  static void check(const SessionCommand& m) {
    const fw::SessionPolicy& p = m.policy;
    require(std::max({p.ird, p.ord, p.max_ird, p.need_ord}) <= kMostDepth,
            fmt::format("session_command: IRD and ORD are up to {} (RFC 6581 section 4)", kMostDepth));
    const std::size_t most = m.op == SessionCommand::Op::kSegment ? kMostUserData - wire::kDdpSsnBytes : kMostPrivate;
    require(m.octets.size() <= most, fmt::format("session_command: it has more than {} octets", most));
  }
  void command(const SessionCommand& m) {
    using Op = SessionCommand::Op;
    check(m);
    check_stream(m.stream);
    switch (m.op) {
      case Op::kListen:
        end.listener = m.policy;
        break;
      case Op::kConnect:
        end.connect(m.stream, m.policy, m.octets);
        break;
      case Op::kAccept:
        end.accept(m.stream, m.octets);
        break;
      case Op::kReject:
        end.reject(m.stream, m.octets);
        break;
      case Op::kClose:
      case Op::kAbort:
        end.close(m.stream, m.op == Op::kClose);
        break;
      case Op::kSegment:
        require(end.state(m.stream) == fw::SessionState::kOpen,
                fmt::format("session_command: stream {} has no session that is open", m.stream));
        end.send_segment(m.stream, m.octets);
        break;
    }
    collect();
  }
  void receive(const UserMessage& m) {
    require(m.octets.size() <= kMostUserData,
            fmt::format("sctp_user_message: it has more than {} octets", kMostUserData));
    if (m.stream < end.streams().limits().streams) check_stream(m.stream);
    end.receive({m.stream, m.ppid, m.octets, m.unordered});
    collect();
  }
  void acknowledge(std::uint16_t stream) {
    const unsigned streams = end.streams().limits().streams;
    require(stream < streams && end.streams().unacknowledged(stream) != 0,
            fmt::format("sctp_acknowledged: no chunk of stream {} waits for that", stream));
    end.acknowledge(stream);
    collect();
  }
  void collect() {
    for (SessionEnd::Message& message : end.take_sent()) {
      UserMessage m;
      m.octets = std::move(message.user_data);
      m.stream = message.stream;
      m.ppid = message.ppid;
      m.unordered = message.unordered;
      sent->push_back(std::move(m));
    }
    for (SessionEnd::Told& told : std::exchange(end.told, {})) {
      SessionTold event;
      event.octets = told.private_data;
      event.has_word = told.word.has_value();
      event.word = told.word.value_or(wire::MpaEnhanced{});
      event.told = std::move(told);
      events->push_back(std::move(event));
    }
    end.placed.clear();
    for (const std::vector<std::uint8_t>& octets : std::exchange(end.delivered, {})) {
      SessionSegment segment;
      segment.ddp_ssn = load_be16(octets.data());
      segment.octets.assign(octets.begin() + wire::kDdpSsnBytes, octets.end());
      segments->push_back(std::move(segment));
    }
  }

  SessionEnd end;
  std::deque<UserMessage>* sent;
  std::deque<SessionTold>* events;
  std::deque<SessionSegment>* segments;
};

}  // namespace

void add_session_kinds(std::vector<Kind>& to) {
  to.push_back(kind<SctpSessionBench>(
      "sctp_session", "DDP stream sessions of an association (RFC 5043 section 6, RFC 6581 section 7)"));
}

}  // namespace rnic::golden
