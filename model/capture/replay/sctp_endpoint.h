// A small SCTP (RFC 9260, 5043) that a test can trust: one association with one DDP stream session, on a cable without
// losses other than the other end's drops.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "model/capture/replay/peer_transport.h"
#include "model/wire/mpa_frame.h"
#include "model/wire/sctp.h"

namespace rnic::replay {

class SctpEndpoint final : public PeerTransport {
 public:
  struct Config {
    std::uint16_t port = 0, peer_port = 0;  // peer_port is for open(); a listener takes the INIT's
    std::uint32_t tag = 1, tsn = 1;
    wire::MpaFrameKind startup = wire::MpaFrameKind::kRequest;  // of this side's control message
  };
  using Emit = std::function<void(ByteSpan packet)>;
  using Deliver = std::function<void(ByteSpan octets)>;  // in MPA's form

  SctpEndpoint(const Config& config, Emit emit, Deliver deliver);

  void open() override;    // sends INIT
  void listen() override;  // answers one
  void refuse() override;  // answers it with ABORT
  void send(ByteSpan octets) override;
  void close() override;  // a session Terminate after everything queued, unless the session was rejected
  void abort() override;  // ABORT

  bool packet(std::uint8_t protocol, ByteSpan octets, std::uint64_t now_ps) override;
  void advance(std::uint64_t now_ps) override;

  bool established() const override { return state_ == State::kEstablished; }
  bool refused() const override { return refused_; }
  bool peer_closed() const override { return terminated_ || rejected_ || over(); }
  bool over() const override { return state_ == State::kOver; }
  std::size_t acked() const override { return acked_ == 0 ? 0 : queue_[acked_ - 1].end; }
  std::string error() const override { return error_; }

 private:
  enum class State : std::uint8_t {
    kClosed,
    kListen,
    kRefuse,
    kCookieWait,
    kCookieEchoed,
    kEstablished,
    kShutdownSent,
    kShutdownAckSent,
    kOver,
  };
  struct Queued {
    std::uint32_t ppid = 0;
    std::vector<std::uint8_t> user_data;
    std::size_t end = 0;  // octets of send() up to and including this message
  };

  void queue(std::uint32_t ppid, std::vector<std::uint8_t> user_data);
  std::uint16_t next_ssn() const { return static_cast<std::uint16_t>(queue_.size()); }
  void queue_startup(ByteSpan frame);
  bool session_over() const;

  void take(const wire::SctpHeader& header, const wire::SctpChunk& chunk, std::uint64_t now_ps);
  void take_init(const wire::SctpHeader& header, const wire::SctpChunk& chunk);
  void take_data(const wire::SctpChunk& chunk);
  void take_message(std::uint32_t ppid, ByteSpan user_data);
  void take_control(ByteSpan user_data);
  void acknowledged(std::uint32_t cumulative_tsn, std::uint64_t now_ps);
  void wrong(const char* what);

  template <class Fill>
  void put(Fill fill);
  void put_chunk(wire::SctpChunkType type, ByteSpan value = {});
  void put_data(std::size_t n);
  void put_step();

  const Config config_;
  const Emit emit_;
  const Deliver deliver_;
  State state_ = State::kClosed;
  bool opener_ = false;
  std::uint16_t peer_port_;
  std::uint32_t peer_tag_ = 0, rcv_next_ = 0, window_ = 0;
  std::uint16_t expected_ssn_ = 0;
  std::vector<std::uint8_t> cookie_;  // the peer's
  std::vector<Queued> queue_;         // all messages ever sent; the index is the DDP-SSN
  std::size_t octets_ = 0, sent_ = 0, acked_ = 0;
  bool sack_due_ = false, refused_ = false, closing_ = false;
  bool terminated_ = false;  // by the peer
  bool rejected_ = false;    // by either side
  std::uint64_t progress_ps_ = 0;
  std::string error_;
  std::vector<std::uint8_t> packet_;
};

}  // namespace rnic::replay
