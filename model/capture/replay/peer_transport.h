// The transport of a captured peer: one connection with the model that carries an MPA stream each way.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "model/common/bytes.h"

namespace rnic::replay {

class PeerTransport {
 public:
  static constexpr std::uint64_t kRetransmitPs = 2'000'000'000;  // 2 ms without an acknowledgement

  virtual ~PeerTransport() = default;

  virtual void open() = 0;    // starts the set-up
  virtual void listen() = 0;  // answers the model's set-up
  virtual void refuse() = 0;  // answers it with a RST or ABORT
  // Queues a startup frame or complete FPDUs; octets of different calls share no segment.
  virtual void send(ByteSpan octets) = 0;
  virtual void close() = 0;  // after everything queued
  virtual void abort() = 0;

  // Takes the payload of an IPv4 packet of the model. False if it is not for this endpoint.
  virtual bool packet(std::uint8_t protocol, ByteSpan octets, std::uint64_t now_ps) = 0;
  // Sends what may be sent, and retransmits what was not acknowledged in time.
  virtual void advance(std::uint64_t now_ps) = 0;

  virtual bool established() const = 0;
  virtual bool refused() const = 0;  // by the model, before it was established
  virtual bool peer_closed() const = 0;
  virtual bool over() const = 0;
  virtual std::size_t acked() const = 0;  // octets of send()
  virtual std::string error() const = 0;  // the model's error on this transport; empty: none
};

}  // namespace rnic::replay
