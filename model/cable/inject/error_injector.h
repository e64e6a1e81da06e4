// Changes messages in flight on a cable, as a scenario's `inject` says. See inject.md.
#pragma once

#include <array>
#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "model/cable/cable_event.h"
#include "model/cable/inject/chunk_bender.h"
#include "model/cable/inject/stream_bender.h"
#include "model/cable/tcp_frame.h"
#include "model/common/buffer.h"
#include "model/rnic/boundary/ethernet_socket.h"
#include "model/world/device.h"

namespace rnic::inject {

// Lies between both stations' transmitters and the cable, before all faults of the link. Passes unchanged frames on as
// they are, at the same time.
class ErrorInjector final : public sc_core::sc_module {
 public:
  ErrorInjector(sc_core::sc_module_name nm, std::vector<Injection> injections);

  // Takes a port's frames before the cable's end does; returns the port to join to that end.
  EthernetPort before(unsigned end, EthernetPort port);
  // Is told of each injection that takes effect. Before the simulation.
  void tell(CableTap& tap) { tap_ = &tap; }
  // The injections that did not take effect, by name and with the reason.
  std::vector<std::string> failures() const;

 private:
  struct Way final : EthernetTarget {
    Way(ErrorInjector& i, unsigned n, const char* in_name, const char* out_name)
        : EthernetTarget(in_name), out(out_name), injector(i), end(n) {}
    void on_frame(const Frame& frame, std::uint64_t at_ps) override { injector.pass(*this, frame, at_ps); }
    EthernetInitiator out;
    ErrorInjector& injector;
    const unsigned end;
  };
  // The sending side of a TCP connection or an SCTP association.
  struct Side {
    Side(wire::MpaFrameKind startup, const std::vector<Order*>& orders) : stream(startup, orders), chunks(orders) {}
    StreamBender stream;
    ChunkBender chunks;
    std::optional<std::uint32_t> first;  // sequence number of the first octet
    std::uint64_t newest = 0;            // octet of the stream, to place sequence numbers
  };
  // The first connection to a port named by injections; later ones are not changed.
  struct Connection {
    std::uint16_t port = 0;
    unsigned listener = 0;                       // its end
    std::uint16_t peer_port = 0;                 // of the other side, once it has sent
    std::optional<std::uint16_t> session;        // the stream of an association's first session
    std::array<std::unique_ptr<Side>, 2> sides;  // by end
  };
  void pass(Way& way, Frame frame, std::uint64_t at_ps);
  void tell_done(unsigned end, const Frame& frame, std::uint64_t at_ps);
  void bend(unsigned end, Frame& frame);
  void bend_packet(unsigned end, Frame& frame);
  static void close(const Side& side, std::uint64_t at, TcpFrame& tcp);
  Connection* connection_of(unsigned end, std::uint16_t src_port, std::uint16_t dst_port);
  static std::uint64_t place(const Side& side, std::uint32_t seq);

  const std::vector<Injection> injections_;
  std::deque<Order> orders_;
  std::vector<Connection> connections_;
  std::array<std::unique_ptr<Way>, 2> ways_;
  BufferPool copies_;
  CableTap* tap_ = nullptr;
};

}  // namespace rnic::inject
