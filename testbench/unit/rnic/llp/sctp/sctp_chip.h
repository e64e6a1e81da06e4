// The SCTP side of a chip with the firmware's own processor, a host that answers requests, and peers that the test
// plays octet by octet. What the firmware asks for arrives when a real peer's would.
#pragma once

#include <algorithm>
#include <map>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "model/common/sctp_checksum.h"
#include "model/rnic/fwcpu/fwcpu.h"
#include "model/rnic/llp/link_address.h"
#include "model/rnic/llp/sctp/sctp_association.h"
#include "model/rnic/llp/sctp/sctp_rx.h"
#include "model/rnic/llp/sctp/sctp_tx.h"
#include "model/rnic/llp/tcp/tcp_config.h"
#include "model/rnic/rx/crc_check.h"
#include "model/rnic/tx/crc_insert.h"
#include "testbench/support/stage_test.h"

namespace rnic::test {

using Bytes = std::vector<std::uint8_t>;

// Answers the host's events with commands: accepts or rejects each request, and creates a queue pair again when it has
// ended.
class AnsweringHost final : public Stage {
 public:
  enum class Answer : std::uint8_t { kReject, kAccept, kNone };
  static constexpr std::uint32_t kQps = 32;

  PopPort<HostEvent> events{*this, "events"};
  PushPort<FetchedCommand> commands{*this, "commands"};
  Answer answer = Answer::kReject;
  Cycle delay = 50;  // from an event to the command that answers it
  std::vector<abi::Event> heard;

  AnsweringHost(sc_core::sc_module_name nm, ClockDomain& clk) : Stage(nm, clk) {
    for (std::uint32_t q = 0; q < kQps; ++q) free_.push_back(q);
  }
  static abi::Command command(abi::CommandOp op, std::uint32_t id) {
    abi::Command c;
    c.op = op;
    c.id = id;
    return c;
  }
  // Call while the simulation does not run.
  void ask(const abi::Command& c) {
    post(c, 0);
    wake(clock().next());
  }
  void create_qps() {
    ask(command(abi::CommandOp::kCreateCq, 0));
    for (std::uint32_t q = 0; q < kQps; ++q) create(q, 0);
  }
  void listen(std::uint16_t port, std::uint16_t backlog) {
    abi::Command c = command(abi::CommandOp::kListen, 0);
    c.u.cm.local_port = port;
    c.u.cm.backlog = backlog;
    c.u.cm.options = abi::kCmSctp;
    ask(c);
  }
  // Returns the queue pair.
  std::uint32_t connect(std::uint32_t ip, std::uint16_t port) {
    abi::Command c = command(abi::CommandOp::kConnect, 0);
    c.qpn = take_qp();
    c.u.cm = {ip, port, 0, 4, 4, {}, abi::kCmSctp, 0, 0, 0, 0, {}};
    ask(c);
    return c.qpn;
  }
  std::size_t count(abi::EventType type) const {
    return static_cast<std::size_t>(
        std::count_if(heard.begin(), heard.end(), [&](const abi::Event& e) { return e.type == type; }));
  }

  Wake tick() override {
    if (events->can_pop()) on(events->pop().event);
    if (!todo_.empty() && todo_.front().first <= now() && commands->can_push()) {
      FetchedCommand f;
      f.command = todo_.front().second;
      commands->push(std::move(f));
      todo_.pop_front();
    }
    if (events->can_pop()) return Wake::next_cycle();
    return todo_.empty() ? Wake::on_traffic() : Wake::at_cycle(std::max(now() + 1, todo_.front().first));
  }

 private:
  std::uint32_t take_qp() {
    const std::uint32_t qpn = free_.front();
    free_.pop_front();
    return qpn;
  }
  void post(const abi::Command& c, Cycle from) { todo_.push_back({from, c}); }
  void create(std::uint32_t qpn, Cycle from) {
    abi::Command c = command(abi::CommandOp::kCreateQp, qpn);
    c.u.qp = {0x10000, 0x20000, 6, 5, 7, 0, 0, 0, {}};
    post(c, from);
  }
  void on(const abi::Event& e) {
    heard.push_back(e);
    const bool of_a_qp = e.id < kQps;
    if (e.type == abi::EventType::kConnectRequest && answer != Answer::kNone) {
      const bool accepts = answer == Answer::kAccept && !free_.empty();
      abi::Command c = command(accepts ? abi::CommandOp::kAccept : abi::CommandOp::kReject, e.id);
      if (accepts) {
        c.qpn = take_qp();
        asked_[cookie_] = c.qpn;
        c.u.cm.ird = c.u.cm.ord = 4;
      }
      c.cookie = cookie_++;
      post(c, now() + delay);
    } else if (e.type == abi::EventType::kCommandDone && e.status != 0 && asked_.count(e.cookie) != 0) {
      free_.push_back(asked_[e.cookie]);  // the accepted connection is gone
    } else if (of_a_qp && (e.type == abi::EventType::kDisconnected || e.type == abi::EventType::kConnectError)) {
      post(command(abi::CommandOp::kDestroyQp, e.id), now() + delay);
      create(e.id, now() + delay);
      free_.push_back(e.id);
    }
  }

  std::deque<std::uint32_t> free_;
  std::map<std::uint32_t, std::uint32_t> asked_;  // by cookie: the accepting queue pair
  std::deque<std::pair<Cycle, abi::Command>> todo_;
  std::uint32_t cookie_ = 1;
};

// Replaces the transmit pipeline: sends posted work at once.
class EmptySendQueues final : public Stage {
 public:
  PopPort<TxInternalWork> work{*this, "work"};
  PushPort<QpEvent> events{*this, "events"};
  std::vector<TxInternalWork> done;

  EmptySendQueues(sc_core::sc_module_name nm, ClockDomain& clk) : Stage(nm, clk) {}
  Wake tick() override {
    if (!work->can_pop() || !events->can_push()) return Wake::on_traffic();
    done.push_back(work->pop());
    if (done.back().kind == TxInternalWork::Kind::kDrain) {
      events->push({QpEvent::Kind::kSendDrained, done.back().qpn, {}});
    }
    return Wake::next_cycle();
  }
};

// Replaces the receive pipeline: takes segments at its own pace and drops them, and answers ends after them.
class SlowPipeline final : public Stage {
 public:
  PopPort<FpduBeat> in{*this, "in"};
  PushPort<StreamEnded> ended{*this, "ended"};
  Cycle pause = 0;                                                       // between two segments
  std::vector<std::pair<std::uint32_t, std::vector<std::uint8_t>>> got;  // flow, and segment; empty: its end

  SlowPipeline(sc_core::sc_module_name nm, ClockDomain& clk) : Stage(nm, clk) {}
  Wake tick() override {
    if (!in->can_pop() || !ended->can_push()) return Wake::on_traffic();
    if (now() < from_) return Wake::at_cycle(from_);
    FpduBeat beat = in->pop();
    if (beat.first) first_ = beat.data;
    if (!beat.last) return Wake::next_cycle();
    const BufferRef buf = BufferRef::adopt(beat.buf);
    if (beat.ends()) {
      ended->push({beat.flow, false});
      got.push_back({beat.flow.v, {}});
    } else {
      got.push_back({beat.flow.v, {first_ + 2, first_ + 2 + load_be16(first_)}});
    }
    from_ = now() + pause;
    return Wake::next_cycle();
  }

 private:
  const std::uint8_t* first_ = nullptr;
  Cycle from_ = 0;
};

class SctpChipTest : public StageTest {
 protected:
  static constexpr std::uint16_t kPort = 7000;
  static constexpr std::uint32_t kFirstFlow = 8, kIp = 0x0a000001, kPeerIp = 0x0a000002;
  static constexpr wire::MacAddress kMac{{2, 0, 0, 0, 0, 0xa}}, kPeerMac{{2, 0, 0, 0, 0, 0xb}};
  static constexpr std::uint32_t kSegment = wire::kPpidDdpSegment, kSession = wire::kPpidDdpSession;

  void build() {
    chip.emplace(*this);
    chip->host.create_qps();
    advance(8000);
    chip->host.heard.clear();
  }
  void listen(std::uint16_t backlog = 0) {
    chip->host.listen(kPort, backlog);
    advance(500);
    chip->host.heard.clear();
  }
  void advance(Cycle cycles) { sc_core::sc_start(sc_core::sc_time::from_value(cycles * clk.period_ps())); }
  Cycle now() const { return sc_core::sc_time_stamp().value() / clk.period_ps(); }

  // A chunk of a packet that the chip has sent.
  struct Chunk {
    std::uint16_t from_port = 0, to_port = 0;
    std::uint32_t tag = 0;
    std::uint8_t type = 0, flags = 0;
    Bytes value;
  };
  // The chunks sent since the last call.
  std::vector<Chunk> sent() {
    std::vector<Chunk> all;
    for (const Frame& f : chip->frames) {
      const ByteSpan packet = ByteSpan(f.data(), f.bytes).subspan(34);
      const auto header = wire::SctpHeader::parse(packet);
      wire::SctpChunks chunks(packet.subspan(wire::SctpHeader::kBytes));
      while (const auto c = chunks.next()) {
        all.push_back({header->src_port, header->dst_port, header->verification_tag, static_cast<std::uint8_t>(c->type),
                       c->flags, Bytes(c->value.begin(), c->value.end())});
      }
    }
    chip->frames.clear();
    return all;
  }
  static void put(Bytes& to, std::uint64_t value, unsigned octets) {
    for (unsigned shift = 8 * octets; shift != 0; shift -= 8)
      to.push_back(static_cast<std::uint8_t>(value >> (shift - 8)));
  }
  static Bytes chunk(std::uint8_t type, const Bytes& value, std::uint8_t flags = 0) {
    Bytes c = {type, flags};
    put(c, 4 + value.size(), 2);
    c.insert(c.end(), value.begin(), value.end());
    c.resize(wire::sctp_padded(c.size()));
    return c;
  }
  void send(std::uint16_t from, std::uint32_t tag, const Bytes& chunks, Cycle at = 0, std::uint16_t to = kPort) {
    Bytes packet(wire::SctpHeader::kBytes);
    wire::SctpHeader{from, to, tag}.emit(packet);
    packet.insert(packet.end(), chunks.begin(), chunks.end());
    store_crc32c(&packet[kSctpChecksumOffset], sctp_checksum(packet));
    Frame f;
    f.buf = frames_.take();
    const MutableByteSpan room{f.buf->bytes(), f.buf->capacity()};
    wire::EthernetHeader ethernet;
    ethernet.dst = kMac;
    ethernet.src = kPeerMac;
    wire::Ipv4Header ip;
    ip.total_length = static_cast<std::uint16_t>(wire::Ipv4Header::kBytes + packet.size());
    ip.protocol = wire::kIpProtocolSctp;
    ip.src.v = kPeerIp;
    ip.dst.v = kIp;
    std::size_t bytes = ethernet.emit(room);
    bytes += ip.emit(room.subspan(bytes));
    std::copy(packet.begin(), packet.end(), room.data() + bytes);
    f.bytes = static_cast<std::uint32_t>(bytes + packet.size());
    chip->wire.send_at(at, f);
  }

  // One side of an association.
  struct Peer {
    std::uint16_t port = 0;
    std::uint32_t tag = 0, chip_tag = 0, tsn = 1, chips_tsn = 0;
    Bytes cookie;
    std::uint16_t chip_port = kPort;
  };
  static Bytes init_value(const Peer& p, std::uint16_t streams = 16) {
    Bytes init;
    put(init, p.tag, 4), put(init, 100'000, 4), put(init, streams, 2), put(init, streams, 2), put(init, p.tsn, 4);
    put(init, 0xc0060008, 4), put(init, 1, 4);
    return init;
  }
  // INIT out, the cookie in.
  Peer ask(std::uint16_t port, std::uint32_t tag, std::uint16_t to = kPort) {
    Peer p;
    p.port = port;
    p.tag = tag;
    p.chip_port = to;
    send(port, 0, chunk(1, init_value(p)), 0, to);
    advance(300);
    for (const Chunk& c : sent()) {
      if (c.type == 2 && c.tag == tag) learn(p, c.value);
    }
    EXPECT_FALSE(p.cookie.empty()) << "no INIT ACK";
    return p;
  }
  static void learn(Peer& p, const Bytes& init) {
    p.chip_tag = load_be32(&init[0]);
    p.chips_tsn = load_be32(&init[12]) - 1;
    wire::SctpItems items(ByteSpan(init).subspan(wire::SctpInit::kBytes));
    while (const auto item = items.next()) {
      if (item->type == 7) p.cookie.assign(item->value.begin(), item->value.end());
    }
  }
  void echo(const Peer& p, Cycle at = 0) { send(p.port, p.chip_tag, chunk(10, p.cookie), at, p.chip_port); }
  Peer associate(std::uint16_t port, std::uint32_t tag) {
    const Peer p = ask(port, tag);
    echo(p);
    advance(300);
    EXPECT_EQ(count(sent(), tag, 11), 1u) << "no COOKIE ACK";
    return p;
  }
  // The reverse of ask(): the chip opens an association to `port` and gets answers.
  Peer answer(std::uint16_t port, std::uint32_t tag) {
    Peer p;
    p.port = port;
    p.tag = tag;
    for (const Chunk& c : sent()) {
      if (c.type != 1 || c.to_port != port) continue;
      p.chip_port = c.from_port;
      learn(p, c.value);
    }
    EXPECT_NE(p.chip_tag, 0u) << "no INIT";
    Bytes value = init_value(p);
    put(value, 0x00070008, 4), put(value, 0x01020304, 4);  // a cookie
    send(port, p.chip_tag, chunk(2, value), 0, p.chip_port);
    advance(300);
    EXPECT_EQ(count(sent(), tag, 10), 1u) << "no COOKIE ECHO";
    send(port, p.chip_tag, chunk(11, {}), 0, p.chip_port);
    return p;
  }
  static Bytes data(Peer& p, std::uint16_t stream, std::uint16_t ssn, std::uint32_t ppid, const Bytes& rest) {
    Bytes value;
    put(value, p.tsn++, 4), put(value, stream, 2), put(value, 0, 2), put(value, ppid, 4), put(value, ssn, 2);
    value.insert(value.end(), rest.begin(), rest.end());
    return chunk(0, value, 7);
  }
  void send_data(Peer& p, std::uint16_t stream, std::uint16_t ssn, std::uint32_t ppid, const Bytes& rest,
                 Cycle at = 0) {
    send(p.port, p.chip_tag, data(p, stream, ssn, ppid, rest), at, p.chip_port);
  }
  // Acknowledges all that the chip has sent.
  void send_sack(const Peer& p, Cycle at = 0) {
    Bytes value;
    put(value, p.chips_tsn, 4), put(value, 100'000, 4), put(value, 0, 4);
    send(p.port, p.chip_tag, chunk(3, value), at, p.chip_port);
  }
  void send_abort(const Peer& p, Cycle at = 0) { send(p.port, p.chip_tag, chunk(6, {}), at, p.chip_port); }

  static std::size_t count(const std::vector<Chunk>& chunks, std::uint32_t tag, std::uint8_t type) {
    return static_cast<std::size_t>(
        std::count_if(chunks.begin(), chunks.end(), [&](const Chunk& c) { return c.tag == tag && c.type == type; }));
  }
  // User data of the DATA chunks for a peer, by stream: DDP-SSN, function code, private data. Each is acknowledged.
  std::map<std::uint16_t, std::vector<Bytes>> take_data(Peer& p) {
    std::map<std::uint16_t, std::vector<Bytes>> by_stream;
    const std::uint32_t before = p.chips_tsn;
    for (const Chunk& c : sent()) {
      if (c.type != 0 || c.tag != p.tag) continue;
      if (wire::seq_diff(load_be32(&c.value[0]), p.chips_tsn) <= 0) continue;  // a duplicate
      p.chips_tsn = load_be32(&c.value[0]);
      by_stream[load_be16(&c.value[4])].push_back(Bytes(c.value.begin() + 12, c.value.end()));
    }
    if (p.chips_tsn != before) send_sack(p);
    return by_stream;
  }

  SctpConfig config;
  TcpConfig tcp;
  FwCpuConfig firmware;
  BufferPool frames_{2048}, pool{kFrameHeadroom + 9000 + 64};

  struct Chip {
    explicit Chip(SctpChipTest& t)
        : station{kMac, {kIp}, {{{kPeerIp}, kPeerMac}}, 1},
          contexts(t.clk, {256, kFirstFlow + t.config.max_associations * t.config.streams}),
          rx("rx", t.clk, {}, station, t.pool),
          association("association", t.clk, t.config, t.tcp.mtu, {}, station, kFirstFlow, t.pool),
          tx("tx", t.clk, {}, station),
          insert("insert", t.clk),
          check("check", t.clk),
          cpu("cpu", t.clk, t.firmware, contexts, t.pool),
          host("host", t.clk),
          send_queues("send_queues", t.clk),
          pipeline("pipeline", t.clk),
          net("chip", t.clk) {
      contexts.keep_flows_in(association.flow_rows(), FlowId{kFirstFlow}, t.config.max_associations * t.config.streams);
      net.connect(association.out, pipeline.in, "segments", t.config.rx_link());
      net.connect(pipeline.ended, association.ended, "ended");
      net.connect(association.packets, tx.in, "packets");
      net.connect(tx.to_crc, insert.in, "tx_beats");
      net.connect(insert.out, tx.sealed, "tx_sealed", LinkConfig::pipeline(CrcInsertConfig{}));
      net.connect(rx.to_crc, check.in, "rx_beats");
      net.connect(check.out, rx.checked, "rx_checked", LinkConfig::pipeline(CrcCheckConfig{}));
      net.connect(rx.out, association.received, "received");
      net.connect(cpu.llp_ops[LlpId::kSctp], association.op, "sctp_ops");
      net.connect(association.event, cpu.llp_events[LlpId::kSctp], "sctp_events", {8, 1, 1});
      net.connect(cpu.events, host.events, "host_events");
      net.connect(host.commands, cpu.commands, "commands");
      net.connect(cpu.tx_work, send_queues.work, "work");
      net.connect(send_queues.events, cpu.qp_events, "qp_events");
    }
    const LinkAddress station;
    ContextStore contexts;
    SctpRx rx;
    SctpAssociation association;
    SctpTx tx;
    CrcInsert insert;
    CrcCheck check;
    FwCpu cpu;
    AnsweringHost host;
    EmptySendQueues send_queues;
    SlowPipeline pipeline;
    Netlist net;
    Source<Frame> wire = drive(rx.in);
    Sink<Frame> frames = collect(tx.out);
    const Stubs others =
        stub(association.in, association.credit, association.acked, association.behind, association.early,
             cpu.llp_events[LlpId::kMpaTcp], cpu.llp_ops[LlpId::kMpaTcp], cpu.cq_overflows, cpu.srq_events,
             cpu.srq_arms, cpu.home_events, cpu.home_ops, cpu.stag_writes, cpu.stag_written);
  };
  std::optional<Chip> chip;
};

}  // namespace rnic::test
