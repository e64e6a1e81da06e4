// A small TCP (RFC 9293) that a test can trust: one connection, on a cable without losses other than the other end's
// drops.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <string>
#include <vector>

#include "model/capture/replay/peer_transport.h"
#include "model/common/bytes.h"
#include "model/wire/tcp.h"

namespace rnic::replay {

class TcpEndpoint final : public PeerTransport {
 public:
  struct Config {
    std::uint16_t port = 0, peer_port = 0;  // peer_port is for open(); a listener takes the SYN's
    std::uint32_t isn = 1;
    std::uint16_t mss = 1460;  // declared to the peer
  };
  using Emit = std::function<void(const wire::TcpHeader& header, ByteSpan payload)>;
  using Deliver = std::function<void(ByteSpan octets)>;

  TcpEndpoint(const Config& config, Emit emit, Deliver deliver);

  void open() override;    // sends SYN
  void listen() override;  // answers one
  void refuse() override;  // answers it with RST
  void send(ByteSpan octets) override;
  void close() override;  // FIN after everything queued
  void abort() override;  // RST

  bool packet(std::uint8_t protocol, ByteSpan octets, std::uint64_t now_ps) override;
  void segment(const wire::TcpView& segment, std::uint64_t now_ps);
  void advance(std::uint64_t now_ps) override;

  bool established() const override { return state_ == State::kEstablished; }
  bool refused() const override { return refused_; }
  bool peer_closed() const override { return fin_received_ || state_ == State::kReset; }
  bool over() const override { return state_ == State::kReset || (fin_received_ && fin_acked_); }
  std::size_t acked() const override { return acked_; }
  std::string error() const override { return {}; }

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
  bool refused_ = false;
  bool fin_queued_ = false, fin_sent_ = false, fin_acked_ = false, fin_received_ = false;
  std::uint64_t progress_ps_ = 0;
};

}  // namespace rnic::replay
