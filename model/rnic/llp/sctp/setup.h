// One SCTP association: set-up, tags, heartbeat, shutdown and abort (RFC 9260 sections 4, 5, 8 and 9; association.md).
// DATA and SACK chunks are passed on to DataSender and DataReceiver.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "model/common/bytes.h"
#include "model/common/cycle.h"
#include "model/rnic/llp/sctp/cookie.h"
#include "model/rnic/llp/sctp/endpoint.h"
#include "model/rnic/llp/sctp/outcome.h"
#include "model/wire/sctp.h"

namespace rnic::sctp {

// What the association's sender and receiver report.
struct DataProgress {
  std::uint32_t cumulative_tsn = 0;  // received
  bool drained = true;               // all our data is acknowledged
};

class Setup {
 public:
  enum class State : std::uint8_t {
    kClosed,
    kCookieWait,
    kCookieEchoed,
    kEstablished,
    kShutdownPending,
    kShutdownSent,
    kShutdownReceived,
    kShutdownAckSent,
  };
  // For a peer's cookie, which is kept until it is acknowledged. Those of Linux and libusrsctp have a few hundred
  // octets.
  static constexpr std::size_t kMaxPeerCookie = 1024;

  explicit Setup(Endpoint& endpoint) : endpoint_(endpoint) {}

  State state() const { return state_; }
  const Ends& ends() const { return ends_; }
  const Terms& terms() const { return terms_; }
  bool takes_host_data() const { return state_ == State::kEstablished; }
  // Whether this side opened the present association, or is opening it. The two ends of an association that is up never
  // both say yes: if both opened it at the same time, the smaller tag decides.
  bool initiator() const { return initiator_; }

  // The host's requests. Each clears `out` and fills it.
  void connect(const Ends& ends, Cycle now, Outcome& out);  // of a closed one
  void shutdown(const DataProgress& progress, Cycle now, Outcome& out);
  void abort(wire::SctpCause cause, ByteSpan information, Outcome& out);
  // ERROR for a chunk that was passed on, such as DATA of a stream that does not exist.
  void report(wire::SctpCause cause, ByteSpan information, Outcome& out);

  // A packet from `ends`.
  void receive(const Received& packet, Cycle now, Outcome& out);
  // The packet from which Endpoint::receive() made this cookie; the association is closed.
  void accept(const Cookie& cookie, const Received& packet, Cycle now, Outcome& out);
  // After the chunks of a packet have been passed on, and whenever our data was acknowledged: sends what the shutdown
  // was waiting for.
  void proceed(const DataProgress& progress, Cycle now, Outcome& out);
  // A timer that was stopped in the meantime does nothing.
  void expired(SetupTimer timer, Cycle now, Outcome& out);

  // From the sender: the timeout it has measured, and that DATA was acknowledged, so the peer is alive.
  void set_rto(Cycle rto) { rto_ = rto; }
  void data_acknowledged(Cycle now);

 private:
  using Chunk = wire::SctpChunk;
  using ChunkType = wire::SctpChunkType;

  Outcome::Header to_peer() const { return {ends_.port, ends_.peer_port, terms_.peer_tag}; }
  bool opening() const { return state_ == State::kCookieWait || state_ == State::kCookieEchoed; }
  Endpoint::Own own() const { return {terms_.own_tag, terms_.own_tsn, endpoint_.limits_.streams}; }
  void tell(SetupEvent::Kind kind, Outcome& out, std::uint16_t cause = 0, ByteSpan information = {}) const;
  void unexpected() { ++endpoint_.counters_.unexpected; }

  void start(SetupTimer timer, Cycle at, Outcome& out);
  void stop(SetupTimer timer, Outcome& out);
  bool running(SetupTimer timer) const { return (running_ & 1u << static_cast<unsigned>(timer)) != 0; }
  void close(Outcome& out);
  void fail(wire::SctpCause cause, Outcome& out);
  void give_up(Outcome& out);

  void send_init(Cycle now, Outcome& out, std::uint32_t preservative_ms = 0);
  void send_cookie(Cycle now, Outcome& out);
  void send_shutdown(Cycle now, Outcome& out);
  void send_shutdown_ack(Cycle now, Outcome& out);
  void send_heartbeat(Cycle now, Outcome& out);
  void await_idle(Cycle now, Outcome& out);

  // False: the rest of the packet is ignored.
  bool on_chunk(const Chunk& chunk, const Received& packet, Cycle now, Outcome& out);
  void on_chunks(wire::SctpChunks chunks, const Received& packet, Cycle now, Outcome& out);
  void on_init(const Chunk& chunk, const Received& packet, Cycle now, Outcome& out);
  void on_init_ack(const Chunk& chunk, const Received& packet, Cycle now, Outcome& out);
  bool on_cookie_echo(const Chunk& chunk, const Received& packet, Cycle now, Outcome& out);
  void on_data(const Chunk& chunk, Outcome& out);
  void on_sack(const Chunk& chunk, Outcome& out);
  void on_heartbeat(const Chunk& chunk, Outcome& out);
  void on_heartbeat_ack(const Chunk& chunk, Cycle now, Outcome& out);
  void on_abort(const Chunk& chunk, Outcome& out);
  void on_error(const Chunk& chunk, Cycle now, Outcome& out);
  void on_shutdown(const Chunk& chunk, Cycle now, Outcome& out);
  bool on_unknown(const Chunk& chunk, Outcome& out);
  void adopt(const Cookie& cookie, SetupEvent::Kind kind, Cycle now, Outcome& out);
  void establish(SetupEvent::Kind kind, Cycle now, Outcome& out);

  Endpoint& endpoint_;
  State state_ = State::kClosed;
  std::uint8_t running_ = 0;  // timers, one bit each
  bool initiator_ = false;
  bool shutdown_asked_ = false;  // before the association was up
  bool answer_data_ = false;     // with SHUTDOWN: DATA came in SHUTDOWN-SENT
  bool heartbeat_out_ = false;   // not answered yet
  std::uint8_t retries_ = 0;     // of T1 and T2
  std::uint8_t missed_ = 0;      // consecutive heartbeats
  std::uint8_t stale_ = 0;       // our cookies that the peer called stale
  Ends ends_;
  Terms terms_;
  std::uint32_t cumulative_tsn_ = 0;  // for SHUTDOWN
  Cycle peer_known_at_ = 0;           // since when terms_ have the peer's tag
  Cycle rto_ = 0;                     // 0: not measured
  Cycle active_at_ = 0;               // DATA was acknowledged
  Cycle heartbeat_at_ = 0;
  std::uint64_t heartbeat_nonce_ = 0;
  std::uint16_t cookie_bytes_ = 0;
  std::array<std::uint8_t, kMaxPeerCookie> cookie_{};  // the peer's
};

}  // namespace rnic::sctp
