// The SCTP sides of two chips on a wire that loses, delays and repeats packets on demand. The test acts as the
// firmware. A segmenter obeys its credit, and a sink keeps what ddp_placement would get.
#pragma once

#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "model/cable/router.h"
#include "model/common/prng.h"
#include "model/common/sctp_checksum.h"
#include "model/rnic/llp/link_address.h"
#include "model/rnic/llp/sctp/sctp_association.h"
#include "model/rnic/llp/sctp/sctp_rx.h"
#include "model/rnic/llp/sctp/sctp_tx.h"
#include "model/rnic/llp/tcp/tcp_config.h"
#include "model/rnic/rx/crc_check.h"
#include "model/rnic/tx/crc_insert.h"
#include "model/wire/checksum.h"
#include "testbench/support/llp_kinds.h"
#include "testbench/support/stage_test.h"

namespace rnic::test {

using Bytes = std::vector<std::uint8_t>;

inline constexpr std::uint32_t kFirstFlow = 100;
inline constexpr std::uint32_t kSctpIp[] = {0x0a000001, 0x0a000002};
inline constexpr wire::MacAddress kSctpMac[] = {{{2, 0, 0, 0, 0, 0xa}}, {{2, 0, 0, 0, 0, 0xb}}};

// Hands segments over under credit; each completes a work request.
class UlpduSource final : public Stage {
 public:
  PushPort<Ulpdu> out{*this, "out"};
  PopPort<TxCredit> credit{*this, "credit"};
  PopPort<WqesAcked> acked{*this, "acked"};
  std::map<std::uint32_t, std::uint64_t> granted, wqes;        // by flow
  std::vector<Cycle> cycles;                                   // of each segment
  std::vector<std::pair<std::uint32_t, std::uint32_t>> named;  // of credit and acknowledgements, queue pair and use
  llp::TransmitMemory* memory = nullptr;                       // takes room in it, or waits

  UlpduSource(sc_core::sc_module_name nm, ClockDomain& clk, BufferPool& pool) : Stage(nm, clk), pool_(pool) {}

  // Call while the simulation does not run.
  void send(FlowId flow, const Bytes& segment) {
    todo_[flow.v].push_back(segment);
    wake(clock().next());
  }
  // Drops the segments to be sent and clears all counts.
  void forget() { todo_.clear(), granted.clear(), wqes.clear(), cycles.clear(); }
  Wake tick() override {
    if (credit->can_pop()) {
      const TxCredit c = credit->pop();
      granted[c.flow.v] += c.bytes;
      named.emplace_back(c.qpn.v, c.epoch);
    }
    if (acked->can_pop()) {
      const WqesAcked a = acked->pop();
      wqes[a.flow.v] += a.wqes;
      named.emplace_back(a.qpn.v, a.epoch);
    }
    bool more = credit->can_pop() || acked->can_pop();
    if (memory != nullptr && memory->may_call()) memory->call();  // it is served below
    for (auto& [flow, segments] : todo_) {
      if (segments.empty()) continue;
      const std::uint64_t octets = (18 + segments.front().size() + 3) / 4 * 4;
      if (granted[flow] < octets) continue;
      if (!out->can_push()) return more ? Wake::next_cycle() : Wake::on_traffic();
      if (!takes_room(FlowId{flow}, static_cast<std::uint32_t>(octets))) continue;
      granted[flow] -= octets;
      Ulpdu u;
      u.buf = pool_.take();
      u.flow = FlowId{flow};
      u.bytes = static_cast<std::uint16_t>(segments.front().size());
      u.completes_wqe = true;
      std::copy(segments.front().begin(), segments.front().end(), u.buf->bytes() + Ulpdu::kOffset);
      segments.pop_front();
      out->push(std::move(u));
      cycles.push_back(now());
      more = true;
      break;
    }
    return more ? Wake::next_cycle() : Wake::on_traffic();
  }

 private:
  bool takes_room(FlowId flow, std::uint32_t octets) {
    if (memory == nullptr) return true;
    const bool room = memory->admits(flow, octets);
    if (room) memory->take(flow, octets);
    else memory->wait(flow, Qpn{flow.v}, octets);
    return room;
  }
  BufferPool& pool_;
  std::map<std::uint32_t, std::deque<Bytes>> todo_;
};

// Stands for early_placement: places every second segment that is offered, a while later, and remembers it by the part
// it keeps.
class EarlyPlacer final : public Stage {
 public:
  PopPort<StreamBeat> in{*this, "in"};
  PushPort<EarlyPlaced> out{*this, "out"};
  std::map<Bytes, Bytes> placed;  // header to segment
  unsigned offered = 0;

  EarlyPlacer(sc_core::sc_module_name nm, ClockDomain& clk, BufferPool& pool) : Stage(nm, clk), pool_(pool) {}
  Wake tick() override {
    if (in->can_pop()) {
      const StreamBeat beat = in->pop();
      if (beat.first) data_ = beat.data, offset_ = beat.offset, bytes_ = 0;
      bytes_ += beat.bytes;
      if (beat.last) finish(beat);
    }
    if (!answers_.empty() && answers_.front().first <= now() && out->can_push()) {
      out->push(std::move(answers_.front().second));
      answers_.pop_front();
    }
    if (in->can_pop()) return Wake::next_cycle();
    return answers_.empty() ? Wake::on_traffic() : Wake::at_cycle(std::max(answers_.front().first, now() + 1));
  }

 private:
  void finish(const StreamBeat& last) {
    const BufferRef buf = BufferRef::adopt(last.buf);
    if (++offered % 2 == 0 && bytes_ >= kPlacedHeaderBytes) {
      EarlyPlaced told{last.flow, offset_, bytes_, pool_.take(), false};
      std::copy_n(data_, kPlacedHeaderBytes, told.header->bytes());
      placed[Bytes(data_, data_ + kPlacedHeaderBytes)] = Bytes(data_ + 2, data_ + bytes_);
      answers_.push_back({now() + 50, std::move(told)});
    }
    answers_.push_back({now() + 50, {last.flow, offset_, 0, {}, true}});
  }
  BufferPool& pool_;
  const std::uint8_t* data_ = nullptr;
  std::uint64_t offset_ = 0;
  std::uint32_t bytes_ = 0;
  std::deque<std::pair<Cycle, EarlyPlaced>> answers_;
};

// Keeps segments in order of arrival, and answers the ends of flows.
class SegmentSink final : public Stage {
 public:
  PopPort<FpduBeat> in{*this, "in"};
  PushPort<StreamEnded> ended{*this, "ended"};
  std::map<std::uint32_t, std::vector<Bytes>> segments;  // by flow
  std::vector<std::uint32_t> ends;
  std::vector<Cycle> last_beats;
  std::vector<std::pair<std::uint32_t, std::uint32_t>> named;  // of beats, queue pair and use
  Pattern pause;
  bool keeps_ends = false;  // until answer_ends()

  SegmentSink(sc_core::sc_module_name nm, ClockDomain& clk, const EarlyPlacer& early) : Stage(nm, clk), early_(early) {}
  // Call while the simulation does not run.
  void answer_ends() {
    keeps_ends = false;
    wake(clock().next());
  }
  Wake tick() override {
    if (!keeps_ends && !kept_.empty() && ended->can_push()) {
      ended->push({kept_.front(), false});
      kept_.pop_front();
      return Wake::next_cycle();
    }
    if (!in->can_pop()) return Wake::on_traffic();
    if (pause.pauses(now())) return Wake::next_cycle();
    if (in->front().ends() && !ended->can_push()) return Wake::on_traffic();
    const FpduBeat beat = in->pop();
    if (beat.first) first_ = beat.data;
    named.emplace_back(beat.qpn.v, beat.life);
    EXPECT_TRUE(beat.last || beat.words == 16);
    if (beat.placed()) {
      const BufferRef buf = BufferRef::adopt(beat.buf);
      segments[beat.flow.v].push_back(early_.placed.at(Bytes(beat.data, beat.data + 4u * beat.words)));
      return Wake::next_cycle();
    }
    if (!beat.last) return Wake::next_cycle();
    const BufferRef buf = BufferRef::adopt(beat.buf);
    last_beats.push_back(now());
    if (beat.ends()) {
      ends.push_back(beat.flow.v);
      if (keeps_ends) kept_.push_back(beat.flow);
      else ended->push({beat.flow, false});
      return Wake::next_cycle();
    }
    EXPECT_TRUE(beat.crc_ok);
    const std::size_t bytes = load_be16(first_);
    EXPECT_EQ((2 + bytes + 3) / 4 * 4 + 4, static_cast<std::size_t>(beat.data - first_) + 4u * beat.words);
    segments[beat.flow.v].emplace_back(first_ + 2, first_ + 2 + bytes);
    return Wake::next_cycle();
  }

 private:
  const EarlyPlacer& early_;
  const std::uint8_t* first_ = nullptr;
  std::deque<FlowId> kept_;
};

// Takes frames from one chip and gives them to the other `delay` cycles later. `fate` says when to drop (0 copies),
// repeat (2) or delay (extra cycles) the n-th frame.
class Wire final : public Stage {
 public:
  struct Fate {
    unsigned copies = 1;
    Cycle extra = 0;
    bool corrupt = false;
    std::function<void(Bytes& packet)> forge;  // changes the SCTP packet; length and checksums are then corrected
  };
  PopPort<Frame> in{*this, "in"};
  PushPort<Frame> out{*this, "out"};
  std::function<Fate(std::size_t n, const Frame&)> fate;
  std::vector<Bytes> seen;
  std::vector<Cycle> seen_at;
  unsigned bundles = 0;  // packets with DATA after other chunks
  Cycle delay = 100;
  std::uint16_t mtu = 0;  // of a router on the path; 0: there is none
  Wire* back = nullptr;   // for the router's answers

  Wire(sc_core::sc_module_name nm, ClockDomain& clk) : Stage(nm, clk) {}
  // In addition to the frames from `in`.
  void insert(Frame frame, Cycle at) {
    on_the_way_.insert({at + delay, std::move(frame)});
    wake(at + 1);
  }
  Wake tick() override {
    if (in->can_pop()) {
      Frame f = in->pop();
      if (mtu != 0 && f.bytes > mtu + 14u) return route(f);
      seen.emplace_back(f.data(), f.data() + f.bytes);
      seen_at.push_back(now());
      expect_order(seen.back());
      const Fate what = fate ? fate(seen.size() - 1, f) : Fate{};
      if (what.corrupt || what.forge) {
        Bytes octets = seen.back();
        if (what.corrupt) octets.back() ^= 1;
        if (what.forge) forge(octets, what);
        BufferRef copy = pool_.take();
        std::copy(octets.begin(), octets.end(), copy->bytes());
        f.buf = copy;
        f.offset = 0;
        f.bytes = static_cast<std::uint32_t>(octets.size());
      }
      for (unsigned i = 0; i < what.copies; ++i) on_the_way_.insert({now() + delay + what.extra, f});
    }
    if (!on_the_way_.empty() && on_the_way_.begin()->first <= now() && out->can_push()) {
      out->push(on_the_way_.begin()->second);
      on_the_way_.erase(on_the_way_.begin());
    }
    if (in->can_pop()) return Wake::next_cycle();
    return on_the_way_.empty() ? Wake::on_traffic() : Wake::at_cycle(std::max(on_the_way_.begin()->first, now() + 1));
  }

 private:
  Wake route(const Frame& f) {
    if (auto icmp = router_.fragmentation_needed(f, mtu)) back->insert(std::move(*icmp), now());
    for (Frame& piece : router_.fragments(f, mtu)) on_the_way_.insert({now() + delay, std::move(piece)});
    return Wake::next_cycle();
  }
  // RFC 9260 section 6.10: INIT, INIT ACK and SHUTDOWN COMPLETE share no packet, and DATA comes last, by TSN.
  void expect_order(const Bytes& f) {
    std::vector<unsigned> types;
    std::uint32_t tsn = 0;
    for (std::size_t at = 34 + 12; at + 4 <= f.size(); at += (load_be16(&f[at + 2]) + 3u) & ~3u) {
      ASSERT_GE(load_be16(&f[at + 2]), 4u);
      const bool behind_data = !types.empty() && types.back() == 0;
      types.push_back(f[at]);
      EXPECT_TRUE(!behind_data || types.back() == 0) << types.back();
      if (types.back() != 0) continue;
      EXPECT_TRUE(!behind_data || static_cast<std::int32_t>(load_be32(&f[at + 4]) - tsn) > 0) << tsn;
      tsn = load_be32(&f[at + 4]);
    }
    for (const unsigned type : types) EXPECT_TRUE(types.size() == 1 || (type != 1 && type != 2 && type != 14)) << type;
    bundles += !types.empty() && types.front() != 0 && types.back() == 0;
  }
  static void forge(Bytes& frame, const Fate& what) {
    Bytes packet(frame.begin() + 34, frame.end());
    what.forge(packet);
    store_crc32c(&packet[kSctpChecksumOffset], sctp_checksum(packet));
    frame.resize(34);
    frame.insert(frame.end(), packet.begin(), packet.end());
    store_be16(&frame[14 + 2], static_cast<std::uint16_t>(frame.size() - 14));
    store_be16(&frame[14 + 10], 0);
    store_be16(&frame[14 + 10], wire::internet_checksum({&frame[14], 20}));
  }
  Router router_;
  BufferPool pool_{2048};
  std::multimap<Cycle, Frame> on_the_way_;
};

struct SctpSide {
  SctpSide(const std::string& n, ClockDomain& clk, unsigned i, const SctpConfig& config, const TcpConfig& tcp,
           BufferPool& pool)
      : station{kSctpMac[i], {kSctpIp[i]}, {{{kSctpIp[1 - i]}, kSctpMac[1 - i]}}, i + 1},
        rx((n + "rx").c_str(), clk, {}, station, pool),
        association((n + "association").c_str(), clk, config, tcp.mtu, {}, station, kFirstFlow, pool),
        tx((n + "tx").c_str(), clk, {}, station),
        insert((n + "insert").c_str(), clk),
        check((n + "check").c_str(), clk),
        source((n + "source").c_str(), clk, pool),
        early((n + "early").c_str(), clk, pool),
        sink((n + "sink").c_str(), clk, early),
        net(n.c_str(), clk) {
    net.connect(source.out, association.in, n + "ulpdus");
    net.connect(association.credit, source.credit, n + "credit");
    net.connect(association.acked, source.acked, n + "acked");
    net.connect(association.packets, tx.in, n + "packets");
    net.connect(tx.to_crc, insert.in, n + "tx_beats");
    net.connect(insert.out, tx.sealed, n + "tx_sealed", LinkConfig::pipeline(CrcInsertConfig{}));
    net.connect(rx.to_crc, check.in, n + "rx_beats");
    net.connect(check.out, rx.checked, n + "rx_checked", LinkConfig::pipeline(CrcCheckConfig{}));
    net.connect(rx.out, association.received, n + "received");
    net.connect(association.out, sink.in, n + "segments", config.rx_link());
    net.connect(sink.ended, association.ended, n + "ended");
    net.connect(association.behind, early.in, n + "behind");
    net.connect(early.out, association.early, n + "early_out");
  }
  const LinkAddress station;
  SctpRx rx;
  SctpAssociation association;
  SctpTx tx;
  CrcInsert insert;
  CrcCheck check;
  UlpduSource source;
  EarlyPlacer early;
  SegmentSink sink;
  Netlist net;
  Source<LlpOp> op = drive(association.op);
  Sink<LlpEvent> event = collect(association.event);

  // For the flow's current life.
  fw::SctpStream flow_op(fw::SctpStreamAction action, FlowId flow) const {
    return {flow, action, association.life(flow)};
  }
};

class SctpPairTest : public StageTest {
 protected:
  static constexpr std::uint16_t kPort = 5000;

  SctpPairTest() { config.idle_us = 0; }  // run() would wait for it
  void build() {
    BufferPool* const p = &pool;
    a = std::make_unique<SctpSide>("a_", clk, 0, config, tcp, *p);
    SctpConfig of_b = config;
    ++of_b.seed;  // for different tags
    b = std::make_unique<SctpSide>("b_", clk, 1, of_b, tcp, *p);
    ab = std::make_unique<Wire>("ab", clk);
    ba = std::make_unique<Wire>("ba", clk);
    ab->back = ba.get(), ba->back = ab.get();
    net = std::make_unique<Netlist>("net", clk);
    net->connect(a->tx.out, ab->in, "a_frames", config.tx_link());
    net->connect(ab->out, b->rx.in, "to_b");
    net->connect(b->tx.out, ba->in, "b_frames", config.tx_link());
    net->connect(ba->out, a->rx.in, "to_a");
  }
  // Stopped timers are looked at once more: the guard of a shutdown after 5 times rto_max.
  void run() { run_until_idle(1'000'000'000); }
  void control(SctpSide& side, FlowId flow, const Bytes& message) {
    BufferRef octets = pool.take();
    std::copy(message.begin(), message.end(), octets->bytes());
    const fw::SctpSend send{flow, {0, static_cast<std::uint32_t>(message.size())}, side.association.life(flow)};
    side.op.send(LlpOp(send, std::move(octets)));
  }
  void listen(SctpSide& side) { side.op.send(fw::SctpListen{kPort}); }
  void connect(SctpSide& side, std::uint32_t ip, std::uint32_t cookie = 7, std::uint16_t from = 0, Cycle at = 0) {
    side.op.send_at(at, fw::SctpConnect{ip, kPort, from, cookie});
  }
  static Bytes text(const LlpEvent& e) { return Bytes(e.data->bytes(), e.data->bytes() + e.bytes()); }
  static std::vector<LlpEvent::Kind> kinds(const SctpSide& side) {
    std::vector<LlpEvent::Kind> k;
    for (const LlpEvent& e : side.event) k.push_back(e.kind());
    return k;
  }
  // Opens a session from a to b on a's next stream, at both ends. Returns the flow, which has the same number at both.
  FlowId open_session() {
    a->event.clear(), b->event.clear();
    listen(*b);
    connect(*a, kSctpIp[1]);
    run();
    EXPECT_EQ(kinds(*a), std::vector{SctpEvents::kConnected});
    const FlowId flow = a->event[0].flow();
    a->op.send(a->flow_op(fw::SctpStreamAction::kBegin, flow));
    control(*a, flow, {0, 1, 'h', 'i'});
    run();
    EXPECT_EQ(kinds(*b), std::vector{SctpEvents::kControl});
    EXPECT_EQ(b->event[0].flow().v, flow.v);
    EXPECT_EQ(text(b->event[0]), (Bytes{0, 1, 'h', 'i'}));
    control(*b, flow, {0, 2});
    b->op.send(b->flow_op(fw::SctpStreamAction::kOpen, flow));
    run();
    EXPECT_EQ(kinds(*a), (std::vector{SctpEvents::kConnected, SctpEvents::kAcked, SctpEvents::kControl}));
    a->op.send(a->flow_op(fw::SctpStreamAction::kOpen, flow));
    run();
    a->event.clear(), b->event.clear();
    return flow;
  }
  static Bytes segment(std::size_t bytes, unsigned seed) {
    Bytes s(bytes);
    for (std::size_t i = 0; i < bytes; ++i) s[i] = static_cast<std::uint8_t>(i * 7 + seed * 13 + i / 251);
    return s;
  }

  SctpConfig config;
  TcpConfig tcp;
  BufferPool pool{kFrameHeadroom + 9000 + 64};
  std::unique_ptr<SctpSide> a, b;
  std::unique_ptr<Wire> ab, ba;
  std::unique_ptr<Netlist> net;
};

}  // namespace rnic::test
