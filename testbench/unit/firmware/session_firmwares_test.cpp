// Two firmwares with sessions on the streams of one association. Their hosts connect, answer, send, fail and close at
// random, over a network that reorders: each attempt has one outcome on both sides, and every stream becomes free.
#include <algorithm>
#include <deque>
#include <functional>
#include <random>
#include <utility>

#include <gmock/gmock.h>

#include "firmware/app/instantiate.h"
#include "model/rnic/llp/sctp/ddp_streams.h"
#include "testbench/unit/wire/hex.h"

namespace rnic::fw::test {
namespace {

struct PairCapacity {
  static constexpr std::uint32_t kQps = 4, kFlows = 4, kCqs = 1, kSrqs = 1, kStags = 1;
  static constexpr std::uint32_t kConnections = 8, kSessions = 8, kSetups = 8, kListeners = 1;
};
constexpr std::uint16_t kStreams = 4, kPort = 7000;

struct Segment {
  std::uint16_t stream = 0;
  std::uint32_t ppid = 0;
  Bytes octets;
  bool arrived = false;
};

// One chip: the firmware, DdpStreams for the engine, and queues in place of links and pipelines.
class Chip {
 public:
  explicit Chip(std::mt19937& random) : fw_(bus_, settings()), random_(random) {
    abi::Command cq;
    cq.op = abi::CommandOp::kCreateCq;
    fw_.on(HostCommand{cq});
    for (std::uint32_t q = 0; q < PairCapacity::kQps; ++q) create(q);
    abi::Command listen;
    listen.op = abi::CommandOp::kListen;
    listen.flags = abi::kCmEnhanced;
    listen.u.cm.local_port = kPort;
    listen.u.cm.backlog = 2;
    listen.u.cm.options = abi::kCmSctp;
    fw_.on(HostCommand{listen});
  }

  // The host.
  struct Qp {
    QpContext context;
    bool asked = false;  // by an unfinished command
  };
  void connect(std::uint32_t qpn, std::uint8_t flags) {
    abi::Command c;
    c.op = abi::CommandOp::kConnect;
    c.qpn = qpn;
    c.flags = flags;
    c.u.cm = {0x0a000001, kPort, 0, 8, 8, {}, abi::kCmSctp, 0, 0, 0, 0, {}};
    ask(qpn, c);
  }
  void answer(std::uint32_t qpn, bool accepts) {
    abi::Command c;
    c.op = accepts ? abi::CommandOp::kAccept : abi::CommandOp::kReject;
    c.id = requests.front();
    c.qpn = qpn;
    c.u.cm.ird = c.u.cm.ord = 4;
    requests.pop_front();
    const bool ok = accepts ? ask(qpn, c) : command(c) == abi::CommandStatus::kOk;
    EXPECT_TRUE(ok) << "a request that was withdrawn is not there any more";
  }
  void disconnect(std::uint32_t qpn) {
    abi::Command c;
    c.op = abi::CommandOp::kDisconnect;
    c.id = qpn;
    command(c);
  }
  void fail(std::uint32_t qpn) { fw_.on(QpStreamError{Qpn{qpn}, wire::ddp::kInvalidStag}); }
  // The host already knows of the session, which takes longer than the firmware's operations.
  void post(std::uint32_t qpn) {
    later([this, w = Work{qpn, Item::kSegment, qps[qpn].context.epoch}] {
      const QpContext& qp = qps[w.qpn].context;
      if (qp.state == QpState::kRts && qp.epoch == w.epoch) pipeline_.push_back(w);
    });
  }
  // A command waits for events of queue pairs.
  void renew(std::uint32_t qpn) {
    if (qp_events_.empty()) create(qpn);
  }
  void create(std::uint32_t qpn) {
    for (const auto op : {abi::CommandOp::kDestroyQp, abi::CommandOp::kCreateQp}) {
      abi::Command c;
      c.op = op;
      c.id = qpn;
      if (op == abi::CommandOp::kCreateQp) c.u.qp = {0, 0, 6, 5, 7, 0, 0, 0, {}};
      fw_.on(HostCommand{c});
    }
  }
  void expire() {
    if (timers_.empty()) return;
    const std::uint32_t id = timers_[random_() % timers_.size()];
    if (fw_.state(id) == ConnState::kLingering) return;
    timers_.erase(std::find(timers_.begin(), timers_.end(), id));
    fw_.on(TimerExpired{id});
  }

  // The chip: performs one pending action.
  bool move() {
    std::vector<std::function<void()>> due;
    if (!ops_.empty()) due.push_back([this] { take(ops_)(); });
    if (!pipeline_.empty()) due.push_back([this] { send_next(); });
    if (!qp_events_.empty()) due.push_back([this] { take(qp_events_)(); });
    if (!events_.empty() && qp_events_.empty()) due.push_back([this] { take(events_)(); });
    if (due.empty()) return false;
    due[random_() % due.size()]();
    return true;
  }
  // False: it must come again.
  bool receive(const Segment& s) {
    buffers_.push_back(s.octets);
    const sctp::ReceivedId token{static_cast<std::uint32_t>(buffers_.size() - 1)};
    const sctp::Arrival arrival = streams.arrive({s.stream, s.ppid, true, buffers_.back(), token});
    if (arrival.fate == sctp::ChunkFate::kNoRoom) return false;
    const FlowId flow{s.stream};
    if (arrival.fate == sctp::ChunkFate::kStray) tell(SctpStray{flow, arrival.terminate});
    if (arrival.fate == sctp::ChunkFate::kViolation) tell(SctpViolation{flow, arrival.terminate});
    pump(s.stream);
    return true;
  }
  void acknowledge(std::uint16_t stream) {
    if (streams.acknowledged(stream)) tell(SctpAcked{FlowId{stream}});
    pump(stream);
  }
  void violate(std::uint16_t stream) {
    streams.violate(stream, sctp::StreamViolation::kOrdered);
    tell(SctpViolation{FlowId{stream}});
  }

  std::uint32_t connections() const { return fw_.connections(); }
  bool idle() const { return ops_.empty() && pipeline_.empty() && events_.empty() && qp_events_.empty(); }

  std::array<Qp, PairCapacity::kQps> qps;
  std::deque<std::uint32_t> requests;  // connection ids
  std::vector<Segment> sent;
  sctp::DdpStreams streams{{kStreams, 32, 2048}};
  std::array<bool, kStreams> taken{};  // reserved for this end, which has not begun yet
  std::size_t established = 0;

 private:
  enum class Item : std::uint8_t { kSegment, kTerminate, kDrain };
  struct Work {
    std::uint32_t qpn;
    Item kind;
    std::uint32_t epoch;  // the queue pair's
  };

  class Bus {
   public:
    explicit Bus(Chip& chip) : chip_(chip) {}
    void write(const SctpConnect& op) {
      chip_.later([this, op] { chip_.open(op.cookie); });
    }
    void write(const SctpSend& op) {
      const ByteSpan octets = sram(op.octets);
      chip_.later([this, op, copy = Bytes(octets.data(), octets.data() + octets.size())] {
        if (op.life != chip_.lives_[op.flow.v]) return;
        chip_.emit(static_cast<std::uint16_t>(op.flow.v), wire::kPpidDdpSession, copy);
      });
    }
    void write(const SctpStream& op) {
      chip_.later([this, op] {
        if (op.life != chip_.lives_[op.flow.v]) return;
        chip_.act(static_cast<std::uint16_t>(op.flow.v), op.action);
      });
    }
    void write(const WriteQp& op) { chip_.qps.at(op.qpn.v).context = op.context; }
    void write(const WriteFlow& op) { chip_.flows_.at(op.flow.v) = op.context; }
    void write(const PostWork& op) {
      chip_.later([this, w = op.work, epoch = chip_.qps[op.work.qpn.v].context.epoch] { chip_.work(w, epoch); });
    }
    void write(const PostEvent& op) { chip_.hear(op.event); }
    void write(const SetTimer& op) {
      write(CancelTimer{op.id});
      chip_.timers_.push_back(op.id);
    }
    void write(const CancelTimer& op) {
      auto& timers = chip_.timers_;
      timers.erase(std::remove(timers.begin(), timers.end(), op.id), timers.end());
    }
    void write(const Panic&) { ADD_FAILURE() << "panic"; }
    template <class Op>
    void write(const Op&) {}
    MutableByteSpan sram(SramRange range) { return {memory_.data() + range.offset, range.bytes}; }

   private:
    Chip& chip_;
    Bytes memory_ = Bytes(sram_bytes(PairCapacity::kSetups));
  };

  static Settings settings() {
    Settings s;
    s.qps = PairCapacity::kQps;
    s.flows = PairCapacity::kFlows;
    s.cqs = s.srqs = s.stags = 1;
    return s;
  }
  template <class Queue>
  static typename Queue::value_type take(Queue& queue) {
    auto first = std::move(queue.front());
    queue.pop_front();
    return first;
  }
  void later(std::function<void()> op) { ops_.push_back(std::move(op)); }
  template <class Event>
  void tell(Event event) {
    event.life = lives_[event.flow.v];
    events_.push_back([this, event] { fw_.on(event); });
  }

  abi::CommandStatus command(const abi::Command& c) {
    fw_.on(HostCommand{c});
    return done_;
  }

  // For a command that ends with the queue pair's last event, which may come before this returns.
  bool ask(std::uint32_t qpn, const abi::Command& c) {
    qps[qpn].asked = true;
    const bool ok = command(c) == abi::CommandStatus::kOk;
    if (!ok) qps[qpn].asked = false;
    return ok;
  }

  // SCTP streams.
  void open(std::uint32_t cookie) {
    for (std::uint16_t s = 0; s < kStreams; ++s) {
      if (taken[s] || streams.mode(s) != sctp::StreamMode::kIdle || streams.unacknowledged(s) != 0) continue;
      taken[s] = true;
      return tell(SctpConnected{FlowId{s}, cookie, 41000, 1434});
    }
    events_.push_back([this, cookie] { fw_.on(SctpOpenFailed{cookie, OpenFailure::kNoResources}); });
  }
  void act(std::uint16_t stream, SctpStreamAction action) {
    const auto release = [](sctp::ReceivedId) {};
    switch (action) {
      case SctpStreamAction::kBegin:
        taken[stream] = false;
        streams.begin(stream);
        break;
      case SctpStreamAction::kOpen:
        streams.open(stream);
        break;
      case SctpStreamAction::kDiscard:
        streams.discard(stream, release);
        break;
      case SctpStreamAction::kEndRun:
        streams.end_run(stream, release);
        break;
      case SctpStreamAction::kRestart:
        streams.restart(stream, release);
        over_[stream] = false;
        ++lives_[stream];
        break;
      case SctpStreamAction::kGiveBack:
        // Before a session began: the peer's own requests in the meantime are independent.
        taken[stream] = false;
        break;
      case SctpStreamAction::kAbandon:
      case SctpStreamAction::kAbort:
        ADD_FAILURE() << "each peer ends its sessions in the end";
        break;
    }
    pump(stream);
  }
  void emit(std::uint16_t stream, std::uint32_t ppid, const Bytes& octets) {
    const bool control = ppid == wire::kPpidDdpSession;
    EXPECT_FALSE(over_[stream]) << "a session Terminate is the last chunk of its sender";
    over_[stream] |= control && octets == hex("0004");
    Segment s{stream, ppid, Bytes(wire::kDdpSsnBytes)};
    store_be16(s.octets.data(), streams.take_ssn(stream, control).value());
    s.octets.insert(s.octets.end(), octets.begin(), octets.end());
    sent.push_back(std::move(s));
  }
  void pump(std::uint16_t stream) {
    for (;;) {
      const bool open = streams.mode(stream) == sctp::StreamMode::kOpen;
      const auto delivery = streams.deliver(stream);
      if (!delivery) return;
      const Bytes octets(buffers_[delivery->token.v].begin() + wire::kDdpSsnBytes, buffers_[delivery->token.v].end());
      if (delivery->kind == sctp::Delivery::Kind::kControl) control(stream, octets, open);
      else if (delivery->kind == sctp::Delivery::Kind::kSegment) deliver(stream, octets);
    }
  }
  bool takes_segments(std::uint16_t stream) const {
    const FlowContext& flow = flows_[stream];
    const QpState state = qps[flow.qpn.v].context.state;
    return flow.rdma && (state == QpState::kRts || state == QpState::kClosing);
  }
  void control(std::uint16_t stream, const Bytes& octets, bool open) {
    if (open && octets == hex("0004")) {
      if (!takes_segments(stream)) return tell(SctpPeerClosed{FlowId{stream}});
      const Qpn qpn = flows_[stream].qpn;
      return qp_events_.push_back([this, qpn] { fw_.on(QpPeerClosed{qpn}); });
    }
    events_.push_back([this, stream, octets, life = lives_[stream]] {
      std::copy(octets.begin(), octets.end(), bus_.sram(kSessionWindow).data() + wire::kDdpSsnBytes);
      fw_.on(
          SctpControl{FlowId{stream}, 0x0a000002, 40000, kPort, 1434, static_cast<std::uint16_t>(octets.size()), life});
    });
  }
  void deliver(std::uint16_t stream, const Bytes& octets) {
    if (!takes_segments(stream) || octets != hex("ff")) return;
    const Qpn qpn = flows_[stream].qpn;
    qp_events_.push_back([this, qpn] { fw_.on(QpTerminateReceived{qpn, wire::ddp::kInvalidQn}); });
  }

  // The send queues, in one pipeline.
  void work(const TxInternalWork& w, std::uint32_t epoch) {
    using Kind = InternalWork;
    if (w.kind == Kind::kDrain) pipeline_.push_back({w.qpn.v, Item::kDrain, epoch});
    else if (w.kind == Kind::kTerminate) pipeline_.push_back({w.qpn.v, Item::kTerminate, epoch});
    else if (w.kind != Kind::kFlush) pipeline_.push_back({w.qpn.v, Item::kSegment, epoch});
  }
  void send_next() {
    const Work w = take(pipeline_);
    const QpContext& qp = qps[w.qpn].context;
    if (qp.epoch != w.epoch) return;
    if (w.kind == Item::kDrain) {
      qp_events_.push_back([this, qpn = Qpn{w.qpn}] { fw_.on(QpSendDrained{qpn}); });
      return;
    }
    const bool sends = qp.state == QpState::kRts || qp.state == QpState::kClosing;
    if (!(sends && w.kind == Item::kSegment) && !(qp.state == QpState::kTerminate && w.kind == Item::kTerminate))
      return;
    emit(static_cast<std::uint16_t>(qp.flow.v), wire::kPpidDdpSegment, hex(w.kind == Item::kTerminate ? "ff" : "aa"));
  }

  // The host's events.
  void hear(const abi::Event& e) {
    using Type = abi::EventType;
    switch (e.type) {
      case Type::kCommandDone:
        done_ = static_cast<abi::CommandStatus>(e.status);
        return;
      case Type::kConnectRequest:
        return requests.push_back(e.id);
      case Type::kEstablished:
        ++established;
        return;
      case Type::kConnectError:
        if ((e.id & kConnectionIdBit) != 0) {
          requests.erase(std::remove(requests.begin(), requests.end(), e.id), requests.end());
          return;
        }
        break;
      case Type::kRejected:
      case Type::kDisconnected:
        break;
      default:
        return;
    }
    EXPECT_TRUE(qps[e.id].asked) << "one end only";
    qps[e.id].asked = false;
  }

  Bus bus_{*this};
  Firmware<Bus, PairCapacity> fw_;
  std::mt19937& random_;
  std::deque<std::function<void()>> ops_, events_, qp_events_;
  std::deque<Work> pipeline_;
  std::vector<std::uint32_t> timers_;
  std::array<FlowContext, kStreams> flows_{};
  std::array<bool, kStreams> over_{};
  std::array<std::uint16_t, kStreams> lives_{};
  std::deque<Bytes> buffers_;
  abi::CommandStatus done_ = abi::CommandStatus::kOk;
};

class Association {
 public:
  Association(std::uint32_t seed, bool with_errors) : random_(seed), with_errors_(with_errors) {}

  void run() {
    for (unsigned step = 0; step < 3000; ++step) {
      if (below(3) == 0) act(chips_[below(2)]);
      move();
    }
    for (unsigned step = 0; step < 100'000 && !quiet(); ++step) {
      if (step % 16 == 0) end(chips_[below(2)]);
      move();
    }
    for (Chip& chip : chips_) {
      EXPECT_EQ(chip.connections(), 0u);
      EXPECT_TRUE(chip.requests.empty());
      for (const Chip::Qp& qp : chip.qps) EXPECT_FALSE(qp.asked);
      for (std::uint16_t s = 0; s < kStreams; ++s) {
        EXPECT_EQ(chip.streams.mode(s), sctp::StreamMode::kIdle) << s;
        EXPECT_EQ(chip.streams.unacknowledged(s), 0u) << s;
      }
    }
  }
  std::size_t established() const { return chips_[0].established + chips_[1].established; }

 private:
  std::uint32_t below(std::uint32_t n) { return static_cast<std::uint32_t>(random_() % n); }

  // A possible action of a host, or an error.
  void act(Chip& chip) {
    const std::uint32_t qpn = below(PairCapacity::kQps);
    Chip::Qp& qp = chip.qps[qpn];
    if (!qp.asked && qp.context.state == QpState::kError) return chip.renew(qpn);
    const bool idle = !qp.asked && qp.context.state == QpState::kIdle;
    if (idle && !chip.requests.empty()) return chip.answer(qpn, below(4) != 0);
    constexpr std::uint8_t kEnhanced = abi::kCmEnhanced | abi::kCmPeerToPeer | abi::kCmRtrWrite;
    if (idle && below(8) == 0) return chip.connect(qpn, below(2) == 0 ? 0 : kEnhanced);
    if (!qp.asked) return;
    const std::uint32_t what = below(100);
    if (what < 60 && qp.context.state == QpState::kRts) chip.post(qpn);
    else if (what < 64) chip.disconnect(qpn);
    else if (what < 66 && qp.context.state == QpState::kRts) chip.fail(qpn);
    else if (with_errors_ && what < 67 && qp.context.state == QpState::kRts)
      chip.violate(static_cast<std::uint16_t>(qp.context.flow.v));
    else if (with_errors_ && what < 69) chip.expire();
  }
  void end(Chip& chip) {
    if (!chip.requests.empty()) chip.answer(0, false);
    for (std::uint32_t q = 0; q < PairCapacity::kQps; ++q) {
      if (chip.qps[q].asked) chip.disconnect(q);
    }
  }
  // Each message is acknowledged when it and all earlier ones on its stream have arrived.
  void move() {
    const unsigned side = below(2);
    Chip &from = chips_[side], &to = chips_[1 - side];
    if (below(2) == 0 && from.move()) return;
    if (from.sent.empty()) return;
    Segment& s = from.sent[below(static_cast<std::uint32_t>(std::min<std::size_t>(from.sent.size(), 6)))];
    if (!s.arrived) {
      s.arrived = to.receive(s);
      return;
    }
    const auto first =
        std::find_if(from.sent.begin(), from.sent.end(), [&](const Segment& m) { return m.stream == s.stream; });
    if (!first->arrived) return;
    const std::uint16_t stream = first->stream;
    from.sent.erase(first);
    from.acknowledge(stream);
  }
  bool quiet() const {
    return std::all_of(chips_.begin(), chips_.end(), [](const Chip& chip) {
      const bool none = std::none_of(chip.qps.begin(), chip.qps.end(), [](const Chip::Qp& qp) { return qp.asked; });
      return none && chip.sent.empty() && chip.idle() && chip.connections() == 0;
    });
  }

  std::mt19937 random_;
  const bool with_errors_;
  std::array<Chip, 2> chips_{Chip(random_), Chip(random_)};
};

class TwoSessionFirmwares : public testing::TestWithParam<std::uint32_t> {};

TEST_P(TwoSessionFirmwares, ComeToAnEnd) {
  std::size_t established = 0;
  for (std::uint32_t seed = 0; seed < 20; ++seed) {
    Association pair(100 * GetParam() + seed, GetParam() % 2 != 0);
    pair.run();
    established += pair.established();
    ASSERT_FALSE(HasFailure()) << "seed " << 100 * GetParam() + seed;
  }
  EXPECT_GT(established, 100u);
}
INSTANTIATE_TEST_SUITE_P(Seeds, TwoSessionFirmwares, testing::Range(0u, 10u));

}  // namespace
}  // namespace rnic::fw::test
