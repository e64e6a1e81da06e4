// The TCP side of a chip between scripted neighbours: a firmware that answers events, a segmenter that obeys its
// credit, and a deframer that keeps what it gets. Two of them on a cable make a network.
#pragma once

#include <deque>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "model/cable/ethernet_link.h"
#include "model/rnic/llp/link_address.h"
#include "model/rnic/llp/tcp/tcp_connection.h"
#include "model/rnic/llp/tcp/tcp_rx.h"
#include "model/rnic/llp/tcp/tcp_tx.h"
#include "model/rnic/rx/mac_rx.h"
#include "model/rnic/tx/mac_tx.h"
#include "testbench/support/llp_kinds.h"
#include "testbench/support/stage_test.h"

namespace rnic::test {

using Bytes = std::vector<std::uint8_t>;

// In tcp_rx: to the row of a flow, and to that of the flow of a frame whose headers are there.
inline const Cycle kFlowRow = TcpConfig{}.flow_rx_table.read_cycles;
inline const Cycle kToFlowRow = TcpConfig{}.hash_cycles + kFlowRow;

inline Bytes counting_bytes(std::size_t n, std::size_t from = 0) {
  Bytes b(n);
  for (std::size_t i = 0; i < n; ++i) b[i] = static_cast<std::uint8_t>((from + i) * 7 + (from + i) / 251);
  return b;
}

inline bool begins(const LlpEvent& e) { return e.kind() == TcpEvents::kAccepted || e.kind() == TcpEvents::kConnected; }

// Pushes operations, remembers events, and lets a test react to them.
class Firmware final : public Stage {
 public:
  PopPort<LlpEvent> event{*this, "event"};
  PushPort<LlpOp> op{*this, "op"};
  std::function<void(const LlpEvent&)> on_event;
  bool finishes_first = false;  // like a processor: takes no event while it has operations to push
  std::vector<LlpEvent> events;
  std::vector<Cycle> cycles;

  Firmware(sc_core::sc_module_name nm, ClockDomain& clk, BufferPool& pool) : Stage(nm, clk), pool_(pool) {}

  // Call from on_event(), or while the simulation does not run.
  void push(LlpOp o, Cycle from = 0) {
    const auto later = [from](const Timed& t) { return t.from > from; };
    todo_.insert(std::find_if(todo_.begin(), todo_.end(), later), {from, std::move(o)});
    if (ticking_) return;
    const auto kernel_ps = static_cast<std::uint64_t>(sc_core::sc_time_stamp().value());
    wake(std::max({from, now() + 1, clock().cycle_at_or_after(kernel_ps)}));
  }
  void listen(std::uint16_t port) { push(fw::TcpListen{port}); }
  void open(std::uint32_t ip, std::uint16_t port, std::uint16_t local = 0, Cycle from = 0) {
    push(fw::TcpOpen{ip, port, local, 0xc00c1e}, from);
  }
  void send(FlowId flow, const Bytes& bytes) {
    BufferRef octets = pool_.take();
    std::copy(bytes.begin(), bytes.end(), octets->bytes());
    push(LlpOp(fw::TcpStreamSend{flow, {0, static_cast<std::uint32_t>(bytes.size())}, lives_[flow.v]},
               std::move(octets)));
  }
  void read(FlowId flow, std::uint32_t bytes, Cycle from = 0) {
    push(fw::TcpStreamRead{flow, {0, bytes}, lives_[flow.v]}, from);
  }
  void set_limits(FlowId flow, abi::TcpLimits limits, Cycle from = 0) {
    push(fw::TcpSetLimits{flow, limits, lives_[flow.v]}, from);
  }
  void enter_rdma(FlowId flow, Cycle from = 0) { push(fw::TcpEnterRdma{flow, lives_[flow.v]}, from); }
  void close(FlowId flow, Cycle from = 0) { push(fw::TcpClose{flow, lives_[flow.v]}, from); }
  void abort(FlowId flow, Cycle from = 0) { push(fw::TcpAbort{flow, lives_[flow.v]}, from); }

  // In RDMA mode the datapath reports the end of the stream, after all that came before the peer's FIN.
  void hear_end(FlowId flow) {
    if (closed_.count(flow.v) != 0) return;
    events.push_back(fw::TcpPeerClosed{flow});
    cycles.push_back(now());
    if (on_event) on_event(events.back());
  }

  std::vector<LlpEvent::Kind> kinds() const {
    std::vector<LlpEvent::Kind> k;
    for (const LlpEvent& e : events) k.push_back(e.kind());
    return k;
  }

  Wake tick() override {
    ticking_ = true;
    if (event->can_pop() && !(finishes_first && !todo_.empty())) {
      events.push_back(event->pop());
      const FlowId flow = events.back().flow();
      if (flow != kNoFlow) lives_[flow.v] = events.back().life();
      if (begins(events.back())) closed_.erase(flow.v);
      cycles.push_back(now());
      if (on_event) on_event(events.back());
    }
    if (!todo_.empty() && todo_.front().from <= now() && op->can_push()) {
      const LlpOp& o = todo_.front().op;
      if (o.get<fw::TcpClose>() != nullptr || o.get<fw::TcpAbort>() != nullptr) closed_.insert(o.flow().v);
      op->push(std::move(todo_.front().op));
      todo_.pop_front();
    }
    ticking_ = false;
    if (event->can_pop()) return Wake::next_cycle();
    return todo_.empty() ? Wake::on_traffic() : Wake::at_cycle(std::max(todo_.front().from, now() + 1));
  }

 private:
  struct Timed {
    Cycle from;
    LlpOp op;
  };
  BufferPool& pool_;
  std::deque<Timed> todo_;
  std::map<std::uint32_t, std::uint16_t> lives_;  // by flow, from the last event
  bool ticking_ = false;
  std::set<std::uint32_t> closed_;  // flows
};

// Cuts a counting stream into FPDUs under credit; each completes a work request. Starts with a flow's first credit.
class Segmenter final : public Stage {
 public:
  PushPort<FpduBeat> out{*this, "out"};
  PopPort<TxCredit> credit{*this, "credit"};
  PopPort<WqesAcked> acked{*this, "acked"};
  std::map<std::uint32_t, std::uint64_t> granted, wqes;  // by flow
  std::vector<Cycle> acked_at, pushed_at;                // acknowledgements; last beats
  llp::TransmitMemory* memory = nullptr;                 // takes room in it, or waits
  std::map<std::uint32_t, std::uint64_t> cut_octets;     // by flow, of FPDUs, in the pipe or beyond

  Segmenter(sc_core::sc_module_name nm, ClockDomain& clk, BufferPool& pool, unsigned beat_bytes)
      : Stage(nm, clk), pool_(pool), beat_words_(beat_bytes / 4) {}

  void send(FlowId flow, std::size_t fpdus, std::uint32_t bytes, Cycle from = 0) {
    for (std::size_t i = 0; i < fpdus; ++i) todo_.push_back({flow, bytes, from});
  }

  // Call while the simulation does not run.
  void send_now(FlowId flow, std::size_t fpdus, std::uint32_t bytes) {
    send(flow, fpdus, bytes);
    wake(std::max(now() + 1, clock().cycle_at_or_after(static_cast<std::uint64_t>(sc_core::sc_time_stamp().value()))));
  }

  Wake tick() override {
    if (acked->can_pop()) {
      const WqesAcked a = acked->pop();
      wqes[a.flow.v] += a.wqes;
      acked_at.push_back(now());
    }
    if (credit->can_pop()) {
      const TxCredit c = credit->pop();
      granted[c.flow.v] += c.bytes;
    }
    const bool more = acked->can_pop() || credit->can_pop();
    if (memory != nullptr && memory->may_call()) memory->call();  // it is the first of todo_
    if (beats_.empty() && !todo_.empty()) {
      const Todo t = todo_.front();
      if (t.from > now()) return more ? Wake::next_cycle() : Wake::at_cycle(t.from);
      if (granted[t.flow.v] >= cut_octets[t.flow.v] + t.bytes && takes_room(t)) cut(t);
    }
    if (!beats_.empty() && out->can_push()) {
      if (beats_.front().last) pushed_at.push_back(now());
      out->push(beats_.front());
      beats_.pop_front();
      return Wake::next_cycle();
    }
    return more ? Wake::next_cycle() : Wake::on_traffic();
  }

 private:
  struct Todo {
    FlowId flow;
    std::uint32_t bytes;
    Cycle from;
  };
  bool takes_room(const Todo& t) {
    if (memory == nullptr) return true;
    if (memory->admits(t.flow, t.bytes)) {
      memory->take(t.flow, t.bytes);
      return true;
    }
    memory->wait(t.flow, Qpn{t.flow.v}, t.bytes);
    return false;
  }
  void cut(const Todo& t) {
    todo_.pop_front();
    BufferRef buf = pool_.take();
    const Bytes payload = counting_bytes(t.bytes, cut_octets[t.flow.v]);
    std::copy(payload.begin(), payload.end(), buf->bytes() + kFrameHeadroom);
    cut_octets[t.flow.v] += t.bytes;
    for (std::uint32_t at = 0; at < t.bytes; at += beat_words_ * 4) {
      FpduBeat b;
      b.buf = buf.get();
      b.data = buf->bytes() + kFrameHeadroom + at;
      b.flow = t.flow;
      b.words = static_cast<std::uint8_t>(std::min<std::uint32_t>(beat_words_, (t.bytes - at) / 4));
      b.first = at == 0;
      b.last = at + b.words * 4u == t.bytes;
      b.completes_wqe = b.last;
      beats_.push_back(b);
    }
    buf.release();
  }
  BufferPool& pool_;
  const unsigned beat_words_;
  std::deque<Todo> todo_;
  std::deque<FpduBeat> beats_;
};

// Keeps a flow's octets in stream order, and reports them consumed when their segment is complete. It stands for all
// stages that FPDUs pass.
class Deframer final : public Stage {
 public:
  PopPort<StreamBeat> in{*this, "in"};
  PushPort<RxConsumed> consumed{*this, "consumed"};
  PushPort<StreamEnded> ended{*this, "ended"};
  std::function<void(FlowId)> on_end;
  std::map<std::uint32_t, Bytes> stream;
  std::vector<StreamBeat> beats;
  std::vector<Cycle> cycles;
  Pattern pause;
  Cycle hold_until = 0;  // octets are taken, but not reported as consumed before this cycle

  Deframer(sc_core::sc_module_name nm, ClockDomain& clk) : Stage(nm, clk) {}

  // Call while the simulation does not run.
  void release_now() {
    hold_until = 0;
    wake(std::max(now() + 1, clock().cycle_at_or_after(static_cast<std::uint64_t>(sc_core::sc_time_stamp().value()))));
  }

  Wake tick() override {
    if (held_ != 0 && now() >= hold_until && consumed->can_push()) consumed->push({flow_, std::exchange(held_, 0)});
    const Wake held = held_ != 0 ? Wake::at_cycle(std::max(hold_until, now() + 1)) : Wake::on_traffic();
    if (!in->can_pop()) return held;
    if (pause.pauses(now())) return Wake::next_cycle();
    if (in->front().ends && !ended->can_push()) return Wake::on_traffic();
    const StreamBeat b = in->pop();
    if (b.ends) {
      EXPECT_TRUE(b.offset == 0 || b.offset == stream[b.flow.v].size());
      const bool in_order = load_be16(b.data) == static_cast<std::uint16_t>(StreamEnd::kInOrder);
      BufferRef::adopt(b.buf);
      ended->push({b.flow});
      if (on_end && in_order) on_end(b.flow);
      return Wake::next_cycle();
    }
    Bytes& s = stream[b.flow.v];
    if (b.offset == 0) s.clear();  // a new connection on this flow number
    EXPECT_EQ(b.offset, s.size());
    EXPECT_EQ(b.first, std::exchange(complete_, b.last));
    s.insert(s.end(), b.data, b.data + b.bytes);
    beats.push_back(b);
    cycles.push_back(now());
    pending_ += b.bytes;
    if (b.last) {
      BufferRef::adopt(b.buf);
      EXPECT_TRUE(held_ == 0 || flow_ == b.flow);
      flow_ = b.flow;
      held_ += std::exchange(pending_, 0);
    }
    return Wake::next_cycle();
  }

 private:
  bool complete_ = true;
  std::uint32_t pending_ = 0, held_ = 0;
  FlowId flow_;
};

struct TcpChip {
  TcpChip(const std::string& n, ClockDomain& clk, const TcpConfig& config, const LinkAddress& station, BufferPool& pool,
          const MacRxConfig& mac = {}, const TableConfig& flow_rows = {})
      : op(n + "_op", clk, {4, 1, 1}),
        event(n + "_event", clk, {4, 1, 1}),
        to_tx(n + "_to_tx", clk, {8, 1, 1}),
        to_rx(n + "_to_rx", clk, {8, 1, 1}),
        from_tx(n + "_from_tx", clk, {8, 1, 1}),
        from_rx(n + "_from_rx", clk, {8, 1, 1}),
        feedback(n + "_feedback", clk, {8, 1, 1}),
        fpdus(n + "_fpdus", clk, {4, 1, 1}),
        credit(n + "_credit", clk, {4, 1, 1}),
        acked(n + "_acked", clk, {4, 1, 1}),
        tx_frames(n + "_tx_frames", clk, config.tx_link()),
        rx_frames(n + "_rx_frames", clk, {4, 1, 1}),
        stream(n + "_stream", clk, config.rx_link()),
        consumed(n + "_consumed", clk, {4, 1, 1}),
        ended(n + "_ended", clk, {4, 1, 1}),
        firmware((n + "_fw").c_str(), clk, pool),
        segmenter((n + "_segmenter").c_str(), clk, pool, DatapathConfig{}.beat_bytes),
        deframer((n + "_deframer").c_str(), clk),
        connection((n + "_connection").c_str(), clk, config, station),
        flow_tx_table(n + "_flow_tx_table", clk, config.max_flows, flow_rows),
        tcp_tx((n + "_tcp_tx").c_str(), clk, config, flow_tx_table, station, pool),
        flow_rx_table(n + "_flow_rx_table", clk, config.max_flows, config.flow_rx_table),
        tcp_rx((n + "_tcp_rx").c_str(), clk, without_early(config), DatapathConfig{}, flow_rx_table, station, pool,
               tcp_tx.sent()),
        mac_tx((n + "_mac_tx").c_str(), clk, MacTxConfig{}),
        mac_rx((n + "_mac_rx").c_str(), clk, mac, station.mac) {
    firmware.op(op), connection.op(op);
    connection.event(event), firmware.event(event);
    connection.to_tx(to_tx), tcp_tx.commands(to_tx);
    connection.to_rx(to_rx), tcp_rx.commands(to_rx);
    tcp_tx.reports(from_tx), connection.from_tx(from_tx);
    tcp_rx.reports(from_rx), connection.from_rx(from_rx);
    tcp_rx.feedback(feedback), tcp_tx.feedback(feedback);
    segmenter.out(fpdus), tcp_tx.in(fpdus);
    tcp_tx.credit(credit), segmenter.credit(credit);
    tcp_tx.acked(acked), segmenter.acked(acked);
    tcp_tx.out(tx_frames), mac_tx.in[LlpId::kMpaTcp](tx_frames);
    mac_rx.out[LlpId::kMpaTcp](rx_frames), tcp_rx.in(rx_frames);
    tcp_rx.out(stream), deframer.in(stream);
    deframer.consumed(consumed), tcp_rx.consumed(consumed);
    deframer.ended(ended), tcp_rx.ended(ended);
    deframer.on_end = [this](FlowId flow) { firmware.hear_end(flow); };
  }
  // For a chip without a stage that takes the octets kept out of order.
  static TcpConfig without_early(TcpConfig config) {
    config.early_placement = false;
    return config;
  }
  Link<LlpOp> op;
  Link<LlpEvent> event;
  Link<tcp::TxCommand> to_tx;
  Link<tcp::RxCommand> to_rx;
  Link<tcp::TxReport> from_tx;
  Link<tcp::RxReport> from_rx;
  Link<tcp::RxFeedback> feedback;
  Link<FpduBeat> fpdus;
  Link<TxCredit> credit;
  Link<WqesAcked> acked;
  Link<Frame> tx_frames, rx_frames;
  Link<StreamBeat> stream;
  Link<RxConsumed> consumed;
  Link<StreamEnded> ended;
  Firmware firmware;
  Segmenter segmenter;
  Deframer deframer;
  TcpConnection connection;
  FlowTxTable flow_tx_table;
  TcpTx tcp_tx;
  tcp::FlowRxTable flow_rx_table;
  TcpRx tcp_rx;
  MacTx mac_tx;
  MacRx mac_rx;
  const Stubs others = stub(tcp_rx.behind, tcp_rx.early, mac_tx.in[LlpId::kSctp], mac_rx.out[LlpId::kSctp]);
};

// A segment on the cable, read at fixed offsets: no code in common with the model. IP options are not expected.
struct Seen {
  unsigned direction = 0;
  std::uint64_t ps = 0;
  Bytes frame;

  std::uint16_t u16(std::size_t at) const { return static_cast<std::uint16_t>(frame[at] << 8 | frame[at + 1]); }
  std::uint32_t u32(std::size_t at) const { return std::uint32_t{u16(at)} << 16 | u16(at + 2); }
  std::uint32_t seq() const { return u32(38); }
  std::uint32_t ack() const { return u32(42); }
  unsigned flags() const { return frame[47]; }
  std::uint16_t window() const { return u16(48); }
  std::size_t headers() const { return 34u + (frame[46] >> 4) * 4u; }
  std::size_t payload() const { return frame.size() - headers(); }
  std::string text() const {
    std::string t = direction == 0 ? ">" : "<";
    const char* names[] = {"F", "S", "R", "P", "A"};
    for (unsigned i = 0; i < 5; ++i) {
      if (flags() >> i & 1) t += names[i];
    }
    return payload() == 0 ? t : t + std::to_string(payload());
  }
};

struct Recorder final : FrameTap {
  std::vector<Seen> seen;
  void frame(unsigned direction, const Frame& f, std::uint64_t ps) override {
    seen.push_back({direction, ps, Bytes(f.data(), f.data() + f.bytes)});
  }
  std::vector<std::string> texts() const {
    std::vector<std::string> t;
    for (const Seen& s : seen) t.push_back(s.text());
    return t;
  }
};

// The ends of a line, outside the model: one sends what the test gives it, the other keeps what it receives.
struct RawSender final : sc_core::sc_module {
  EthernetInitiator out{"out"};
  explicit RawSender(sc_core::sc_module_name nm) : sc_module(nm) {}
};
struct RawReceiver final : sc_core::sc_module, EthernetTarget {
  Recorder got;
  explicit RawReceiver(sc_core::sc_module_name nm) : sc_module(nm), EthernetTarget("in") {}
  void on_frame(const Frame& f, std::uint64_t ps) override { got.frame(1, f, ps); }
  std::vector<std::uint64_t> times() const {
    std::vector<std::uint64_t> t;
    for (const Seen& s : got.seen) t.push_back(s.ps);
    return t;
  }
};

inline constexpr std::uint32_t kIpA = 0x0a000001, kIpB = 0x0a000002;
inline constexpr wire::MacAddress kMacA{{2, 0, 0, 0, 0, 0xa}}, kMacB{{2, 0, 0, 0, 0, 0xb}};

// Chip a (end 0, 10.0.0.1) and chip b (end 1, 10.0.0.2) on a cable.
struct TcpNetwork {
  TcpNetwork(const std::string& n, ClockDomain& clk_a, ClockDomain& clk_b, const TcpConfig& config_a,
             const TcpConfig& config_b, const MacRxConfig& mac = {}, const TableConfig& flow_rows = {})
      : a(n + "a", clk_a, config_a, {kMacA, {kIpA}, {{{kIpB}, kMacB}}}, pool, mac, flow_rows),
        b(n + "b", clk_b, config_b, {kMacB, {kIpB}, {{{kIpA}, kMacA}}}, pool, mac, flow_rows),
        cable((n + "cable").c_str(), {}) {
    cable.attach(0, a.mac_tx.ethernet, a.mac_rx);
    cable.attach(1, b.mac_tx.ethernet, b.mac_rx);
    cable.tap(wire);
  }
  // Opens a connection from a to b, port 4791 to 5000, and goes straight into RDMA mode.
  void connect_rdma() {
    b.firmware.listen(5000);
    a.firmware.open(kIpB, 5000, 4791);
    const auto switch_on = [](Firmware& fw) {
      return [&fw](const LlpEvent& e) {
        if (begins(e)) fw.enter_rdma(e.flow());
      };
    };
    a.firmware.on_event = switch_on(a.firmware);
    b.firmware.on_event = switch_on(b.firmware);
  }

  BufferPool pool{2048};
  TcpChip a, b;
  EthernetLink cable;
  Recorder wire;
};

// One network on one clock.
class TcpTest : public StageTest {
 protected:
  explicit TcpTest(const TcpConfig& config_a = small(1), const TcpConfig& config_b = small(2),
                   const MacRxConfig& mac = {}, const TableConfig& flow_rows = {})
      : net("", clk, clk, config_a, config_b, mac, flow_rows) {}
  static TcpConfig small(std::uint64_t seed) {
    TcpConfig c;
    c.max_flows = 8;
    c.seed = seed;
    return c;
  }
  // The octets that the firmware got by kStreamData.
  static Bytes stream_data(const Firmware& fw) {
    Bytes all;
    for (const LlpEvent& e : fw.events) {
      if (e.kind() == TcpEvents::kStreamData) all.insert(all.end(), e.data->bytes(), e.data->bytes() + e.bytes());
    }
    return all;
  }
  void connect_rdma() { net.connect_rdma(); }
  void expect_all_returned() {
    a.firmware.events.clear();
    b.firmware.events.clear();
    EXPECT_EQ(pool.in_use(), 0u);
  }

  TcpNetwork net;
  BufferPool& pool = net.pool;
  TcpChip &a = net.a, &b = net.b;
  EthernetLink& cable = net.cable;
  Recorder& wire = net.wire;
};

}  // namespace rnic::test
