// Peers that do not align FPDUs with segments (RFC 5044 section 5 does not require it): tcp_rx, deframer and CRC check
// in a row, every split position, in order and with a hole.
#include "model/rnic/rx/crc_check.h"
#include "model/rnic/rx/mpa_deframer.h"
#include "testbench/support/mpa_reference.h"
#include "testbench/support/stream_segments.h"
#include "testbench/unit/rnic/llp/tcp/scripted_peer.h"

namespace rnic::test {
namespace {

constexpr unsigned kFlows = 256;

class AlignmentTest : public StageTest, public testing::WithParamInterface<bool> {
 protected:
  static TcpConfig config() {
    TcpConfig c;
    c.max_flows = kFlows;
    c.early_placement = false;
    return c;
  }
  AlignmentTest() {
    net.connect(tcp_rx.out, deframer.in, "stream", config().rx_link());
    net.connect(deframer.consumed, tcp_rx.consumed, "consumed");
    net.connect(deframer.out, crc.in, "deframed", LinkConfig::pipeline(MpaDeframerConfig{}));
    MpaReference reference{markers};
    for (std::size_t octets : {18u, 41u, 30u, 64u}) fpdus.push_back(reference.fpdu(counting(octets, 7)));
    stream = joined(fpdus);
  }
  // A flow in RDMA mode whose next octet is number 1.
  FlowId open(std::uint32_t i) {
    flow_rx_table.write(i, &tcp::FlowRxRow::facts, FlowFacts{{}, 0, markers, true});
    tcp::RxCommand open;
    open.flow = FlowId{i};
    open.key = {kIpA, port(i), 5000};
    open.rcv_nxt = 1;
    open.established = true;
    sent.set(open.flow, 1);
    tcp::RxCommand enter;
    enter.kind = tcp::RxCommand::Kind::kEnterRdma;
    enter.flow = open.flow;
    commands.send({open, enter});
    return open.flow;
  }
  static std::uint16_t port(std::uint32_t i) { return static_cast<std::uint16_t>(4000 + i); }
  // Octets [from, to) of the stream in one segment.
  void send(FlowId flow, std::size_t from, std::size_t to) {
    PeerSegment s{"PA", static_cast<std::uint32_t>(1 + from), 1};
    s.payload.assign(stream.begin() + static_cast<std::ptrdiff_t>(from),
                     stream.begin() + static_cast<std::ptrdiff_t>(to));
    s.peer_port = port(flow.v);
    const Bytes octets = s.frame();
    Frame f;
    f.buf = pool.take();
    f.bytes = static_cast<std::uint32_t>(octets.size());
    std::copy(octets.begin(), octets.end(), f.buf->bytes());
    frames.send_at(2 * kFlows + 16, f);
  }
  // Every flow got all FPDUs, whole, in order, with a good CRC.
  void expect_all(std::uint32_t flows) {
    run_until_idle();
    std::vector<std::vector<Bytes>> got(flows);
    for (const ReceivedFpdu& fpdu : receive_fpdus(sink.messages(), DatapathConfig{}.beat_bytes)) {
      EXPECT_TRUE(fpdu.crc_ok && fpdu.marker_ok) << fpdu.flow.v;
      got.at(fpdu.flow.v).push_back(fpdu.wire);
    }
    for (std::uint32_t i = 0; i < flows; ++i) EXPECT_EQ(got[i], fpdus) << "split " << i;
    EXPECT_EQ(pool.in_use(), 0u);
  }

  const bool markers = GetParam();
  std::vector<Bytes> fpdus;
  Bytes stream;
  BufferPool pool{2048};
  tcp::SentOctets sent{clk, kFlows};
  tcp::FlowRxTable flow_rx_table{"flow_rx_table", clk, config().max_flows, config().flow_rx_table};
  TcpRx tcp_rx{"tcp_rx", clk, config(), DatapathConfig{}, flow_rx_table, {kMacB, {kIpB}, {}}, pool, sent};
  MpaDeframer deframer{"deframer", clk, {}, DatapathConfig{}, kFlows, pool};
  CrcCheck crc{"crc", clk};
  Netlist net{"net", clk};
  Source<Frame> frames = drive(tcp_rx.in);
  Source<tcp::RxCommand> commands = drive(tcp_rx.commands);
  Sink<FpduBeat> sink = collect(crc.out, LinkConfig::pipeline(CrcCheckConfig{}));
  const Stubs others = stub(tcp_rx.feedback, tcp_rx.reports, tcp_rx.ended, tcp_rx.behind, tcp_rx.early);
};
INSTANTIATE_TEST_SUITE_P(Markers, AlignmentTest, testing::Bool());

TEST_P(AlignmentTest, EverySplitPositionInOrder) {
  const auto splits = static_cast<std::uint32_t>(stream.size());
  ASSERT_LE(splits, kFlows);
  for (std::uint32_t i = 0; i < splits; ++i) {
    const FlowId flow = open(i);
    if (i != 0) send(flow, 0, i);
    send(flow, i, stream.size());
  }
  expect_all(splits);
}

TEST_P(AlignmentTest, EverySplitPositionWithTheSecondHalfFirst) {
  const auto splits = static_cast<std::uint32_t>(stream.size());
  for (std::uint32_t i = 0; i < splits; ++i) {
    const FlowId flow = open(i);
    send(flow, i, stream.size());
    if (i != 0) send(flow, 0, i);
  }
  expect_all(splits);
  EXPECT_EQ(tcp_rx.counters().out_of_order, splits - 1);
}

// Octet i of each flow comes last, after the octets beyond it and those before it.
TEST_P(AlignmentTest, AnOctetInTheMiddleComesLast) {
  const auto splits = static_cast<std::uint32_t>(stream.size());
  for (std::uint32_t i = 0; i < splits; ++i) {
    const FlowId flow = open(i);
    if (i + 1 < splits) send(flow, i + 1, stream.size());
    if (i != 0) send(flow, 0, i);
    send(flow, i, i + 1);
  }
  expect_all(splits);
}

TEST_P(AlignmentTest, AnOctetASegment) {
  const FlowId flow = open(0);
  for (std::size_t i = 0; i < stream.size(); ++i) send(flow, i, i + 1);
  expect_all(1);
}

TEST_P(AlignmentTest, OverlapsAtEveryPosition) {
  const auto splits = static_cast<std::uint32_t>(stream.size());
  for (std::uint32_t i = 0; i < splits; ++i) {
    const FlowId flow = open(i);
    const std::size_t half = stream.size() / 2;
    send(flow, half, stream.size());
    send(flow, i / 2, std::max<std::size_t>(i, i / 2 + 1));
    send(flow, 0, half + i / 4);
  }
  expect_all(splits);
}

}  // namespace
}  // namespace rnic::test
