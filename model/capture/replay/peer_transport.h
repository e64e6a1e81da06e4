// What a captured peer talks over: one connection with the model that carries a stream of octets, in the form that MPA
// gives it, each way.
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

  virtual void open() = 0;    // begins the set-up
  virtual void listen() = 0;  // answers the model's
  virtual void refuse() = 0;  // answers it by a RST, or an ABORT
  // Queues octets: a startup frame, or whole FPDUs; they share no segment with those of another call.
  virtual void send(ByteSpan octets) = 0;
  virtual void close() = 0;  // after everything queued
  virtual void abort() = 0;

  // The payload of an IPv4 packet of the model. False: it is for nobody here.
  virtual bool packet(std::uint8_t protocol, ByteSpan octets, std::uint64_t now_ps) = 0;
  // Sends what may be sent, again what was not acknowledged in time.
  virtual void advance(std::uint64_t now_ps) = 0;

  virtual bool established() const = 0;
  virtual bool refused() const = 0;  // by the model, before it was established
  virtual bool peer_closed() const = 0;
  virtual bool over() const = 0;
  virtual std::size_t acked() const = 0;  // octets of send()
  virtual std::string error() const = 0;  // what of the model does not belong on this transport; empty: nothing
};

}  // namespace rnic::replay
