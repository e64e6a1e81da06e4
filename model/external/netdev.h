// The network device beside the RDMA device of a card, as far as a peer needs one: answers ARP and ICMP echo for the
// card's address, and learns the peer's MAC address, for which the chip has only a placeholder.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <optional>

#include "model/common/buffer.h"
#include "model/rnic/boundary/ethernet_socket.h"
#include "model/rnic/llp/link_address.h"
#include "model/world/device.h"

namespace rnic::external {

struct NetdevCounters {
  std::uint64_t arp_requests = 0, arp_answers = 0, echo_answers = 0, unresolved_drops = 0;
  template <class V>
  static void fields(V& v) {
    v("arp_requests", &NetdevCounters::arp_requests, "frames", "ARP requests for the peer's MAC address");
    v("arp_answers", &NetdevCounters::arp_answers, "frames", "ARP replies");
    v("echo_answers", &NetdevCounters::echo_answers, "frames", "ICMP echo replies");
    v("unresolved_drops", &NetdevCounters::unresolved_drops, "frames",
      "oldest frames dropped, as too many waited for ARP");
  }
};

// Lies between chip and cable and adds no latency to the chip's frames.
class Netdev final : public sc_core::sc_module {
 public:
  // The device's response time, and the interval between its ARP requests.
  static constexpr std::uint64_t kAnswerPs = 1'000'000, kAskPs = 1'000'000'000'000;
  static constexpr std::size_t kWaiting = 64;  // frames for a neighbour that is not yet known

  // The station's only neighbour is the peer, with a placeholder for the MAC address to be learnt.
  Netdev(sc_core::sc_module_name nm, const LinkAddress& station);

  // Goes before the chip's port; returns the port to join to the cable.
  EthernetPort before(EthernetPort chip);

  const NetdevCounters& counters() const { return counters_; }

 private:
  struct Side final : EthernetTarget {
    using Handler = void (Netdev::*)(const Frame&, std::uint64_t);
    Side(Netdev& n, const char* name, Handler h) : EthernetTarget(name), netdev(n), handler(h) {}
    void on_frame(const Frame& frame, std::uint64_t at_ps) override { (netdev.*handler)(frame, at_ps); }
    Netdev& netdev;
    const Handler handler;
  };
  void sent(const Frame& frame, std::uint64_t at_ps);
  void received(const Frame& frame, std::uint64_t at_ps);
  void take_arp(const Frame& frame, std::uint64_t at_ps);
  bool answer_echo(const Frame& frame, std::uint64_t at_ps);
  void ask(std::uint64_t at_ps);
  void forward(const Frame& frame, std::uint64_t at_ps);
  Frame copy(const Frame& frame);

  const LinkAddress station_;
  const Neighbour& peer_;
  std::optional<wire::MacAddress> peer_mac_;
  EthernetInitiator to_wire_{"to_wire"}, to_chip_{"to_chip"};
  std::deque<Frame> waiting_;
  std::optional<std::uint64_t> asked_ps_;
  BufferPool buffers_;
  NetdevCounters counters_;
  Side wire_{*this, "from_wire", &Netdev::received};
  Side chip_{*this, "from_chip", &Netdev::sent};
};

}  // namespace rnic::external
