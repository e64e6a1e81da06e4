// One chip, a host that does as a script asks, and a peer built by hand. The script, in the peer's process, drives
// everything.
#pragma once

#include <cstdio>
#include <deque>
#include <functional>
#include <utility>
#include <vector>

#include "model/cable/ethernet_link.h"
#include "model/host/session/session.h"
#include "model/system/node.h"
#include "testbench/support/raw_peer.h"
#include "testbench/support/stage_test.h"

namespace rnic::test {

// Its program checks for work once a microsecond, and keeps the device's reports.
class GuardHost final : public host::App {
 public:
  explicit GuardHost(Node& node) : node_(node), core_(node.cpu.add(*this)), channel_(core_) { core_.wake_at(0); }

  std::function<void()> todo;           // run once, in the program, and then empty
  std::deque<host::Qp*> accepting;      // for the next connections
  std::vector<host::Cq*> cqs;           // to be polled
  std::vector<host::Wc> completions;    // in the order of polling
  std::vector<host::CmEvent> events;    // of connections
  bool stays = false;                   // a refusal leaves the stream for another request
  std::vector<std::uint8_t> on_reject;  // private data of a refusal; without accepting QPs all are refused
  host::ConnParam accept_with;          // the parameters of an accept
  std::function<void()> watch;          // called in each step, after the step has taken its events
  bool stopped = false;
  host::EventChannel& channel() { return channel_; }

  void step() override {
    if (!stopped) core_.wake_at(core_.time_ps() + 1'000'000);
    if (!node_.context.is_open()) return;
    while (!channel_.empty()) take(channel_.get_cm_event());
    host::Wc wc;
    for (host::Cq* cq : cqs) {
      while (cq->poll_cq(&wc, 1) == 1) completions.push_back(wc);
    }
    if (watch) watch();
    if (todo) std::exchange(todo, {})();
  }
  std::string waiting_for() const override { return "test"; }

 private:
  void take(host::CmEvent event) {
    if (event.type != host::CmEventType::kConnectRequest) return events.push_back(std::move(event));
    if (accepting.empty()) {
      node_.context.reject(event.connection, {on_reject.data(), on_reject.size()}, 0, stays);
      return;
    }
    node_.context.accept(event.connection, *accepting.front(), accept_with, channel_);
    accepting.pop_front();
  }
  Node& node_;
  host::Core& core_;
  host::EventChannel channel_;
};

class GuardBench : public testing::Test {
 protected:
  static constexpr std::uint32_t kChipIp = 0x0a000001, kPeerIp = 0x0a000002;
  static constexpr std::uint16_t kPort = 7471;
  static constexpr wire::MacAddress kChipMac{{2, 0, 0, 0, 0, 1}}, kPeerMac{{2, 0, 0, 0, 0, 2}};

  explicit GuardBench(const NodeConfig& config = {})
      : node("a", config, {kChipMac, wire::Ipv4Address{kChipIp}, {{wire::Ipv4Address{kPeerIp}, kPeerMac}}}) {
    cable.attach(0, node.chip.mac_tx.ethernet, node.chip.mac_rx);
    cable.attach(1, peer.out, peer.in());
    node.set_lookahead(0, 500'000);
  }
  void run(std::function<void()> script, unsigned longest_ms = 50) {
    peer.run([this, script] {
      script();
      host.stopped = true;
    });
    sc_core::sc_start(sc_core::sc_time(longest_ms, sc_core::SC_MS), sc_core::SC_EXIT_ON_STARVATION);
    EXPECT_TRUE(peer.done()) << "the script waits for ever";
  }

  // To be called in the script.
  void in_host(std::function<void()> what) {
    host.todo = std::move(what);
    while (host.todo) peer.wait_us(1);
  }
  bool await(const std::function<bool()>& condition, unsigned us = 1000) {
    for (; us != 0 && !condition(); --us) peer.wait_us(1);
    return condition();
  }
  void open() {
    in_host([this] {
      host.cqs.push_back(node.context.create_cq(1024, host::CqMode::kPolled));
      node.context.listen(kPort, abi::kCmCrc | abi::kCmMarkers | abi::kCmEnhanced, host.channel());
    });
    EXPECT_TRUE(await([this] { return host.cqs[0]->ready(); }));
  }
  host::Pd domain() {
    host::Pd pd;
    in_host([&] { pd = node.context.alloc_pd(); });
    return pd;
  }
  host::Mr& region(host::Pd pd, std::uint64_t address, std::uint64_t bytes, unsigned access) {
    host::Mr* mr = nullptr;
    in_host([&] { mr = node.context.reg_mr(pd, address, bytes, static_cast<std::uint8_t>(access)); });
    EXPECT_TRUE(await([&] { return mr->ready(); }));
    return *mr;
  }
  // An STag for a kRegMr request, and a window.
  host::Mr& entry(host::Pd pd) {
    host::Mr* mr = nullptr;
    in_host([&] { mr = node.context.alloc_mr(pd); });
    EXPECT_TRUE(await([&] { return mr->ready(); }));
    return *mr;
  }
  host::Mr& window(host::Pd pd, unsigned type) {
    host::Mr* mw = nullptr;
    in_host([&] { mw = node.context.alloc_mw(pd, type); });
    EXPECT_TRUE(await([&] { return mw->ready(); }));
    return *mw;
  }
  host::Qp& queue_pair(host::Pd pd) {
    host::Qp* qp = nullptr;
    in_host([&] {
      host::QpInitAttr attr;
      attr.pd = pd;
      attr.send_cq = attr.recv_cq = host.cqs[0];
      attr.max_send_wr = attr.max_recv_wr = 8;
      qp = node.context.create_qp(attr);
    });
    EXPECT_TRUE(await([&] { return qp->ready(); }));
    return *qp;
  }
  void post_receive(host::Qp& qp, std::uint64_t id, std::uint64_t address, std::uint32_t bytes, std::uint32_t lkey) {
    const host::RecvWr wr = host::receive_request(id, {address, bytes, lkey});
    in_host([&] { EXPECT_EQ(qp.post_recv(wr), 0); });
  }
  void post(host::Qp& qp, const host::SendWr& wr) {
    in_host([&] { EXPECT_EQ(qp.post_send(wr), 0); });
  }
  const host::Wc* completion(std::uint64_t id) const {
    for (const host::Wc& wc : host.completions) {
      if (wc.wr_id == id) return &wc;
    }
    return nullptr;
  }
  // Posts the request with this identifier and waits for its completion.
  void carry_out(host::Qp& qp, host::SendWr wr, std::uint64_t id) {
    wr.wr_id = id;
    wr.send_flags |= abi::kWqeSignaled;
    post(qp, wr);
    ASSERT_TRUE(await([&] { return completion(id) != nullptr; }));
    ASSERT_EQ(completion(id)->status, abi::WcStatus::kSuccess);
  }
  // A request of revision 1 that asks for markers and CRC; then an empty Write, so that the chip may send.
  RawStream& connect(host::Qp& qp) {
    host.accepting.push_back(&qp);
    RawStream& s = peer.connect();
    EXPECT_EQ(s.start(from_hex("4D504120494420526571204672616D65 C001 0000")),
              from_hex("4D504120494420526570204672616D65 C001 0000"));
    s.send_ulpdu(from_hex("C140 00000000 0000000000000000"));
    EXPECT_TRUE(await([&] { return qp.state() == host::QpState::kRts; }));
    return s;
  }
  std::uint64_t memory(std::uint32_t bytes) {
    const std::uint64_t address = node.memory.alloc(bytes, 64);
    MutableByteSpan octets = node.memory.span(address, bytes);
    for (std::size_t i = 0; i < bytes; ++i) octets.data()[i] = static_cast<std::uint8_t>(7 * i + i / 256);
    return address;
  }
  Bytes octets_at(std::uint64_t address, std::size_t bytes) {
    const MutableByteSpan octets = node.memory.span(address, bytes);
    return {octets.data(), octets.data() + bytes};
  }

  Node node;
  EthernetLink cable{"cable", {}};
  RawPeer peer{"peer", {{2, 0, 0, 0, 0, 2}, {2, 0, 0, 0, 0, 1}, kPeerIp, kChipIp, kPort, kPort}};
  GuardHost host{node};
};

// Segments by hand.
template <class... Field>
Bytes octets(const char* control, Field... fields) {
  Bytes b = from_hex(control);
  const auto put = [&b](std::uint64_t value, unsigned bytes) {
    while (bytes-- != 0) b.push_back(static_cast<std::uint8_t>(value >> 8 * bytes));
  };
  (put(fields, sizeof fields), ...);
  return b;
}
inline Bytes operator+(Bytes a, const Bytes& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}
inline Bytes tagged(const char* control, std::uint32_t stag, std::uint64_t to, const Bytes& payload = {}) {
  return octets(control, stag, to) + payload;
}
inline Bytes untagged(const char* control, std::uint32_t rsvd, std::uint32_t qn, std::uint32_t msn,
                      const Bytes& payload = {}) {
  return octets(control, rsvd, qn, msn, std::uint32_t{0}) + payload;
}
inline Bytes read_request(std::uint32_t msn, std::uint32_t sink_stag, std::uint64_t sink_to, std::uint32_t size,
                          std::uint32_t src_stag, std::uint64_t src_to) {
  return untagged("4141", 0, 1, msn, octets("", sink_stag, sink_to, size, src_stag, src_to));
}
// RFC 5040 section 4.8 and figure 10: cause is layer, type and code as four hex digits.
inline Bytes terminate(const char* cause, const Bytes& failing) {
  const Bytes word = from_hex(cause);
  const bool protection = word[0] == 0x01, tagged = failing[0] >= 0x80;
  const bool read = !tagged && (failing[1] & 0xf) == 1 && protection;
  const std::size_t header = tagged ? 14 : read ? 46 : 18;
  return from_hex("4147 00000000 00000002 00000001 00000000") + word + from_hex(read ? "E000" : "C000") +
         octets("", static_cast<std::uint16_t>(failing.size())) +
         Bytes(failing.begin(), failing.begin() + static_cast<std::ptrdiff_t>(header));
}

}  // namespace rnic::test
