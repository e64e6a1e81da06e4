// A small TCP (RFC 9293) that a test can trust: one connection, on a cable that loses nothing but what the other end
// drops.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <vector>

#include "model/common/bytes.h"
#include "model/wire/tcp.h"

namespace rnic::replay {

class TcpEndpoint {
 public:
  struct Config {
    std::uint16_t port = 0, peer_port = 0;  // the peer's, to open; one who listens takes that of the SYN
    std::uint32_t isn = 1;
    std::uint16_t mss = 1460;  // told to the peer
  };
  using Emit = std::function<void(const wire::TcpHeader& header, ByteSpan payload)>;
  using Deliver = std::function<void(ByteSpan octets)>;

  static constexpr std::uint64_t kRetransmitPs = 2'000'000'000;  // 2 ms without an acknowledgement

  TcpEndpoint(const Config& config, Emit emit, Deliver deliver);

  void open();    // sends SYN
  void listen();  // answers one
  void refuse();  // answers it with RST
  // Queues octets; they share no segment with those of another call.
  void send(ByteSpan octets);
  void close();  // FIN behind all that was queued
  void abort();  // RST

  void segment(const wire::TcpView& segment, std::uint64_t now_ps);
  // Sends what may be sent, again what was not acknowledged in time.
  void advance(std::uint64_t now_ps);

  bool established() const { return state_ == State::kEstablished; }
  bool peer_closed() const { return fin_received_ || state_ == State::kReset; }
  bool over() const { return state_ == State::kReset || (fin_received_ && fin_acked_); }
  bool was_reset() const { return state_ == State::kReset; }
  std::size_t acked() const { return acked_; }  // octets of send()

 private:
  enum class State : std::uint8_t { kClosed, kListen, kRefuse, kSynSent, kSynReceived, kEstablished, kReset };

  void take_syn(const wire::TcpHeader& syn);
  void take_ack(const wire::TcpHeader& header, std::uint64_t now_ps);
  void take_payload(const wire::TcpView& segment);
  void put(std::uint8_t flags, std::uint32_t seq, ByteSpan payload = {});
  std::uint32_t seq_at(std::size_t octet) const { return config_.isn + 1 + static_cast<std::uint32_t>(octet); }

  const Config config_;
  std::uint16_t peer_port_;
  const Emit emit_;
  const Deliver deliver_;
  State state_ = State::kClosed;
  std::vector<std::uint8_t> queue_;  // all octets ever sent
  std::deque<std::size_t> cuts_;     // ends of send() calls beyond sent_
  std::size_t sent_ = 0, acked_ = 0;
  std::uint32_t window_ = 0;
  std::uint8_t window_shift_ = 0;
  std::size_t peer_mss_ = 536;
  std::uint32_t rcv_next_ = 0;
  bool fin_queued_ = false, fin_sent_ = false, fin_acked_ = false, fin_received_ = false;
  std::uint64_t progress_ps_ = 0;
};

}  // namespace rnic::replay
