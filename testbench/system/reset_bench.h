// Two hosts whose devices are reset during traffic, again and again: whatever a chip was doing, it is like new
// afterwards.
#pragma once

#include <array>
#include <optional>

#include <gmock/gmock.h>

#include "model/common/description.h"
#include "model/common/prng.h"
#include "model/system/chip_trace.h"
#include "model/trace/digest.h"
#include "testbench/system/two_node_bench.h"

namespace rnic::test {

// A program that makes all its objects again in each round, connects or listens, and keeps requests of every kind in
// progress in its direction until all are done.
class Worker final : public host::App {
 public:
  explicit Worker(Node& n) : node(n), core_(n.cpu.add(*this)), channel_(core_) {
    node.context.when_open(core_);
    memory_ = node.memory.alloc(2 * kSlots * kSlot, 4096);
    core_.wake_at(0);
  }
  // 0: listens.
  void begin(std::uint64_t at_ps, std::uint32_t peer_ip, Worker& peer, bool errs = false) {
    errs_ = errs;
    peer_ = &peer;
    peer_ip_ = peer_ip;
    start_ps_ = at_ps;
    phase_ = Phase::kStarts;
    core_.wake_at(at_ps);
  }
  void reset_at(std::uint64_t at_ps) {
    reset_ps_ = at_ps;
    core_.wake_at(at_ps);
  }
  bool done() const { return completed == kRequests; }
  std::string waiting_for() const override { return ""; }

  void step() override {
    if (core_.time_ps() >= reset_ps_) {
      reset_ps_ = kNever;
      amid += completed != 0 && !done();
      phase_ = Phase::kRest;
      while (!channel_.empty()) channel_.get_cm_event();
      errors += !node.context.error().empty();
      EXPECT_EQ(reset_kind ? node.context.reset(*reset_kind) : node.context.reset(), 0);
      if (on_reset) on_reset();
      return;
    }
    while (!channel_.empty()) take(channel_.get_cm_event());
    if (!node.context.is_open()) return;
    switch (phase_) {
      case Phase::kRest:
        return;
      case Phase::kStarts:
        if (core_.time_ps() < start_ps_) return core_.wake_at(start_ps_);
        make();
        [[fallthrough]];
      case Phase::kMakes:
        if (!qp_->ready() || !mr_->ready() || (shared_queues && !srqs_.back()->ready())) return;
        for (unsigned i = 0; i < 2 * kSlots; ++i) receive();
        if (peer_ip_ == 0) node.context.listen(kPort, abi::kCmCrc | abi::kCmMarkers | abi::kCmEnhanced, channel_);
        else core_.wake_at(core_.time_ps() + 20'000'000);
        connect_ps_ = core_.time_ps() + 20'000'000;
        phase_ = Phase::kSetsUp;
        return;
      case Phase::kSetsUp:
        if (peer_ip_ == 0 || core_.time_ps() < connect_ps_) return;
        phase_ = Phase::kConnects;
        EXPECT_EQ(node.context.connect(*qp_, peer_ip_, kPort, param(), channel_), 0);
        return;
      case Phase::kConnects:
        return;
      case Phase::kWorks:
        return work();
    }
  }

  static constexpr unsigned kRequests = 60;
  Node& node;
  unsigned completed = 0;
  unsigned amid = 0;                          // resets during traffic,
  unsigned errors = 0;                        // and of a device that had failed
  bool in_pages = false;                      // its region is a list of pages
  bool two_queues = false;                    // receives complete on their own
  bool shared_queues = false;                 // receives come from a shared queue; two more are rung for nobody
  std::optional<host::ResetKind> reset_kind;  // of the resets; none: CONTROL.RESET
  std::function<void()> on_reset;
  std::vector<host::CmEventType> ends;  // of connections

 private:
  static constexpr std::uint16_t kPort = 7471;
  static constexpr std::uint32_t kSlot = 8192, kSlots = 8;
  enum class Phase { kRest, kStarts, kMakes, kSetsUp, kConnects, kWorks };
  static host::ConnParam param() {
    host::ConnParam p;
    p.flags = abi::kCmCrc | abi::kCmMarkers | abi::kCmEnhanced;
    return p;
  }
  void make() {
    phase_ = Phase::kMakes;
    posted_ = completed = 0;
    cq_ = receive_cq_ = node.context.create_cq(256, host::CqMode::kPolled);
    if (two_queues) receive_cq_ = node.context.create_cq(256, host::CqMode::kPolled);
    const host::Pd pd = node.context.alloc_pd();
    constexpr std::uint8_t kRights = abi::kLocalWrite | abi::kRemoteWrite | abi::kRemoteRead | abi::kRemoteAtomic;
    constexpr std::uint64_t kBytes = 2 * kSlots * kSlot;
    host::PageList list{12, 0, {}};
    for (std::uint64_t at = 0; at < kBytes; at += 4096) list.pages.push_back(memory_ + at);
    mr_ = in_pages ? node.context.reg_mr(pd, list, memory_, kBytes, kRights)
                   : node.context.reg_mr(pd, memory_, kBytes, kRights);
    host::QpInitAttr attr;
    attr.pd = pd;
    attr.send_cq = cq_;
    attr.recv_cq = receive_cq_;
    attr.max_send_wr = attr.max_recv_wr = 32;
    for (host::Srq*& srq : srqs_) srq = shared_queues ? node.context.create_srq({pd, 128}) : nullptr;
    attr.srq = srqs_[0];
    qp_ = node.context.create_qp(attr);
  }
  void take(const host::CmEvent& event) {
    if (phase_ == Phase::kRest) return;
    if (event.type == host::CmEventType::kConnectRequest) {
      node.context.accept(event.connection, *qp_, param(), channel_);  // it may be gone: the peer was reset
    } else if (event.type == host::CmEventType::kEstablished) {
      phase_ = Phase::kWorks;
    } else {
      ends.push_back(event.type);
      phase_ = Phase::kRest;
    }
  }
  void receive() {
    const host::RecvWr wr = host::receive_request(0, host::part_of(*mr_, 0, kSlot));
    if (!shared_queues) {
      EXPECT_EQ(qp_->post_recv(wr), 0);
    }
    for (host::Srq* srq : srqs_) {
      if (srq != nullptr) {
        EXPECT_EQ(srq->post_recv(wr), 0);
      }
    }
  }
  void work() {
    host::Wc wc;
    while (cq_->poll_cq(&wc, 1) == 1 || receive_cq_->poll_cq(&wc, 1) == 1) {
      if (wc.status != abi::WcStatus::kSuccess) continue;
      if (wc.opcode == abi::WcOpcode::kRecv) receive();
      else ++completed;
    }
    while (posted_ < kRequests && posted_ < completed + kSlots) post();
  }
  void post() {
    static constexpr abi::WrOpcode kKinds[] = {abi::WrOpcode::kSend, abi::WrOpcode::kRdmaWrite,
                                               abi::WrOpcode::kRdmaRead, abi::WrOpcode::kFetchAdd};
    const abi::WrOpcode kind = kKinds[posted_ % std::size(kKinds)];
    const std::uint32_t slot = posted_ % kSlots * kSlot;
    const std::uint32_t bytes = kind == abi::WrOpcode::kFetchAdd ? 8 : kSlot - 100;
    host::SendWr wr = host::send_request(posted_ + 1, kind, host::part_of(*mr_, kSlots * kSlot + slot, bytes));
    wr.remote_addr = peer_->memory_ + slot;
    wr.rkey = peer_->mr_->rkey() ^ (errs_ && posted_ == kRequests / 2 ? 0x80 : 0);
    ASSERT_EQ(qp_->post_send(wr), 0);
    ++posted_;
  }

  host::Core& core_;
  host::EventChannel channel_;
  Worker* peer_ = nullptr;
  std::uint32_t peer_ip_ = 0;
  bool errs_ = false;  // one of the requests names an STag that does not exist
  std::uint64_t memory_ = 0, start_ps_ = 0, connect_ps_ = 0, reset_ps_ = kNever;
  Phase phase_ = Phase::kRest;
  host::Cq *cq_ = nullptr, *receive_cq_ = nullptr;
  host::Mr* mr_ = nullptr;
  host::Qp* qp_ = nullptr;
  std::array<host::Srq*, 3> srqs_{};
  unsigned posted_ = 0;
};

// Events of a round, with cycles counted from its start.
class Round final : public TraceSink {
 public:
  void begin(Cycle start) {
    start_ = start;
    digest_ = {};
  }
  void event(const TraceDomain& domain, const TraceEvent& event) override {
    TraceEvent shifted = event;
    shifted.cycle -= start_;
    shifted.request = first_life_of(event.request);
    shifted.receive = first_life_of(event.receive);
    digest_.event(domain, shifted);
  }
  // A reset begins a new use of all numbers; the other node goes on counting its commands and events.
  static RequestId first_life_of(RequestId id) {
    const bool counts_on = id.kind() == RequestId::Kind::kCommand || id.kind() == RequestId::Kind::kEvent;
    return id ? RequestId(id.node(), id.kind(), id.queue(), 0, counts_on ? 0 : id.sequence()) : id;
  }
  std::uint64_t value() const { return digest_.value(); }
  std::uint64_t events() const { return digest_.events(); }

 private:
  Cycle start_ = 0;
  TraceDigest digest_;
};

class ResetTest : public TwoNodes {
 protected:
  static constexpr std::uint64_t kUs = 1'000'000;
  explicit ResetTest(const NodeConfig& config = {}, const EthernetLinkConfig& cable_config = {})
      : TwoNodes(config, config, cable_config) {}
  struct Station {
    explicit Station(Node& n) : worker(n), recorder({n.name(), n.core_clk.period_ps()}) {
      n.chip.describe(Description(parts));
      trace = std::make_unique<ChipTrace>(parts, recorder);
      recorder.attach(round);
    }
    Worker worker;
    Round round;
    Recorder recorder;
    Described parts;
    std::unique_ptr<ChipTrace> trace;
  };
  void advance_us(std::uint64_t us) {
    sc_core::sc_start(sc_core::sc_time::from_value(us * kUs));
    now_us_ += us;
  }
  // Resets each node this long after the start of the round.
  void play(std::uint64_t server_ps, std::uint64_t client_ps, bool errs = false) {
    const std::uint64_t start_ps = (now_us_ + 1) * kUs;
    server.worker.begin(start_ps, 0, client.worker);
    client.worker.begin(start_ps, kServerIp, server.worker, errs);
    server.worker.reset_at(start_ps + server_ps);
    client.worker.reset_at(start_ps + client_ps);
    advance_us(round_us);
    for (const Station* s : {&server, &client}) {
      EXPECT_TRUE(s->worker.node.context.is_open()) << s->worker.node.context.error();
    }
  }
  // The digest of a round without a reset before its end.
  std::uint64_t play_to_the_end(bool errs = false) {
    for (Station* s : {&server, &client}) {
      s->round.begin((now_us_ + 1) * kUs / s->recorder.domain().period_ps);
      s->worker.ends.clear();
    }
    play((round_us - 100) * kUs, (round_us - 100) * kUs, errs);
    EXPECT_GT(server.round.events(), 500u);
    EXPECT_EQ(server.worker.done() && client.worker.done(), !errs);
    for (const Station* s : {&server, &client}) EXPECT_EQ(s->worker.ends.size(), errs) << s->worker.node.name();
    return server.round.value() + client.round.value();
  }
  void play_amid(unsigned rounds) {
    Prng rng(19);
    for (unsigned i = 0; i < rounds; ++i) {
      const auto at = [&] { return 5 * kUs + rng.next() % ((i % 2 == 0 ? amid_us / 2 : amid_us) * kUs); };
      const std::uint64_t server_at = at();
      play(server_at, i % 3 == 0 ? server_at : at(), i % 5 == 0);
    }
    for (const Station* s : {&server, &client}) EXPECT_GT(s->worker.amid, rounds / 5);
  }
  // A twin does not give them back for packets in progress.
  virtual bool gives_buffers_back() const { return true; }
  // Nothing is in progress, and no timer from before the reset runs.
  void expect_silence() {
    const auto sent = [this] { return a.chip.mac_tx.counters().frames + b.chip.mac_tx.counters().frames; };
    const std::uint64_t before = sent();
    advance_us(10'000'000);
    EXPECT_EQ(sent(), before);
    for (Node* node : {&a, &b}) {
      const pcie::DmaReadCounters& reads = node->chip.pcie.dma_read.counters();
      EXPECT_EQ(reads.timeouts + reads.unexpected + reads.malformed, 0u);
      if (gives_buffers_back()) {
        EXPECT_EQ(node->chip.frames().in_use(), 0u);
      }
      EXPECT_EQ(node->chip.tcp_connection.flows_in_use(), 0u);
    }
  }

  std::uint64_t amid_us = 120;
  std::uint64_t round_us = 1000;  // covers a whole round; a whole number of milliseconds
  Station server{a}, client{b};

 private:
  std::uint64_t now_us_ = 0;
};

}  // namespace rnic::test
