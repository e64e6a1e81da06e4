// Two hosts, two chips, one cable, and several streams between them; each program is a list of steps.
#pragma once

#include <functional>
#include <numeric>
#include <string>
#include <vector>

#include "model/cable/cable_faults.h"
#include "model/host/session/session.h"
#include "model/rnic/llp/link_address.h"
#include "model/system/node.h"
#include "testbench/support/stage_test.h"

namespace rnic::test {

// A program with one region and some queue pairs. It drains its completion queues and its channel, and then repeats the
// current step until the step returns true.
class End final : public host::App {
 public:
  static constexpr std::uint16_t kPort = 7471;
  static constexpr std::uint32_t kBytes = 1 << 16;
  struct Stream {
    host::Cq* cq = nullptr;
    host::Qp* qp = nullptr;
    std::vector<host::CmEvent> events;
    std::vector<host::Wc> completions;
    bool polls = true;

    bool ended() const { return !events.empty() && events.back().type == host::CmEventType::kDisconnected; }
    std::vector<host::CmEventType> event_types() const {
      std::vector<host::CmEventType> types;
      for (const host::CmEvent& e : events) types.push_back(e.type);
      return types;
    }
    std::vector<std::uint64_t> succeeded() const {
      std::vector<std::uint64_t> ids;
      for (const host::Wc& wc : completions) {
        if (wc.status == abi::WcStatus::kSuccess) ids.push_back(wc.wr_id);
      }
      return ids;
    }
    std::vector<abi::WcStatus> statuses() const {
      std::vector<abi::WcStatus> all;
      for (const host::Wc& wc : completions) all.push_back(wc.status);
      return all;
    }
  };

  explicit End(Node& n) : node(n), core(n.cpu.add(*this)), channel(core) {
    node.context.when_open(core);
    then([this] { return node.context.is_open(); });
    run([this] {
      pd = node.context.alloc_pd();
      address = node.memory.alloc(kBytes, 4096);
      mr = node.context.reg_mr(pd, address, kBytes, access);
    });
  }
  End& then(std::function<bool()> step) {
    steps_.push_back(std::move(step));
    core.wake_at(0);
    return *this;
  }
  End& run(std::function<void()> step) {
    return then([=] { return step(), true; });
  }
  End& wait_us(std::uint64_t us) {
    return then([this, us, until = std::uint64_t{0}]() mutable {
      if (until == 0) until = core.time_ps() + us * 1'000'000;
      core.wake_at(until);
      return core.time_ps() >= until;
    });
  }

  // Each has its own completion queue, unless `shared` names the stream whose queue it uses.
  End& create(std::uint32_t cqe, host::CqOverrun overrun = host::CqOverrun::kPrevented, int shared = -1,
              abi::StreamAttr stream = {}) {
    const std::size_t n = created_++;
    run([=] {
      streams.resize(n + 1);
      streams[n].cq = shared < 0 ? node.context.create_cq(cqe, host::CqMode::kPolled, overrun) : streams[shared].cq;
      streams[n].polls = overrun == host::CqOverrun::kPrevented;
      host::QpInitAttr attr;
      attr.pd = pd;
      attr.send_cq = attr.recv_cq = streams[n].cq;
      attr.max_send_wr = attr.max_recv_wr = 16;
      attr.stream = stream;
      streams[n].qp = node.context.create_qp(attr);
    });
    return then([=] { return (streams[n].qp->ready() || streams[n].qp->failed()) && mr->ready(); });
  }
  End& listen(std::size_t streams_to_come) {
    run([this] { node.context.listen(kPort, flags, channel); });
    return then(
        [=] { return accepted_ == streams_to_come && streams[accepted_ - 1].qp->state() == host::QpState::kRts; });
  }
  End& connect(std::size_t n, std::uint32_t ip) {
    run([=] {
      host::ConnParam param;
      param.flags = flags;
      node.context.connect(*streams[n].qp, ip, kPort, param, channel);
    });
    return then([=] { return streams[n].qp->state() == host::QpState::kRts; });
  }

  host::SendWr request(std::uint64_t id, abi::WrOpcode opcode, std::uint32_t offset, std::uint32_t bytes) const {
    return host::send_request(id, opcode, host::part_of(*mr, offset, bytes));
  }
  void post_receives(std::size_t n, std::uint64_t first_id, unsigned count) {
    for (std::uint64_t id = first_id; id < first_id + count; ++id) {
      EXPECT_EQ(streams[n].qp->post_recv(host::receive_request(id, host::part_of(*mr, 0, 1024))), 0);
    }
  }
  MutableByteSpan memory(std::uint32_t offset, std::uint32_t bytes) {
    return node.memory.span(address + offset, bytes);
  }
  void poll(Stream& s) {
    host::Wc wc;
    while (s.cq->poll_cq(&wc, 1) == 1) {
      for (Stream& of : streams) {
        if (of.qp->number().v == wc.qp_num) of.completions.push_back(wc);
      }
    }
  }

  void step() override {
    while (!channel.empty()) take(channel.get_cm_event());
    for (Stream& s : streams) {
      if (s.polls && s.qp != nullptr && s.qp->ready()) poll(s);
    }
    while (next_ < steps_.size() && steps_[next_]()) ++next_;
  }
  bool done() const { return next_ == steps_.size(); }
  std::string waiting_for() const override { return done() ? "" : "step " + std::to_string(next_); }

  Node& node;
  host::Core& core;
  host::EventChannel channel;
  host::Pd pd;
  host::Mr* mr = nullptr;
  std::uint64_t address = 0;
  std::uint8_t access = abi::kLocalWrite | abi::kRemoteWrite | abi::kRemoteRead;  // to the region
  std::vector<Stream> streams;
  std::uint8_t flags = abi::kCmCrc | abi::kCmEnhanced;  // for listen and connect
  std::vector<host::CmEvent> never_accepted;            // setups that failed before their accept
  bool holds_requests = false;                          // for a step to answer
  std::vector<host::CmEvent> requests;

 private:
  void take(host::CmEvent event) {
    if (event.type == host::CmEventType::kConnectRequest && holds_requests) return requests.push_back(std::move(event));
    if (event.type == host::CmEventType::kConnectRequest) {
      node.context.accept(event.connection, *streams[accepted_++].qp, {}, channel);
      return;
    }
    if (event.qp == nullptr) return never_accepted.push_back(std::move(event));
    for (Stream& s : streams) {
      if (s.qp == event.qp) return s.events.push_back(std::move(event));
    }
  }
  std::vector<std::function<bool()>> steps_;
  std::size_t next_ = 0, created_ = 0, accepted_ = 0;
};

class TwoNodes : public testing::Test {
 protected:
  static constexpr std::uint32_t kServerIp = 0x0a000001, kClientIp = 0x0a000002;
  static LinkAddress station(std::uint32_t ip, std::uint8_t last, std::uint32_t peer_ip, std::uint8_t peer_last) {
    const auto mac = [](std::uint8_t n) { return wire::MacAddress{{2, 0, 0, 0, 0, n}}; };
    return {mac(last), wire::Ipv4Address{ip}, {{wire::Ipv4Address{peer_ip}, mac(peer_last)}}, last};
  }
  explicit TwoNodes(const NodeConfig& server_config = {}, const NodeConfig& client_config = {},
                    const EthernetLinkConfig& cable_config = {})
      : a("a", server_config, station(kServerIp, 1, kClientIp, 2)),
        b("b", client_config, station(kClientIp, 2, kServerIp, 1)),
        cable("cable", cable_config),
        faults(cable_config, 1) {
    faults.attach(cable, 0, a.chip.mac_tx.ethernet, a.chip.mac_rx);
    faults.attach(cable, 1, b.chip.mac_tx.ethernet, b.chip.mac_rx);
    a.set_lookahead(0, 500'000);
    b.set_lookahead(0, 500'000);
  }

  Node a, b;
  EthernetLink cable;
  CableFaults faults;
};

class TwoNodeBench : public TwoNodes {
 protected:
  static constexpr std::uint32_t kMoved = 5000;
  using TwoNodes::TwoNodes;
  // Connects the client's streams in order; the server's must exist already.
  void connect(std::size_t streams) {
    server.listen(streams);
    client.wait_us(20);  // the server listens by then
    for (std::size_t n = 0; n < streams; ++n) client.connect(n, kServerIp);
  }
  // The client does a Write and a Read on a stream.
  void move_octets(std::size_t stream) {
    client.run([=] {
      const MutableByteSpan octets = client.memory(0, kMoved);
      std::iota(octets.data(), octets.data() + kMoved, std::uint8_t{1});
      host::SendWr write = client.request(100, abi::WrOpcode::kRdmaWrite, 0, kMoved);
      host::SendWr read = client.request(101, abi::WrOpcode::kRdmaRead, 2 * kMoved, kMoved);
      write.remote_addr = read.remote_addr = server.address + kMoved;
      write.rkey = read.rkey = server.mr->rkey();
      EXPECT_EQ(client.streams[stream].qp->post_send(write), 0);
      EXPECT_EQ(client.streams[stream].qp->post_send(read), 0);
    });
    client.then([=] { return client.streams[stream].completions.size() == 2; });
  }
  // The stream has seen nothing else at either end.
  void expect_octets_moved(std::size_t stream) {
    EXPECT_THAT(client.streams[stream].succeeded(), testing::ElementsAre(100, 101));
    const MutableByteSpan sent = client.memory(0, kMoved), back = client.memory(2 * kMoved, kMoved);
    EXPECT_TRUE(std::equal(sent.data(), sent.data() + kMoved, back.data()));
    for (const End* end : {&server, &client}) {
      EXPECT_EQ(end->streams[stream].qp->state(), host::QpState::kRts);
      EXPECT_THAT(end->streams[stream].event_types(), testing::ElementsAre(host::CmEventType::kEstablished));
    }
  }
  void run() {
    sc_core::sc_start(sc_core::sc_time(20, sc_core::SC_MS), sc_core::SC_EXIT_ON_STARVATION);
    EXPECT_TRUE(server.done()) << "server: " << server.waiting_for();
    EXPECT_TRUE(client.done()) << "client: " << client.waiting_for();
  }

  End server{a}, client{b};
};

}  // namespace rnic::test
