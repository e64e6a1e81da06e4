// The queue pairs of one host share a receive queue; another host sends to all of them.
#include <functional>
#include <map>
#include <memory>
#include <utility>

#include "model/abi/rnic_regs.h"
#include "model/cable/ethernet_link.h"
#include "model/common/description.h"
#include "model/common/prng.h"
#include "model/host/driver/host_trace.h"
#include "model/host/session/session.h"
#include "model/rnic/llp/link_address.h"
#include "model/system/chip_trace.h"
#include "model/system/latency_breakdown.h"
#include "model/system/node.h"
#include "model/system/tlp_trace.h"
#include "testbench/support/stage_test.h"

namespace rnic::test {
namespace {

constexpr std::uint32_t kServerIp = 0x0a000001, kClientIp = 0x0a000002;
constexpr std::uint16_t kPort = 7471;
constexpr unsigned kStreams = 3;
constexpr std::uint32_t kBytes = 4000;  // per message: three segments

LinkAddress station(std::uint32_t ip, std::uint8_t last, std::uint32_t peer_ip, std::uint8_t peer_last) {
  const auto mac = [](std::uint8_t n) { return wire::MacAddress{{2, 0, 0, 0, 0, n}}; };
  LinkAddress s{mac(last), wire::Ipv4Address{ip}, {{wire::Ipv4Address{peer_ip}, mac(peer_last)}}};
  s.node = last;
  return s;
}
// Octet i of message m of a stream.
std::uint8_t octet(unsigned stream, unsigned m, std::uint32_t i) {
  return static_cast<std::uint8_t>(31 * stream + 7 * m + i + i / 256);
}

// Opens the device, makes the objects that each program needs, and then runs the subclass's part.
class Program : public host::App {
 public:
  Program(Node& node, bool shares_rq) : shares(shares_rq), node_(node), core_(node.cpu.add(*this)), channel_(core_) {
    node.context.when_open(core_);
    core_.wake_at(0);
  }
  void step() override {
    if (!node_.context.is_open()) return;
    if (cq == nullptr) create();
    if (!cq->ready() || !mr->ready() || (shares && !srq->ready())) return;
    if (qps.empty()) create_queue_pairs();
    for (const host::Qp* qp : qps) {
      if (!qp->ready()) return;
    }
    while (!channel_.empty()) take(channel_.get_cm_event());
    host::Wc wc;
    while (cq->poll_cq(&wc, 1) == 1) completed(wc);
    run();
  }
  virtual void run() = 0;
  virtual void take(host::CmEvent event) { events.push_back(std::move(event)); }
  virtual void completed(const host::Wc& wc) { completions.push_back(wc); }
  std::string waiting_for() const override { return "test"; }
  host::Sge sge(unsigned buffer) const { return {address + buffer * kBytes, kBytes, mr->lkey()}; }
  MutableByteSpan octets(unsigned buffer) { return node_.memory.span(address + buffer * kBytes, kBytes); }

  static constexpr unsigned kBuffers = 64;
  bool shares;
  host::Cq* cq = nullptr;
  host::Mr* mr = nullptr;
  host::Srq* srq = nullptr;
  std::vector<host::Qp*> qps;
  std::uint64_t address = 0;
  std::vector<host::CmEvent> events;
  std::vector<host::Wc> completions;

 protected:
  Node& node_;
  host::Core& core_;
  host::EventChannel channel_;

 private:
  void create() {
    pd_ = node_.context.alloc_pd();
    cq = node_.context.create_cq(1024, host::CqMode::kPolled);
    address = node_.memory.alloc(kBuffers * kBytes);
    mr = node_.context.reg_mr(pd_, address, kBuffers * kBytes, abi::kLocalWrite);
    if (shares) srq = node_.context.create_srq({pd_, 16});
  }
  void create_queue_pairs() {
    host::QpInitAttr attr;
    attr.pd = pd_;
    attr.send_cq = attr.recv_cq = cq;
    attr.srq = srq;
    for (unsigned i = 0; i < kStreams; ++i) qps.push_back(node_.context.create_qp(attr));
  }
  host::Pd pd_;
};

// A program overwrites its posted requests.
void fill_with_garbage(Node& node, std::uint64_t ring, unsigned entries) {
  Prng prng(7);
  const MutableByteSpan octets = node.memory.span(ring, entries * abi::kWqeBytes);
  for (std::size_t i = 0; i < octets.size(); ++i) octets[i] = static_cast<std::uint8_t>(prng.below(256));
}

// Fills the queue with `posted` buffers, arms its limit, and refills it on the limit event.
class Server final : public Program {
 public:
  explicit Server(Node& node) : Program(node, true) {}
  unsigned posted = 6, refill = 0;
  bool garbage = false;
  std::function<void()> mischief;  // done once, when the last stream is up
  std::uint32_t limit = 0;
  unsigned limit_events = 0;
  std::uint32_t armed = 0;                                       // the limit that a query returned
  std::map<std::uint32_t, std::vector<std::uint64_t>> received;  // buffers, by queue pair
  void run() override {
    if (listener_ == nullptr) {
      shares ? post(posted) : post_own();
      // Before the doorbell arrives.
      if (garbage) fill_with_garbage(node_, shares ? srq->base() : qps[1]->rq().base(), shares ? posted : 2);
      if (limit != 0) node_.context.modify_srq(*srq, limit);
      if (shares) node_.context.query_srq(*srq);
      listener_ = &node_.context.listen(kPort, abi::kCmCrc | abi::kCmMarkers | abi::kCmEnhanced, channel_);
    }
    if (mischief && qps.back()->state() == host::QpState::kRts) std::exchange(mischief, nullptr)();
    if (!shares) return;
    if (srq->answered() && armed == 0) armed = srq->queried_limit();
    if (!srq->get_limit_event()) return;
    ++limit_events;
    post(refill);
    node_.context.query_srq(*srq);
  }
  void take(host::CmEvent event) override {
    if (event.type == host::CmEventType::kConnectRequest) {
      node_.context.accept(event.connection, *qps[accepted_++], {}, channel_);
    }
    Program::take(std::move(event));
  }
  void completed(const host::Wc& wc) override {
    if (wc.status == abi::WcStatus::kSuccess) received[wc.qp_num].push_back(wc.wr_id);
    Program::completed(wc);
  }

 private:
  void post(unsigned buffers) {
    for (unsigned i = 0; i < buffers; ++i, ++next_) {
      host::RecvWr wr;
      wr.wr_id = next_;
      wr.num_sge = 1;
      wr.sg_list[0] = sge(next_);
      EXPECT_EQ(srq->post_recv(wr), 0);
    }
  }
  // Two for each queue pair, each in the buffer with its number.
  void post_own() {
    for (; next_ < 2 * kStreams; ++next_) {
      host::RecvWr wr;
      wr.wr_id = next_;
      wr.num_sge = 1;
      wr.sg_list[0] = sge(next_);
      EXPECT_EQ(qps[next_ / 2]->post_recv(wr), 0);
    }
  }
  host::Listener* listener_ = nullptr;
  unsigned accepted_ = 0, next_ = 0;
};

// Connects its queue pairs one after the other, then sends `messages` on each: one on all before the next.
class Client final : public Program {
 public:
  explicit Client(Node& node) : Program(node, false) {}
  unsigned messages = 2;
  void run() override {
    core_.wake_at(20'000'000);  // the server listens by then
    if (core_.time_ps() < 20'000'000) return;
    if (connecting_ == 0 || (connecting_ < kStreams && qps[connecting_ - 1]->state() == host::QpState::kRts)) {
      host::ConnParam param;
      param.flags = abi::kCmCrc | abi::kCmMarkers | abi::kCmEnhanced;
      node_.context.connect(*qps[connecting_++], kServerIp, kPort, param, channel_);
    }
    if (connecting_ < kStreams || qps[kStreams - 1]->state() != host::QpState::kRts) return;
    if (sent_ == messages || completions.size() < sent_ * kStreams) return;
    for (unsigned s = 0; s < kStreams; ++s) send(s, sent_);
    ++sent_;
  }

 private:
  void send(unsigned stream, unsigned m) {
    const unsigned buffer = stream * messages + m;
    for (std::uint32_t i = 0; i < kBytes; ++i) octets(buffer)[i] = octet(stream, m, i);
    const host::SendWr wr = host::send_request(m, abi::WrOpcode::kSend, sge(buffer));
    qps[stream]->post_send(wr);  // refused once its stream is over
  }
  unsigned connecting_ = 0, sent_ = 0;
};

class SharedReceiveQueueEndToEnd : public testing::Test {
 protected:
  Node a{"a", {}, station(kServerIp, 1, kClientIp, 2)};
  Node b{"b", {}, station(kClientIp, 2, kServerIp, 1)};
  EthernetLink cable{"cable", {}};
  Server server{a};
  Client client{b};
  SharedReceiveQueueEndToEnd() {
    cable.attach(0, a.chip.mac_tx.ethernet, a.chip.mac_rx);
    cable.attach(1, b.chip.mac_tx.ethernet, b.chip.mac_rx);
    a.set_lookahead(0, 500'000);
    b.set_lookahead(0, 500'000);
  }
  void run() { sc_core::sc_start(sc_core::sc_time(20, sc_core::SC_MS), sc_core::SC_EXIT_ON_STARVATION); }
  // Every stream has ended with this cause, and the chip still works.
  void expect_all_ended(wire::TerminateCause cause) {
    unsigned errors = 0, ends = 0;
    for (const host::CmEvent& e : server.events) {
      ends += e.type == host::CmEventType::kDisconnected;
      if (e.type != host::CmEventType::kQpError) continue;
      ++errors;
      EXPECT_EQ(e.terminate.cause, cause);
    }
    EXPECT_EQ(errors, kStreams);
    EXPECT_EQ(ends, kStreams);
    for (const host::Qp* qp : server.qps) EXPECT_EQ(qp->state(), host::QpState::kError);
  }
  unsigned stream_of(std::uint32_t qpn) const {
    for (unsigned s = 0; s < kStreams; ++s) {
      if (server.qps[s]->number().v == qpn) return s;
    }
    ADD_FAILURE() << "a completion of QP " << qpn;
    return 0;
  }
};

class OwnReceiveQueuesEndToEnd : public SharedReceiveQueueEndToEnd {
 protected:
  OwnReceiveQueuesEndToEnd() { server.shares = false; }
  void expect_one_ended(wire::TerminateCause cause) {
    unsigned errors = 0;
    for (const host::CmEvent& e : server.events) {
      if (e.type != host::CmEventType::kQpError) continue;
      ++errors;
      EXPECT_EQ(e.qp, server.qps[1]);
      EXPECT_EQ(e.terminate.cause, cause);
    }
    EXPECT_EQ(errors, 1u);
    EXPECT_EQ(server.qps[0]->state(), host::QpState::kRts);
    EXPECT_EQ(server.qps[1]->state(), host::QpState::kError);
    EXPECT_EQ(server.qps[2]->state(), host::QpState::kRts);
  }
};

// The traces of a run with --breakdown and a transaction log.
class SharedReceiveQueueTraced : public SharedReceiveQueueEndToEnd {
 protected:
  struct Traced {
    Traced(Node& node, LatencyBreakdown& breakdown, TraceSink& log)
        : recorder({node.name(), node.core_clk.period_ps()}), ps_recorder({node.name(), 1}) {
      for (Recorder* const r : {&recorder, &ps_recorder}) {
        r->attach_timing(breakdown);
        r->attach(log, true);
      }
      node.describe(Description(parts));
      chip = std::make_unique<ChipTrace>(parts, recorder);
      host = std::make_unique<host::HostTrace>(node.cpu, node.chip.contexts(), ps_recorder);
      tlps = std::make_unique<TlpTrace>(parts, ps_recorder);
    }
    Recorder recorder, ps_recorder;
    Described parts;
    std::unique_ptr<ChipTrace> chip;
    std::unique_ptr<host::HostTrace> host;
    std::unique_ptr<TlpTrace> tlps;
  };
  struct Log final : TraceSink {
    void event(const TraceDomain&, const TraceEvent& e) override { events.push_back(e); }
    std::vector<TraceEvent> events;
  };
  Log log;
  LatencyBreakdown breakdown{{"a", "b"}};
  Traced traced_a{a, breakdown, log}, traced_b{b, breakdown, log};
};

TEST_F(SharedReceiveQueueTraced, ItsRequestsAreBrokenDown) {
  run();
  std::map<RequestId::Kind, unsigned> requests;
  for (std::size_t i = 0; i < breakdown.requests(); ++i) {
    const LatencyBreakdown::Request r = breakdown.request(i);
    ++requests[r.id.kind()];
    std::uint64_t sum = 0;
    std::map<std::string, std::uint64_t> parts;
    for (const auto& [part, ps] : r.parts) {
      sum += ps;
      parts[part] = ps;
    }
    EXPECT_EQ(sum, r.total_ps);
    if (r.id.kind() != RequestId::Kind::kSharedReceive) continue;
    for (const char* part : {"RQE fetch", "no message", "message", "ddp_placement", "CQE write", "poll"}) {
      EXPECT_EQ(parts.count(part), 1u) << part;
    }
    EXPECT_GT(parts["no message"], 1'000'000u) << "the streams are set up meanwhile";
  }
  EXPECT_EQ(requests[RequestId::Kind::kSend], 6u);
  EXPECT_EQ(requests[RequestId::Kind::kSharedReceive], 6u);
}

// A doorbell of the queue belongs to the newest request that it announces.
TEST_F(SharedReceiveQueueTraced, ItsDoorbellsHaveOwners) {
  run();
  const std::uint64_t doorbell = a.chip.config().pcie.link.bar0_address + regs::SrqDoorbell::kOffset;
  std::vector<std::uint64_t> newest;
  for (const TraceEvent& e : log.events) {
    if (e.kind != TraceKind::kTlpWrite || e.address() != doorbell) continue;
    EXPECT_EQ(e.request.kind(), RequestId::Kind::kSharedReceive);
    newest.push_back(e.request.sequence());
  }
  EXPECT_EQ(newest, (std::vector<std::uint64_t>{0, 1, 2, 3, 4, 5}));
}

TEST_F(SharedReceiveQueueEndToEnd, EachMessageIsInTheBufferThatItsCompletionNames) {
  run();
  ASSERT_EQ(server.completions.size(), 6u);
  std::vector<bool> seen(6);
  for (const auto& [qpn, buffers] : server.received) {
    const unsigned s = stream_of(qpn);
    ASSERT_EQ(buffers.size(), 2u);
    for (unsigned m = 0; m < 2; ++m) {
      ASSERT_LT(buffers[m], 6u);
      seen[buffers[m]] = true;
      const MutableByteSpan got = server.octets(static_cast<unsigned>(buffers[m]));
      for (std::uint32_t i = 0; i < kBytes; ++i) ASSERT_EQ(got[i], octet(s, m, i)) << "stream " << s << " octet " << i;
    }
  }
  EXPECT_EQ(seen, std::vector<bool>(6, true));
  EXPECT_EQ(client.completions.size(), 6u);
}

TEST_F(SharedReceiveQueueEndToEnd, ALimitEventLetsTheHostRefillTheQueueInTime) {
  client.messages = 5;
  server.posted = 12;
  server.limit = 10;
  server.refill = 4;
  run();
  EXPECT_EQ(server.armed, 10u);
  EXPECT_EQ(server.limit_events, 1u) << "it is disarmed by its event";
  EXPECT_EQ(server.srq->queried_limit(), 0u);
  ASSERT_EQ(server.completions.size(), 15u);
  for (const host::Wc& wc : server.completions) EXPECT_EQ(wc.status, abi::WcStatus::kSuccess);
  EXPECT_EQ(server.srq->free(), 16u - (12 + 4 - 15));
}

// The stream that finds the queue empty ends; its host hears why, and the other streams get all their messages.
TEST_F(SharedReceiveQueueEndToEnd, AnEmptyQueueCostsOnlyTheStreamThatNeededIt) {
  server.posted = 5;
  run();
  unsigned errors = 0;
  for (const host::CmEvent& e : server.events) {
    if (e.type != host::CmEventType::kQpError) continue;
    ++errors;
    EXPECT_EQ(e.terminate.cause, wire::ddp::kInvalidMsnNoBuffer);
  }
  EXPECT_EQ(errors, 1u);
  unsigned complete = 0;
  for (const auto& [qpn, buffers] : server.received) complete += buffers.size() == 2;
  EXPECT_EQ(complete, kStreams - 1);
  EXPECT_EQ(server.completions.size(), 5u) << "nothing is flushed that was not taken";
}

TEST_F(SharedReceiveQueueEndToEnd, AnOverrunEndsTheQueueAndAllThatUseIt) {
  client.messages = 0;
  server.mischief = [this] {
    a.cpu.mmio_write(regs::SrqDoorbell::kOffset, regs::SrqDoorbell{server.srq->number().v, 17}.pack());
  };
  run();
  EXPECT_TRUE(server.srq->in_error());
  expect_all_ended(wire::rdma::kLocalCatastrophic);
  EXPECT_TRUE(server.completions.empty()) << "nobody had taken anything";
}

TEST_F(SharedReceiveQueueEndToEnd, GarbageInTheRingEndsTheStreamsThatMeetIt) {
  server.garbage = true;
  client.messages = 1;
  run();
  expect_all_ended(wire::ddp::kLocalCatastrophic);
  EXPECT_FALSE(server.srq->in_error());
  ASSERT_EQ(server.completions.size(), kStreams);
  for (const host::Wc& wc : server.completions) EXPECT_EQ(wc.status, abi::WcStatus::kWrFlushErr);
}

// The same with a ring for each queue pair: only the stream at fault ends.
TEST_F(OwnReceiveQueuesEndToEnd, AnOverrunEndsItsStreamOnly) {
  client.messages = 0;
  server.mischief = [this] {
    a.cpu.mmio_write(regs::RqDoorbell::kOffset, regs::RqDoorbell{server.qps[1]->number().v, 129}.pack());
  };
  run();
  expect_one_ended(wire::rdma::kLocalCatastrophic);
  ASSERT_EQ(server.completions.size(), 2u) << "what was posted, and nothing of what was not";
  for (const host::Wc& wc : server.completions) EXPECT_EQ(wc.status, abi::WcStatus::kWrFlushErr);
}
TEST_F(OwnReceiveQueuesEndToEnd, GarbageInTheRingEndsItsStreamOnly) {
  client.messages = 1;
  server.garbage = true;
  run();
  expect_one_ended(wire::ddp::kLocalCatastrophic);
  std::vector<std::uint64_t> flushed;
  for (const host::Wc& wc : server.completions) {
    if (wc.status == abi::WcStatus::kWrFlushErr) flushed.push_back(wc.wr_id);
  }
  EXPECT_THAT(flushed, testing::ElementsAre(2, 3)) << "in their order, whatever their octets say";
}

}  // namespace
}  // namespace rnic::test
