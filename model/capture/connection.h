// One TCP connection from its SYN on: reassembles both directions and applies the outcome of MPA's start-up to them.
#pragma once

#include <array>
#include <cstdint>

#include "model/capture/iwarp_stream.h"
#include "model/capture/segment.h"
#include "model/capture/side.h"
#include "model/capture/tcp_reassembly.h"
#include "model/capture/undecoded.h"

namespace rnic::capture {

// Sees a connection as its two receivers do: without segments dropped for a wrong checksum. Observers override what
// they want to see.
class ConnectionObserver {
 public:
  virtual void segment(Side /*from*/, const Segment& /*segment*/) {}
  // New octets of a side's stream, each once and in order; `at` is that of the frame that brought them.
  virtual void octets(Side /*from*/, ByteSpan /*octets*/, const Place& /*at*/) {}
  // Each FPDU once, in the order of the stream.
  virtual void fpdu(Side /*from*/, const SeenFpdu& /*fpdu*/) {}

 protected:
  ~ConnectionObserver() = default;
};

class Connection {
 public:
  // `observer` may be nullptr.
  Connection(const Endpoint& initiator, const Endpoint& responder, UndecodedList& undecoded,
             ConnectionObserver* observer = nullptr);

  const Endpoint& initiator() const { return initiator_; }
  const Endpoint& responder() const { return responder_; }
  const IwarpStream& stream(Side from) const { return directions_[static_cast<std::size_t>(from)].stream; }
  const TcpReassembly& tcp(Side from) const { return directions_[static_cast<std::size_t>(from)].tcp; }

  // True if the initial sequence number differs from this side's first SYN, or if no SYN was seen before: a new
  // connection on the same ports.
  bool is_another(const Segment& syn) const;

  // Takes a segment of either direction; false if a receiver would drop it for its checksum.
  bool segment(const Segment& segment);
  void finish();

 private:
  struct Direction {
    Direction(wire::MpaFrameKind startup, const std::string& name, UndecodedList& undecoded,
              IwarpStream::Observe observe)
        : stream(startup, name, undecoded, std::move(observe)) {}
    TcpReassembly tcp;
    IwarpStream stream;
    bool offloaded = false;    // the sender offloads checksums to its NIC and was captured before it
    bool told_no_syn = false;  // reported once
  };
  IwarpStream::Observe observe(Side from);
  Direction& direction(Side from) { return directions_[static_cast<std::size_t>(from)]; }
  bool dropped(const Direction& from, const Segment& segment) const;
  void open(Direction& from, Direction& to, const Segment& syn);
  void negotiate();

  const Endpoint initiator_, responder_;
  UndecodedList& undecoded_;
  ConnectionObserver* const observer_;
  std::array<Direction, 2> directions_;
};

}  // namespace rnic::capture
