// tcp_tx, tcp_rx and tcp_connection alone, each with the ends of its links: tcp_chip.h has all three on a cable.
#pragma once

#include <algorithm>
#include <vector>

#include "testbench/unit/rnic/llp/tcp/scripted_peer.h"

namespace rnic::test {

using tcp::Agreed;
using tcp::RxCommand;
using tcp::RxFeedback;
using tcp::RxReport;
using tcp::TxCommand;
using tcp::TxReport;

inline constexpr FlowId kOneFlow{0};
inline constexpr std::uint16_t kEmss = 1460;
// As scripted_peer.h writes segments: from 10.0.0.1:4000 to 10.0.0.2:5000.
inline constexpr llp::FlowKey kKey{kIpA, 4000, 5000};

inline Agreed plain_terms() {
  Agreed agreed;
  agreed.emss = kEmss;
  return agreed;
}

// tcp_tx of 10.0.0.2, with flow 0 established: `kIss` + 1 is its next octet, `kPeer` the peer's.
class TcpTxTest : public StageTest {
 protected:
  static constexpr std::uint32_t kIss = 1000, kPeer = 50'000, kWindow = 60'000;

  explicit TcpTxTest(const TcpConfig& with = {}, const TableConfig& rows = {})
      : config(with), table("table", clk, with.max_flows, rows) {}
  void SetUp() override {
    commands.send(open(kOneFlow));
    run();
    ASSERT_EQ(frames.size(), 1u);
    EXPECT_EQ(seen(0).text(), ">SA");
    EXPECT_EQ(frames.cycles()[0], commands.cycles()[0] + kToEnd + row_cycles() + config.tx_cycles);
    feedback.send(ack(kIss + 1));
    run();
    ASSERT_EQ(reports.size(), 1u);
    EXPECT_EQ(reports[0].kind, TxReport::Kind::kSynAcked);
    command(TxCommand::Kind::kEnterRdma);
    run();
    frames.clear();
    credit.clear();
  }
  // From what is about a flow to the use of its row.
  Cycle row_cycles() const { return table.config().read_cycles; }
  // After the peer's SYN; its port is 4000 and the number of the flow.
  static TxCommand open(FlowId flow) {
    TxCommand open;
    open.kind = TxCommand::Kind::kOpen;
    open.flow = flow;
    open.key = kKey;
    open.key.peer_port = static_cast<std::uint16_t>(kKey.peer_port + flow.v);
    open.peer_mac = kMacA;
    open.seq = kIss;
    open.with_ack = true;
    open.rcv_nxt = kPeer;
    open.agreed = plain_terms();
    open.peer_window = kWindow;
    return open;
  }
  // Shorter than a retransmission timeout.
  void run(Cycle cycles = 2000) { sc_core::sc_start(sc_core::sc_time::from_value(cycles * clk.period_ps())); }
  TxCommand command_of(TxCommand::Kind kind, FlowId flow = kOneFlow) const {
    TxCommand c;
    c.kind = kind;
    c.flow = flow;
    return c;
  }
  void command(TxCommand::Kind kind) { commands.send(command_of(kind)); }
  // What tcp_rx says of a pure ACK.
  RxFeedback ack(std::uint32_t number, FlowId flow = kOneFlow) const {
    RxFeedback fb;
    fb.flow = flow;
    fb.acks = true;
    fb.flags = wire::TcpHeader::kAck;
    fb.seq = fb.rcv_nxt = kPeer;
    fb.rcv_edge = kPeer + kWindow;
    fb.ack = number;
    fb.window = kWindow;
    return fb;
  }
  RxFeedback data(RxFeedback::Answer answer, FlowId flow = kOneFlow) const {
    RxFeedback fb = ack(kIss + 1, flow);
    fb.payload = 100;
    fb.answer = answer;
    fb.rcv_nxt += 100;
    return fb;
  }
  std::vector<FpduBeat> fpdu(std::size_t octets, FlowId flow = kOneFlow) {
    std::vector<FpduBeat> beats;
    BufferRef buf = pool.take();
    const Bytes payload = counting_bytes(octets);
    std::copy(payload.begin(), payload.end(), buf->bytes() + kFrameHeadroom);
    const unsigned beat_bytes = DatapathConfig{}.beat_bytes;
    for (std::size_t at = 0; at < octets; at += beat_bytes) {
      FpduBeat b;
      b.buf = buf.get();
      b.data = buf->bytes() + kFrameHeadroom + at;
      b.flow = flow;
      b.words = static_cast<std::uint8_t>(std::min<std::size_t>(beat_bytes, octets - at) / 4);
      b.first = at == 0;
      b.last = b.completes_wqe = at + beat_bytes >= octets;
      beats.push_back(b);
    }
    buf.release();
    return beats;
  }
  Seen seen(std::size_t i) const {
    const Frame& f = frames[i];
    return {0, 0, Bytes(f.data(), f.data() + f.bytes)};
  }
  std::vector<std::string> texts() const {
    std::vector<std::string> all;
    for (std::size_t i = 0; i < frames.size(); ++i) all.push_back(seen(i).text());
    return all;
  }

  const TcpConfig config;
  FlowTxTable table;
  BufferPool pool{2048};
  TcpTx dut{"dut", clk, config, table, {kMacB, {kIpB}, {{{kIpA}, kMacA}}}, pool};
  Source<TxCommand> commands = drive(dut.commands);
  Source<RxFeedback> feedback = drive(dut.feedback);
  Source<FpduBeat> fpdus = drive(dut.in);
  Sink<Frame> frames = collect(dut.out, config.tx_link());
  Sink<TxCredit> credit = collect(dut.credit);
  Sink<WqesAcked> acked = collect(dut.acked);
  Sink<TxReport> reports = collect(dut.reports);
};

// tcp_rx of 10.0.0.2 with flow 0 established and in RDMA mode: `kPeer` is the peer's next octet.
class TcpRxTest : public StageTest {
 protected:
  static constexpr std::uint32_t kPeer = 0xffffff80, kOurs = 1000;  // sequence numbers wrap on the way
  explicit TcpRxTest(unsigned beat_bytes = DatapathConfig{}.beat_bytes)
      : datapath{beat_bytes},
        dut("dut", clk, config(), datapath, rows, {kMacB, {kIpB}, {{{kIpA}, kMacA}}}, pool, sent) {}
  static TcpConfig config() {
    TcpConfig c;
    c.early_placement = false;
    return c;
  }
  void SetUp() override {
    sent.set(kOneFlow, kOurs);
    RxCommand open;
    open.kind = RxCommand::Kind::kOpen;
    open.flow = kOneFlow;
    open.key = kKey;
    open.rcv_nxt = kPeer;
    open.agreed = plain_terms();
    open.established = true;
    open.snd_una = kOurs;
    open.peer_window = 60'000;
    commands.send(open);
    RxCommand rdma;
    rdma.kind = RxCommand::Kind::kEnterRdma;
    rdma.flow = kOneFlow;
    commands.send(rdma);
    run_until_idle();
  }
  void send(const PeerSegment& segment) {
    const Bytes octets = segment.frame();
    Frame f;
    f.buf = frames.take();
    f.bytes = static_cast<std::uint32_t>(octets.size());
    std::copy(octets.begin(), octets.end(), f.buf->bytes());
    in.send(std::move(f));
  }
  // `from` octets of the stream lie before it.
  PeerSegment segment(std::uint32_t from, std::size_t octets, const std::string& flags = "A") const {
    return {flags, kPeer + from, kOurs, counting_bytes(octets, from)};
  }
  Bytes stream() const {
    Bytes all;
    for (const StreamBeat& b : out) all.insert(all.end(), b.data, b.data + b.bytes);
    return all;
  }
  void TearDown() override {
    for (const StreamBeat& b : out) {
      if (b.last) BufferRef::adopt(b.buf);
    }
  }

  const DatapathConfig datapath;
  BufferPool frames{2048}, pool{2048};
  tcp::SentOctets sent{clk, config().max_flows};
  tcp::FlowRxTable rows{"flow_rx_table", clk, config().max_flows, config().flow_rx_table};
  TcpRx dut;
  Source<Frame> in = drive(dut.in);
  Source<RxCommand> commands = drive(dut.commands);
  Source<RxConsumed> consumed = drive(dut.consumed);
  Source<StreamEnded> ended = drive(dut.ended);
  Sink<StreamBeat> out = collect(dut.out, config().rx_link());
  Sink<RxFeedback> feedback = collect(dut.feedback);
  Sink<RxReport> reports = collect(dut.reports);
  const Stubs others = stub(dut.behind, dut.early);
};

}  // namespace rnic::test
